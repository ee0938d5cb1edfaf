//! What a connection gets out of its links, and never more.

use super::world::*;
use crate::Transport;
use congestion::Algorithm as Congestion;
use link::{CapacityConfig, QueueConfig};
use mptcp::Mode;
use scheduler::Algorithm as Scheduling;

/// Payload share of the wire in each mode.
const TCP: f64 = 1448.0 / 1500.0;
const V096: f64 = 1428.0 / 1500.0;
const UPSTREAM: f64 = 1424.0 / 1500.0;

#[test]
fn bbr_fills_a_steady_link_to_nine_tenths() {
    let outcome = run(
        vec![path("a", 50.0, 60.0)],
        vec![connection(Mode::Tcp, Congestion::Bbr, seconds(60.0))],
    );
    let share = goodput(&outcome) / (50.0 * TCP);
    assert!((0.9..=1.0).contains(&share), "{share}");
}

/// All but wVegas: on a path without noise its queue drain (mptcp_wvegas.c) halves the window long
/// before there is a queue to speak of, see its doc comment.
#[test]
fn every_control_fills_a_steady_link_once_it_is_under_way() {
    let filling = |congestion: &Congestion| *congestion != Congestion::WVegas;
    for congestion in Congestion::ALL.into_iter().filter(filling) {
        let outcome = run(
            vec![path("a", 50.0, 60.0)],
            vec![connection(Mode::Tcp, congestion, seconds(40.0))],
        );
        let share = goodput_between(&outcome, 0, 20.0, 40.0) / (50.0 * TCP);
        assert!((0.9..=1.001).contains(&share), "{congestion:?}: {share}");
    }
}

#[test]
fn two_steady_paths_add_up_with_ample_buffers() {
    for (mode, payload) in [(Mode::V096, V096), (Mode::Upstream, UPSTREAM)] {
        for congestion in [Congestion::Cubic, Congestion::Bbr] {
            let paths = vec![path("sat", 50.0, 60.0), path("terr", 100.0, 108.0)];
            let outcome = run(paths, vec![connection(mode, congestion, seconds(40.0))]);
            let share = goodput_between(&outcome, 0, 10.0, 40.0) / (150.0 * payload);
            assert!((0.95..=1.001).contains(&share), "{mode:?} {congestion:?}: {share}");
        }
    }
}

/// docs/model.md §7: a small window makes the slow path block the head of the line; BLEST knows
/// it and waits. With an infinite window both are equal.
#[test]
fn a_small_window_costs_aggregation_and_blest_loses_less() {
    let rates = |window_bytes: u64| {
        [Scheduling::MinRtt, Scheduling::Blest].map(|scheduler| {
            let paths = vec![path("fast", 50.0, 20.0), path("slow", 10.0, 200.0)];
            let mut one = connection(Mode::V096, Congestion::Cubic, seconds(40.0));
            one.scheduler = scheduler.into();
            one.receive_buffer_bytes = window_bytes;
            goodput_between(&run(paths, vec![one]), 0, 10.0, 40.0)
        })
    };
    let [minrtt_ample, blest_ample] = rates(450_000_000);
    assert!((blest_ample / minrtt_ample - 1.0).abs() < 0.02, "{blest_ample} {minrtt_ample}");
    let [minrtt_small, blest_small] = rates(1_000_000);
    assert!(minrtt_small < 0.8 * minrtt_ample, "{minrtt_small} of {minrtt_ample}");
    assert!(blest_small > 1.2 * minrtt_small, "{blest_small} {minrtt_small}");
    // One bandwidth-delay product of the fast path: it alone fills the window, neither loses.
    let [minrtt_fast, blest_fast] = rates(125_000);
    assert!(minrtt_fast > 0.95 * 50.0 * V096 && blest_fast > 0.95 * 50.0 * V096);
}

/// docs/weave.md, rule 8: a scheduler that bounds queues keeps CUBIC from growing its window, unless
/// that counts as used; a link that becomes twenty times as fast is then used within two seconds.
#[test]
fn a_window_that_weave_holds_back_grows_with_the_link() {
    for transport in [Transport::Mptcp, Transport::Mpquic] {
        let mut link = path("a", 100.0, 50.0);
        let (times_s, mbps) = (vec![0.0, 10.0], vec![5.0, 100.0]);
        link.down.capacity = CapacityConfig::Steps { times_s, mbps, repeat_s: None };
        let mut one = connection(Mode::V096, Congestion::Cubic, seconds(12.0));
        one.transport = transport;
        one.scheduler = Scheduling::Weave.into();
        let rate = goodput_between(&run(vec![link], vec![one]), 0, 10.0, 12.0);
        assert!(rate > 80.0, "{transport:?}: {rate}");
    }
}

/// A receive window of twice what a path holds keeps a sender from sending although it has data. That is not
/// the application's limit (docs/model.md §1.5): BBR would never leave Startup, and overflow the queue
/// to the end of the run.
#[test]
fn bbr_leaves_startup_although_the_receive_window_is_the_limit() {
    for transport in [Transport::Tcp, Transport::Mpquic] {
        let mut link = path("a", 200.0, 44.0);
        link.down.queue = QueueConfig::DropTail { packets: Some(1000), bytes: None };
        let mut one = connection(Mode::Tcp, Congestion::Bbr, seconds(10.0));
        one.transport = transport;
        (one.send_buffer_bytes, one.receive_buffer_bytes) = (64_000_000, 3_000_000);
        let outcome = run(vec![link], vec![one]);
        let down = &outcome.totals.links["a.down"];
        let lost = down.dropped_queue as f64 / down.in_packets as f64;
        assert!(lost < 0.02, "{transport:?}: {lost}");
        let rate = goodput_between(&outcome, 0, 5.0, 10.0);
        assert!(rate > 175.0, "{transport:?}: {rate}");
    }
}

/// No run delivers more than its links carry, in any interval (samples of 100 ms may shift by what
/// a reordering buffer releases at once, so the sums are compared).
#[test]
fn goodput_never_exceeds_capacity() {
    for mode in [Mode::V096, Mode::Upstream] {
        let paths = vec![with_loss(path("a", 20.0, 50.0), 0.005), path("b", 7.0, 130.0)];
        let outcome = run(paths, vec![connection(mode, Congestion::Bbr, seconds(30.0))]);
        let own = outcome.samples.iter().filter(|row| row.path.is_none());
        for row in own {
            let carried_mbit = 27.0 * row.time_s;
            assert!(row.delivered_bytes as f64 * 8e-6 <= carried_mbit, "{row:?}");
        }
        for (name, link) in &outcome.totals.links {
            let limit = if name.starts_with('a') { 20.0 } else { 7.0 };
            let carried = link.delivered_bytes as f64 * 8e-6 / outcome.totals.simulated_s;
            assert!(carried <= limit, "{name}: {carried}");
        }
    }
}

#[test]
fn a_transfer_upward_equals_one_downward_on_a_symmetric_path() {
    let mut up = connection(Mode::Tcp, Congestion::Cubic, megabytes(20));
    bulk(&mut up).direction = link::Direction::Up;
    let down = connection(Mode::Tcp, Congestion::Cubic, megabytes(20));
    let [up, down] = [up, down].map(|one| {
        run(vec![path("a", 50.0, 60.0)], vec![one]).totals.connections[0].completion_s.unwrap()
    });
    // The client may send half a round trip after the server could, and has not to wait for it.
    assert!((up - down).abs() < 0.061, "{up} {down}");
}

#[test]
fn small_buffers_limit_to_one_buffer_a_round_trip() {
    let mut one = connection(Mode::Tcp, Congestion::Cubic, seconds(20.0));
    one.receive_buffer_bytes = 125_000; // 1 Mbit each 100 ms
    let outcome = run(vec![path("a", 100.0, 100.0)], vec![one.clone()]);
    assert!((8.5..=10.0).contains(&goodput(&outcome)), "{}", goodput(&outcome));
    one.autotune = true;
    let tuned = run(vec![path("a", 100.0, 100.0)], vec![one.clone()]);
    assert!((8.0..=goodput(&outcome)).contains(&goodput(&tuned)), "{}", goodput(&tuned));
    one.receive_buffer_bytes = 8_000_000;
    let ample = run(vec![path("a", 100.0, 100.0)], vec![one]);
    assert!(goodput(&ample) > 60.0, "{}", goodput(&ample));
}
