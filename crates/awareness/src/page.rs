use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const MAGIC: [u8; 8] = *b"SKYAWARE";
const VERSION: u32 = 1;
const HEAD_BYTES: usize = 24;
const BODY_BYTES: usize = 144;
const LENGTH: usize = BODY_BYTES + 8;
/// How often a page is read while its writer is in the way.
const TRIES: usize = 64;
/// No hint holds for longer: one that claims to is garbage.
const LONGEST_NS: i64 = 3_600_000_000_000;

/// What comes at a boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing is known.
    None,
    /// A slot edge.
    Slot,
    /// Another satellite.
    Handover,
    /// Nothing gets through.
    Outage,
    /// Something stands in the way.
    Obstruction,
}

/// What is known ahead of a path. Moments are in ns of `CLOCK_MONOTONIC`; 0 is not known.
///
/// Quantiles are 10 %, 50 % and 90 %, five seconds ahead; NaN is not known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hint {
    /// When it was made.
    pub issued_ns: i64,
    /// It says nothing from here on.
    pub valid_until_ns: i64,
    /// The next boundary.
    pub boundary_ns: i64,
    /// How far the boundary may be from there, to both sides.
    pub boundary_uncertainty_ns: i64,
    /// How likely something changes there.
    pub boundary_probability: f64,
    /// What it is.
    pub boundary_kind: Kind,
    /// The outage under way or next.
    pub outage_start_ns: i64,
    /// Its end.
    pub outage_end_ns: i64,
    /// How likely it comes.
    pub outage_probability: f64,
    /// The round-trip time in ms.
    pub rtt_ms: [f64; 3],
    /// The capacity from server to client in Mbit/s.
    pub down_mbps: [f64; 3],
    /// The capacity from client to server in Mbit/s.
    pub up_mbps: [f64; 3],
}

/// The page of a path: a file in shared memory.
#[derive(Debug)]
pub struct Page(File);

impl Page {
    /// Opens a page. A publisher that begins anew makes a new file: open it again when hints stop.
    ///
    /// # Errors
    /// Those of opening a file.
    pub fn open(file: impl AsRef<Path>) -> io::Result<Self> {
        File::open(file).map(Self)
    }

    /// The hint that holds at `now_ns`; `None` if there is none, whatever the reason.
    pub fn read(&self, now_ns: i64) -> Option<Hint> {
        (0..TRIES).find_map(|_| self.once())?.filter(|hint| hint.holds(now_ns))
    }

    /// One look: `None` if the writer was in the way, `Some(None)` if the page holds no hint.
    ///
    /// Three reads in this order are the sequence lock: what lies between two equal even numbers
    /// was not written meanwhile.
    fn once(&self) -> Option<Option<Hint>> {
        let (mut before, mut data, mut after) = ([0; HEAD_BYTES], [0; LENGTH], [0; HEAD_BYTES]);
        let whole = self.0.read_exact_at(&mut before, 0).is_ok()
            && self.0.read_exact_at(&mut data, HEAD_BYTES as u64).is_ok()
            && self.0.read_exact_at(&mut after, 0).is_ok();
        let head = Fields(&before);
        let known = before[..8] == MAGIC && head.u32(8) == VERSION;
        if !whole || !known || head.u32(12) as usize != LENGTH {
            return Some(None);
        }
        (before == after && head.u64(16).is_multiple_of(2)).then(|| Hint::decode(&data))
    }
}

impl Hint {
    /// The hint in these bytes, if its checksum is right.
    pub(crate) fn decode(data: &[u8; LENGTH]) -> Option<Self> {
        let fields = Fields(data);
        if fields.u64(BODY_BYTES) != checksum(&data[..BODY_BYTES]) {
            return None;
        }
        let three = |at: usize| [fields.f64(at), fields.f64(at + 8), fields.f64(at + 16)];
        Some(Self {
            issued_ns: fields.i64(0),
            valid_until_ns: fields.i64(8),
            boundary_ns: fields.i64(16),
            boundary_uncertainty_ns: fields.i64(24),
            boundary_probability: fields.f64(32),
            boundary_kind: match fields.u32(40) {
                0 => Kind::None,
                1 => Kind::Slot,
                2 => Kind::Handover,
                3 => Kind::Outage,
                4 => Kind::Obstruction,
                _ => return None,
            },
            outage_start_ns: fields.i64(48),
            outage_end_ns: fields.i64(56),
            outage_probability: fields.f64(64),
            rtt_ms: three(72),
            down_mbps: three(96),
            up_mbps: three(120),
        })
    }

    /// Whether it was issued before `now_ns`, is not over, and has numbers that can be.
    pub fn holds(&self, now_ns: i64) -> bool {
        let probability = |value: f64| (0.0..=1.0).contains(&value);
        let span = self.valid_until_ns.checked_sub(self.issued_ns);
        0 < self.issued_ns
            && self.issued_ns <= now_ns
            && now_ns < self.valid_until_ns
            && span.is_some_and(|span| span <= LONGEST_NS)
            && probability(self.boundary_probability)
            && probability(self.outage_probability)
            && self.boundary_uncertainty_ns >= 0
            && self.outage_start_ns <= self.outage_end_ns
            && [self.rtt_ms, self.down_mbps, self.up_mbps].iter().all(rises)
    }
}

fn rises(three: &[f64; 3]) -> bool {
    three.iter().all(|value| value.is_nan())
        || (three[0] >= 0.0 && three.is_sorted() && three[2] < f64::INFINITY)
}

/// The 64-bit FNV-1a hash.
fn checksum(data: &[u8]) -> u64 {
    data.iter().fold(0xcbf2_9ce4_8422_2325, |found, byte| {
        (found ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Little-endian numbers at fixed places.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn bytes<const N: usize>(&self, at: usize) -> [u8; N] {
        self.0[at..at + N].try_into().expect("as long as it was cut")
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes(at))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes(at))
    }

    fn i64(&self, at: usize) -> i64 {
        i64::from_le_bytes(self.bytes(at))
    }

    fn f64(&self, at: usize) -> f64 {
        f64::from_le_bytes(self.bytes(at))
    }
}
