//! The cubic of RFC 9438 and the Reno window that runs beside it. Packets and seconds.

use units::{Duration, Instant};

/// Fraction of the window that survives a loss (RFC 9438 §4.6).
pub(super) const BETA: f64 = 0.7;
/// Steepness of the cubic, in packets per second cubed (RFC 9438 §5.1).
const C: f64 = 0.4;
/// Growth per window of the Reno that reduces by [`BETA`]: 3(1-β)/(1+β) (RFC 9438 §4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// One stretch of congestion avoidance between two reductions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch {
    start: Instant,
    /// Where the curve is flat: W_max.
    origin: f64,
    /// Seconds from the start to the flat point: K.
    k: f64,
    /// The window of a Reno that started with this epoch: W_est.
    reno: f64,
}

impl Epoch {
    /// Begins with a window of `packets`. Without a `w_max` (slow start ended without a loss, or a
    /// timeout came before) the curve starts at its flat point (RFC 9438 §4.8, §4.10).
    pub(super) fn begin(now: Instant, packets: f64, w_max: Option<f64>) -> Self {
        let origin = w_max.unwrap_or(packets).max(packets); // K = 0 when already past W_max
        let k = cbrt((origin - packets) / C); // RFC 9438 §4.2, figure 2
        Self { start: now, origin, k, reno: packets }
    }

    /// W_cubic after `t` seconds (RFC 9438 §4.2, figure 1).
    pub(super) fn at(&self, t: f64) -> f64 {
        let offset = t - self.k;
        C * offset * offset * offset + self.origin
    }

    #[cfg(test)]
    pub(super) fn k(&self) -> f64 {
        self.k
    }

    /// The window after `acked` more packets, from a window of `packets`.
    pub(super) fn next(&mut self, now: Instant, srtt: Duration, acked: f64, window: Past) -> f64 {
        let Past { packets, prior } = window;
        let alpha = if self.reno >= prior { 1.0 } else { ALPHA }; // RFC 9438 §4.3
        self.reno += alpha * acked / packets; // RFC 9438 §4.3, figure 4
        let t = now.since(self.start).as_secs_f64();
        if self.at(t) < self.reno {
            return self.reno; // RFC 9438 §4.3: the Reno-friendly region
        }
        let target = self.at(t + srtt.as_secs_f64()).clamp(packets, 1.5 * packets); // RFC 9438 §4.2
        packets + (target - packets) * (acked / packets).min(1.0) // RFC 9438 §4.4, §4.5
    }

    /// Leaves `span` out of the epoch (RFC 9438 §4.2, §5.8; Linux `cubictcp_cwnd_event`).
    pub(super) fn shift(&mut self, now: Instant, span: Duration) {
        self.start = (self.start + span).min(now);
    }

    /// The window was cut from outside: without this it would jump back to W_est at once. Linux
    /// cannot jump, since `bictcp_update` turns W_est into a growth rate.
    pub(super) fn cap_reno(&mut self, packets: f64) {
        self.reno = self.reno.min(packets);
    }
}

/// The window now, and before the last reduction (cwnd_prior).
#[derive(Clone, Copy, Debug)]
pub(super) struct Past {
    pub(super) packets: f64,
    pub(super) prior: f64,
}

/// Cube root by Newton's method, from a third of the exponent: the same bits on every machine,
/// which `f64::cbrt` (libm) does not promise. Zero for anything that is not positive.
pub(super) fn cbrt(x: f64) -> f64 {
    if x.is_nan() || x < f64::MIN_POSITIVE {
        return 0.0;
    }
    let two_thirds_of_the_bias: u64 = 682 << 52; // 1023 * 2 / 3, in the exponent's place
    let mut root = f64::from_bits(x.to_bits() / 3 + two_thirds_of_the_bias);
    for _ in 0..5 {
        root = (2.0 * root + x / (root * root)) / 3.0;
    }
    root
}
