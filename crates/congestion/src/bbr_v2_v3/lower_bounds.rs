//! The lower bounds that loss sets while the path is not being probed.

use super::signals::Bounds;
use super::{Ack, BbrV2V3};
use crate::bbr::gain::Gain;

impl BbrV2V3 {
    /// Bandwidth filter, delivery of the round and, once per round, the lower bounds
    /// (tcp_bbr2.c `bbr2_update_congestion_signals`).
    pub(super) fn update_signals(&mut self, ack: &Ack<'_>) {
        self.signals.round_started = false;
        let Some(rate) = ack.rate else { return };
        // A sample that the application limited is a lower bound: it may only raise the filter.
        if !ack.app_limited || rate.rate >= self.max_bandwidth.get() {
            self.max_bandwidth.update(rate.rate);
        }
        self.signals.note(ack, rate.rate, rate.delivered_bytes);
        if self.signals.round_started {
            self.adapt_lower_bounds();
            self.signals.lost = false;
        }
    }

    /// Ends the round of the signals: at the end of the acknowledgement, as version 3 does it.
    /// Version 2 does it before the model is updated, where nothing reads them until the next one.
    pub(super) fn advance_signals(&mut self, ack: &Ack<'_>) {
        if let (true, Some(rate)) = (self.signals.round_started, ack.rate) {
            self.signals.advance(rate.rate, rate.delivered_bytes);
        }
    }

    /// A round with loss between probes: down by beta, but not below what the round delivered
    /// (tcp_bbr2.c `bbr2_adapt_lower_bounds`).
    fn adapt_lower_bounds(&mut self) {
        if !self.signals.lost || self.is_probing_bandwidth() {
            return;
        }
        if self.bounds.bandwidth_lo == Bounds::NONE.bandwidth_lo {
            self.bounds.bandwidth_lo = self.max_bandwidth.get();
        }
        self.init_in_flight_lo(self.window_bytes);
        let left: Gain = self.settings.beta.complement();
        let bandwidth = left.of(self.bounds.bandwidth_lo).max(self.signals.bandwidth);
        let in_flight = left.of_bytes(self.bounds.in_flight_lo).max(self.signals.delivered_bytes);
        self.bounds.bandwidth_lo = bandwidth;
        self.bounds.in_flight_lo = in_flight;
    }

    pub(super) fn init_in_flight_lo(&mut self, bytes: u64) {
        if self.bounds.in_flight_lo == Bounds::NONE.in_flight_lo {
            self.bounds.in_flight_lo = bytes;
        }
    }
}
