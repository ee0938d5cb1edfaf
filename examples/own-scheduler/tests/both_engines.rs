//! The scheduler decides in both engines.

use own_scheduler::{LeastFilled, fetched, simulated};
use scheduler::{ConnectionView, Decision, Factory, Scheduler};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts how often it is asked with two paths to choose from.
#[derive(Debug)]
struct Counted(LeastFilled, Arc<AtomicU64>);

impl Scheduler for Counted {
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision {
        if view.paths.iter().filter(|path| path.usable).count() == 2 {
            self.1.fetch_add(1, Ordering::Relaxed);
        }
        self.0.select(view)
    }
}

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
    let asked = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&asked);
    let scheduler = Factory::new(move || Box::new(Counted(LeastFilled, Arc::clone(&counter))));
    let paths = fetched(&folder, "/file", &folder.join("copy"), &scheduler).unwrap();
    let copy = std::fs::read(folder.join("copy")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(copy == content, "the file came as it is");
    // How much each path carries depends on how busy the machine is; that the scheduler chose
    // between them does not.
    assert!(asked.load(Ordering::Relaxed) > 0);
    assert!(paths.len() == 2 && paths.iter().all(|path| path.received_bytes > 0), "{paths:?}");
}
