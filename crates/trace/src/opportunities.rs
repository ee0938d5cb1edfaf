use crate::{Fault, LONGEST, TraceError, limits};
use units::{Duration, Instant};

/// Bytes that one delivery opportunity carries (mahimahi `link_queue.cc`, `PACKET_SIZE`, without
/// the 4 bytes of TUN header that its 1504 counts).
pub const OPPORTUNITY_BYTES: u64 = 1500;

const NANOS_PER_MILLI: u64 = 1_000_000;

/// A mahimahi packet-delivery trace: each timestamp is one opportunity to carry
/// [`OPPORTUNITY_BYTES`]; the trace starts again at its last timestamp (`link_queue.cc`,
/// `use_a_delivery_opportunity`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opportunities {
    times_ms: Vec<u64>,
}

impl Opportunities {
    /// A trace from its timestamps in milliseconds, non-decreasing, the last one above 0 and at
    /// most [`LONGEST`].
    ///
    /// # Errors
    /// [`TraceError::Entry`] with the first entry that breaks a rule.
    pub fn new(times_ms: Vec<u64>) -> Result<Self, TraceError> {
        let at = |index, fault| Err(TraceError::Entry { index, fault });
        let Some(last) = times_ms.last().copied() else {
            return at(0, Fault::Empty);
        };
        if let Some(index) = times_ms.windows(2).position(|pair| pair[0] > pair[1]) {
            let (previous_ms, found_ms) = (times_ms[index], times_ms[index + 1]);
            return at(index + 1, Fault::Unsorted { previous_ms, found_ms });
        }
        if last == 0 {
            return at(times_ms.len() - 1, Fault::NoDuration);
        }
        if last > LONGEST.as_millis() {
            return at(times_ms.len() - 1, Fault::TooLong { found: format!("{last} ms") });
        }
        Ok(Self { times_ms })
    }

    /// Reads a mahimahi file: one whole number of milliseconds per line.
    ///
    /// # Errors
    /// [`TraceError::Line`] with the first line that breaks a rule.
    pub fn parse(text: &str, file: &str) -> Result<Self, TraceError> {
        let mut times_ms = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let time_ms = parse_millis(line.trim()).map_err(|fault| TraceError::Line {
                file: file.to_owned(),
                line: index + 1,
                fault,
            })?;
            limits::room_for_more(times_ms.len(), file, index + 1)?;
            times_ms.push(time_ms);
        }
        let lines: Vec<usize> = (1..=times_ms.len()).collect();
        Self::new(times_ms).map_err(|error| error.in_file(file, &lines))
    }

    /// The trace as a mahimahi file; [`Opportunities::parse`] gives back the same trace.
    pub fn write(&self) -> String {
        self.times_ms.iter().map(|time_ms| format!("{time_ms}\n")).collect()
    }

    /// The timestamps of one turn of the loop.
    pub fn times_ms(&self) -> &[u64] {
        &self.times_ms
    }

    /// After how long the trace starts again: its last timestamp.
    pub fn period(&self) -> Duration {
        Duration::from_nanos(self.period_nanos())
    }

    /// How many opportunities there are from `from` to `to`, both moments included (a packet may
    /// leave at either).
    pub fn count_between(&self, from: Instant, to: Instant) -> u64 {
        if to < from {
            return 0;
        }
        let before = match from.as_nanos() {
            0 => 0,
            nanos => self.count_up_to(nanos - 1),
        };
        self.count_up_to(to.as_nanos()) - before
    }

    /// Bytes that the trace can carry from `from` to `to`, both moments included.
    pub fn bytes_between(&self, from: Instant, to: Instant) -> u64 {
        self.count_between(from, to).saturating_mul(OPPORTUNITY_BYTES)
    }

    /// Opportunities in [0, `nanos`].
    fn count_up_to(&self, nanos: u64) -> u64 {
        let period = self.period_nanos();
        let (laps, offset) = (nanos / period, nanos % period);
        let in_lap = self.times_ms.partition_point(|ms| ms * NANOS_PER_MILLI <= offset);
        laps * self.times_ms.len() as u64 + in_lap as u64
    }

    /// The first entry of a turn that is not before `offset` nanoseconds of it (at most a period).
    pub(crate) fn first_not_before(&self, offset: u64) -> usize {
        self.times_ms.partition_point(|ms| ms * NANOS_PER_MILLI < offset)
    }

    /// When entry `index` is, in nanoseconds after the start of its turn.
    pub(crate) fn nanos(&self, index: usize) -> u64 {
        self.times_ms[index] * NANOS_PER_MILLI
    }

    pub(crate) fn period_nanos(&self) -> u64 {
        self.nanos(self.times_ms.len() - 1) // never empty
    }
}

/// One whole, non-negative number of milliseconds; says which rule another text breaks.
fn parse_millis(text: &str) -> Result<u64, Fault> {
    if text.is_empty() {
        return Err(Fault::BlankLine);
    }
    if let Ok(time_ms) = text.parse() {
        return Ok(time_ms);
    }
    let value = crate::number::parse_amount(text)?;
    let found = text.to_owned();
    Err(if value.fract() == 0.0 && value > u64::MAX as f64 / 2.0 {
        Fault::TooLarge { found }
    } else {
        Fault::NotWhole { found }
    })
}
