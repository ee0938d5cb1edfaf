use crate::{AckPolicy, Prr, RTO_INITIAL, RTO_MAX, RttEstimator, Scoreboard, UndoPoint};
use proptest::prelude::*;
use units::{Duration, Instant};

mod in_order;
mod rates;
mod reduction;
mod reordering;
mod timeouts;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

#[test]
fn first_sample_follows_rfc_6298_with_the_linux_floor() {
    let mut rtt = RttEstimator::default();
    assert_eq!(rtt.rto(0), RTO_INITIAL);
    rtt.on_sample(ms(60), 1, 10);
    assert_eq!(rtt.srtt(), ms(60));
    assert_eq!(rtt.mdev(), ms(30));
    assert_eq!(rtt.rto(0), ms(260)); // 4 * 30 ms is below the 200 ms floor
    assert_eq!(rtt.rto(1), ms(520));
    assert_eq!(rtt.rto(30), RTO_MAX);
}

#[test]
fn steady_rtt_keeps_rttvar_at_200_ms_while_mdev_vanishes() {
    let mut rtt = RttEstimator::default();
    for packet in 0..500 {
        rtt.on_sample(ms(108), packet, packet + 20);
    }
    assert!(rtt.rttvar_kernel() >= ms(200) && rtt.rttvar_kernel() < ms(200) + ms(1));
    assert!(rtt.mdev() < ms(1), "{:?}", rtt.mdev());
}

#[test]
fn a_falling_rtt_does_not_raise_the_timeout_much() {
    let mut falling = RttEstimator::default();
    let mut rising = RttEstimator::default();
    for packet in 0..100 {
        falling.on_sample(ms(300), packet, packet + 1);
        rising.on_sample(ms(300), packet, packet + 1);
    }
    falling.on_sample(ms(100), 101, 102);
    rising.on_sample(ms(500), 101, 102);
    assert!(falling.mdev() < ms(10), "{:?}", falling.mdev());
    assert!(rising.mdev() > ms(45), "{:?}", rising.mdev());
}

#[test]
fn prr_comes_down_to_ssthresh_over_one_round() {
    // RFC 6937 Figure 2 in spirit: cwnd 20 to 10; one lost, the rest are acknowledged one by one.
    let mut prr = Prr::new(20, 10);
    let mut in_flight = 19_u64;
    let mut sent = 0;
    for _ in 0..19 {
        in_flight -= 1;
        prr.on_ack(1, in_flight, false);
        while in_flight < prr.cwnd() {
            prr.on_sent();
            in_flight += 1;
            sent += 1;
        }
    }
    assert_eq!(prr.cwnd(), 10);
    assert_eq!(sent, 10); // every second acknowledgement lets one packet leave
}

fn board(packets: u64) -> Scoreboard<()> {
    let mut board = Scoreboard::default();
    for seq in 0..packets {
        assert_eq!(board.on_sent(at(seq), (), 1448), seq);
    }
    board
}

#[test]
fn three_sacks_prove_a_loss_at_once_and_two_only_after_a_quarter_rtt() {
    let mut rtt = RttEstimator::default();
    let mut board = board(10);
    board.on_ack(at(60), 1, [], at(60), &mut rtt);
    board.on_ack(at(63), 1, [(2, 4)], at(63), &mut rtt);
    let (lost, timer) = board.detect_losses(at(63), &rtt, false);
    assert_eq!(lost.packets, 0);
    assert_eq!(timer, Some(at(1) + ms(60) + ms(60) / 4));
    board.on_ack(at(64), 1, [(2, 5)], at(64), &mut rtt);
    let (lost, _) = board.detect_losses(at(64), &rtt, false);
    assert_eq!(lost.packets, 1);
    assert_eq!(board.next_lost(), Some(1));
    assert_eq!(board.in_flight_packets(), 5); // 5..10
}

#[test]
fn a_lost_retransmission_is_found_by_time() {
    let mut rtt = RttEstimator::default();
    let mut board = board(20);
    board.on_ack(at(60), 1, [], at(60), &mut rtt);
    board.on_ack(at(64), 1, [(2, 5)], at(64), &mut rtt);
    board.detect_losses(at(64), &rtt, false);
    board.on_retransmitted(at(65), 1);
    let new = board.on_sent(at(70), (), 1448);
    // The packet sent after the retransmission arrives, the retransmission does not.
    board.on_ack(at(130), 1, [(2, new + 1)], at(130), &mut rtt);
    let (lost, _) = board.detect_losses(at(130), &rtt, true);
    assert_eq!((lost.packets, board.next_lost()), (1, Some(1)));
}

/// The window for reordering stays zero: the third SACK after it proves a loss at once.
#[test]
fn one_acknowledgement_of_data_and_of_a_later_block_is_no_reordering() {
    let mut rtt = RttEstimator::default();
    let mut board = board(20);
    board.on_ack(at(60), 1, [], at(60), &mut rtt);
    // 1 waited for a delayed ACK until 3 came and 2 did not.
    board.on_ack(at(63), 2, [(3, 4)], at(61), &mut rtt);
    // The acknowledgement that reported 5 was lost: two blocks are new at once.
    board.on_ack(at(67), 2, [(3, 4), (5, 6), (7, 8)], at(61), &mut rtt);
    let (lost, timer) = board.detect_losses(at(67), &rtt, false);
    assert_eq!((lost.packets, timer), (3, None)); // 2, 4, 6
}

#[test]
fn a_block_that_comes_late_is_reordering_and_losses_wait_for_a_quarter_rtt() {
    let mut rtt = RttEstimator::default();
    let mut board = board(20);
    board.on_ack(at(60), 1, [], at(60), &mut rtt);
    board.on_ack(at(64), 1, [(3, 4)], at(61), &mut rtt);
    board.on_ack(at(65), 1, [(2, 4)], at(61), &mut rtt);
    board.on_ack(at(66), 1, [(2, 6)], at(61), &mut rtt);
    let (lost, timer) = board.detect_losses(at(66), &rtt, false);
    assert_eq!((lost.packets, timer), (0, Some(at(1) + ms(61) + ms(60) / 4)));
}

#[test]
fn a_retransmission_is_out_until_it_is_acknowledged_or_lost() {
    let mut rtt = RttEstimator::default();
    let mut board = board(10);
    board.on_ack(at(60), 1, [(2, 6)], at(60), &mut rtt);
    board.detect_losses(at(66), &rtt, true);
    assert!(!board.has_retransmission_out());
    board.on_retransmitted(at(66), 1);
    assert!(board.has_retransmission_out());
    board.on_ack(at(126), 6, [], at(66), &mut rtt);
    assert!(!board.has_retransmission_out());
}

#[test]
fn a_spurious_timeout_can_be_undone() {
    let mut rtt = RttEstimator::default();
    let mut board = board(4);
    assert_eq!(board.on_timeout().packets, 4);
    assert_eq!(board.in_flight_packets(), 0);
    let mut undo = UndoPoint::default();
    assert!(!undo.is_spurious(at(0)));
    board.on_retransmitted(at(300), 0);
    undo.on_retransmitted(at(300));
    assert!(undo.is_spurious(at(0)));
    assert!(!undo.is_spurious(at(300)));
    board.on_ack(at(310), 1, [], at(310), &mut rtt);
    assert_eq!(board.unmark_lost(), 3);
    assert_eq!(board.in_flight_packets(), 3);
    board.on_ack(at(320), 4, [], at(320), &mut rtt);
    assert!(board.is_empty());
}

#[test]
fn delivery_rate_is_the_bottleneck_rate() {
    // One packet of 1,448 bytes per millisecond in and out, 50 ms apart.
    let mut rtt = RttEstimator::default();
    let mut board = Scoreboard::default();
    let mut sample = None;
    for step in 0..300 {
        if step >= 50 {
            sample = board.on_ack(at(step), step - 49, [], at(step), &mut rtt).sample.or(sample);
        }
        board.on_sent(at(step), (), 1448);
    }
    let sample = sample.unwrap();
    let bps = sample.delivered_bytes as f64 * 8.0 / sample.interval.as_secs_f64();
    assert!((bps / 11.584e6 - 1.0).abs() < 0.03, "{bps}");
    assert!(!sample.app_limited);
}

/// The first 16, and 16 more after a silence of more than a retransmission timeout
/// (`tcp_event_data_recv`); between them more than one full segment, or what is there after 40 ms.
#[test]
fn acknowledgements_are_quick_at_first_then_every_second_or_40_ms() {
    let mut policy = AckPolicy::default();
    let data = |policy: &mut AckPolicy, millis, bytes, in_order| {
        policy.on_data(at(millis), bytes, in_order, ms(250));
        policy.is_due()
    };
    for start in [0, 267 + 20] {
        for packet in 0..16 {
            assert!(data(&mut policy, start + packet, 1448, true));
            policy.on_ack_sent();
        }
        assert!(!data(&mut policy, start + 16, 1448, true));
        assert_eq!(policy.deadline(), Some(at(start + 56)));
        assert!(data(&mut policy, start + 17, 1448, true));
        policy.on_ack_sent();
        assert!(data(&mut policy, start + 18, 1448, false));
        policy.on_ack_sent();
        assert!(!data(&mut policy, start + 20, 1448, true), "not silent for long enough");
        policy.on_ack_sent();
    }
}

/// `__tcp_ack_snd_check` counts bytes against the longest segment; `tcp_cleanup_rbuf` flushes what ended
/// a write when the application has read everything.
#[test]
fn short_segments_are_acknowledged_when_they_are_read() {
    let mut policy = AckPolicy::default();
    for packet in 0..16 {
        policy.on_data(at(packet), 1200, true, ms(250));
    }
    policy.on_ack_sent();
    let mut due = Vec::new();
    for (packet, bytes) in [1184, 16, 1184, 16, 1184, 16].into_iter().enumerate() {
        policy.on_data(at(20 + packet as u64), bytes, true, ms(250));
        due.push(policy.is_due());
        if policy.is_due() {
            policy.on_ack_sent();
        }
    }
    assert_eq!(due, [false, false, true, false, false, true]);
    policy.on_data(at(28), 16, true, ms(250));
    policy.on_all_read();
    assert!(policy.is_due());
    policy.on_ack_sent();
    policy.on_data(at(30), 1200, true, ms(250));
    policy.on_all_read();
    assert!(!policy.is_due(), "a full segment waits");
}

proptest! {
    /// Whatever a network acknowledges, the counters stay consistent and nothing panics.
    #[test]
    fn counters_always_add_up(ops in prop::collection::vec((0_u8..5, 0_u64..40, 0_u64..12), 1..200)) {
        let mut rtt = RttEstimator::default();
        let mut board: Scoreboard<u64> = Scoreboard::default();
        let mut now = Instant::ZERO;
        for (op, a, b) in ops {
            now += ms(1 + b);
            match op {
                0 | 1 => { board.on_sent(now, a, 1000 + a); }
                2 => { board.on_ack(now, board.una() + a % 4, [(board.una() + a, board.una() + a + b)], now, &mut rtt); }
                3 => { if let Some(seq) = board.next_lost() { board.on_retransmitted(now, seq); } }
                _ => if a == 0 { board.on_timeout(); } else if a == 1 { board.unmark_lost(); } else { board.detect_losses(now, &rtt, a % 2 == 0); }
            }
            let outstanding = board.next() - board.una();
            prop_assert_eq!(outstanding, board.in_flight_packets() + board.sacked_packets() + board.lost_packets());
        }
    }
}

/// Linux counts packets: a short one is a whole one to windows and rate samples.
#[test]
fn a_counting_scoreboard_takes_a_short_packet_for_a_full_one() {
    let mut rtt = RttEstimator::default();
    let mut board = Scoreboard::counting(1448);
    for (sent, bytes) in [(0, 1420), (1, 8)] {
        board.on_sent(at(sent), (), bytes);
    }
    assert_eq!(board.in_flight_bytes(), 2 * 1448);
    let outcome = board.on_ack(at(100), 2, [], at(1), &mut rtt);
    assert_eq!((outcome.delivered_bytes, outcome.payload_bytes), (2 * 1448, 1428));
    assert_eq!((board.delivered_bytes(), board.in_flight_bytes()), (2 * 1448, 0));
    assert_eq!(outcome.sample.map(|sample| sample.delivered_bytes), Some(2 * 1448));
}
