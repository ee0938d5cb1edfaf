//! `inflight_hi`: how much in flight was too much when the path was probed.

use super::cycle::Feedback;
use super::signals::Bounds;
use super::{Ack, BbrV2V3, Mode, Probing};
use crate::LossSample;
use crate::bbr::gain::Gain;
use units::Instant;

/// The flight in which a packet left, and what of it was lost; whole packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) in_flight_packets: u64,
    pub(super) lost_packets: u64,
}

impl Flight {
    /// More was lost than the threshold allows (tcp_bbr2.c `bbr2_is_inflight_too_high`).
    pub(super) fn is_too_high(self, threshold: Gain) -> bool {
        let allowed = threshold.of_bytes(self.in_flight_packets);
        self.lost_packets > 0 && self.in_flight_packets > 0 && self.lost_packets > allowed
    }

    /// Packets in flight at which the loss crossed the threshold, when the last `size` packets of
    /// the flight were lost together (tcp_bbr2.c `bbr2_inflight_hi_from_lost_skb`).
    pub(super) fn where_too_high(self, size: u64, threshold: Gain) -> u64 {
        let in_flight_before = self.in_flight_packets.saturating_sub(size);
        let lost_before = self.lost_packets.saturating_sub(size);
        let budget = in_flight_before.saturating_mul(threshold.parts()).div_ceil(256);
        let left = budget.saturating_sub(lost_before).saturating_mul(256);
        let prefix = left / threshold.complement().parts().max(1);
        in_flight_before.saturating_add(prefix)
    }
}

impl BbrV2V3 {
    /// A loss while the samples are those of a probe: is that much in flight too much?
    /// (tcp_bbr2.c `bbr2_skb_marked_lost`)
    ///
    /// Linux asks this for each lost packet; here packets that are found lost together are asked
    /// about together, as Linux does with those of one buffer.
    pub(super) fn check_lost_packets(&mut self, now: Instant, loss: &LossSample) {
        if !self.cycle.samples_are_of_probe {
            return;
        }
        let flight = Flight {
            in_flight_packets: loss.tx_in_flight_bytes.div_ceil(self.mss_bytes),
            lost_packets: loss.lost_since_sent_bytes.div_ceil(self.mss_bytes),
        };
        let threshold = self.settings.loss_threshold;
        if flight.is_too_high(threshold) {
            let size = loss.lost_bytes.div_ceil(self.mss_bytes);
            let packets = flight.where_too_high(size, threshold);
            // Whether the application limited the lost packet is not known here: assumed not.
            self.handle_too_high(now, packets.saturating_mul(self.mss_bytes), false);
        }
    }

    /// The flight of the sampled packet, if its losses were too high.
    pub(super) fn sample_is_too_high(&self, ack: &Ack<'_>) -> bool {
        let Some(rate) = ack.rate.filter(|rate| rate.lost_bytes > 0) else { return false };
        let flight = Flight {
            in_flight_packets: rate.tx_in_flight_bytes.div_ceil(self.mss_bytes),
            lost_packets: rate.lost_bytes.div_ceil(self.mss_bytes),
        };
        flight.is_too_high(self.settings.loss_threshold)
    }

    /// Once per probe: sets the upper bound, and ends the probe
    /// (tcp_bbr2.c `bbr2_handle_inflight_too_high`).
    fn handle_too_high(&mut self, now: Instant, in_flight_bytes: u64, app_limited: bool) {
        self.cycle.last_was_too_high = true;
        self.cycle.samples_are_of_probe = false;
        if !app_limited {
            let least = self.settings.beta.complement().of_bytes(self.target_in_flight());
            self.bounds.in_flight_hi = in_flight_bytes.max(least);
        }
        if self.mode == Mode::ProbeBw(Probing::Up) {
            self.start_down(now);
        }
    }

    /// Moves the upper bound by the samples of a probe; true if that began another phase
    /// (tcp_bbr2.c `bbr2_adapt_upper_bounds`).
    pub(super) fn adapt_upper_bound(&mut self, now: Instant, ack: &Ack<'_>) -> bool {
        if self.rounds.started && self.follow_feedback(ack) {
            return true;
        }
        if self.sample_is_too_high(ack) {
            if self.cycle.samples_are_of_probe {
                let in_flight = ack.rate.map_or(0, |rate| rate.tx_in_flight_bytes);
                self.handle_too_high(now, in_flight, ack.app_limited);
            }
            return false;
        }
        if self.bounds.in_flight_hi == Bounds::NONE.in_flight_hi {
            return false;
        }
        // Whatever the phase: that much in flight was not too much.
        let in_flight = ack.rate.map_or(0, |rate| rate.tx_in_flight_bytes);
        self.bounds.in_flight_hi = self.bounds.in_flight_hi.max(in_flight);
        if self.mode == Mode::ProbeBw(Probing::Up) {
            self.raise_upper_bound(ack);
        }
        false
    }

    /// A round began: are the samples still those of the probe?
    fn follow_feedback(&mut self, ack: &Ack<'_>) -> bool {
        match self.cycle.feedback {
            Feedback::Starting => self.cycle.feedback = Feedback::Coming,
            Feedback::Stopping => {
                self.cycle.feedback = Feedback::None;
                self.cycle.samples_are_of_probe = false;
                return self.end_of_probe_samples(ack);
            }
            Feedback::None | Feedback::Refilling | Feedback::Coming => {}
        }
        false
    }

    fn end_of_probe_samples(&mut self, ack: &Ack<'_>) -> bool {
        if !matches!(self.mode, Mode::ProbeBw(_)) {
            return false;
        }
        if !ack.app_limited {
            self.max_bandwidth.advance();
        }
        // The probe stopped at the bound for fear of loss, and there was none: probe on at once.
        let again = self.cycle.stopped_at_bound && !self.cycle.last_was_too_high;
        if again {
            self.start_refill();
        }
        again
    }
}
