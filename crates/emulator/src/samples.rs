use crate::frame::Frame;
use link::Link;
use units::{Duration, Instant};

/// A link at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When, since the epoch.
    pub time: Instant,
    /// Number of the link (see [`link::build_paths`]).
    pub link: usize,
    /// Bytes in its queue, the frame in service included.
    pub queued_bytes: u64,
    /// Bytes delivered since the start.
    pub delivered_bytes: u64,
    /// Frames delivered since the start.
    pub delivered_packets: u64,
    /// Frames lost since the start, for any reason.
    pub dropped_packets: u64,
}

/// Takes a sample of each link at each multiple of the interval.
#[derive(Debug)]
pub(crate) struct Sampler {
    interval: Duration,
    next: Instant,
    rows: Vec<Sample>,
}

impl Sampler {
    pub(crate) fn new(interval: Duration) -> Self {
        Self { interval, next: Instant::ZERO + interval, rows: Vec::new() }
    }

    /// Leaves out the samples up to `now`.
    pub(crate) fn begin(&mut self, now: Instant) {
        let interval = self.interval.as_nanos();
        let next = (now.as_nanos() / interval).saturating_add(1).saturating_mul(interval);
        self.next = Instant::from_nanos(next);
    }

    /// When the next sample is due.
    pub(crate) fn next_at(&self) -> Instant {
        self.next
    }

    /// Takes the sample that is due; no link has been called with a later time.
    pub(crate) fn take(&mut self, links: &mut [Link<Frame>]) {
        let time = self.next;
        for (link, one) in links.iter_mut().enumerate() {
            one.advance(time);
            let counters = one.counters();
            self.rows.push(Sample {
                time,
                link,
                queued_bytes: one.queued_bytes(),
                delivered_bytes: counters.delivered_bytes,
                delivered_packets: counters.delivered_packets,
                dropped_packets: counters.dropped_packets(),
            });
        }
        self.next = time + self.interval;
    }

    pub(crate) fn rows(&self) -> &[Sample] {
        &self.rows
    }

    pub(crate) fn into_rows(self) -> Vec<Sample> {
        self.rows
    }
}
