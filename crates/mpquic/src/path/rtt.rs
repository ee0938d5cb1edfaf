use units::{Duration, Instant};

/// RTT before the first sample (RFC 9002 §6.2.2).
const INITIAL_RTT: Duration = Duration::from_millis(333);
/// Timer granularity (RFC 9002 §6.1.2, kGranularity).
const GRANULARITY: Duration = Duration::from_millis(1);

/// RTT of a path (RFC 9002 §5).
#[derive(Clone, Debug)]
pub(crate) struct Rtt {
    latest: Duration,
    smoothed: Duration,
    var: Duration,
    min: Option<Duration>,
    first_at: Option<Instant>,
    /// Probe timeout; asked far more often than the RTT changes.
    pto: Duration,
}

impl Default for Rtt {
    fn default() -> Self {
        // RFC 9002 §5.3: smoothed_rtt = kInitialRtt, rttvar = kInitialRtt / 2.
        let (smoothed, var) = (INITIAL_RTT, INITIAL_RTT / 2);
        Self { latest: smoothed, smoothed, var, min: None, first_at: None, pto: smoothed + var * 4 }
    }
}

impl Rtt {
    pub fn on_sample(&mut self, now: Instant, latest: Duration, ack_delay: Duration) {
        self.first_at.get_or_insert(now);
        self.latest = latest;
        let Some(min) = self.min else {
            self.min = Some(latest);
            self.smoothed = latest;
            self.var = latest / 2; // RFC 9002 §5.3
            self.update_pto();
            return;
        };
        let min = min.min(latest);
        self.min = Some(min);
        let adjusted = if latest >= min + ack_delay { latest - ack_delay } else { latest };
        let error = self.smoothed.abs_diff(adjusted);
        self.var = (self.var * 3 + error) / 4; // RFC 9002 §5.3
        self.smoothed = (self.smoothed * 7 + adjusted) / 8; // RFC 9002 §5.3
        self.update_pto();
    }

    fn update_pto(&mut self) {
        self.pto = self.smoothed + (self.var * 4).max(GRANULARITY);
    }

    /// When the first sample was taken.
    pub fn first_at(&self) -> Option<Instant> {
        self.first_at
    }

    pub fn has_sample(&self) -> bool {
        self.min.is_some()
    }

    pub fn latest(&self) -> Duration {
        self.latest
    }

    pub fn smoothed(&self) -> Duration {
        self.smoothed
    }

    pub fn var(&self) -> Duration {
        self.var
    }

    pub fn min(&self) -> Duration {
        self.min.unwrap_or(self.smoothed)
    }

    /// Probe timeout without the peer's ACK delay (RFC 9002 §6.2.1).
    pub fn pto(&self) -> Duration {
        self.pto
    }

    /// A packet older than this by the time a later one was acknowledged is lost (RFC 9002 §6.1.2).
    pub fn loss_delay(&self) -> Duration {
        (self.smoothed.max(self.latest) * 9 / 8).max(GRANULARITY)
    }
}
