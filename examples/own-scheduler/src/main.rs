//! Runs the scheduler in the simulator, over Multipath TCP and multipath QUIC, and on the loopback
//! interface.

use own_scheduler::LeastFilled;
use scheduler::Factory;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    for transport in ["mptcp", "mpquic"] {
        let outcome = own_scheduler::simulated(transport)?;
        let totals = &outcome.totals.connections[0];
        println!("{transport}, simulated, {}: {:.1} Mbit/s", totals.scheduler, totals.goodput_mbps);
        for (name, path) in &totals.paths {
            println!("  {name}: {:.1} MB", path.sent_bytes as f64 / 1e6);
        }
    }
    let folder = std::env::temp_dir().join(format!("own-scheduler-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("file"), vec![7; 20_000_000])?;
    let scheduler = Factory::new(|| Box::new(LeastFilled));
    let paths = own_scheduler::fetched(&folder, "/file", &folder.join("copy"), &scheduler);
    std::fs::remove_dir_all(&folder)?;
    println!("mpquic on sockets:");
    for path in paths? {
        println!("  {}: {:.1} MB", path.name, path.received_bytes as f64 / 1e6);
    }
    Ok(())
}
