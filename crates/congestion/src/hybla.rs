//! TCP Hybla: on a long path, grow as fast as a TCP on a path of 25 ms would (Caini & Firrincieli
//! 2004; Linux `tcp_hybla.c`).
//!
//! As in Linux, and unlike in the paper:
//! * rho is known to an eighth, rounded down: 2.375 at 60 ms (2.4), 4.25 at 108 ms (4.32);
//! * an acknowledgement counts once, however many packets it covers: delayed ACKs halve the growth;
//! * rho follows the smallest smoothed RTT. A path that becomes longer (a LEO handover) is not
//!   noticed;
//! * the first window is rho, not ten packets (`initial_window`).
//!
//! It is bursty without pacing, and does not pace.

use crate::loss_based::Window;
use crate::{AckSample, Config, Controller, LossSample, Phase};
use parameters::{Info, Parameter, Values, number, option};
use units::{Duration, Instant};

pub(crate) const INFO: Info = Info {
    name: "hybla",
    title: "TCP Hybla",
    source: "Caini & Firrincieli 2004; Linux tcp_hybla.c",
    parameters: &[
        Parameter {
            name: "rtt0_ms",
            unit: "ms",
            kind: number(25.0, 1.0, 1000.0),
            meaning: "RTT of the path whose growth it copies.",
            source: "tcp_hybla.c rtt0",
        },
        Parameter {
            name: "initial_window",
            unit: "",
            kind: option(&["rho", "config"]),
            meaning: "First window: RTT over rtt0, or that of the other controllers.",
            source: "tcp_hybla.c hybla_init",
        },
    ],
};

/// Fraction of the window that survives a loss (tcp_hybla.c: `tcp_reno_ssthresh`).
const BETA: f64 = 0.5;
/// Largest window in packets (tcp_hybla.c `hybla_init`: `snd_cwnd_clamp`).
const CLAMP: f64 = 65_535.0;
/// 2^(k/8) in 128ths (tcp_hybla.c `hybla_fraction`).
const POWERS_128THS: [u32; 8] = [128, 139, 152, 165, 181, 197, 215, 234];
/// No exponent beyond (tcp_hybla.c `hybla_cong_avoid` in newer kernels).
const MAX_EXPONENT: u32 = 16;

/// How many times longer than the reference the path is; in eighths, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rho {
    eighths: u32,
}

impl Rho {
    /// At least one (tcp_hybla.c `hybla_recalc_param`).
    pub(crate) fn new(rtt: Duration, reference: Duration) -> Self {
        let eighths = rtt.as_nanos().saturating_mul(8) / reference.as_nanos().max(1);
        Self { eighths: u32::try_from(eighths).unwrap_or(u32::MAX).max(8) }
    }

    pub(crate) fn get(self) -> f64 {
        f64::from(self.eighths) / 8.0
    }

    /// Packets per acknowledgement in slow start: 2^rho - 1.
    pub(crate) fn slow_start(self) -> f64 {
        let whole = (self.eighths / 8).min(MAX_EXPONENT);
        let fraction = POWERS_128THS[self.eighths as usize % 8];
        f64::from(1_u32 << whole) * f64::from(fraction) / 128.0 - 1.0
    }

    /// Packets per acknowledgement in congestion avoidance, times the window: rho^2.
    pub(crate) fn avoidance(self) -> f64 {
        self.get() * self.get()
    }
}

/// TCP Hybla.
#[derive(Debug)]
pub(crate) struct Hybla {
    window: Window,
    reference: Duration,
    starts_with_rho: bool,
    min_srtt: Duration,
    rho: Rho,
    acked: bool,
}

impl Hybla {
    pub(crate) fn new(config: Config, values: &Values) -> Self {
        let reference = Duration::from_nanos((values.number("rtt0_ms") * 1e6) as u64);
        Self {
            window: Window::new(config),
            reference,
            starts_with_rho: values.option("initial_window") == "rho",
            min_srtt: Duration::MAX,
            rho: Rho::new(Duration::ZERO, reference),
            acked: false,
        }
    }

    fn on_srtt(&mut self, srtt: Duration) {
        if srtt < self.min_srtt && !srtt.is_zero() {
            self.min_srtt = srtt;
            self.rho = Rho::new(srtt, self.reference);
        }
    }

    fn grow(&mut self) {
        let packets = self.window.packets();
        if self.window.in_slow_start() {
            // The rest beyond the threshold is dropped (tcp_hybla.c: "clamp down").
            let _rest = self.window.grow_in_slow_start(self.rho.slow_start());
        } else {
            self.window.grow_to(packets + self.rho.avoidance() / packets);
        }
    }

    /// Outside of the open state, Linux lets Reno grow (tcp_hybla.c `hybla_state`).
    fn grow_as_reno(&mut self, ack: &AckSample) {
        let mut acked = self.window.acked_packets(ack);
        if self.window.in_slow_start() {
            acked = self.window.grow_in_slow_start(acked);
        }
        let packets = self.window.packets();
        self.window.grow_to(packets + acked / packets); // RFC 5681 §3.1 eq. 3
    }
}

impl Controller for Hybla {
    fn window_bytes(&self) -> u64 {
        self.window.bytes()
    }

    fn phase(&self) -> Phase {
        self.window.phase()
    }

    fn ssthresh_bytes(&self) -> u64 {
        self.window.ssthresh_bytes()
    }

    fn on_handshake(&mut self, rtt: Duration) {
        self.on_srtt(rtt);
        if self.starts_with_rho && !self.acked {
            self.window.start_with(self.rho.get().floor());
        }
    }

    fn on_acked(&mut self, _now: Instant, ack: &AckSample) {
        self.acked = true;
        self.on_srtt(ack.srtt);
        if ack.acked_bytes == 0 || !self.window.may_grow(ack) {
            return;
        }
        if self.window.is_repairing() {
            self.grow_as_reno(ack);
        } else {
            self.grow();
        }
        self.window.shrink_to(CLAMP);
    }

    fn on_lost(&mut self, _now: Instant, loss: &LossSample) {
        if loss.new_episode {
            self.window.reduce(BETA);
        }
    }

    fn on_recovered(&mut self, _now: Instant) {
        self.window.recovered();
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight_bytes: u64, repeated: bool) {
        self.window.collapse(BETA, repeated);
    }

    fn on_spurious(&mut self, _now: Instant) {
        self.window.undo();
    }

    fn on_idle_restart(&mut self, _now: Instant, idle: Duration, rto: Duration) {
        self.window.restart_after_idle(idle, rto);
    }

    fn penalise(&mut self) {
        self.window.penalise();
    }
}
