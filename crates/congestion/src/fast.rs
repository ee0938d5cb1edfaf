//! "fast" as picoquic has it (`picoquic/fastcc.c`; docs/model.md §4.7): grow while the RTT is near
//! its minimum, give up an eighth when four samples in a row are not. It is **not** FAST TCP (Jin,
//! Wei, Low 2004), which has an equation for its window.
//!
//! Deviations: packet numbers are inferred (`picoquic.rs`); the pace has no extra in slow start.

use crate::picoquic::{LossFilter, MIN_WINDOW_PACKETS, RttFilter, pace, quantum};
use crate::{AckSample, Config, Controller, LossSample, Phase};
use parameters::{Info, Parameter, Values, flag};
use units::{Bitrate, Duration, Instant};

pub(crate) const INFO: Info = Info {
    name: "fast",
    title: "FAST as picoquic has it; not FAST TCP",
    source: "picoquic fastcc.c",
    parameters: &[Parameter {
        name: "timeout_ends_freeze",
        unit: "",
        kind: flag(false),
        meaning: "A timeout counts while frozen, whatever froze it; picoquic heeds it only after \
                  another timeout.",
        source: "ours: picoquic's test looks unintended",
    }],
};

const REPEATS: u32 = 4; // fastcc.c FASTCC_REPEAT_THRESHOLD
const DELAY_BETA: u64 = 8; // fastcc.c FASTCC_BETA: an eighth
const EVAL_ALPHA: f64 = 0.25; // fastcc.c FASTCC_EVAL_ALPHA
const MAX_THRESHOLD: Duration = Duration::from_millis(25); // fastcc.c FASTCC_DELAY_THRESHOLD_MAX
const EPOCH: Duration = Duration::from_secs(1); // fastcc.c FASTCC_PERIOD
const FULL_EPOCHS: usize = 5; // fastcc.c FASTCC_NB_PERIOD less the current one

/// How much longer than the minimum an RTT may be (fastcc.c `picoquic_fastcc_delay_threshold`).
pub(crate) fn delay_threshold(rtt_min: Duration) -> Duration {
    (rtt_min / 8).min(MAX_THRESHOLD)
}

/// The minimum of the current second and the five before, of RTTs that seven samples agree on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MinRtt {
    filter: RttFilter,
    epochs: [Duration; FULL_EPOCHS],
    current: Duration,
    end_of_epoch: Instant,
    min: Option<Duration>,
}

impl MinRtt {
    pub(crate) fn new() -> Self {
        Self {
            filter: RttFilter::default(),
            epochs: [Duration::MAX; FULL_EPOCHS],
            current: Duration::MAX,
            end_of_epoch: Instant::ZERO,
            min: None,
        }
    }

    /// Takes a sample; the minimum. The first one is the minimum until seven have come.
    pub(crate) fn on_rtt(&mut self, now: Instant, rtt: Duration) -> Duration {
        let Some((_, candidate)) = self.filter.add(rtt) else {
            self.end_of_epoch = now + EPOCH;
            return *self.min.get_or_insert(rtt);
        };
        if now > self.end_of_epoch {
            self.epochs.rotate_right(1);
            self.epochs[0] = self.current;
            self.current = candidate;
            self.end_of_epoch = now + EPOCH;
        }
        self.current = self.current.min(candidate);
        let min = self.epochs.iter().fold(self.current, |least, epoch| least.min(*epoch));
        self.min = Some(min);
        min
    }
}

/// Why the window was reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Delay,
    Loss,
    Timeout,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Initial,
    Eval,
    /// Until a time, or until a packet that left after it is acknowledged.
    Freeze {
        cause: Cause,
        end: Instant,
        delivered_bytes: u64,
    },
}

/// picoquic's FAST.
#[derive(Debug)]
pub(crate) struct Fast {
    mss_bytes: u64,
    window_bytes: u64,
    srtt: Duration,
    state: State,
    rtt_min: MinRtt,
    loss: LossFilter,
    /// Samples in a row above the threshold.
    exceeding: u32,
    acked_since_rtt_bytes: u64,
    delivered_bytes: u64,
    timeout_ends_freeze: bool,
}

impl Fast {
    pub(crate) fn new(config: Config, values: &Values) -> Self {
        let mss_bytes = config.mss();
        Self {
            mss_bytes,
            window_bytes: config.initial_window_packets.max(1).saturating_mul(mss_bytes),
            srtt: Duration::ZERO,
            state: State::Initial,
            rtt_min: MinRtt::new(),
            loss: LossFilter::new(mss_bytes),
            exceeding: 0,
            acked_since_rtt_bytes: 0,
            delivered_bytes: 0,
            timeout_ends_freeze: values.flag("timeout_ends_freeze"),
        }
    }

    fn is_frozen(&self) -> bool {
        matches!(self.state, State::Freeze { .. })
    }

    fn thaw(&mut self, now: Instant, prior_delivered_bytes: u64) {
        let State::Freeze { cause, end, delivered_bytes } = self.state else { return };
        if now <= end && prior_delivered_bytes < delivered_bytes {
            return;
        }
        self.state = if cause == Cause::Timeout { State::Initial } else { State::Eval };
        self.exceeding = 0;
        self.acked_since_rtt_bytes = 0;
    }

    fn reduce(&mut self, now: Instant, cause: Cause) {
        let least = self.mss_bytes.saturating_mul(MIN_WINDOW_PACKETS);
        let left = match cause {
            Cause::Delay => self.window_bytes - self.window_bytes / DELAY_BETA,
            Cause::Loss => self.window_bytes / 2,
            Cause::Timeout => least,
        };
        self.window_bytes = left.max(least);
        let rtt_min = self.rtt_min.min.unwrap_or(self.srtt);
        let (end, delivered_bytes) = (now + rtt_min, self.delivered_bytes);
        self.state = State::Freeze { cause, end, delivered_bytes };
    }

    /// One RTT sample, while not frozen (fastcc.c, `rtt_measurement`).
    fn on_rtt(&mut self, now: Instant, rtt: Duration, rtt_min: Duration, may_grow: bool) {
        let threshold = delay_threshold(rtt_min);
        let delay = rtt.saturating_sub(rtt_min);
        if delay >= threshold {
            self.exceeding += 1;
            if self.exceeding >= REPEATS {
                self.reduce(now, Cause::Delay);
            }
            return;
        }
        self.exceeding = 0;
        let alpha = match self.state {
            State::Initial => 1.0,
            _ => EVAL_ALPHA * (1.0 - delay.as_secs_f64() / threshold.as_secs_f64()),
        };
        if may_grow {
            let more = (alpha * self.acked_since_rtt_bytes as f64) as u64;
            self.window_bytes = self.window_bytes.saturating_add(more);
        }
        self.acked_since_rtt_bytes = 0;
    }
}

impl Controller for Fast {
    fn window_bytes(&self) -> u64 {
        self.window_bytes.max(self.mss_bytes)
    }

    fn phase(&self) -> Phase {
        match self.state {
            State::Initial => Phase::SlowStart,
            State::Eval => Phase::Avoidance,
            State::Freeze { .. } => Phase::Freeze,
        }
    }

    fn pacing_rate(&self) -> Option<Bitrate> {
        pace(self.window_bytes, self.srtt, self.mss_bytes)
    }

    fn send_quantum_bytes(&self) -> u64 {
        quantum(self.window_bytes, self.mss_bytes)
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
        self.delivered_bytes = ack.delivered_bytes;
        self.thaw(now, ack.prior_delivered_bytes);
        if !self.is_frozen() {
            self.acked_since_rtt_bytes = self.acked_since_rtt_bytes.saturating_add(ack.acked_bytes);
        }
        let Some(rtt) = ack.rtt else { return };
        let rtt_min = self.rtt_min.on_rtt(now, rtt);
        if !self.is_frozen() {
            self.on_rtt(now, rtt, rtt_min, ack.window_limited);
        }
    }

    fn on_lost(&mut self, now: Instant, loss: &LossSample) {
        self.delivered_bytes = loss.delivered_bytes;
        if self.loss.on_lost(loss.lost_bytes, loss.delivered_bytes) && !self.is_frozen() {
            self.reduce(now, Cause::Loss);
        }
    }

    /// No filter as for losses (fastcc.c, `picoquic_congestion_notification_ecn_ec`).
    fn on_congestion_experienced(&mut self, now: Instant, mark: &LossSample) {
        self.delivered_bytes = mark.delivered_bytes;
        if !self.is_frozen() {
            self.reduce(now, Cause::Loss);
        }
    }

    fn on_timeout(&mut self, now: Instant, _in_flight_bytes: u64, _repeated: bool) {
        let heeded = match self.state {
            State::Freeze { cause, .. } => cause == Cause::Timeout || self.timeout_ends_freeze,
            State::Initial | State::Eval => true,
        };
        if heeded {
            self.reduce(now, Cause::Timeout);
        }
    }

    /// One exceeding sample less; the window stays (fastcc.c, `spurious_repeat`).
    fn on_spurious(&mut self, _now: Instant) {
        self.exceeding = self.exceeding.saturating_sub(1);
    }

    fn penalise(&mut self) {
        self.window_bytes = (self.window_bytes / 2).max(self.mss_bytes);
    }
}
