//! BLEST, blocking estimation: Ferlin, Alay, Mehani, Boreli, "BLEST: Blocking Estimation-based
//! MPTCP Scheduler for Heterogeneous Networks", IFIP Networking 2016, in the form of the kernel's
//! `mptcp_blest.c` (docs/model.md §3.3, whose step numbers stand below).

use crate::default_pick::{default_pick, fastest};
use crate::{ConnectionView, Decision, PathEvent, PathView, Scheduler};
use parameters::Info;
use units::{Duration, Instant, PathId};

pub(crate) const INFO: Info = Info {
    name: "blest",
    title: "BLEST, blocking estimation",
    source: "Ferlin et al., IFIP Networking 2016; multipath-tcp.org v0.96 mptcp_blest.c",
    parameters: &[],
};

/// lambda is kept in thousandths: start 1.2, range 1.0 to 1.3.
const LAMBDA_START: u64 = 1200;
const LAMBDA_MIN: u64 = 1000;
const LAMBDA_MAX: u64 = 1300;
/// A closed window since the last step raises lambda by 0.04, a quiet one lowers it by 0.01.
const LAMBDA_RAISE: u64 = 40;
const LAMBDA_LOWER: u64 = 10;

/// Extremes of the smoothed RTT of one path, over its whole life (kernel: never aged).
#[derive(Clone, Copy, Debug)]
struct Extremes {
    min: Duration,
    max: Duration,
}

const UNSEEN: Extremes = Extremes { min: Duration::MAX, max: Duration::ZERO };

/// Waits for the fast path when a segment on the slow one would block the receive window for
/// longer than the fast path needs to fill it.
#[derive(Debug)]
pub struct Blest {
    srtt: Vec<Extremes>,
    lambda_milli: u64,
    lambda_changed_at: Instant,
    blocked: bool,
}

impl Default for Blest {
    fn default() -> Self {
        Self {
            srtt: Vec::new(),
            lambda_milli: LAMBDA_START,
            lambda_changed_at: Instant::ZERO,
            blocked: false,
        }
    }
}

impl Blest {
    /// Step 1: the lifetime extremes follow each look at a path.
    fn observe(&mut self, view: &ConnectionView<'_>) {
        for path in view.paths.iter().filter(|path| !path.srtt.is_zero()) {
            if self.srtt.len() <= path.id.index() {
                self.srtt.resize(path.id.index() + 1, UNSEEN);
            }
            let seen = &mut self.srtt[path.id.index()];
            seen.min = seen.min.min(path.srtt);
            seen.max = seen.max.max(path.srtt);
        }
        self.blocked |= view.window_blocked;
    }

    fn extremes(&self, path: &PathView) -> Extremes {
        let seen = self.srtt.get(path.id.index()).copied().unwrap_or(UNSEEN);
        if seen.max.is_zero() { Extremes { min: path.srtt, max: path.srtt } } else { seen }
    }

    /// At most once per minimum RTT of the slow path.
    fn adapt_lambda(&mut self, now: Instant, slow: &PathView) {
        if now - self.lambda_changed_at < self.extremes(slow).min {
            return;
        }
        self.lambda_milli = if self.blocked {
            (self.lambda_milli + LAMBDA_RAISE).min(LAMBDA_MAX)
        } else {
            (self.lambda_milli - LAMBDA_LOWER).max(LAMBDA_MIN)
        };
        self.blocked = false;
        self.lambda_changed_at = now;
    }

    /// Step 2: how long a segment sent on the slow path now stays in the window.
    fn linger(&self, slow: &PathView) -> Duration {
        let Extremes { min, max } = self.extremes(slow);
        let queued = slow.in_flight_packets + 1;
        let estimate = if queued >= slow.cwnd_packets {
            max
        } else {
            let share_ns = (max - min).as_nanos() * queued / slow.cwnd_packets;
            min + Duration::from_nanos(share_ns)
        };
        estimate.max(slow.srtt)
    }

    /// Steps 3 to 5: bytes that the fast path could send in that time, times lambda.
    fn fast_bytes(&self, fast: &PathView, linger: Duration) -> u64 {
        let Extremes { min, max } = self.extremes(fast);
        let rtt_ns = ((min + max) / 2).as_nanos();
        let rounds = linger.as_nanos() / rtt_ns.max(1) + 1;
        let packets = if fast.ssthresh_packets == u64::MAX {
            fast.cwnd_packets.saturating_mul((1 << rounds.min(16)) - 1)
        } else {
            let cwnd = fast.cwnd_packets.max(fast.ssthresh_packets + 1);
            (cwnd + (rounds - 1) / 2).saturating_mul(rounds)
        };
        packets.saturating_mul(fast.mss_bytes).saturating_mul(self.lambda_milli) / 1000
    }
}

impl Scheduler for Blest {
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision {
        self.observe(view);
        let Some(slow) = default_pick(view) else { return Decision::Wait(None) };
        let fast = fastest(view).unwrap_or(slow);
        if fast.id == slow.id || fast.tried || view.reinjection {
            return Decision::Send(slow.id);
        }
        self.adapt_lambda(view.now, slow);
        let fast_bytes = self.fast_bytes(fast, self.linger(slow));
        // Step 6. The advertised window, as the kernel has it: what the fast path already has in
        // flight is not subtracted.
        let slow_bytes = view.segment_bytes + slow.unacked_bytes;
        let room = view.receive_window_bytes.saturating_sub(slow_bytes);
        // The deadlock rule (§3): nothing in flight on the awaited path means nothing to wait for.
        if fast_bytes > room && fast.in_flight_packets > 0 {
            Decision::Wait(None)
        } else {
            Decision::Send(slow.id)
        }
    }

    fn on_path_event(&mut self, _now: Instant, path: PathId, event: PathEvent) {
        if event == PathEvent::Established
            && let Some(seen) = self.srtt.get_mut(path.index())
        {
            *seen = UNSEEN;
        }
    }
}
