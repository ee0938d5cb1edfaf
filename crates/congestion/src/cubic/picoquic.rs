//! CUBIC as picoquic has it (`picoquic/cubic.c`; docs/model.md §4.2): beta 7/8, a Reno that starts
//! at half the window, and no reaction to losses below a smoothed 15 %. It stands far more random
//! loss than RFC 9438, by design.
//!
//! The text of cubic.c that was read is some releases old; what is known of the newest one
//! agrees with it. Deviations: packet numbers are inferred (`picoquic.rs`); a spurious reduction is
//! taken back whole, not by an inverse of the curve; the pace has no extra in slow start.

use super::curve::cbrt;
use crate::picoquic::{LossFilter, MIN_WINDOW_PACKETS, RttFilter, SAMPLES, pace, quantum};
use crate::{AckSample, Config, Controller, LossSample, Phase};
use parameters::Info;
use units::{Bitrate, Duration, Instant};

pub(crate) const INFO: Info = Info {
    name: "cubic-picoquic",
    title: "CUBIC as picoquic has it",
    source: "picoquic cubic.c, cc_common.c",
    parameters: &[],
};

const BETA: f64 = 7.0 / 8.0; // cubic.c picoquic_cubic_reset
const C: f64 = 0.4; // cubic.c picoquic_cubic_reset
/// One RTT sample per millisecond (cc_common.c `picoquic_hystart_test`).
const SAMPLE_INTERVAL: Duration = Duration::from_millis(1);
/// Above this RTT, slow start overshoots (cc_common.h `PICOQUIC_TARGET_RENO_RTT`).
const RENO_RTT: Duration = Duration::from_millis(100);
/// cc_common.h `PICOQUIC_TARGET_SATELLITE_RTT`. Both values are known, the header was not read.
const SATELLITE_RTT: Duration = Duration::from_millis(610);
const MIN_WINDOW: f64 = MIN_WINDOW_PACKETS as f64;

/// Ends slow start when the last samples are all longer than 5/4 of the minimum
/// (cc_common.c `picoquic_hystart_test`).
#[derive(Clone, Copy, Debug, Default)]
struct DelayTest {
    filter: RttFilter,
    last: Option<Instant>,
    min: Option<Duration>,
    exceeding: usize,
}

impl DelayTest {
    fn is_too_long(&mut self, now: Instant, rtt: Duration) -> bool {
        if self.last.is_some_and(|last| now <= last + SAMPLE_INTERVAL) {
            return false;
        }
        self.last = Some(now);
        let Some((smallest, largest)) = self.filter.add(rtt) else { return false };
        let min = self.min.map_or(largest, |min| min.min(largest));
        self.min = Some(min);
        if smallest <= min {
            self.exceeding = 0;
        } else if smallest > min + min / 4 {
            self.exceeding += 1;
        }
        self.exceeding >= SAMPLES
    }
}

/// What a reduction changes; kept to undo it. Packets and seconds.
#[derive(Clone, Copy, Debug)]
struct Shape {
    packets: f64,
    ssthresh: f64,
    avoiding: bool,
    w_max: f64,
    last_max: f64,
    /// Seconds from the start of the epoch to the flat point.
    k: f64,
    epoch: Instant,
    reno: f64,
}

/// picoquic's CUBIC.
#[derive(Debug)]
pub(crate) struct PicoquicCubic {
    mss_bytes: u64,
    srtt: Duration,
    shape: Shape,
    undo: Option<Shape>,
    delay: DelayTest,
    loss: LossFilter,
    /// Losses up to here in the stream were answered.
    answered_bytes: u64,
}

impl PicoquicCubic {
    pub(crate) fn new(config: Config) -> Self {
        let mss_bytes = config.mss();
        let packets = config.initial_window_packets.max(1) as f64;
        let shape = Shape {
            packets,
            ssthresh: f64::INFINITY,
            avoiding: false,
            w_max: f64::INFINITY,
            last_max: f64::INFINITY,
            k: 0.0,
            epoch: Instant::ZERO,
            reno: packets,
        };
        Self {
            mss_bytes,
            srtt: Duration::ZERO,
            shape,
            undo: None,
            delay: DelayTest::default(),
            loss: LossFilter::new(mss_bytes),
            answered_bytes: 0,
        }
    }

    fn slow_start(&mut self, now: Instant, ack: &AckSample) {
        let shape = &mut self.shape;
        if ack.window_limited {
            shape.packets += ack.acked_bytes as f64 / self.mss_bytes as f64;
            if shape.packets >= shape.ssthresh {
                shape.reno = shape.packets / 2.0; // cubic.c: at the exit by the threshold
                return shape.enter_avoidance(now);
            }
        }
        let Some(rtt) = ack.rtt.filter(|_| shape.ssthresh.is_infinite()) else { return };
        if self.delay.is_too_long(now, rtt) {
            let min = self.delay.min.unwrap_or(rtt);
            shape.leave_slow_start(now, min);
        }
    }

    /// A reduction (cubic.c `picoquic_cubic_enter_recovery`).
    fn reduce(&mut self, now: Instant, timeout: bool, in_flight_bytes: u64) {
        self.undo = Some(self.shape);
        self.answered_bytes = self.loss.position().saturating_add(in_flight_bytes);
        let shape = &mut self.shape;
        let converging = shape.packets < shape.last_max && shape.last_max.is_finite();
        shape.last_max = shape.packets;
        // Fast convergence: a flow that is losing ground gives some up.
        shape.w_max = if converging { shape.packets * BETA } else { shape.packets };
        shape.ssthresh = shape.w_max * BETA;
        if shape.ssthresh < MIN_WINDOW {
            shape.ssthresh = f64::INFINITY; // so bad that it starts anew
            shape.reno = MIN_WINDOW;
        }
        if timeout || shape.ssthresh.is_infinite() {
            shape.packets = MIN_WINDOW;
            shape.epoch = now;
            shape.avoiding = false;
        } else {
            shape.enter_avoidance(now);
            shape.reno = shape.packets / 2.0; // cubic.c picoquic_cubic_enter_recovery
            shape.packets = shape.cubic(now).max(shape.reno).max(MIN_WINDOW);
        }
    }

    /// In slow start, a loss counts a round trip after the last answer at the latest.
    fn is_new(&self, now: Instant) -> bool {
        let waited = !self.shape.avoiding && now > self.shape.epoch + self.srtt;
        waited || self.loss.position() >= self.answered_bytes
    }
}

impl Shape {
    /// cubic.c `picoquic_cubic_W_cubic`.
    fn cubic(&self, now: Instant) -> f64 {
        let offset = now.since(self.epoch).as_secs_f64() - self.k;
        C * offset * offset * offset + self.w_max
    }

    /// cubic.c `picoquic_cubic_enter_avoidance`.
    fn enter_avoidance(&mut self, now: Instant) {
        self.avoiding = true;
        if self.w_max.is_infinite() {
            self.w_max = self.packets;
        }
        self.k = cbrt(self.w_max * (1.0 - BETA) / C);
        self.epoch = now;
    }

    /// The RTT has risen: the window is the threshold, and the curve is at its flat point. On long
    /// paths, half of what a path of 100 ms would not have reached is given back.
    fn leave_slow_start(&mut self, now: Instant, min_rtt: Duration) {
        if min_rtt > RENO_RTT {
            let reference = if min_rtt > SATELLITE_RTT { SATELLITE_RTT } else { RENO_RTT };
            let kept = self.packets * reference.as_secs_f64() / min_rtt.as_secs_f64();
            self.packets -= (self.packets - kept) / 2.0;
        }
        self.packets = self.packets.max(MIN_WINDOW);
        self.ssthresh = self.packets;
        self.w_max = self.packets;
        self.last_max = self.packets;
        self.reno = self.packets;
        self.enter_avoidance(now);
        self.k = self.k.min(now.as_secs_f64());
        self.epoch = now.saturating_sub(Duration::from_nanos((self.k * 1e9) as u64));
    }

    fn avoid_congestion(&mut self, now: Instant, acked: f64) {
        self.reno += acked / self.reno;
        self.packets = self.cubic(now).max(self.reno).max(MIN_WINDOW);
    }
}

impl Controller for PicoquicCubic {
    fn window_bytes(&self) -> u64 {
        (self.shape.packets.max(1.0) as u64).saturating_mul(self.mss_bytes)
    }

    fn phase(&self) -> Phase {
        if self.shape.avoiding { Phase::Avoidance } else { Phase::SlowStart }
    }

    fn ssthresh_bytes(&self) -> u64 {
        (self.shape.ssthresh as u64).saturating_mul(self.mss_bytes)
    }

    fn pacing_rate(&self) -> Option<Bitrate> {
        pace(self.window_bytes(), self.srtt, self.mss_bytes)
    }

    fn send_quantum_bytes(&self) -> u64 {
        quantum(self.window_bytes(), self.mss_bytes)
    }

    /// QUIC has no such thing: the window falls at once.
    fn reduces_by_prr(&self) -> bool {
        false
    }

    fn on_handshake(&mut self, rtt: Duration) {
        self.srtt = rtt;
    }

    fn on_acked(&mut self, now: Instant, ack: &AckSample) {
        self.srtt = ack.srtt;
        if !self.shape.avoiding {
            self.slow_start(now, ack);
        } else if ack.window_limited {
            let acked = ack.acked_bytes as f64 / self.mss_bytes as f64;
            self.shape.avoid_congestion(now, acked);
        }
    }

    fn on_lost(&mut self, now: Instant, loss: &LossSample) {
        let congestion = self.loss.on_lost(loss.lost_bytes, loss.delivered_bytes);
        if congestion && self.is_new(now) {
            self.reduce(now, false, loss.in_flight_bytes);
        }
    }

    /// No filter as for losses (cubic.c, `picoquic_congestion_notification_ecn_ec`).
    fn on_congestion_experienced(&mut self, now: Instant, mark: &LossSample) {
        if self.is_new(now) {
            self.reduce(now, false, mark.in_flight_bytes);
        }
    }

    fn on_timeout(&mut self, now: Instant, in_flight_bytes: u64, repeated: bool) {
        if repeated {
            self.shape.packets = MIN_WINDOW;
        } else {
            self.reduce(now, true, in_flight_bytes);
        }
    }

    fn on_spurious(&mut self, _now: Instant) {
        if let Some(before) = self.undo.take() {
            let packets = self.shape.packets.max(before.packets);
            self.shape = Shape { packets, ..before };
        }
    }

    /// The epoch begins when the sender was limited last (cubic.c, "Protection against limited
    /// senders").
    fn on_app_limited(&mut self, now: Instant, _span: Duration) {
        self.shape.epoch = now;
    }

    /// The curve knows nothing of it, so that the window returns at the next acknowledgement.
    fn penalise(&mut self) {
        self.shape.packets = (self.shape.packets / 2.0).max(1.0);
        self.shape.reno = self.shape.reno.min(self.shape.packets);
    }
}
