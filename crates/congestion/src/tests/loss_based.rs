//! What NewReno and CUBIC do to their windows, step by step, in packets.

use super::{MSS, RTT, ack, without_hystart};
use crate::{AckSample, Algorithm, Controller, LossSample};
use units::{Duration, Instant};

const NOW: Instant = Instant::from_millis(1000);
const BOTH: [Algorithm; 2] = [Algorithm::NewReno, Algorithm::Cubic];

fn classic(algorithm: Algorithm) -> Box<dyn Controller> {
    without_hystart(algorithm)
}

fn window(controller: &dyn Controller) -> u64 {
    controller.window_bytes() / MSS
}

fn ssthresh(controller: &dyn Controller) -> u64 {
    controller.ssthresh_bytes() / MSS
}

fn lose(controller: &mut dyn Controller, new_episode: bool) {
    let loss = LossSample {
        lost_bytes: MSS,
        in_flight_bytes: 10 * MSS,
        tx_in_flight_bytes: 10 * MSS,
        lost_since_sent_bytes: MSS,
        delivered_bytes: 0,
        new_episode,
    };
    controller.on_lost(NOW, &loss);
}

/// A controller in slow start with a window of 100 packets.
fn at_hundred(algorithm: Algorithm) -> Box<dyn Controller> {
    let mut controller = classic(algorithm);
    controller.on_acked(NOW, &ack(90));
    assert_eq!(window(&*controller), 100);
    controller
}

fn repairing(packets: u64) -> AckSample {
    AckSample { in_recovery: true, ..ack(packets) }
}

#[test]
fn slow_start_adds_what_was_acknowledged_when_the_window_was_the_limit() {
    for algorithm in BOTH {
        let mut controller = at_hundred(algorithm);
        controller.on_acked(NOW, &AckSample { window_limited: false, ..ack(50) });
        assert_eq!(window(&*controller), 100);
        assert_eq!(controller.ssthresh_bytes(), u64::MAX);
    }
}

#[test]
fn an_episode_reduces_once_and_nothing_grows_until_it_is_repaired() {
    for (algorithm, left) in [(Algorithm::NewReno, 50), (Algorithm::Cubic, 70)] {
        let mut controller = at_hundred(algorithm);
        lose(&mut *controller, true);
        lose(&mut *controller, false);
        controller.on_acked(NOW, &repairing(60));
        assert_eq!((window(&*controller), ssthresh(&*controller)), (left, left));
        assert!(controller.reduces_by_prr());
        controller.on_recovered(NOW);
        controller.on_acked(NOW + RTT, &ack(left + 1));
        controller.on_acked(NOW + 2 * RTT, &ack(left + 2));
        assert!(window(&*controller) > left, "{algorithm} does not grow again");
    }
}

#[test]
fn newreno_adds_one_packet_per_window() {
    let mut controller = at_hundred(Algorithm::NewReno);
    lose(&mut *controller, true);
    controller.on_recovered(NOW);
    for _ in 0..49 {
        controller.on_acked(NOW, &ack(1));
    }
    assert_eq!(window(&*controller), 50);
    controller.on_acked(NOW, &ack(1));
    controller.on_acked(NOW, &ack(1));
    assert_eq!(window(&*controller), 51);
}

#[test]
fn slow_start_stops_at_the_threshold_and_the_rest_counts_for_avoidance() {
    let mut controller = at_hundred(Algorithm::NewReno);
    controller.on_timeout(NOW, 100 * MSS, false);
    controller.on_acked(NOW, &repairing(49 + 100));
    assert_eq!(window(&*controller), 52); // 1 + 49, then 100/50
}

#[test]
fn after_a_timeout_slow_start_runs_during_the_repair() {
    for (algorithm, threshold) in [(Algorithm::NewReno, 50), (Algorithm::Cubic, 70)] {
        let mut controller = at_hundred(algorithm);
        controller.on_timeout(NOW, 100 * MSS, false);
        controller.on_timeout(NOW, MSS, true);
        assert_eq!((window(&*controller), ssthresh(&*controller)), (1, threshold));
        controller.on_acked(NOW, &repairing(1));
        controller.on_acked(NOW, &repairing(2));
        assert_eq!(window(&*controller), 4);
    }
}

#[test]
fn a_timeout_within_an_episode_keeps_its_threshold() {
    let mut controller = at_hundred(Algorithm::NewReno);
    lose(&mut *controller, true);
    controller.on_timeout(NOW, 50 * MSS, false);
    assert_eq!((window(&*controller), ssthresh(&*controller)), (1, 50));
    controller.on_spurious(NOW); // the timeout was, the episode was not
    assert_eq!((window(&*controller), ssthresh(&*controller)), (50, 50));
}

#[test]
fn a_spurious_reduction_is_taken_back_once() {
    for algorithm in BOTH {
        let mut controller = at_hundred(algorithm);
        lose(&mut *controller, true);
        controller.on_spurious(NOW);
        assert_eq!((window(&*controller), controller.ssthresh_bytes()), (100, u64::MAX));
        controller.on_timeout(NOW, 100 * MSS, false);
        controller.on_timeout(NOW, MSS, true);
        controller.on_spurious(NOW);
        controller.on_spurious(NOW);
        assert_eq!((window(&*controller), controller.ssthresh_bytes()), (100, u64::MAX));
    }
}

#[test]
fn idleness_halves_once_per_timeout_down_to_the_initial_window() {
    let rto = Duration::from_millis(300);
    for algorithm in BOTH {
        for (idle_ms, left) in [(300, 100), (301, 50), (650, 25), (900, 25), (9_000, 10)] {
            let mut controller = at_hundred(algorithm);
            controller.on_idle_restart(NOW, Duration::from_millis(idle_ms), rto);
            assert_eq!(window(&*controller), left, "{algorithm} after {idle_ms} ms");
        }
    }
}

/// Measured on Linux 6.18.44 (`tcp_slow_start_after_idle` 1): TCP_INFO of a sender on loopback after it
/// had slept, and after its next segment. Window before, ms since the last segment (`tcpi_last_data_sent`),
/// window after; the RTO was 204 ms. The windows are those that slow start had reached.
#[test]
fn idleness_leaves_what_the_kernel_left() {
    let rto = Duration::from_millis(204);
    let kernel = [
        (33, 104, 33),
        (24, 320, 12),
        (20, 524, 10),
        (28, 700, 10),
        (88, 112, 88),
        (108, 308, 54),
        (84, 508, 21),
        (98, 700, 12),
        (64, 1012, 10),
        (98, 504, 24),
        (102, 704, 12),
        (30, 1504, 10),
    ];
    for algorithm in BOTH {
        for (before, idle_ms, after) in kernel {
            let mut controller = classic(algorithm);
            controller.on_acked(NOW, &ack(before - 10));
            assert_eq!(window(&*controller), before, "{algorithm}");
            let idle = Duration::from_millis(idle_ms);
            // The sender asks only when the pause is longer than the RTO.
            if idle > rto {
                controller.on_idle_restart(NOW, idle, rto);
            }
            assert_eq!(window(&*controller), after, "{algorithm}: {before} after {idle_ms} ms");
            assert_eq!(controller.ssthresh_bytes(), u64::MAX, "{algorithm}: it had none");
        }
    }
}

/// `tcp_cwnd_restart` shifts whole packets: 25 becomes 12, and 13 acknowledged packets make it 25 again,
/// every time.
#[test]
fn idleness_leaves_whole_packets() {
    let rto = Duration::from_millis(300);
    for algorithm in BOTH {
        let mut controller = at_hundred(algorithm);
        controller.on_idle_restart(NOW, Duration::from_millis(650), rto);
        for _ in 0..10 {
            controller.on_idle_restart(NOW, Duration::from_millis(301), rto);
            assert_eq!(window(&*controller), 12);
            controller.on_acked(NOW, &ack(13));
            assert_eq!(window(&*controller), 25);
        }
    }
}

#[test]
fn penalties_halve_the_window_and_the_threshold_outside_slow_start() {
    for algorithm in BOTH {
        let mut controller = at_hundred(algorithm);
        controller.penalise();
        assert_eq!((window(&*controller), controller.ssthresh_bytes()), (50, u64::MAX));
        lose(&mut *controller, true);
        let left = window(&*controller);
        controller.penalise();
        assert_eq!((window(&*controller), ssthresh(&*controller)), (left / 2, left / 2));
        for _ in 0..9 {
            controller.penalise();
        }
        assert_eq!((window(&*controller), ssthresh(&*controller)), (1, 2));
    }
}

/// A CUBIC in congestion avoidance whose epoch began at `NOW` with 70 packets.
fn cubic_in_epoch() -> Box<dyn Controller> {
    let mut controller = at_hundred(Algorithm::Cubic);
    lose(&mut *controller, true);
    controller.on_recovered(NOW);
    controller.on_acked(NOW, &ack(1));
    controller
}

#[test]
fn a_pause_is_left_out_of_the_epoch() {
    let pause = Duration::from_secs(60);
    let mut steady = cubic_in_epoch();
    let mut paused = cubic_in_epoch();
    paused.on_app_limited(NOW + RTT + pause, pause);
    paused.on_app_limited(NOW + RTT + pause, pause); // reported twice, counted once
    steady.on_acked(NOW + RTT, &ack(70));
    paused.on_acked(NOW + RTT + pause, &ack(70));
    assert_eq!(window(&*steady), window(&*paused));

    let mut forgetful = cubic_in_epoch();
    forgetful.on_acked(NOW + RTT + pause, &ack(70));
    assert!(window(&*forgetful) > window(&*paused) + 20); // the jump that the shift prevents
}

#[test]
fn after_a_timeout_cubic_starts_flat_where_slow_start_ended() {
    for (seconds, packets) in [(3, 80), (5, 105)] {
        let mut controller = at_hundred(Algorithm::Cubic);
        controller.on_timeout(NOW, 100 * MSS, false);
        controller.on_acked(NOW, &repairing(69));
        controller.on_acked(NOW, &repairing(1)); // the epoch begins, with 70 packets
        let later = NOW + (Duration::from_secs(seconds) - RTT);
        controller.on_acked(later, &ack(71));
        // 70 + 0.4 * 3^3 = 80.8; 70 + 0.4 * 5^3 = 120, but at most 1.5 windows.
        assert_eq!(window(&*controller), packets);
    }
}

#[test]
fn a_window_of_one_packet_does_not_grow_by_a_loss() {
    for algorithm in BOTH {
        let mut controller = at_hundred(algorithm);
        controller.on_timeout(NOW, 100 * MSS, false);
        lose(&mut *controller, true);
        assert_eq!((window(&*controller), ssthresh(&*controller)), (1, 2));
    }
}
