//! Workloads over the kernel's TCP and Multipath TCP on loopback.

use super::ends::local;
use crate::*;
use application::{Bulk, Cell, Paced, Requests, Ways, Workload};
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use units::Direction;

/// The transports that this machine's kernel has.
fn transports() -> Vec<KernelTransport> {
    let has_mptcp = std::path::Path::new("/proc/sys/net/mptcp/enabled").exists();
    let mptcp = has_mptcp.then_some(KernelTransport::Mptcp);
    std::iter::once(KernelTransport::Tcp).chain(mptcp).collect()
}

fn plan(transport: KernelTransport, workload: impl Into<Workload>, seconds: f64) -> KernelPlan {
    let now_ns = monotonic_ns();
    KernelPlan {
        transport,
        congestion: "reno".into(), // built into every kernel
        server: SocketAddr::new(local(1), 0),
        source: Some(local(1)),
        workload: workload.into(),
        epoch_ns: now_ns,
        end_ns: now_ns + (seconds * 1e9) as u64,
    }
}

/// What became of client and server, and what each moved.
fn both(plan: KernelPlan) -> [(KernelReport, u64); 2] {
    let listener = KernelListener::bind(plan.clone()).unwrap();
    let mut client = plan.clone();
    client.server = listener.local_addr().unwrap();
    let run = |mut end: KernelEnd| {
        let report = end.run().unwrap();
        (report, end.moved_bytes().load(Ordering::Relaxed))
    };
    let far = std::thread::spawn(move || run(listener.accept(plan).unwrap().unwrap()));
    let near = run(KernelEnd::connect(client).unwrap().unwrap());
    [near, far.join().unwrap()]
}

#[test]
fn a_bulk_transfer_moves_its_bytes_either_way() {
    const BYTES: u64 = 20_000_000;
    for transport in transports() {
        for direction in [Direction::Down, Direction::Up] {
            let bulk = Bulk { direction, bytes: Some(BYTES), duration_s: None };
            let ends = both(plan(transport, bulk, 60.0));
            for (report, moved_bytes) in ends {
                assert_eq!(moved_bytes, BYTES, "{transport:?} {direction:?}");
                assert!(report.completed_ns.is_some(), "{transport:?} {direction:?}");
            }
        }
    }
}

#[test]
fn requests_are_served_on_one_connection() {
    for transport in transports() {
        for direction in [Direction::Down, Direction::Up] {
            let wanted = Requests {
                direction,
                object_bytes: vec![1000, 3_000_000],
                count: Some(10),
                think_s: 0.0,
                parallel: 2,
                urgency: 3,
                background: false,
                duration_s: None,
            };
            let [(near, _), (far, _)] = both(plan(transport, wanted, 60.0));
            let rows = &near.application;
            assert!(near.completed_ns.is_some(), "{transport:?} {direction:?}: {rows:?}");
            assert!(far.completed_ns.is_some(), "{transport:?} {direction:?}");
            assert_eq!(rows.len(), 10);
            assert!(near.application.iter().flatten().all(|cell| *cell != Cell::Nothing));
        }
    }
}

#[test]
fn a_call_has_pieces_both_ways_until_its_time_is_over() {
    for transport in transports() {
        let call = Paced {
            direction: Ways::Both,
            rate_mbps: 1.0,
            piece_bytes: 1000,
            deadline_ms: 100.0,
            duration_s: 0.6,
            on_s: None,
            off_s: None,
            reliable: false,
            ease: None,
        };
        let [(near, _), (far, _)] = both(plan(transport, call, 0.6));
        for (report, way) in [(near, "down"), (far, "up")] {
            assert!(!report.application.is_empty(), "{transport:?} {way}");
            assert!(report.application.iter().all(|row| row[0] == Cell::Word(way)));
        }
    }
}

#[test]
fn a_server_that_is_not_there_is_a_reason_and_no_error() {
    let call = Bulk { direction: Direction::Down, bytes: Some(1), duration_s: None };
    let mut nobody = plan(KernelTransport::Tcp, call, 0.2);
    let closed = std::net::TcpListener::bind((local(1), 0)).unwrap();
    nobody.server = closed.local_addr().unwrap();
    drop(closed);
    assert!(KernelEnd::connect(nobody).unwrap().unwrap_err().contains("refused"));
}

#[test]
fn a_congestion_control_that_the_kernel_does_not_have_is_refused() {
    let call = Bulk { direction: Direction::Down, bytes: Some(1), duration_s: None };
    let mut unknown = plan(KernelTransport::Tcp, call, 0.2);
    unknown.congestion = "nosuch".into();
    let error = KernelListener::bind(unknown).unwrap_err().to_string();
    assert!(error.contains("over Tcp with 'nosuch' cannot be used"), "{error}");
}
