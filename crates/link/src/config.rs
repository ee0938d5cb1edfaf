//! The description of a link. The same names stand in `python/skyweave/model/config.py`; units are
//! in the names because this is what crosses as JSON.

use crate::{InFlight, Link, LinkError, WireSize};
use serde::{Deserialize, Serialize};

pub(crate) mod build;

/// One direction of one path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// What the link can carry.
    pub capacity: CapacityConfig,
    /// One-way propagation delay.
    pub delay: DelayConfig,
    /// Where packets wait for capacity; drop-tail of 1000 packets by default.
    #[serde(default)]
    pub queue: QueueConfig,
    /// Random loss after the capacity was used; none by default.
    #[serde(default)]
    pub loss: LossConfig,
    /// Windows without service; none by default.
    #[serde(default)]
    pub outages: Vec<OutageConfig>,
}

impl LinkConfig {
    /// A link of constant capacity and delay with the default queue and no losses.
    pub fn constant(mbps: f64, delay_ms: f64) -> Self {
        Self {
            capacity: CapacityConfig::Constant { mbps },
            delay: DelayConfig::Constant { ms: delay_ms },
            queue: QueueConfig::default(),
            loss: LossConfig::default(),
            outages: Vec::new(),
        }
    }

    /// Builds the link, empty, at time 0. `seed` decides its random losses: the same seed loses the
    /// same n-th packets.
    ///
    /// # Errors
    /// [`LinkError`] with the first field that breaks a rule.
    pub fn build<P: WireSize>(&self, seed: u64) -> Result<Link<P>, LinkError> {
        build::build(self, &[], seed)
    }
}

/// What a link can carry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum CapacityConfig {
    /// The same capacity at all times.
    Constant {
        /// Megabits (10^6) per second; 0 carries nothing.
        mbps: f64,
    },
    /// Capacity that is constant from each time to the next.
    Steps {
        /// When each capacity begins: the first at 0, increasing.
        times_s: Vec<f64>,
        /// As many capacities.
        mbps: Vec<f64>,
        /// Start again after this long; without it, the last capacity holds to the end.
        #[serde(default)]
        repeat_s: Option<f64>,
    },
    /// Delivery opportunities of 1,500 bytes (mahimahi); loops at the last one.
    Opportunities {
        /// When they are: non-decreasing, the last one above 0.
        times_ms: Vec<u64>,
    },
}

/// One-way propagation delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum DelayConfig {
    /// The same delay at all times.
    Constant {
        /// Milliseconds.
        ms: f64,
    },
    /// Delay that is constant from each time to the next; a packet takes the one that holds when it
    /// departs. Packets never overtake each other.
    Steps {
        /// When each delay begins: the first at 0, increasing.
        times_s: Vec<f64>,
        /// As many delays.
        ms: Vec<f64>,
        /// Start again after this long; without it, the last delay holds to the end.
        #[serde(default)]
        repeat_s: Option<f64>,
    },
}

/// Where packets wait for capacity. The packet in service counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum QueueConfig {
    /// First in, first out, bounded in bytes, in packets or in both.
    #[serde(rename = "droptail")]
    DropTail {
        /// At most this many bytes on the wire.
        #[serde(default)]
        bytes: Option<u64>,
        /// At most this many packets.
        #[serde(default)]
        packets: Option<u64>,
    },
    /// Controlled delay (RFC 8289), bounded in packets.
    #[serde(rename = "codel")]
    CoDel {
        /// Acceptable standing delay (RFC 8289 §4.3: 5 ms).
        #[serde(default = "codel_target_ms")]
        target_ms: f64,
        /// How long it may be exceeded (RFC 8289 §4.2: 100 ms).
        #[serde(default = "codel_interval_ms")]
        interval_ms: f64,
        /// At most this many packets.
        #[serde(default = "codel_packets")]
        packets: u64,
    },
    /// Never drops.
    Infinite,
}

impl Default for QueueConfig {
    fn default() -> Self {
        Self::DropTail { bytes: None, packets: Some(1000) }
    }
}

fn codel_target_ms() -> f64 {
    5.0
}

fn codel_interval_ms() -> f64 {
    100.0
}

fn codel_packets() -> u64 {
    1000
}

/// Random loss, one decision for each packet that departs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum LossConfig {
    /// Nothing is lost.
    #[default]
    None,
    /// Each packet with the same probability, independently.
    Bernoulli {
        /// Probability, 0 to 1.
        ratio: f64,
    },
    /// Two states (Gilbert 1960, Elliott 1963), beginning in the good one. A packet is lost by the
    /// state that it meets; then the state may change.
    #[serde(rename = "gilbert-elliott")]
    GilbertElliott {
        /// Probability of good → bad after each packet.
        p: f64,
        /// Probability of bad → good after each packet.
        r: f64,
        /// Loss probability in the good state.
        #[serde(default)]
        loss_good: f64,
        /// Loss probability in the bad state.
        #[serde(default = "certain")]
        loss_bad: f64,
    },
    /// A probability that is constant from each time to the next; the one at departure counts.
    Steps {
        /// When each probability begins: the first at 0, increasing.
        times_s: Vec<f64>,
        /// As many probabilities.
        ratio: Vec<f64>,
        /// Start again after this long; without it, the last one holds to the end.
        #[serde(default)]
        repeat_s: Option<f64>,
    },
}

fn certain() -> f64 {
    1.0
}

/// No service in [start, end).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutageConfig {
    /// First moment without service, in seconds.
    pub start_s: f64,
    /// Service is back, in seconds.
    pub end_s: f64,
    /// What becomes of the packets that the link holds; lost by default.
    #[serde(default)]
    pub in_flight: InFlight,
}
