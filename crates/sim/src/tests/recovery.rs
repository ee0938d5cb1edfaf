//! After an outage of any length a path of multipath QUIC carries data again within a second.

use super::world::*;
use crate::Outcome;
use congestion::Algorithm as Congestion;
use link::Direction;
use proptest::prelude::*;
use scheduler::Algorithm as Scheduling;

/// When a path had delivered more than probes since `from_s`, and how long after.
fn used_after(outcome: &Outcome, path: usize, from_s: f64) -> Option<f64> {
    let own = || outcome.samples.iter().filter(|row| row.path == Some(path));
    let before = own().rfind(|row| row.time_s <= from_s)?.delivered_bytes;
    let used = own().find(|row| row.time_s > from_s && row.delivered_bytes > before + 2500);
    used.map(|row| row.time_s - from_s)
}

/// One path or both are dark for `length_s` from `start_s` on.
fn outage(
    (start_s, length_s): (f64, f64),
    dark: [bool; 2],
    direction: Direction,
) -> (Outcome, f64) {
    let end_s = start_s + length_s;
    let mut paths = vec![path("fast", 4.0, 40.0), path("slow", 2.0, 60.0)];
    for place in (0..2).filter(|place| dark[*place]) {
        paths[place] = with_gap(paths[place].clone(), start_s, end_s);
    }
    let mut one = quic(Scheduling::MinRtt, Congestion::Cubic, seconds(end_s + 3.0));
    bulk(&mut one).direction = direction;
    let mut config = config(paths, vec![one]);
    config.stop_after_s = end_s + 3.0;
    config.sample_interval_ms = 50;
    (run_config(&config), end_s)
}

/// Neither engine opens a path anew because of silence: the record reads the same, whatever the length.
#[test]
fn an_outage_reads_failed_and_revived_whatever_its_length() {
    for length_s in [2.0, 5.0, 9.0, 30.0, 300.0] {
        let (outcome, end_s) = outage((2.0, length_s), [false, true], Direction::Down);
        let events = outcome.events.iter().filter(|row| row.path == Some(1));
        let events: Vec<_> = events.map(|row| row.event).collect();
        assert_eq!(events, ["established", "failed", "revived"], "{length_s} s");
        assert!(times(&outcome, "revived", 1)[0] - end_s < 0.7, "{length_s} s");
    }
}

proptest! {
    #![proptest_config(cases::at_least(48))]

    #[test]
    fn a_path_is_used_within_a_second_of_the_end_of_any_outage(
        start_s in 1.0..4.0_f64,
        length_s in 1.0..60.0_f64,
        dark in prop::sample::select(vec![[true, false], [false, true], [true, true]]),
        up in any::<bool>(),
    ) {
        let direction = if up { Direction::Up } else { Direction::Down };
        let (outcome, end_s) = outage((start_s, length_s), dark, direction);
        for place in (0..2).filter(|place| dark[*place]) {
            let after_s = used_after(&outcome, place, end_s);
            // A sample comes up to 50 ms after what it shows.
            prop_assert!(after_s.is_some_and(|after_s| after_s <= 1.05), "{place}: {after_s:?}");
        }
    }
}
