//! The parts below an endpoint, and pairs of endpoints; whole runs are tested over links, in
//! `crates/sim`.

use crate::Payload;
use crate::meta::{Cuts, ReceiveBuffer, SendBuffer};
use crate::subflow::SubflowReceiver;
use proptest::prelude::*;
use scheduler::PathSet;
use std::collections::BTreeSet;
use units::{Duration, Instant, PathId};

mod handshakes;
mod pacing;
mod pairs;
mod removals;
mod senders;
mod windows;

const MSS: u64 = 1428;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// Upstream sends what the receive window still admits, however short; v0.96 waits for more room.
#[test]
fn a_segment_is_cut_at_the_end_of_the_window_upstream() {
    for (upstream, expected) in [(false, MSS), (true, 100)] {
        let send = SendBuffer::new(1 << 40, MSS);
        let mut send = if upstream { send.cutting(Cuts::upstream()) } else { send };
        send.offer(10 * MSS);
        send.on_data_ack(0, MSS + 100);
        assert_eq!(send.next_new(), Some((0, MSS)));
        send.on_assigned(0, MSS, PathSet::EMPTY);
        assert_eq!(send.next_new(), Some((MSS, expected)));
        assert_eq!(send.fits(MSS + expected), upstream);
    }
}

/// Two fragments of 32,728 bytes are a burst; a write has 256 KiB, and its end shows if all of it
/// left before the application wrote on.
#[test]
fn upstream_ends_segments_with_bursts_and_with_writes_that_left_at_once() {
    let ends = |held_up_at: Option<u64>| {
        let mut send = SendBuffer::new(1 << 40, MSS).cutting(Cuts::upstream());
        send.offer(1 << 20);
        send.on_data_ack(0, 1 << 40);
        let mut short = Vec::new();
        while let Some((dsn, bytes)) = send.next_new().filter(|next| next.0 < 300_000) {
            if held_up_at.is_some_and(|at| dsn >= at) {
                send.on_held_up();
            }
            send.on_assigned(dsn, bytes, PathSet::EMPTY);
            short.extend((bytes < MSS).then_some(dsn + bytes));
        }
        short
    };
    let bursts = [65_456, 130_912, 196_368, 261_824];
    assert_eq!(ends(Some(200_000)), bursts);
    assert_eq!(ends(None), [&bursts[..], &[1 << 18]].concat());
}

/// A head of 8 bytes and what follows it are two writes, unless the first has to wait.
#[test]
fn upstream_ends_a_segment_with_each_write_that_left_before_the_next() {
    for held_up in [false, true] {
        let mut send = SendBuffer::new(1 << 40, MSS).cutting(Cuts::upstream());
        send.on_data_ack(0, 1 << 40);
        send.offer(8);
        assert!(send.write_begins() && !send.write_begins());
        if held_up {
            send.on_held_up();
        }
        send.offer(2000);
        let first = if held_up { MSS } else { 8 };
        assert_eq!(send.next_new(), Some((0, first)));
        send.on_assigned(0, first, PathSet::EMPTY);
        assert_eq!(send.write_begins(), !held_up);
        assert_eq!(send.next_new(), Some((first, (2008 - first).min(MSS))));
    }
}

/// `sk_stream_is_writeable`: an application that filled the buffer writes on when a third of it is free.
#[test]
fn a_writer_that_was_cut_short_waits_for_a_third_of_the_buffer_upstream() {
    for (upstream, unsent_segments) in [(true, [0, 3]), (false, [2, 3])] {
        let send = SendBuffer::new(9 * MSS, MSS);
        let mut send = if upstream { send.cutting(Cuts::upstream()) } else { send };
        send.on_data_ack(0, 1 << 40);
        send.offer(1 << 30);
        while let Some((dsn, bytes)) = send.next_new() {
            send.on_assigned(dsn, bytes, PathSet::EMPTY);
        }
        for (acked, unsent) in [2, 3].into_iter().zip(unsent_segments) {
            send.on_data_ack(acked * MSS, 1 << 40);
            assert_eq!(send.unsent_bytes(), unsent * MSS);
        }
    }
}

/// Plain TCP without Nagle's algorithm: a head leaves alone, and nothing else is cut.
#[test]
fn plain_tcp_ends_segments_with_what_was_offered_at_once() {
    let mut send = SendBuffer::new(1 << 40, MSS).cutting(Cuts::writes());
    send.on_data_ack(0, 1 << 40);
    send.offer(8);
    send.offer(300_000);
    let mut short = Vec::new();
    while let Some((dsn, bytes)) = send.next_new() {
        send.on_assigned(dsn, bytes, PathSet::EMPTY);
        short.extend((bytes < MSS).then_some(dsn + bytes));
    }
    assert_eq!(short, [8, 300_008]);
}

#[test]
fn what_was_sent_before_a_place_leaves_out_holes_and_what_is_acknowledged() {
    let mut send = SendBuffer::new(1 << 40, MSS);
    send.on_data_ack(0, 1 << 40);
    send.offer(6 * MSS);
    for segment in 0..2 {
        send.on_assigned(segment * MSS, MSS, PathSet::EMPTY);
    }
    let ahead = send.pass_over_to(3 * MSS).unwrap();
    send.on_assigned(ahead.0, ahead.1, PathSet::EMPTY);
    send.on_data_ack(MSS, 1 << 40);
    let sent = |end| send.sent_before(end).iter().map(|one| one.dsn / MSS).collect::<Vec<_>>();
    assert_eq!(sent(3 * MSS + 1), [1, 3]);
    assert_eq!(sent(3 * MSS), [1]);
}

fn filled(limit_bytes: u64, segments: u64) -> SendBuffer {
    let mut send = SendBuffer::new(limit_bytes, MSS);
    send.on_data_ack(0, 1 << 40);
    send.offer(segments * MSS);
    while let Some((_, bytes)) = send.next_new() {
        send.push_sent(bytes, PathSet::EMPTY.with(PathId(0)));
    }
    send
}

#[test]
fn the_send_buffer_bounds_what_lacks_its_data_ack() {
    let mut send = filled(10 * MSS, 100);
    assert_eq!(send.unsent_bytes(), 0);
    assert!(send.is_full());
    assert!(send.on_data_ack(3 * MSS, 1 << 40));
    assert_eq!(send.unsent_bytes(), 3 * MSS);
    assert!(!send.on_data_ack(2 * MSS, 1 << 40), "an old DATA_ACK changes nothing");
    assert_eq!(send.unsent_bytes(), 3 * MSS);
}

#[test]
fn a_short_segment_leaves_only_at_the_end_or_when_nothing_is_outstanding() {
    let mut send = SendBuffer::new(MSS + 100, MSS);
    send.offer(10 * MSS);
    assert_eq!(send.next_new(), Some((0, MSS)));
    send.push_sent(MSS, PathSet::EMPTY);
    assert_eq!(send.next_new(), None, "the send buffer cut it short: wait");
    let mut end = SendBuffer::new(1 << 30, MSS);
    end.offer(MSS + 5);
    end.push_sent(MSS, PathSet::EMPTY);
    assert_eq!(end.next_new(), Some((MSS, 5)));
}

#[test]
fn reinjections_go_in_the_order_of_the_stream_and_end_with_the_data_ack() {
    let mut send = filled(1 << 30, 5);
    assert!(send.reinject(3 * MSS) && send.reinject(MSS));
    assert!(!send.reinject(MSS), "queued once");
    assert!(!send.reinject(17), "no segment begins there");
    assert_eq!(send.next_reinjection().unwrap().dsn, MSS);
    send.on_data_ack(2 * MSS, 1 << 40);
    assert_eq!(send.next_reinjection().unwrap().dsn, 3 * MSS);
    send.on_reinjected(3 * MSS, MSS);
    assert!(send.next_reinjection().is_none());
    assert_eq!(send.reinject_all(), 3);
}

#[test]
fn a_closed_path_counts_as_untried_afterwards() {
    let mut send = filled(1 << 30, 2);
    assert!(send.head().unwrap().carried_by.contains(PathId(0)));
    send.forget_path(PathId(0));
    assert!(!send.head().unwrap().carried_by.contains(PathId(0)));
}

#[test]
fn what_was_passed_over_comes_next_and_is_sent_once() {
    let mut send = SendBuffer::new(1 << 30, MSS);
    send.on_data_ack(0, 10 * MSS);
    send.offer(8 * MSS + 5);
    assert_eq!(send.pass_over_to(2 * MSS), Some((2 * MSS, MSS)));
    send.on_assigned(2 * MSS, MSS, PathSet::EMPTY.with(PathId(1)));
    assert_eq!(send.unsent_bytes(), 7 * MSS + 5);
    assert_eq!(send.next_new(), Some((0, MSS)));
    assert_eq!(send.pass_over_to(1), Some((MSS, MSS)), "a hole that is there already");
    assert!(!send.reinject(0), "not sent yet: nothing to repeat");
    send.on_assigned(0, MSS, PathSet::EMPTY.with(PathId(0)));
    assert_eq!(send.next_new(), Some((MSS, MSS)));
    assert_eq!(send.pass_over_to(7 * MSS + 1), Some((8 * MSS, 5)), "the short end of the data");
    assert_eq!(send.reinject_all(), 2, "holes are no losses");
    assert_eq!(send.unsent_bytes(), 6 * MSS + 5);
}

#[test]
fn nothing_is_passed_over_beyond_the_data_or_the_window() {
    let mut send = SendBuffer::new(1 << 30, MSS);
    send.on_data_ack(0, 4 * MSS);
    send.offer(8 * MSS);
    assert_eq!(send.pass_over_to(8 * MSS), None);
    assert_eq!(send.pass_over_to(3 * MSS + 1), None, "ends beyond the window");
    assert_eq!((send.unsent_bytes(), send.next_new()), (8 * MSS, Some((0, MSS))));
    assert_eq!(send.pass_over_to(3 * MSS), Some((3 * MSS, MSS)));
}

#[test]
fn out_of_order_data_close_the_window_and_its_edge_never_goes_back() {
    let mut receive = ReceiveBuffer::new(10_000, false, MSS);
    assert_eq!(receive.advertise(0), 10_000);
    assert_eq!(receive.insert(2000, 3000), 3000);
    assert_eq!(receive.advertise(0), 10_000, "promised is promised");
    assert_eq!(receive.insert(0, 1000), 1000);
    receive.consume(u64::MAX);
    // Next is 1000 and 3000 bytes wait: 1000 + 7000 is less than what was promised.
    assert_eq!(receive.advertise(0), 10_000);
    assert_eq!(receive.insert(1000, 1000), 1000);
    assert_eq!((receive.next(), receive.waiting_bytes()), (5000, 0));
    receive.consume(u64::MAX);
    assert_eq!(receive.advertise(0), 15_000);
    assert_eq!(receive.insert(4000, 2000), 1000, "half of it is known");
    assert_eq!(receive.duplicate_bytes(), 1000);
}

/// From 65,535 bytes up: twice what was read in the best round trip and more while that grows, and
/// what waits for a hole.
#[test]
fn autotuning_makes_room_for_twice_a_round_trip_up_to_the_limit() {
    let mut receive = ReceiveBuffer::new(1_000_000, true, 1000);
    let rtt = Duration::from_millis(100);
    assert_eq!(receive.advertise(0), 65_535);
    receive.insert(0, 20_000);
    receive.consume(u64::MAX);
    receive.autotune(at(99), || rtt);
    assert_eq!(receive.advertise(0), 20_000 + 65_535, "the round is not over");
    receive.autotune(at(100), || rtt);
    // Twice the 10,000 of the round before: 40,000, and twice the growth of that, 40,000.
    assert_eq!(receive.advertise(0), 20_000 + 120_000);
    receive.insert(20_000, 10_000);
    receive.consume(u64::MAX);
    receive.autotune(at(200), || rtt);
    assert_eq!(receive.advertise(0), 30_000 + 120_000, "a slow round takes nothing back");
    receive.insert(130_000, 20_000);
    receive.consume(u64::MAX);
    assert_eq!(receive.advertise(0), 30_000 + 240_000 - 20_000, "room behind what waits");
    receive.insert(30_000, 100_000);
    receive.consume(u64::MAX);
    receive.insert(150_000, 600_000);
    receive.consume(u64::MAX);
    receive.autotune(at(300), || rtt);
    assert_eq!(receive.advertise(0), 750_000 + 1_000_000, "up to the limit");
}

fn payload(seq: u64) -> Payload {
    Payload { seq, dsn: seq * MSS, bytes: MSS }
}

#[test]
fn sack_blocks_name_the_latest_change_first() {
    let mut receiver = SubflowReceiver::default();
    for seq in [2, 5, 6, 9] {
        receiver
            .on_payload(at(seq), payload(seq), at(0), ms(200), |_| panic!("nothing is in order"));
    }
    let blocks =
        |receiver: &SubflowReceiver, most| -> Vec<_> { receiver.sacks(most).ascending().collect() };
    assert_eq!(blocks(&receiver, 3), [(2, 3), (5, 7), (9, 10)]);
    assert_eq!(blocks(&receiver, 1), [(9, 10)]);
    receiver.on_payload(at(10), payload(3), at(0), ms(200), |_| ());
    assert_eq!(blocks(&receiver, 1), [(2, 4)], "it grew last");
}

#[test]
fn a_repeated_segment_is_reported_once_and_delivered_never_again() {
    let mut receiver = SubflowReceiver::default();
    let mut delivered = 0;
    receiver.on_payload(at(1), payload(0), at(0), ms(200), |_| delivered += 1);
    assert_eq!(receiver.on_ack_sent(), (false, at(0)));
    receiver.on_payload(at(2), payload(0), at(1), ms(200), |_| delivered += 1);
    assert!(receiver.acks.is_due());
    assert_eq!(receiver.on_ack_sent(), (true, at(0)));
    assert_eq!((delivered, receiver.on_ack_sent().0), (1, false));
}

proptest! {
    /// Any order, any repetition: each segment is handed up once and in order of the subflow; the
    /// connection above counts each byte once.
    #[test]
    fn each_byte_is_delivered_exactly_once(order in prop::collection::vec(0_u64..30, 1..200)) {
        let mut receiver = SubflowReceiver::default();
        let mut receive = ReceiveBuffer::new(1 << 30, false, MSS);
        let (mut next, mut fresh) = (0, 0);
        for seq in &order {
            receiver.on_payload(at(1), payload(*seq), at(0), ms(200), |piece| {
                assert_eq!(piece.seq, next);
                next += 1;
                fresh += receive.insert(piece.dsn, piece.bytes);
            });
        }
        let seen: BTreeSet<_> = order.iter().copied().collect();
        let in_order = (0..).take_while(|seq| seen.contains(seq)).count() as u64;
        prop_assert_eq!((next, receiver.next()), (in_order, in_order));
        prop_assert_eq!((fresh, receive.next()), (in_order * MSS, in_order * MSS));
        prop_assert_eq!(receiver.waiting_bytes(), (seen.len() as u64 - in_order) * MSS);
    }
}
