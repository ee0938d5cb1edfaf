//! The scheduler decides in both engines.

use own_scheduler::{fetched, simulated};

#[test]
fn the_simulator_runs_it_over_both_transports() {
    for transport in ["mptcp", "mpquic"] {
        let outcome = simulated(transport).unwrap();
        let totals = &outcome.totals.connections[0];
        assert_eq!(totals.scheduler, "LeastFilled");
        assert!(totals.goodput_mbps > 70.0, "{transport}: {}", totals.goodput_mbps);
        assert!(totals.paths.values().all(|path| path.sent_bytes > 10_000_000), "{transport}");
    }
}

#[test]
fn sockets_carry_a_file_with_it_over_two_paths() {
    let folder = std::env::temp_dir().join(format!("own-scheduler-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let content: Vec<u8> = (0..20_000_000_u32).map(|at| (at % 251) as u8).collect();
    std::fs::write(folder.join("file"), &content).unwrap();
    let paths = fetched(&folder, "/file", &folder.join("copy")).unwrap();
    let copy = std::fs::read(folder.join("copy")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(copy == content, "the file came as it is");
    assert!(paths.iter().all(|path| path.received_bytes > 1_000_000), "{paths:?}");
}
