//! When a byte would arrive on a path, and how much the path takes before it.

use super::Settings;
use super::use_of::Use;
use crate::PathView;
use units::{Bitrate, Duration, Instant, PathId};

/// Longest time that is planned for: a path that delivers nothing is not waited for.
const NEVER: Duration = Duration::from_secs(10);
/// A rate that is measured over this span says nothing of a path that was idle within.
pub(super) const SPAN: Duration = Duration::from_millis(150);
/// Packets that any path may have unacknowledged: with fewer its rate cannot be seen.
const LEAST_PACKETS: u64 = 5;

/// What is expected of a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    pub id: PathId,
    /// From now until a packet arrives that is put on the path now.
    pub arrival: Duration,
    /// What the path delivers.
    pub rate: Bitrate,
    /// The same as it was a moment ago, which follows a fall sooner.
    pub falling: Bitrate,
    pub min_rtt: Duration,
    /// Its round trip without a queue of ours.
    base_rtt: Duration,
    pub unacked_bytes: u64,
    /// Its window has room.
    pub has_room: bool,
    /// And the queue in front of a new packet is short enough.
    pub is_open: bool,
    pub tried: bool,
}

impl Estimate {
    pub fn of(now: Instant, path: &PathView, used: &Use, settings: &Settings) -> Self {
        let rates = Rates::of(now, path, used);
        let mut estimate = Self {
            id: path.id,
            arrival: Duration::ZERO,
            rate: rates.planned,
            falling: rates.falling,
            min_rtt: path.min_rtt,
            base_rtt: used.base_rtt(now, path),
            unacked_bytes: path.unacked_bytes,
            has_room: path.has_room,
            is_open: path.has_room && !fills(path, rates.peak, settings),
            tried: path.tried,
        };
        estimate.arrival = estimate.arrival_behind(path.unacked_bytes + path.mss_bytes);
        if let Some(outage) = path.forecast
            && now + estimate.arrival > outage.window.start
            && now < outage.window.end
        {
            estimate.arrival += outage.window.end - now; // what it catches comes after its end
        }
        estimate
    }

    /// From now until the last of `bytes` arrives: until its acknowledgement, less the way back.
    fn arrival_behind(&self, bytes: u64) -> Duration {
        let drained = self.rate.time_for(bytes).unwrap_or(NEVER).min(NEVER);
        drained.max(self.base_rtt) - self.base_rtt / 2
    }

    /// What the path brings in the time by which it is ahead of one that arrives after `later`.
    pub fn bytes_before(&self, later: Duration) -> u64 {
        self.rate.bytes_in(later.saturating_sub(self.arrival))
    }
}

/// Whether a path has as much unacknowledged as is allowed: what it delivers in a round trip and the
/// time that a queue may take.
pub(super) fn fills(path: &PathView, peak: Bitrate, settings: &Settings) -> bool {
    let (Some(queue), bytes) = (settings.queue, path.unacked_bytes + path.mss_bytes) else {
        return false;
    };
    let span = path.min_rtt + queue;
    let starts = path.cwnd_packets < path.ssthresh_packets && path.latest_rtt < span;
    let few = path.unacked_bytes < LEAST_PACKETS * path.mss_bytes;
    !starts && !few && bytes > peak.bytes_in(span)
}

/// The rates of a path, as far as they can be known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    pub planned: Bitrate,
    pub falling: Bitrate,
    pub peak: Bitrate,
}

impl Rates {
    pub fn of(now: Instant, path: &PathView, used: &Use) -> Self {
        let seen = path.delivery;
        let was_idle = used.was_idle(now, path);
        // Without a queue it delivers what it is given, which may be less than it could.
        let has_queue = has_queue(path);
        let is_silent = seen.short == Bitrate::ZERO;
        let mut planned = seen.rate;
        if was_idle {
            planned = planned.max(seen.last_peak);
        } else if !has_queue && !is_silent {
            planned = planned.max(seen.long_peak);
        }
        let mut peak = if was_idle { seen.peak.max(seen.last_peak) } else { seen.peak };
        // Nothing is known but its window, or what it did is what the application had for it.
        if seen.last_peak == Bitrate::ZERO || !used.was_filled() {
            planned = planned.max(path.pacing_rate);
            peak = peak.max(path.pacing_rate);
        }
        let falling = if was_idle { planned } else { seen.rate.min(seen.short) };
        Self { planned, falling, peak }
    }
}

/// What was acknowledged last had waited on the path.
pub(super) fn has_queue(path: &PathView) -> bool {
    path.latest_rtt > path.min_rtt.mul_f64(1.25) + Duration::from_millis(10)
}
