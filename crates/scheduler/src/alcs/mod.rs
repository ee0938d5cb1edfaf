//! ALCS, the scheduler of arXiv 2503.07973 for terrestrial and satellite paths: waits for the fast
//! path by an estimate of transfer times that corrects itself, and leaves a path before its known
//! outage (docs/model.md §5; step and item numbers are those of §5.2 and §5.3).

mod info;
mod peak;
mod sigma;

use crate::default_pick::{pick_among, serving_among};
use crate::{Capabilities, ConnectionView, Decision, PathEvent, PathSet, PathView, Scheduler};
use forecast::Probability;
use parameters::Values;
use peak::Peak;
use sigma::{Etp, Frozen, Limits, Sigma};
use units::{Duration, Instant, PathId};

pub(crate) use info::INFO;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delta {
    Kernel,
    Mdev,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    All,
    One,
    Burst,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deactivate {
    All,
    New,
    None,
}

/// Estimates when the unsent segments would be through on the fast and on the slow path, waits when
/// the fast path is earlier, and puts nothing new on a path that is about to be cut off.
#[derive(Debug)]
pub struct Alcs {
    sigmas: Vec<Sigma>,
    peaks: Vec<Peak>,
    /// T_0: the present interval began here.
    updated_at: Option<Instant>,
    /// T_u; zero for the largest smoothed RTT.
    interval: Duration,
    limits: Limits,
    delta: Delta,
    count: Count,
    /// Round trips count whole: a segment never arrives before the end of one.
    whole_rounds: bool,
    etp: Etp,
    idle_guard: bool,
    tries_all: bool,
    waits: bool,
    deactivate: Deactivate,
    margin_milli: u32,
    /// The margin counts RTTs that a packet sent now may meet, not smoothed ones.
    expects: bool,
    least_probability: Probability,
}

/// How long an acknowledgement may be held back (Linux `TCP_DELACK_MIN`).
const DELAYED_ACK: Duration = Duration::from_millis(40);

impl Alcs {
    pub(crate) fn new(values: &Values) -> Self {
        let micro = |name| (values.number(name) * 1e6).round() as u128;
        Self {
            sigmas: Vec::new(),
            peaks: Vec::new(),
            updated_at: None,
            interval: Duration::from_micros((values.number("update_interval_ms") * 1e3) as u64),
            limits: Limits {
                alpha_micro: micro("alpha"),
                min_micro: micro("sigma_min"),
                max_micro: micro("sigma_max"),
            },
            delta: match values.option("delta") {
                "kernel" => Delta::Kernel,
                "mdev" => Delta::Mdev,
                _ => Delta::None,
            },
            count: match values.option("k") {
                "one" => Count::One,
                "burst" => Count::Burst,
                _ => Count::All,
            },
            whole_rounds: values.option("rounds") == "whole",
            etp: match values.option("etp") {
                "dispatched" => Etp::Dispatched,
                _ => Etp::Window,
            },
            idle_guard: values.flag("idle_guard"),
            tries_all: values.option("candidates") == "all",
            waits: values.flag("waits"),
            deactivate: match values.option("deactivate") {
                "all" => Deactivate::All,
                "new" => Deactivate::New,
                _ => Deactivate::None,
            },
            margin_milli: (values.number("margin_rtts") * 1e3).round() as u32,
            expects: values.option("margin_rtt") == "expected",
            least_probability: Probability::new(values.number("outage_probability"))
                .unwrap_or(Probability::EVEN), // the table keeps it between 0 and 1
        }
    }

    fn sigma(&mut self, path: PathId) -> &mut Sigma {
        if self.sigmas.len() <= path.index() {
            self.sigmas.resize(path.index() + 1, Sigma::default());
        }
        &mut self.sigmas[path.index()]
    }

    fn peak(&mut self, path: PathId) -> &mut Peak {
        if self.peaks.len() <= path.index() {
            self.peaks.resize(path.index() + 1, Peak::default());
        }
        &mut self.peaks[path.index()]
    }

    // ---- step 1: deactivation ----------------------------------------------------------------

    /// How long it may take until the acknowledgement of a packet sent now is back (item 10). What is
    /// in flight, and with it the RTT, at most doubles in a round trip of slow start; later it grows
    /// by half at most (the limit of CUBIC, RFC 9438 §4.2 and `tcp_cubic.c`). A path that waited
    /// sends its window at once, and the queue of a second ago is back.
    fn expected_rtt(&self, path: &PathView) -> Duration {
        if !self.expects {
            return path.srtt;
        }
        let peak = self.peaks.get(path.id.index()).map_or(Duration::ZERO, Peak::largest);
        let recent = path.srtt.max(path.latest_rtt).max(peak);
        let starts = path.cwnd_packets < path.ssthresh_packets;
        (if starts { recent * 2 } else { recent * 3 / 2 }) + DELAYED_ACK
    }

    /// The moment from which the path carries nothing (new): `margin_rtts` before its outage
    /// (item 10); `None` without one.
    fn leaves_at(&self, path: &PathView) -> Option<Instant> {
        let outage = path.forecast.filter(|_| self.deactivate != Deactivate::None)?;
        let margin = self.expected_rtt(path) * self.margin_milli / 1000;
        Some(outage.window.start.saturating_sub(margin))
    }

    /// Step 1: the next outage is at most the margin away, or under way.
    fn is_deactivated(&self, now: Instant, path: &PathView) -> bool {
        self.leaves_at(path).is_some_and(|at| now >= at)
            && path.forecast.is_some_and(|outage| now < outage.window.end)
    }

    /// When a decision to wait has to be looked at again: a path leaves (item 10) or comes back
    /// (item 19). `None` when no outage is known.
    fn next_change(&self, view: &ConnectionView<'_>) -> Option<Instant> {
        let usable = view.paths.iter().filter(|path| path.usable);
        let changes = usable.filter_map(|path| {
            let leaves = self.leaves_at(path)?;
            if view.now < leaves { Some(leaves) } else { path.forecast.map(|one| one.window.end) }
        });
        changes.min().filter(|at| *at > view.now && *at != Instant::FAR_FUTURE)
    }

    // ---- step 4: sigma -----------------------------------------------------------------------

    /// rtt_i + Delta_i of equations 3 and 4 (item 3).
    fn round(&self, path: &PathView) -> Duration {
        path.srtt
            + match self.delta {
                Delta::Kernel => path.rttvar_kernel / 2,
                Delta::Mdev => path.mdev,
                Delta::None => Duration::ZERO,
            }
    }

    /// Step 4, only here and only when an interval is over.
    fn update_sigmas(&mut self, view: &ConnectionView<'_>) {
        let interval = if self.interval.is_zero() {
            view.paths.iter().map(|path| path.srtt).max().unwrap_or_default()
        } else {
            self.interval
        };
        let elapsed = view.now - self.updated_at.unwrap_or(view.now);
        if self.updated_at.is_some() && elapsed < interval {
            return;
        }
        self.updated_at = Some(view.now);
        let (etp, guard, limits) = (self.etp, self.idle_guard, self.limits);
        for path in view.paths {
            let frozen = Frozen {
                cwnd_packets: path.cwnd_packets,
                mss_bytes: path.mss_bytes,
                round: self.round(path),
            };
            self.sigma(path.id).update((view.now, elapsed), etp, guard, &limits, frozen);
        }
    }

    // ---- step 5: the comparison --------------------------------------------------------------

    /// k (item 7).
    fn segments(&self, view: &ConnectionView<'_>, slow: &PathView) -> u64 {
        let unsent = view.unsent_packets(slow.mss_bytes);
        match self.count {
            Count::All => unsent,
            Count::One => 1,
            // §2.4 step 4: v0.96 cuts to what the free window takes
            Count::Burst => {
                unsent.min(slow.cwnd_packets.saturating_sub(slow.in_flight_packets)).max(1)
            }
        }
    }

    /// Step 5. Item 23: equality sends. The deadlock rule (§3): nothing in flight on the awaited path
    /// means nothing to wait for.
    fn is_worth_it(&mut self, view: &ConnectionView<'_>, fast: &PathView, slow: &PathView) -> bool {
        let k = self.segments(view, slow);
        let (tl_f, tl_s) = self.transfer_times(k, fast, slow);
        tl_f >= tl_s || fast.in_flight_packets == 0
    }

    /// Packets of a transfer as its rounds count (item 24): as they are, or up to full windows.
    fn counted(&self, packets: u64, path: &PathView) -> u64 {
        let window = path.cwnd_packets.max(1);
        if self.whole_rounds { packets.div_ceil(window).saturating_mul(window) } else { packets }
    }

    /// tl_f (equation 3) and tl_s (equation 4), both times w_f * w_s * 10^6, in µs.
    fn transfer_times(&mut self, k: u64, fast: &PathView, slow: &PathView) -> (u128, u128) {
        let ahead_f = k.saturating_add(fast.in_flight_packets).saturating_add(fast.queued_packets);
        let ahead_s = k.saturating_add(slow.in_flight_packets); // item 8: no q_s
        let (ahead_f, ahead_s) = (self.counted(ahead_f, fast), self.counted(ahead_s, slow));
        let (w_f, w_s) = (u128::from(fast.cwnd_packets), u128::from(slow.cwnd_packets));
        let scaled = |ahead: u64, round: Duration, sigma: u128, other: u128| {
            let packets = u128::from(ahead).saturating_mul(u128::from(round.as_micros()));
            packets.saturating_mul(sigma).saturating_mul(other)
        };
        let (round_f, round_s) = (self.round(fast), self.round(slow));
        let tl_f = scaled(ahead_f, round_f, self.sigma(fast.id).micro, w_s);
        let tl_s = scaled(ahead_s, round_s, self.sigma(slow.id).micro, w_f);
        (tl_f, tl_s)
    }
}

/// A reinjection that only deactivated paths have not carried yet is sent again where it went: it
/// comes before all new data, and would hold them up until the outage is over.
fn repeat_among<'a>(
    view: &ConnectionView<'a>,
    active: impl Fn(&PathView) -> bool + Clone,
) -> Option<&'a PathView> {
    let mut untried = view.paths.iter().filter(|path| path.usable && !path.tried).peekable();
    if untried.peek().is_none() || untried.any(&active) {
        return None;
    }
    serving_among(view.paths, active).filter(|path| path.has_room).min_by_key(|path| path.srtt)
}

impl Scheduler for Alcs {
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision {
        for path in view.paths {
            let (is_full, in_flight) = (!path.has_room, path.in_flight_packets > 0);
            self.sigma(path.id).observe(view.now, is_full, in_flight);
            if path.forecast.is_some() {
                self.peak(path.id).observe(view.now, path.latest_rtt);
            }
        }
        let active = |path: &PathView| path.usable && !self.is_deactivated(view.now, path);
        let slow = pick_among(view, active).or_else(|| repeat_among(view, active));
        // Item 22: the fastest of those that stay.
        let fast = serving_among(view.paths, active).min_by_key(|path| path.srtt);
        let (Some(fast), Some(slow)) = (fast, slow) else {
            return Decision::Wait(self.next_change(view)); // step 3
        };
        if view.reinjection || fast.id == slow.id || !self.waits {
            return Decision::Send(slow.id); // step 2
        }
        self.update_sigmas(view);
        let mut passed = PathSet::EMPTY;
        let mut candidate = Some(slow);
        while let Some(slow) = candidate {
            if self.is_worth_it(view, fast, slow) {
                return Decision::Send(slow.id);
            }
            passed = passed.with(slow.id);
            let others = |path: &PathView| {
                path.usable && !passed.contains(path.id) && !self.is_deactivated(view.now, path)
            };
            candidate = pick_among(view, others).filter(|_| self.tries_all);
        }
        Decision::Wait(self.next_change(view))
    }

    fn avoids(&self, now: Instant, path: &PathView) -> bool {
        self.is_deactivated(now, path)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { least_probability: self.least_probability, ..<_>::default() }
    }

    fn rests_until(&self, now: Instant, path: &PathView) -> Option<Instant> {
        let rests = self.deactivate == Deactivate::All && self.is_deactivated(now, path);
        path.forecast.filter(|_| rests).map(|outage| outage.window.end)
    }

    fn on_sent(&mut self, _now: Instant, path: PathId, bytes: u64) {
        self.sigma(path).on_sent(bytes);
    }

    fn on_acked(&mut self, _now: Instant, path: PathId, bytes: u64) {
        self.sigma(path).on_acked(bytes); // item 5: delivered on the subflow, SACKed included
    }

    fn on_path_event(&mut self, _now: Instant, path: PathId, event: PathEvent) {
        if event == PathEvent::Established {
            *self.sigma(path) = Sigma::default();
        }
    }
}

#[cfg(test)]
mod tests;
