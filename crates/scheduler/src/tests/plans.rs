//! DAPS: what a plan looks like, and how long it holds.

use super::*;
use crate::daps::Daps;

fn daps(parameters: &[(&str, Given)]) -> Daps {
    let given = parameters.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    Daps::new(&Algorithm::Daps.info().resolve(&given.collect()).unwrap())
}

fn paths_of(daps: &Daps) -> Vec<u8> {
    daps.plan().iter().map(|(path, _)| *path).collect()
}

/// docs/model.md §3.6: D = (30, 54), of which 54 is rounded to 55: T = 330 ms; f at 30, then both
/// in the order 30 f, 55 s, 60 f, 90 f, 110 s, ...; at 330 both, the smaller delay first.
#[test]
fn daps_plans_in_the_order_of_arrival() {
    let mut daps = daps(&[]);
    let paths = [path(0, 60, 20, 0), path(1, 108, 40, 0)];
    assert_eq!(daps.select(&view(&paths, 1 << 30)), send(0));
    let expected = [0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1];
    assert_eq!(paths_of(&daps), expected);
    assert_eq!(daps.plan()[..2], [(0, 20), (1, 40)]);
}

#[test]
fn daps_follows_its_plan_and_makes_a_new_one_at_its_end() {
    let mut daps = daps(&[]);
    let mut paths = [path(0, 20, 2, 0), path(1, 40, 3, 0)];
    let mut order = Vec::new();
    for _ in 0..14 {
        let Decision::Send(id) = daps.select(&view(&paths, 1 << 30)) else { panic!("waits") };
        daps.on_sent(Instant::ZERO, id, MSS);
        order.push(id.0);
    }
    // T = 20 ms: f at 10, f and s at 20.
    assert_eq!(order, [0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1]);
    // A full path keeps its turn until its queue is full too: the weakness of a plan.
    (paths[0].has_room, paths[0].in_flight_packets) = (false, 2);
    assert_eq!(daps.select(&view(&paths, 1 << 30)), send(0));
    paths[0].queued_packets = 4;
    assert_eq!(daps.select(&view(&paths, 1 << 30)), Decision::Wait(None));
    // A path that is gone, or an RTT that moved by more than a quarter, ends the plan.
    paths[0].usable = false;
    assert_eq!(daps.select(&view(&paths, 1 << 30)), send(1));
    assert_eq!(paths_of(&daps), [1]);
    paths[0].usable = true;
    (paths[0].srtt, paths[0].queued_packets) = (Duration::from_millis(25), 0);
    daps.select(&view(&paths, 1 << 30));
    let planned = paths_of(&daps);
    paths[1].srtt = Duration::from_millis(50);
    daps.select(&view(&paths, 1 << 30));
    assert_eq!(paths_of(&daps), planned, "a quarter is not more than a quarter");
    paths[1].srtt = Duration::from_millis(80);
    daps.select(&view(&paths, 1 << 30));
    assert_ne!(paths_of(&daps), planned);
}

#[test]
fn daps_may_leave_out_a_path_that_begins_again() {
    let mut paths = [path(0, 20, 2, 0), path(1, 40, 3, 0)];
    paths[0].ssthresh_packets = 10;
    for (keeps, expected) in [(true, vec![0, 0, 1]), (false, vec![1])] {
        let mut daps = daps(&[("in_slow_start", Given::Flag(keeps))]);
        daps.select(&view(&paths, 1 << 30));
        assert_eq!(paths_of(&daps), expected);
    }
    paths[1].ssthresh_packets = 10;
    let mut daps = daps(&[("in_slow_start", Given::Flag(false))]);
    daps.select(&view(&paths, 1 << 30));
    assert_eq!(paths_of(&daps), [0, 0, 1], "all of them begin again: all serve");
}

/// §3.6, ours: delays without a common rhythm do not make the plan explode.
#[test]
fn daps_bounds_its_plans() {
    let paths = [2, 14, 22, 26, 34, 38, 46, 58].map(|id_rtt: u64| (id_rtt, id_rtt));
    let mut id = 0;
    let paths = paths.map(|(srtt_ms, cwnd)| {
        id += 1;
        path(id - 1, srtt_ms * 5, cwnd, 0)
    });
    let mut daps = daps(&[]);
    daps.select(&view(&paths, 1 << 30));
    assert!((1000..=4096).contains(&daps.plan().len()), "{}", daps.plan().len());
}
