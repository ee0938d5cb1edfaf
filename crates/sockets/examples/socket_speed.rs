//! How fast bulk transfers are over loopback sockets, ours beside noq-proto in the same run:
//! `cargo run --release --package skyweave-sockets --example socket_speed [MEGABYTES [ROUNDS [ours|noq]]]` prints one
//! JSON object. Each end has a thread; both have GSO and GRO by quinn-udp and datagrams of one size.
//! It reports and never judges: a busy machine changes the numbers by a factor.

#![allow(clippy::print_stdout)]

#[allow(dead_code)]
#[path = "../src/tests/noq.rs"]
mod noq;
#[path = "../src/tests/tls.rs"]
mod tls_of_tests;

use application::Bulk;
use mpquic::{QuicConfig, StudyConnection};
use noq::{Noq, Tuning};
use rustix::time::{ClockId, clock_gettime};
use sockets::*;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use units::Direction;

const DATAGRAM: u16 = 1440;
const LIMIT_NS: u64 = 120_000_000_000;

/// Wall clock and processor seconds of a transfer.
struct Cost {
    wall_s: f64,
    cpu_s: f64,
}

fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn ips(paths: u32) -> Vec<IpAddr> {
    (1..=paths as u8).map(|last| Ipv4Addr::new(127, 0, 0, last).into()).collect()
}

fn measure(transfer: impl FnOnce()) -> Cost {
    let (begin, cpu) = (Instant::now(), cpu_s());
    transfer();
    Cost { wall_s: begin.elapsed().as_secs_f64(), cpu_s: cpu_s() - cpu }
}

fn ours(paths: u32, bytes: u64) -> Cost {
    let connection = StudyConnection {
        congestion: congestion::Algorithm::Cubic.into(),
        quic: QuicConfig { datagram_bytes: DATAGRAM.into(), ..QuicConfig::default() },
        send_buffer_bytes: 16 << 20,
        receive_buffer_bytes: 64 << 20,
        autotune: false,
        paths: paths as usize,
    };
    let behaviour = Behaviour { connection, scheduler: scheduler::Algorithm::MinRtt.into() };
    let any = SocketAddr::new(ips(1)[0], 0);
    let mut server = TransferServer::bind(any, &behaviour).expect("a free port on loopback");
    let bulk = Bulk { direction: Direction::Down, bytes: Some(bytes), duration_s: None };
    let mut plan = Carry {
        behaviour,
        workload: bulk.into(),
        epoch_ns: 0,
        end_ns: monotonic_ns() + LIMIT_NS,
        interval_ns: 0,
        forecasts: Vec::new(),
        server: None,
        pin: None,
        paths: Vec::new(),
        backups: Vec::new(),
    };
    let far = plan.clone();
    plan.server = Some(SocketAddr::new(any.ip(), server.port()));
    plan.pin = Some(server.pin().to_owned());
    plan.paths = ips(paths).iter().map(IpAddr::to_string).collect();
    measure(|| {
        let far = std::thread::spawn(move || server.carry(&far).map(|report| report.bytes));
        let near = carry(&plan).expect("a plan that makes sense");
        assert_eq!(near.bytes, bytes, "{:?}", near.error);
        far.join().expect("no panic").expect("no error of the system");
    })
}

/// `None` when noq broke off: with two paths it gives up beyond 1024 gaps in a stream.
fn of_noq(paths: u32, bytes: u64) -> Option<Cost> {
    let tuning = Tuning { paths, datagram_bytes: DATAGRAM };
    let (server_tls, pin) = tls_of_tests::server();
    let pin: String = pin.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut server = Noq::server(server_tls, ips(1)[0], bytes, tuning);
    let mut client = Noq::client(tls_of_tests::client(&pin), &ips(paths), server.address(), tuning);
    let over = Arc::new(AtomicBool::new(false));
    let stops = over.clone();
    let cost = measure(|| {
        let far = std::thread::spawn(move || server.run(|_| stops.load(Ordering::Relaxed)));
        client.run(|noq| noq.finished);
        over.store(true, Ordering::Relaxed);
        far.join().expect("no panic");
    });
    (client.received_bytes == bytes).then_some(cost)
}

/// As JSON: null when nothing was measured.
fn median(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).map_or("null".into(), |value| format!("{value:.3}"))
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number =
        |default| arguments.next().and_then(|text| text.parse::<u64>().ok()).unwrap_or(default);
    let (bytes, rounds) = (number(300) * 1_000_000, number(5));
    let only = arguments.next();
    let mut parts = Vec::new();
    for paths in [1, 2] {
        let mut costs: [Vec<Cost>; 2] = [Vec::new(), Vec::new()];
        for _ in 0..rounds {
            if only.as_deref() != Some("noq") {
                costs[0].push(ours(paths, bytes));
            }
            if only.as_deref() != Some("ours") {
                costs[1].extend(of_noq(paths, bytes));
            }
        }
        for (name, costs) in ["ours", "noq"].iter().zip(costs) {
            let gbps = costs.iter().map(|cost| bytes as f64 * 8e-9 / cost.wall_s).collect();
            let cpu = costs.iter().map(|cost| cost.cpu_s / (bytes as f64 * 8e-9)).collect();
            parts.push(format!(
                "\"{name}_{paths}_path_gbps\": {}, \"{name}_{paths}_path_cpu_s_per_gbit\": {}",
                median(gbps),
                median(cpu),
            ));
        }
    }
    println!("{{{}}}", parts.join(", "));
}
