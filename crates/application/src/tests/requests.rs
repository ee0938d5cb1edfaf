use super::world::*;
use crate::*;
use units::Direction;

fn requests(object_bytes: &[u64]) -> Requests {
    Requests {
        direction: Direction::Down,
        object_bytes: object_bytes.to_vec(),
        count: None,
        think_s: 0.0,
        parallel: 1,
        urgency: 3,
        background: false,
        duration_s: None,
    }
}

#[test]
fn objects_come_one_after_the_other_each_after_a_round_trip() {
    for kind in [Kind::tcp(), Kind::quic()] {
        let wanted = requests(&[1000, 5000, 1]);
        let mut world = World::new(kind, &wanted);
        world.run(seconds(10.0));
        assert!(world.ends[CLIENT].is_done());
        let rows = world.rows(CLIENT);
        // A round trip of 20 ms, and no time for the bytes.
        assert_eq!(numbers(&rows, wanted.columns(), "completion_ms"), [20.0, 20.0, 20.0]);
        assert_eq!(numbers(&rows, wanted.columns(), "object_bytes"), [1000.0, 5000.0, 1.0]);
        assert_eq!(numbers(&rows, wanted.columns(), "requested_s"), [0.0, 0.02, 0.04]);
    }
}

#[test]
fn an_object_beyond_the_window_takes_the_round_trips_that_it_needs() {
    let wanted = requests(&[35_000]);
    let mut world = World::new(Kind::tcp(), &wanted);
    world.run(seconds(10.0));
    let rows = world.rows(CLIENT);
    let first = numbers(&rows, wanted.columns(), "first_byte_s")[0];
    let last = numbers(&rows, wanted.columns(), "completed_s")[0];
    assert_eq!(first, 0.02);
    // Four windows of 10 000 bytes, of which the first also holds the answer's head.
    assert!(last >= 0.02 + 3.0 * 0.01, "{last}");
}

#[test]
fn a_client_thinks_between_objects_and_asks_for_sizes_over_and_over() {
    let wanted = Requests { count: Some(5), think_s: 0.5, ..requests(&[100, 200]) };
    let mut world = World::new(Kind::quic(), &wanted);
    world.run(seconds(60.0));
    let rows = world.rows(CLIENT);
    let sizes = numbers(&rows, wanted.columns(), "object_bytes");
    assert_eq!(sizes, [100.0, 200.0, 100.0, 200.0, 100.0]);
    let asked = numbers(&rows, wanted.columns(), "requested_s");
    assert!((asked[4] - 4.0 * 0.52).abs() < 1e-9, "{asked:?}");
}

#[test]
fn parallel_requests_are_under_way_together() {
    for kind in [Kind::tcp(), Kind::quic()] {
        let wanted = Requests { count: Some(6), parallel: 3, ..requests(&[700]) };
        let mut world = World::new(kind, &wanted);
        world.run(seconds(60.0));
        let asked = numbers(&world.rows(CLIENT), wanted.columns(), "requested_s");
        assert_eq!(asked, [0.0, 0.0, 0.0, 0.02, 0.02, 0.02]);
    }
}

#[test]
fn a_request_that_is_not_answered_in_time_has_no_completion() {
    let wanted = Requests { count: Some(3), ..requests(&[700]) };
    let mut world = World::new(Kind::tcp(), &wanted);
    world.run(seconds(0.025));
    let rows = world.rows(CLIENT);
    let took = column(&rows, wanted.columns(), "completion_ms");
    assert_eq!(took, [Cell::Number(20.0), Cell::Nothing]);
    assert!(!world.ends[CLIENT].is_done());
}

#[test]
fn an_upload_is_complete_when_the_server_confirms_it() {
    for kind in [Kind::tcp(), Kind::quic()] {
        let wanted = Requests { direction: Direction::Up, ..requests(&[1000, 25_000]) };
        let mut world = World::new(kind, &wanted);
        world.run(seconds(10.0));
        let took = numbers(&world.rows(CLIENT), wanted.columns(), "completion_ms");
        // The second takes two more windows of 10 000 bytes, each of which opens when it is read.
        assert_eq!(took, [20.0, 40.0]);
    }
}
