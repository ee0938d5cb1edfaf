//! The sending side of one subflow: window, losses, timeouts, rest.

use super::{MSS, at, ms};
use crate::config::Mode;
use crate::segment::{Kind, Sacks, Segment};
use crate::subflow::{CaState, Mapping, SubflowSender};
use congestion::{Algorithm, Config};
use units::Instant;

fn sender(mode: Mode, segments: u64) -> SubflowSender {
    let cc = Algorithm::NewReno.build(Config::new(mode.counted_bytes(), 1));
    let mut sender = SubflowSender::new(mode, cc);
    (0..segments).for_each(|n| sender.assign(Mapping { dsn: n * MSS, bytes: MSS }));
    sender
}

fn sent(sender: &mut SubflowSender, now: Instant) -> Vec<u64> {
    std::iter::from_fn(|| sender.transmit(now)).map(|payload| payload.seq).collect()
}

/// An acknowledgement of everything before `ack` and of one block.
fn ack(ack: u64, block: Option<(u64, u64)>, echo: Instant) -> Segment {
    let mut sacks = Sacks::default();
    block.into_iter().for_each(|block| sacks.push(block));
    Segment {
        kind: Kind::Data,
        incarnation: 1,
        payload: None,
        ack,
        sacks,
        duplicate: false,
        data_ack: ack * MSS,
        window_end: 1 << 40,
        sent_at: echo,
        echo,
        removed: None,
        wire_bytes: 64,
    }
}

#[test]
fn ten_segments_leave_at_first_and_each_acknowledged_one_lets_two_more() {
    let mut one = sender(Mode::V096, 40);
    assert_eq!(sent(&mut one, at(0)), (0..10).collect::<Vec<_>>());
    assert!(!one.has_room());
    let effects = one.on_ack(at(50), &ack(2, None, at(0)));
    assert_eq!((effects.acked_bytes, effects.delivered), (2 * MSS, Some((2 * MSS, 2 * MSS))));
    assert_eq!(sent(&mut one, at(50)), [10, 11, 12, 13], "slow start (RFC 5681 §3.1)");
    assert_eq!(one.rtt.srtt(), ms(50));
}

/// What waits for the window is one stream (`mptcp_sendmsg_frag` fills the last segment that is unsent):
/// small writes leave as full segments upstream.
#[test]
fn segments_that_wait_are_filled_up_upstream() {
    for (mode, sizes) in
        [(Mode::Upstream, [1424, 976].as_slice()), (Mode::V096, &[16, 1184, 16, 1184])]
    {
        let mut one = sender(mode, 10);
        sent(&mut one, at(0));
        let mut dsn = 20 * MSS;
        for bytes in [16, 1184, 16, 1184] {
            one.assign(Mapping { dsn, bytes });
            dsn += bytes;
        }
        one.on_ack(at(50), &ack(10, None, at(0)));
        let left: Vec<_> = std::iter::from_fn(|| one.transmit(at(50))).collect();
        assert_eq!(left.iter().map(|payload| payload.bytes).collect::<Vec<_>>(), sizes);
        assert!(left.windows(2).all(|two| two[0].dsn + two[0].bytes == two[1].dsn));
    }
}

#[test]
fn room_is_free_window_in_v096_and_send_memory_upstream() {
    let (mut old, mut new) = (sender(Mode::V096, 10), sender(Mode::Upstream, 10));
    for one in [&mut old, &mut new] {
        sent(one, at(0));
    }
    assert!(!old.has_room(), "the window is full");
    assert!(new.has_room(), "twice the window fits into the memory");
    (10..30).for_each(|n| new.assign(Mapping { dsn: n * MSS, bytes: MSS }));
    assert!(!new.has_room());
    assert_eq!(new.unacked_bytes(), 10 * Mode::Upstream.mss_bytes() + 20 * MSS);
}

#[test]
fn three_sacked_segments_repair_the_hole_and_end_when_the_episode_is_acknowledged() {
    let mut one = sender(Mode::V096, 40);
    sent(&mut one, at(0));
    one.on_ack(at(50), &ack(1, None, at(0)));
    let effects = one.on_ack(at(53), &ack(1, Some((2, 5)), at(0)));
    assert_eq!((effects.recovery, effects.lost_bytes), (Some(1), MSS));
    assert_eq!(one.ca(), CaState::Recovery);
    let repaired = sent(&mut one, at(53));
    assert_eq!(repaired[0], 1, "the hole first");
    assert_eq!(one.stats.retransmitted_packets, 1);
    one.on_ack(at(103), &ack(10, None, at(53)));
    one.on_ack(at(104), &ack(11, None, at(53)));
    assert_eq!(one.ca(), CaState::Open);
}

/// `tcp_update_pacing_rate` runs with an acknowledgement: what cuts the window between two leaves the rate.
#[test]
fn the_pacing_rate_is_that_of_the_last_acknowledgement() {
    let mut one = sender(Mode::Upstream, 400);
    for round in 0..4 {
        let last = sent(&mut one, at(50 * round)).pop().unwrap();
        one.on_ack(at(50 * round + 50), &ack(last + 1, None, at(50 * round)));
    }
    let (rate, window) = (one.pacing_rate(), one.cwnd_packets());
    sent(&mut one, at(200));
    one.on_timer(one.rto_at()); // a probe of the tail
    one.on_timer(one.rto_at()); // and the timeout
    assert!(one.cwnd_packets() < window / 4, "{} {window}", one.cwnd_packets());
    assert_eq!(one.pacing_rate(), rate);
}

/// RFC 6298 (5.4) to (5.6): the first segment is retransmitted, the timer doubles.
#[test]
fn a_timeout_marks_all_lost_repairs_the_head_and_backs_off() {
    let mut one = sender(Mode::V096, 10);
    sent(&mut one, at(0));
    one.on_ack(at(50), &ack(1, None, at(0)));
    let mut fired_at = one.rto_at();
    assert_eq!(fired_at, at(50) + one.rto());
    for times in 1..=3 {
        let before = one.rto();
        let (effects, _) = one.on_timer(fired_at);
        assert_eq!(effects.timeout, Some(times));
        assert_eq!(one.rto(), before * 2);
        assert_eq!(one.rto_at(), fired_at + one.rto());
        assert_eq!(sent(&mut one, fired_at), [1], "a window of one segment");
        fired_at = one.rto_at();
    }
    assert_eq!(one.ca(), CaState::Loss);
    one.on_ack(fired_at, &ack(10, None, fired_at));
    assert_eq!((one.ca(), one.rto_at(), one.is_idle()), (CaState::Open, Instant::FAR_FUTURE, true));
}

/// RFC 8985 §7.2: after two smoothed RTTs without a sign, the last segment.
#[test]
fn a_silent_tail_is_probed_before_the_timeout() {
    let mut one = sender(Mode::V096, 4);
    sent(&mut one, at(0));
    one.on_ack(at(50), &ack(1, None, at(0)));
    assert_eq!(one.next_timer(), at(50) + ms(100));
    let (effects, probe) = one.on_timer(at(150));
    assert_eq!(effects.timeout, None);
    assert_eq!(probe.map(|payload| payload.seq), Some(3));
    assert_eq!(one.next_timer(), one.rto_at(), "one probe a flight");
}

#[test]
fn an_early_timeout_is_undone_by_the_echo_of_what_left_before_it() {
    let mut one = sender(Mode::V096, 10);
    sent(&mut one, at(0));
    one.on_ack(at(50), &ack(1, None, at(0)));
    let window = one.cwnd_packets();
    let late = one.rto_at();
    one.on_timer(late);
    sent(&mut one, late);
    assert_eq!(one.cwnd_packets(), 1);
    let effects = one.on_ack(late + ms(5), &ack(2, None, at(0)));
    assert!(effects.undone, "RFC 3522: the original arrived");
    assert!(one.cwnd_packets() >= window);
    assert_eq!((one.stats.undone, one.ca()), (1, CaState::Open));
}

#[test]
fn a_path_at_rest_sends_nothing_and_names_what_it_holds_back() {
    let mut one = sender(Mode::V096, 12);
    sent(&mut one, at(0));
    one.on_ack(at(50), &ack(1, None, at(0)));
    assert!(one.rest(at(60), Some(at(5000))), "two segments wait in its queue");
    assert_eq!(sent(&mut one, at(60)), Vec::<u64>::new());
    assert_eq!(one.held_back().map(|piece| piece.dsn / MSS).collect::<Vec<_>>(), [10, 11]);
    one.on_timer(one.rto_at());
    assert_eq!(one.stats.timeouts, 0, "silence is its own");
    assert_eq!(one.held_back().count(), 11, "what is overdue, too");
    assert!(!one.rest(at(5000), None));
    assert_eq!(one.rto_at(), at(5000), "no sign of it at all: it is repaired at once");
}
