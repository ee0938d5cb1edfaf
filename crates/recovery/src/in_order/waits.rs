use hdrhistogram::Histogram;
use std::ops::AddAssign;
use units::{Duration, Instant, PathId};

/// Longer waits count as this number of microseconds (71 minutes).
const MOST_US: u64 = u32::MAX as u64;
/// Quantiles are known to 1 %.
const DIGITS: u8 = 2;
/// Pieces of all streams that may wait at a time and be measured; what comes beyond is left out.
pub(super) const MOST_PIECES: usize = 1 << 16;

/// How long bytes waited for segments of one path, in bytes times seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Blocked {
    /// Bytes that other paths had brought: head-of-line blocking between paths.
    pub others_byte_s: f64,
    /// Bytes that the same path had brought: it lost a segment, or was given an earlier one late.
    pub own_byte_s: f64,
}

/// For how long something waited, whatever its size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockedTime {
    /// Something that one path had brought waited for a segment of another.
    pub by_other: Duration,
    /// All that waited had come by the path that brought the missing segment.
    pub by_own: Duration,
}

impl BlockedTime {
    /// What was added since an earlier state.
    pub fn since(self, earlier: Self) -> Self {
        Self { by_other: self.by_other - earlier.by_other, by_own: self.by_own - earlier.by_own }
    }

    /// What of it lies within the last `span`, of one that has just ended: first only bytes of the same
    /// path waited, then those of others as well.
    pub fn within_last(self, span: Duration) -> Self {
        let by_other = self.by_other.min(span);
        Self { by_other, by_own: self.by_own.min(span - by_other) }
    }
}

impl AddAssign for BlockedTime {
    fn add_assign(&mut self, other: Self) {
        self.by_other += other.by_other;
        self.by_own += other.by_own;
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub others_byte_ns: u128,
    pub own_byte_ns: u128,
}

/// The in-order wait of a connection: for each byte the time from its arrival to the moment at which
/// everything before it is there, too, and which path brought what it waited for.
///
/// A wait counts once it is over. A missing segment belongs to the path that brought it first: of one
/// that was lost and reinjected that is the path of the copy, which is what a receiver can know.
#[derive(Clone, Debug, Default)]
pub struct InOrderWaits {
    /// Bytes that did not wait.
    at_once_bytes: u64,
    /// The others, in microseconds; made when the first one waits.
    waited: Option<Box<Histogram<u64>>>,
    waited_byte_ns: u128,
    longest_ns: u64,
    pub(super) paths: Vec<Sums>,
    /// As [`BlockedTime`].
    pub(super) by_other_ns: u64,
    pub(super) by_own_ns: u64,
    waiting_bytes: u64,
    waiting_max_bytes: u64,
    pub(super) waiting_pieces: usize,
}

impl InOrderWaits {
    /// The longest wait of a share (0 to 1) of all bytes, the shortest ones taken first, to 1 %; `None`
    /// when nothing came.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let rank = (share * self.bytes() as f64).ceil() as u64;
        match &self.waited {
            _ if self.bytes() == 0 => None,
            Some(waited) if rank > self.at_once_bytes => {
                let of_waited = (rank - self.at_once_bytes) as f64 / self.waited_bytes() as f64;
                let wait = Duration::from_micros(waited.value_at_quantile(of_waited));
                Some(wait.min(Duration::from_nanos(self.longest_ns)))
            }
            _ => Some(Duration::ZERO),
        }
    }

    /// The mean over all bytes.
    pub fn mean(&self) -> Option<Duration> {
        let mean_ns = self.waited_byte_ns.checked_div(u128::from(self.bytes()))?;
        Some(Duration::from_nanos(u64::try_from(mean_ns).unwrap_or(u64::MAX)))
    }

    /// The longest of all.
    pub fn longest(&self) -> Option<Duration> {
        (self.bytes() > 0).then_some(Duration::from_nanos(self.longest_ns))
    }

    /// All that came in order in the end.
    fn bytes(&self) -> u64 {
        self.at_once_bytes + self.waited_bytes()
    }

    fn waited_bytes(&self) -> u64 {
        self.waited.as_ref().map_or(0, |waited| waited.len())
    }

    /// What waited for segments of a path.
    pub fn blocked_by(&self, path: PathId) -> Blocked {
        let sums = self.paths.get(path.index()).copied().unwrap_or_default();
        Blocked {
            others_byte_s: sums.others_byte_ns as f64 / 1e9,
            own_byte_s: sums.own_byte_ns as f64 / 1e9,
        }
    }

    /// Time in which something waited; of several streams the sum.
    pub fn blocked_time(&self) -> BlockedTime {
        BlockedTime {
            by_other: Duration::from_nanos(self.by_other_ns),
            by_own: Duration::from_nanos(self.by_own_ns),
        }
    }

    /// Bytes that wait now.
    pub fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    /// Most that ever waited at a time.
    pub fn waiting_max_bytes(&self) -> u64 {
        self.waiting_max_bytes
    }

    pub(super) fn on_in_order(&mut self, bytes: u64) {
        self.at_once_bytes += bytes;
    }

    pub(super) fn on_waiting(&mut self, bytes: u64) {
        self.waiting_bytes += bytes;
        self.waiting_max_bytes = self.waiting_max_bytes.max(self.waiting_bytes);
    }

    pub(super) fn on_gone(&mut self, bytes: u64) {
        self.waiting_bytes -= bytes;
    }

    pub(super) fn on_over(&mut self, wait_ns: u64, bytes: u64) {
        let waited = self.waited.get_or_insert_with(|| {
            let histogram = Histogram::new_with_max(MOST_US, DIGITS);
            Box::new(histogram.expect("the bounds are constants that hdrhistogram admits"))
        });
        waited.saturating_record_n(wait_ns / 1000, bytes);
        self.waited_byte_ns += u128::from(bytes) * u128::from(wait_ns);
        self.longest_ns = self.longest_ns.max(wait_ns);
        self.waiting_bytes -= bytes;
    }

    pub(super) fn of_path(&mut self, path: PathId) -> &mut Sums {
        if self.paths.len() <= path.index() {
            self.paths.resize(path.index() + 1, Sums::default());
        }
        &mut self.paths[path.index()]
    }
}

/// Nanoseconds from one moment to a later one.
pub(super) fn nanos(earlier: Instant, later: Instant) -> u64 {
    later.as_nanos().saturating_sub(earlier.as_nanos())
}
