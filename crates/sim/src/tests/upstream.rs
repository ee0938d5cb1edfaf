//! What only Multipath TCP as upstream Linux has it does.

use super::world::*;
use congestion::Algorithm as Congestion;
use link::QueueConfig;
use mptcp::Mode;

/// Linux turns BBR's packets per second into bytes by an MSS that has no room for the DSS, and
/// charges each packet what it carries: pacing exceeds the bandwidth by 2 %, less the margin of 1 %,
/// and a queue grows until the next PROBE_RTT. v0.96 knows the size of its packets.
#[test]
fn bbr_keeps_a_queue_upstream() {
    let srtt_ms = |mode| {
        let mut one = path("lte", 10.0, 50.0);
        one.down.queue = QueueConfig::DropTail { bytes: Some(400_000), packets: None };
        let outcome = run(vec![one], vec![connection(mode, Congestion::Bbr, seconds(9.0))]);
        outcome.samples.iter().rfind(|row| row.path == Some(0)).unwrap().srtt_ms
    };
    let (v096, upstream) = (srtt_ms(Mode::V096), srtt_ms(Mode::Upstream));
    assert!(v096 < 70.0, "{v096}");
    assert!(upstream > 85.0 && upstream < 130.0, "{upstream}: about two round trips in flight");
}

/// A path goes dark. The connection's timer runs as long as that of a tail loss probe, two round trips
/// (Linux 6.18 over these links, dark at 10.0 s: expiries at 10.2, 10.4, 10.5, 10.8, 11.1 s). Once the
/// other path has all of its data acknowledged, each expiry moves what is left of a fragment of 32 KiB
/// there, and the reader gets on before the dark path counts as stale.
#[test]
fn a_stream_with_a_dark_path_moves_by_fragments() {
    let moved_bytes = |start_s: f64| {
        let dark = with_gap(path("lte", 10.0, 50.0), start_s, start_s + 2.0);
        let mut one = connection(Mode::Upstream, Congestion::CubicLinux, seconds(15.0));
        one.autotune = true;
        let outcome = run(vec![path("leo", 10.0, 44.0), dark], vec![one]);
        let expiries = outcome.events.iter().filter(|row| row.event == "meta-timeout");
        let first_s = expiries.map(|row| row.time_s).find(|at| *at > start_s).unwrap();
        assert!((0.1..0.3).contains(&(first_s - start_s)), "{start_s}: {first_s}");
        let stale_s = times(&outcome, "failed", 1)[0];
        let own = outcome.samples.iter().filter(|row| row.path.is_none());
        let between = own.filter(|row| row.time_s > start_s + 0.3 && row.time_s < stale_s);
        between.map(|row| row.goodput_mbps * 1e6 / 8.0 * 0.1).sum::<f64>()
    };
    let moved_bytes: Vec<f64> = [10.0, 10.3, 10.6, 10.9].map(moved_bytes).into();
    assert!(moved_bytes.iter().sum::<f64>() > 20_000.0, "{moved_bytes:?}");
}
