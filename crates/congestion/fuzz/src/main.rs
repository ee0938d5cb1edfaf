//! Random events for every congestion control, checked by the rules of the property test.
//!
//! `cargo run --release --manifest-path crates/congestion/fuzz/Cargo.toml -- [SECONDS] [SEED]`:
//! runs for this many seconds (60) from a seed (0). What breaks a rule, or panics, is reported with
//! the seed of its run; give that seed and 0 seconds to repeat it alone.

#[path = "../../src/tests/conformance/harness.rs"]
mod harness;

use congestion::Algorithm;
use harness::{Flags, Operation, PATHS, run};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Events of one run: long enough for ten seconds of RTT samples.
const OPERATIONS: u64 = 2000;

/// Random numbers of the shapes that events need.
struct Random(ChaCha8Rng);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0.next_u64() % end
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 0
    }

    /// Mostly small, now and then huge.
    fn skewed(&mut self, usual: u64, rare: u64) -> u64 {
        let end = if self.below(8) == 0 { rare } else { usual };
        self.below(end)
    }

    fn acknowledgement(&mut self) -> Operation {
        let flags = Flags {
            has_rate: self.below(8) > 0,
            app_limited: self.below(8) == 0,
            delayed: self.flag(),
            new_episode: self.flag(),
        };
        Operation::Acked {
            packets: self.skewed(4, 300),
            lost: if self.below(10) == 0 { self.skewed(5, 100) } else { 0 },
            rtt_us: self.skewed(200_000, 20_000_000),
            limited: self.below(4) > 0,
            flags,
        }
    }

    fn operation(&mut self) -> Operation {
        match self.below(65) {
            0 => Operation::Recovered,
            1 => Operation::Timeout { repeated: self.flag() },
            2 => Operation::Spurious,
            3 => Operation::Idle { ms: self.skewed(2_000, 100_000_000) },
            4 => Operation::AppLimited { ms: self.skewed(2_000, 100_000_000) },
            5 => Operation::Penalise,
            64 => Operation::Forecast {
                from_ms: self.below(60_000),
                every_ms: self.below(20_000),
                uncertainty_ms: self.below(2_000),
            },
            6 => Operation::Down,
            7 | 8 => Operation::Up { rtt_us: self.skewed(200_000, 20_000_000) },
            9..=15 => Operation::Turn { path: self.below(PATHS as u64) as usize },
            16..=25 => Operation::Wait { us: self.skewed(100_000, 20_000_000) },
            26..=40 => Operation::Sent { packets: 1 + self.skewed(10, 300) },
            _ => self.acknowledgement(),
        }
    }
}

/// One run of each controller.
fn check(seed: u64) -> Result<(), String> {
    let mut random = Random(ChaCha8Rng::seed_from_u64(seed));
    let operations: Vec<Operation> = (0..OPERATIONS).map(|_| random.operation()).collect();
    for algorithm in Algorithm::ALL {
        let outcome = std::panic::catch_unwind(|| run(algorithm, &operations));
        let once = outcome.map_err(|_| format!("{algorithm} panicked"))??;
        if once != run(algorithm, &operations)? {
            return Err(format!("{algorithm} is not deterministic"));
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let seconds = arguments.next().and_then(Result::ok).unwrap_or(60);
    let mut seed = arguments.next().and_then(Result::ok).unwrap_or(0);
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut runs = 0_u64;
    loop {
        if let Err(rule) = check(seed) {
            eprintln!("seed {seed}: {rule}");
            return ExitCode::FAILURE;
        }
        runs += 1;
        seed += 1;
        if Instant::now() >= end {
            eprintln!("{runs} runs of each controller, none broke a rule");
            return ExitCode::SUCCESS;
        }
    }
}
