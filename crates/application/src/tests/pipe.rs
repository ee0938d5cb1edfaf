use crate::Pipe;
use proptest::prelude::*;

#[test]
fn runs_of_zeros_cost_nothing() {
    let mut pipe = Pipe::default();
    assert_eq!(pipe.write_zeros(1 << 60), 1 << 60);
    pipe.write(b"end");
    assert_eq!(pipe.skip(1 << 60), 1 << 60);
    assert_eq!(pipe.read(10), b"end");
    assert!(!pipe.is_drained());
    pipe.finish();
    assert!(pipe.is_drained());
}

#[test]
fn what_cannot_be_counted_is_not_taken() {
    let mut pipe = Pipe::default();
    pipe.write_zeros(u64::MAX - 5);
    assert_eq!(pipe.write_zeros(10), 5);
}

proptest! {
    #[test]
    fn bytes_come_out_as_they_went_in(
        writes in prop::collection::vec((any::<bool>(), 0_usize..200), 1..20),
        reads in prop::collection::vec((any::<bool>(), 0_usize..300), 1..40),
    ) {
        let (mut pipe, mut model) = (Pipe::default(), Vec::new());
        for (place, (zeros, count)) in writes.into_iter().enumerate() {
            let value = if zeros { 0 } else { place as u8 + 1 };
            model.extend(std::iter::repeat_n(value, count));
            if zeros {
                pipe.write_zeros(count as u64);
            } else {
                pipe.write(&vec![value; count]);
            }
        }
        for (skips, count) in reads {
            let expected: Vec<u8> = model.drain(..count.min(model.len())).collect();
            if skips {
                prop_assert_eq!(pipe.skip(count as u64), expected.len() as u64);
            } else {
                prop_assert_eq!(pipe.read(count), expected);
            }
        }
        pipe.finish();
        prop_assert_eq!(pipe.is_drained(), model.is_empty());
    }
}
