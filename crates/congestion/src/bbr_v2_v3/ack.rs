use crate::{AckSample, RateSample};

/// An acknowledgement with what is known about its rate sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack<'a> {
    pub(super) sample: &'a AckSample,
    /// A rate above zero.
    pub(super) rate: Option<RateSample>,
    /// The sampled packet left while the path had no more to send (or in a PROBE_RTT dip).
    pub(super) app_limited: bool,
}
