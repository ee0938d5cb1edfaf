use crate::LeastFilled;
use sim::{Outcome, OwnScheduler, RunConfig, simulate_with};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// One connection for 10 s over Wi-Fi and a satellite. The scheduler that it names is replaced.
const RUN: &str = r#"{
  "paths": [
    {"name": "wifi", "down": {"capacity": {"kind": "constant", "mbps": 30}, "delay": {"kind": "constant", "ms": 10}},
                     "up": {"capacity": {"kind": "constant", "mbps": 30}, "delay": {"kind": "constant", "ms": 10}}},
    {"name": "sky", "down": {"capacity": {"kind": "constant", "mbps": 60}, "delay": {"kind": "constant", "ms": 30}},
                    "up": {"capacity": {"kind": "constant", "mbps": 60}, "delay": {"kind": "constant", "ms": 30}}}
  ],
  "connections": [{
    "transport": "TRANSPORT", "mode": "upstream", "scheduler": "minrtt", "congestion": "cubic",
    "workload": {"kind": "bulk", "duration_s": 10},
    "send_buffer_bytes": 8000000, "receive_buffer_bytes": 8000000
  }]
}"#;

/// Runs it in virtual time over `transport` ("mptcp", "mpquic").
///
/// # Errors
/// A transport that there is not.
pub fn simulated(transport: &str) -> Result<Outcome, Box<dyn std::error::Error>> {
    let config: RunConfig = serde_json::from_str(&RUN.replace("TRANSPORT", transport))?;
    let own = OwnScheduler { name: "LeastFilled".into(), scheduler: Box::new(LeastFilled) };
    Ok(simulate_with(&config, BTreeMap::from([(0, own)]), &AtomicBool::new(false))?)
}
