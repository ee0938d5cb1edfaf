use super::world::*;
use crate::*;

fn paced(direction: Ways) -> Paced {
    Paced {
        direction,
        rate_mbps: 0.8,
        piece_bytes: 1000,
        deadline_ms: 50.0,
        duration_s: 1.0,
        on_s: None,
        off_s: None,
        reliable: false,
        ease: None,
    }
}

fn flags(rows: &[Row], columns: &[Column], name: &str) -> usize {
    column(rows, columns, name).iter().filter(|cell| **cell == Cell::Flag(true)).count()
}

#[test]
fn pieces_leave_at_their_rate_and_arrive_after_the_delay() {
    for kind in [Kind::tcp(), Kind::quic()] {
        let call = paced(Ways::Up);
        let mut world = World::new(kind, &call);
        world.run(seconds(1.0));
        let rows = world.rows(SERVER);
        // One in 10 ms; those of the last 50 ms are not judged.
        let sent = numbers(&rows, call.columns(), "sent_s");
        assert_eq!((sent.len(), sent[0], sent[95]), (96, 0.0, 0.95));
        assert!(numbers(&rows, call.columns(), "delay_ms").iter().all(|ms| *ms == 10.0));
        assert_eq!(flags(&rows, call.columns(), "late") + flags(&rows, call.columns(), "lost"), 0);
        assert!(world.rows(CLIENT).is_empty(), "a sender has nothing to say");
    }
}

#[test]
fn a_call_has_rows_of_both_directions() {
    let call = paced(Ways::Both);
    let mut world = World::new(Kind::quic(), &call);
    world.run(seconds(1.0));
    for (side, way) in [(CLIENT, "down"), (SERVER, "up")] {
        let rows = world.rows(side);
        assert_eq!(rows.len(), 96);
        let ways = column(&rows, call.columns(), "direction");
        assert!(ways.iter().all(|cell| *cell == Cell::Word(way)));
    }
}

#[test]
fn what_a_datagram_loses_is_lost_and_what_a_stream_delays_is_late() {
    let call = paced(Ways::Up);
    let kind = Kind { loses_each: 4, ..Kind::quic() };
    let mut world = World::new(kind, &call);
    world.run(seconds(1.0));
    assert_eq!(flags(&world.rows(SERVER), call.columns(), "lost"), 24);

    // A window of half a piece each way admits half of the rate: the backlog makes pieces late.
    let kind = Kind { window_bytes: 500, ..Kind::tcp() };
    let mut world = World::new(kind, &call);
    world.run(seconds(1.0));
    let rows = world.rows(SERVER);
    assert!(flags(&rows, call.columns(), "late") > 0);
    assert_eq!(rows.len(), 96, "pieces under way count, too");
}

#[test]
fn pieces_that_do_not_fit_into_a_datagram_or_are_to_be_reliable_take_a_stream() {
    let big = Paced { piece_bytes: 20_000, rate_mbps: 8.0, ..paced(Ways::Up) };
    let reliable = Paced { reliable: true, ..paced(Ways::Up) };
    for one in [big, reliable] {
        let kind = Kind { loses_each: 1, window_bytes: 100_000, ..Kind::quic() };
        let mut world = World::new(kind, &one);
        world.run(seconds(1.0));
        assert_eq!(flags(&world.rows(SERVER), one.columns(), "lost"), 0);
    }
}

#[test]
fn pieces_come_in_the_times_that_are_on() {
    let call = Paced { on_s: Some(0.1), off_s: Some(0.3), ..paced(Ways::Down) };
    let mut world = World::new(Kind::quic(), &call);
    world.run(seconds(1.0));
    let sent = numbers(&world.rows(CLIENT), call.columns(), "sent_s");
    assert_eq!(sent.len(), 30);
    assert!(sent.iter().all(|at| at.rem_euclid(0.4) < 0.1 - 1e-9), "{sent:?}");
}
