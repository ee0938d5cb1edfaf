//! Rules that every controller keeps, whatever happens to the paths of its connection.

mod harness;

use crate::Algorithm;
use harness::{Flags, Operation, PATHS, run};
use proptest::prelude::*;

fn flags() -> impl Strategy<Value = Flags> {
    any::<[bool; 4]>().prop_map(|[has_rate, app_limited, delayed, new_episode]| Flags {
        has_rate,
        app_limited,
        delayed,
        new_episode,
    })
}

fn operation() -> impl Strategy<Value = Operation> {
    let rtt = prop_oneof![0..200_000_u64, 0..20_000_000_u64];
    let acked = (0..200_u64, prop_oneof![4 => Just(0_u64), 1 => 0..50_u64], rtt, any::<bool>());
    prop_oneof![
        4 => (1..100_u64).prop_map(|packets| Operation::Sent { packets }),
        8 => (acked, flags()).prop_map(|((packets, lost, rtt_us, limited), flags)| {
            Operation::Acked { packets, lost, rtt_us, limited, flags }
        }),
        1 => Just(Operation::Recovered),
        1 => any::<bool>().prop_map(|repeated| Operation::Timeout { repeated }),
        1 => Just(Operation::Spurious),
        1 => prop_oneof![0..2_000_u64, 0..4_000_000_u64].prop_map(|ms| Operation::Idle { ms }),
        1 => prop_oneof![0..2_000_u64, 0..4_000_000_u64].prop_map(|ms| Operation::AppLimited { ms }),
        1 => Just(Operation::Penalise),
        1 => (0..60_000_u64, 0..20_000_u64, 0..2_000_u64).prop_map(
            |(from_ms, every_ms, uncertainty_ms)| {
                Operation::Forecast { from_ms, every_ms, uncertainty_ms }
            },
        ),
        4 => (0..500_000_u64).prop_map(|us| Operation::Wait { us }),
        4 => (0..PATHS).prop_map(|path| Operation::Turn { path }),
        1 => Just(Operation::Down),
        2 => (0..2_000_000_u64).prop_map(|rtt_us| Operation::Up { rtt_us }),
    ]
}

proptest! {
    #[test]
    fn every_controller_keeps_the_rules(
        operations in proptest::collection::vec(operation(), 1..200),
    ) {
        for algorithm in Algorithm::ALL {
            let once = run(algorithm, &operations).map_err(TestCaseError::fail)?;
            let again = run(algorithm, &operations).map_err(TestCaseError::fail)?;
            prop_assert_eq!(once, again, "{} is not deterministic", algorithm);
        }
    }
}
