//! Tests over all controllers: a small path to drive them, golden tables, steady states, and the
//! rules that each must keep.

mod conformance;
mod coupled;
mod golden;
mod hybla;
mod loss_based;
pub(crate) mod model;
mod naming;
mod picoquic;
mod scenarios;
mod steady_state;

use crate::{AckSample, Algorithm, Choice, Config, Controller, Group};
use parameters::{Given, Named};
use units::Duration;

/// Payload of a full segment in MPTCP v0.96 (docs/model.md §0.3).
pub(crate) const MSS: u64 = 1428;
pub(crate) const RTT: Duration = Duration::from_millis(60);

pub(crate) fn config() -> Config {
    Config::new(MSS, 7)
}

/// An acknowledgement of `packets` packets in a quiet path, limited by the window.
pub(crate) fn ack(packets: u64) -> AckSample {
    AckSample {
        acked_bytes: packets * MSS,
        lost_bytes: 0,
        rtt: Some(RTT),
        ack_delayed: false,
        srtt: RTT,
        min_rtt: RTT,
        prior_in_flight_bytes: 10 * MSS,
        in_flight_bytes: 10 * MSS,
        delivered_bytes: 0,
        prior_delivered_bytes: 0,
        rate: None,
        window_limited: true,
        in_recovery: false,
    }
}

/// An algorithm with parameters of its own.
pub(crate) fn with(algorithm: Algorithm, parameters: &[(&str, Given)]) -> Box<dyn Controller> {
    let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    let named = Named::With { name: algorithm.name().into(), parameters: parameters.collect() };
    let choice = Choice::try_from(named).expect("known parameters");
    crate::build(&choice, config(), &Group::new())
}

/// An algorithm with classic slow start, where that is a choice.
pub(crate) fn without_hystart(algorithm: Algorithm) -> Box<dyn Controller> {
    match algorithm {
        Algorithm::Cubic => with(algorithm, &[("hystart", Given::Text("off".into()))]),
        other => other.build(config()),
    }
}
