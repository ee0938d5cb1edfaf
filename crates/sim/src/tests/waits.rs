//! In-order waits in the record, on every transport.

use super::world::*;
use crate::{ConnectionConfig, ConnectionTotals, Outcome, Transport};
use application::{Cell, Video, Workload};
use congestion::Algorithm as Congestion;
use mptcp::Mode;
use scheduler::Algorithm as Scheduling;

const ALL: [Transport; 3] = [Transport::Tcp, Transport::Mptcp, Transport::Mpquic];

fn over(transport: Transport, workload: impl Into<Workload>) -> ConnectionConfig {
    match transport {
        Transport::Tcp => connection(Mode::Tcp, Congestion::Cubic, workload),
        Transport::Mptcp => connection(Mode::Upstream, Congestion::Cubic, workload),
        Transport::Mpquic => quic(Scheduling::MinRtt, Congestion::Cubic, workload),
    }
}

fn totals(outcome: &Outcome) -> &ConnectionTotals {
    &outcome.totals.connections[0]
}

/// Bytes times seconds that were waited for other paths, and behind losses.
fn blocked(outcome: &Outcome) -> (f64, f64) {
    let paths = totals(outcome).paths.values();
    paths.fold((0.0, 0.0), |(others, own), path| {
        (others + path.blocked_others_byte_s, own + path.blocked_own_byte_s)
    })
}

#[test]
fn nothing_waits_on_one_path_without_losses() {
    for transport in ALL {
        let mut ample = path("only", 20.0, 50.0);
        ample.down.queue = link::QueueConfig::Infinite;
        let outcome = run(vec![ample], vec![over(transport, megabytes(2))]);
        let totals = totals(&outcome);
        assert_eq!(totals.in_order_wait_longest_ms, Some(0.0), "{transport:?}");
        assert_eq!(totals.in_order_wait_p99_ms, Some(0.0), "{transport:?}");
        assert_eq!(blocked(&outcome), (0.0, 0.0), "{transport:?}");
    }
}

/// What came during a round trip behind a loss waits for its retransmission.
#[test]
fn behind_a_loss_on_the_only_path_bytes_wait_about_a_round_trip() {
    for transport in ALL {
        let lossy = with_loss(path("only", 20.0, 50.0), 0.005);
        let outcome = run(vec![lossy], vec![over(transport, seconds(20.0))]);
        let (others, own) = blocked(&outcome);
        assert!(others == 0.0 && own > 0.0, "{transport:?}: {others} {own}");
        let longest_ms = totals(&outcome).in_order_wait_longest_ms.expect("something came");
        assert!(longest_ms > 50.0, "{transport:?}: {longest_ms}");
    }
}

/// Little's law: bytes in the buffer, integrated over time, are bytes times their waits.
#[test]
fn waits_are_the_reorder_buffer_over_time() {
    for transport in ALL {
        let paths = vec![with_loss(path("sat", 20.0, 40.0), 0.002), path("terr", 10.0, 160.0)];
        let mut config = config(paths, vec![over(transport, seconds(20.0))]);
        config.sample_interval_ms = 5;
        let outcome = run_config(&config);
        let own = outcome.samples.iter().filter(|row| row.path.is_none());
        let sampled: f64 = own.map(|row| row.reorder_buffer_bytes as f64 * row.interval_s).sum();
        let (others, own) = blocked(&outcome);
        let apart = (sampled / (others + own) - 1.0).abs();
        assert!(apart < 0.03, "{transport:?}: {sampled} and {others} + {own}");
        let mean_ms = totals(&outcome).in_order_wait_mean_ms.expect("something came");
        let by_bytes = (others + own) / totals(&outcome).delivered_bytes as f64 * 1e3;
        assert!((mean_ms / by_bytes - 1.0).abs() < 0.02, "{transport:?}: {mean_ms} {by_bytes}");
    }
}

#[test]
fn the_path_that_holds_the_others_up_is_named() {
    for transport in [Transport::Mptcp, Transport::Mpquic] {
        let paths = vec![path("near", 20.0, 20.0), path("far", 5.0, 300.0)];
        let outcome = run(paths, vec![over(transport, seconds(20.0))]);
        let of = |name: &str| totals(&outcome).paths[name].blocked_others_byte_s;
        assert!(of("far") > 10.0 * of("near"), "{transport:?}: {} {}", of("far"), of("near"));
    }
}

#[test]
fn silence_of_every_path_is_frozen_time() {
    for transport in ALL {
        let run = |path| run(vec![path], vec![over(transport, seconds(10.0))]);
        let (steady, gap) =
            (run(path("only", 20.0, 40.0)), run(with_gap(path("only", 20.0, 40.0), 3.0, 5.0)));
        assert_eq!(totals(&steady).frozen_s, Some(0.0), "{transport:?}");
        let frozen_s = totals(&gap).frozen_s.expect("something came");
        assert!(frozen_s > 1.9, "{transport:?}: {frozen_s}");
        assert!(frozen_s >= totals(&gap).longest_stall_s.expect("something came"));
    }
}

/// Two paths together carry less than the film needs, and the deep queue of one delays what it carries:
/// while the film stands, what the other one brought waits for it.
#[test]
fn a_stall_for_a_slower_path_is_told_in_the_record_of_the_film() {
    let column = |outcome: &Outcome, name: &str| -> f64 {
        let table = &outcome.applications["video"];
        let place = table.columns.iter().position(|one| one.name == name).expect("a column");
        match table.rows.last().expect("a row").1[place] {
            Cell::Number(value) => value,
            other => panic!("{name} is {other:?}"),
        }
    };
    for transport in [Transport::Mptcp, Transport::Mpquic] {
        let json = r#"{"player": "wait", "duration_s": 60}"#;
        let film: Video = serde_json::from_str(json).expect("a film");
        let play = |paths| run(paths, vec![over(transport, film.clone())]);
        let mut far = path("far", 2.5, 400.0);
        far.down.queue = link::QueueConfig::Infinite;
        let short = play(vec![path("near", 2.5, 20.0), far]);
        let (stall_s, blocked_s) = (column(&short, "stall_s"), column(&short, "stall_blocked_s"));
        assert!(0.0 < blocked_s && blocked_s <= stall_s, "{transport:?}: {blocked_s} of {stall_s}");
        assert!(blocked_s + column(&short, "stall_loss_s") <= stall_s + 1e-9, "{transport:?}");
        let enough = play(vec![path("near", 10.0, 50.0), path("far", 10.0, 60.0)]);
        assert_eq!(column(&enough, "stall_blocked_s"), 0.0, "{transport:?}");
    }
}
