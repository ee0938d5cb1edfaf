//! `boundary`: another control, told when the path may change under it.
//!
//! Around a foreseen boundary, from its earliest moment to the first acknowledgement of a packet that left
//! after its latest one, losses do not cut and samples do not enter filters: they tell of the change and not
//! of congestion. In the round trip after that, rate and RTT are compared with those before. If they agree, the model is kept; if not,
//! its filters start anew from what is seen, and the path is probed once. Nothing is drained and STARTUP is
//! not repeated, as LeoCC does at each boundary: most pass without a change.
//!
//! A forecast may be late, wrong or missing, so it is believed only once the connection's own RTTs bear it
//! out (`evidence.rs`), and what it can do is bounded: boundaries that are too vague, too unlikely or
//! too soon after the last one are not heeded, and a shield ends after at most twice the largest uncertainty
//! and a second. Without a boundary that is heeded, the control is exactly the one that it wraps. Timeouts
//! and ECN marks always reach it.

mod evidence;
mod info;
mod seen;
#[cfg(test)]
mod tests;

use crate::bbr_v2_v3::BbrV2V3;
use crate::cubic::Cubic;
use crate::{AckSample, Config, Controller, LossSample, Phase};
use evidence::Evidence;
use forecast::{Boundary, BoundaryKind, Probability};
pub(crate) use info::INFO;
use parameters::{Info, Values};
use seen::Recent;
pub(crate) use seen::Seen;
use std::collections::VecDeque;
use units::{Bitrate, Duration, Instant};

/// Slots are 15 s long: after a shield, whatever comes sooner is no edge of the next one.
const PAUSE: Duration = Duration::from_secs(10);
/// A shield waits for no longer round trip than this.
const MOST_RTT: Duration = Duration::from_secs(1);
/// What left before the boundary is marked lost up to a reordering window later than it would have been
/// acknowledged: this part of a round trip (RFC 8985 §6.2 step 4).
const REORDERING: u32 = 4;

/// A control whose model of the path can start anew from what is seen now.
pub(crate) trait Renewable: Controller {
    /// The path has changed: forget the rate and the RTT of before, and probe once for more.
    fn renew(&mut self, now: Instant, seen: Seen);
}

/// Where the control is, seen from a boundary.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// No boundary is near.
    Away,
    /// One may come until `latest`, or what left before that is still under way; `before`: what the path
    /// was like.
    Shielded { latest: Instant, before: Seen },
    /// What comes now left after the boundary; what is lost until `hides_until` may have left before.
    Looking { until: Instant, hides_until: Instant, before: Seen, after: Seen },
}

/// A control that knows boundaries, around one that does not.
#[derive(Debug)]
pub(crate) struct BoundaryAware {
    inner: Box<dyn Renewable>,
    settings: Settings,
    /// Foreseen, worth heeding, and not begun.
    ahead: VecDeque<Boundary>,
    advanced_at: Instant,
    evidence: Evidence,
    stage: Stage,
    /// No shield before this.
    paused_until: Instant,
    recent: Recent,
    srtt: Duration,
    /// The loss episode under way began behind a shield: the inner control does not know of it.
    episode_hidden: bool,
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    needs_evidence: bool,
    least_probability: Probability,
    most_uncertainty: Duration,
    agreement: f64,
}

impl BoundaryAware {
    pub(crate) fn new(config: Config, values: &Values) -> Self {
        let inner: Box<dyn Renewable> = match values.option("over") {
            "cubic" => Box::new(Cubic::new(config, &defaults(&crate::cubic::INFO))),
            _ => Box::new(BbrV2V3::v3(config, &defaults(&crate::bbr_v2_v3::V3))),
        };
        let probability = Probability::new(values.number("probability"));
        Self {
            inner,
            settings: Settings {
                needs_evidence: values.flag("evidence"),
                least_probability: probability.unwrap_or(Probability::EVEN),
                most_uncertainty: Duration::from_millis(values.number("uncertainty_ms") as u64),
                agreement: values.number("agreement"),
            },
            ahead: VecDeque::new(),
            advanced_at: Instant::ZERO,
            evidence: Evidence::default(),
            stage: Stage::Away,
            paused_until: Instant::ZERO,
            recent: Recent::default(),
            srtt: Duration::ZERO,
            episode_hidden: false,
        }
    }

    fn heeds(&self, boundary: &Boundary) -> bool {
        matches!(boundary.kind, BoundaryKind::Slot | BoundaryKind::Handover)
            && boundary.probability >= self.settings.least_probability
            && boundary.uncertainty <= self.settings.most_uncertainty
    }

    /// Brings the stage up to date, when a packet that left at `sent` was acknowledged; what is past before
    /// it was seen to begin is not heeded.
    fn advance(&mut self, now: Instant, sent: Option<Instant>) {
        if let Stage::Shielded { latest, before } = self.stage
            && (sent.is_some_and(|sent| sent > latest) || now >= latest + MOST_RTT)
        {
            let round_trip = self.srtt.min(MOST_RTT);
            self.stage = Stage::Looking {
                until: now + round_trip,
                hides_until: now + round_trip / REORDERING,
                before,
                after: Seen::default(),
            };
        }
        while let Some(next) = self.ahead.front().copied().filter(|next| next.earliest() <= now) {
            self.ahead.pop_front();
            // It may have come since the last event, however exactly it is known.
            if next.latest() >= self.advanced_at && now < next.latest() + MOST_RTT {
                self.evidence.expect(next.at);
                self.shield(now, next);
            }
        }
        self.advanced_at = now;
    }

    fn shield(&mut self, now: Instant, boundary: Boundary) {
        let believed = self.evidence.is_convincing() || !self.settings.needs_evidence;
        if !believed || now < self.paused_until {
            return;
        }
        let latest = boundary.latest();
        self.stage = Stage::Shielded { latest, before: self.recent.seen() };
        self.paused_until = latest + MOST_RTT + PAUSE;
    }

    fn is_shielded(&self) -> bool {
        matches!(self.stage, Stage::Shielded { .. })
    }

    fn hides_losses(&self, now: Instant) -> bool {
        match self.stage {
            Stage::Away => false,
            Stage::Shielded { .. } => true,
            Stage::Looking { hides_until, .. } => now < hides_until,
        }
    }

    /// Takes note of a sample; at the end of the look, judges the model.
    fn look(&mut self, now: Instant, ack: &AckSample) {
        self.recent.note(now, ack);
        let Stage::Looking { until, before, after, .. } = &mut self.stage else { return };
        after.note(ack);
        let (before, after) = (*before, *after);
        if now >= *until && after.is_whole() {
            self.stage = Stage::Away;
            if !before.agrees(after, self.settings.agreement) {
                self.inner.renew(now, after);
            }
        }
    }
}

/// What holds if nothing is given; that is never refused.
fn defaults(info: &Info) -> Values {
    info.resolve(&<_>::default()).unwrap_or_default()
}

impl Controller for BoundaryAware {
    fn window_bytes(&self) -> u64 {
        self.inner.window_bytes()
    }

    fn phase(&self) -> Phase {
        self.inner.phase()
    }

    fn ssthresh_bytes(&self) -> u64 {
        self.inner.ssthresh_bytes()
    }

    fn pacing_rate(&self) -> Option<Bitrate> {
        self.inner.pacing_rate()
    }

    fn send_quantum_bytes(&self) -> u64 {
        self.inner.send_quantum_bytes()
    }

    fn send_memory_windows(&self) -> u64 {
        self.inner.send_memory_windows()
    }

    fn reduces_by_prr(&self) -> bool {
        self.inner.reduces_by_prr()
    }

    fn on_forecast(&mut self, boundaries: &[Boundary]) {
        self.ahead = boundaries.iter().copied().filter(|one| self.heeds(one)).collect();
    }

    fn on_handshake(&mut self, rtt: Duration) {
        self.inner.on_handshake(rtt);
    }

    fn on_sent(&mut self, now: Instant, bytes: u64, in_flight_bytes: u64, was_idle: bool) {
        self.inner.on_sent(now, bytes, in_flight_bytes, was_idle);
    }

    fn on_acked(&mut self, now: Instant, ack: &AckSample) {
        self.srtt = ack.srtt;
        self.evidence.on_rtt(now, ack.rtt);
        self.advance(now, ack.rtt.map(|rtt| now.saturating_sub(rtt)));
        if self.is_shielded() {
            let blind = AckSample { rtt: None, rate: None, lost_bytes: 0, ..*ack };
            return self.inner.on_acked(now, &blind);
        }
        self.inner.on_acked(now, ack);
        self.look(now, ack);
    }

    fn on_lost(&mut self, now: Instant, loss: &LossSample) {
        self.advance(now, None);
        let hidden = self.hides_losses(now);
        if loss.new_episode {
            self.episode_hidden = hidden;
        }
        if !hidden {
            self.inner.on_lost(now, loss);
        }
    }

    fn on_congestion_experienced(&mut self, now: Instant, mark: &LossSample) {
        self.episode_hidden = false;
        self.inner.on_congestion_experienced(now, mark);
    }

    fn on_recovered(&mut self, now: Instant) {
        self.episode_hidden = false;
        self.inner.on_recovered(now);
    }

    fn on_timeout(&mut self, now: Instant, in_flight_bytes: u64, repeated: bool) {
        self.episode_hidden = false;
        self.inner.on_timeout(now, in_flight_bytes, repeated);
    }

    /// An episode that the inner control does not know of must not undo one that it does.
    fn on_spurious(&mut self, now: Instant) {
        if !std::mem::take(&mut self.episode_hidden) {
            self.inner.on_spurious(now);
        }
    }

    fn on_idle_restart(&mut self, now: Instant, idle: Duration, rto: Duration) {
        self.inner.on_idle_restart(now, idle, rto);
    }

    fn on_app_limited(&mut self, now: Instant, span: Duration) {
        self.inner.on_app_limited(now, span);
    }

    fn penalise(&mut self) {
        self.inner.penalise();
    }
}
