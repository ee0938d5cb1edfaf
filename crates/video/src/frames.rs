//! Frame tables: where in a file each picture ends, and when it is shown.

use crate::VideoError;
use units::Duration;

/// Most pictures of a film: 4.8 hours at 60 a second.
pub const MAX_PICTURES: usize = 1 << 20;
/// Most lines of a table: pictures and the packets of other tracks.
const MAX_LINES: usize = 1 << 22;
/// Longest film.
const MAX_FILM_S: f64 = 86_400.0;
/// Largest file.
const MAX_FILE_BYTES: u64 = 1 << 40;
/// Times of a table are rounded; what is nearer than this is at the same time.
const ROUNDED: Duration = Duration::from_micros(100);
/// Built-in: the constant-rate film of `skyweave video file`, 117,857,326 bytes in 3 minutes. A line for
/// each picture in the order of the file: bytes from the end of the one before to its own end, and by how
/// many places later than that it is shown.
const CBR: &str = include_str!("cbr.txt");
const CBR_PER_SECOND: u32 = 30;

/// The pictures of a film, in the order in which they are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameTable {
    /// When each is shown, from the first one on.
    times: Vec<Duration>,
    /// Its place in the order of the file.
    decoded_as: Vec<u32>,
    /// Where each ends, in the order of the file; never falls.
    ends: Vec<u64>,
    period: Duration,
}

/// One picture in the order of the file.
struct Packet {
    time: Duration,
    end: u64,
}

impl FrameTable {
    /// The film that is built in: "cbr".
    ///
    /// # Errors
    /// [`VideoError::Film`] for any other name.
    pub fn named(name: &str) -> Result<Self, VideoError> {
        match name {
            "cbr" => Self::compact(CBR, CBR_PER_SECOND),
            _ => Err(VideoError::Film(name.to_owned())),
        }
    }

    /// Reads what `ffprobe -show_entries packet=stream_index,pts_time,dts_time,size,pos -of csv=p=0`
    /// prints: a packet a line, in that order of fields (`dts_time` is not used and may be empty).
    /// The pictures are the packets of stream 0; other tracks are skipped.
    ///
    /// # Errors
    /// [`VideoError`] with the line that cannot be read.
    pub fn parse(csv: &str) -> Result<Self, VideoError> {
        let mut packets = Vec::new();
        for (place, line) in csv.lines().enumerate() {
            if place >= MAX_LINES {
                return Err(VideoError::TooMany {
                    what: "lines of a frame table",
                    most: MAX_LINES,
                });
            }
            if line.trim().is_empty() {
                continue;
            }
            if let Some(packet) = packet(place + 1, line)? {
                packets.push(packet);
            }
            if packets.len() > MAX_PICTURES {
                return Err(VideoError::TooMany { what: "pictures of a film", most: MAX_PICTURES });
            }
        }
        Self::of(&packets)
    }

    /// Reads a built-in table.
    fn compact(table: &str, per_second: u32) -> Result<Self, VideoError> {
        let mut end = 0;
        let mut packets = Vec::new();
        for (place, text) in table.lines().enumerate() {
            let line = place + 1;
            let sign = text.find(['+', '-']).ok_or(VideoError::Line { line, what: "order" })?;
            let (size, later) = text.split_at(sign);
            end += size.parse::<u64>().map_err(|_| VideoError::Line { line, what: "size" })?;
            let later: i32 = later.parse().map_err(|_| VideoError::Line { line, what: "order" })?;
            let shown = (place as u32).saturating_add_signed(later);
            let nanos = u64::from(shown) * 1_000_000_000 + u64::from(per_second) / 2;
            let time = Duration::from_nanos(nanos / u64::from(per_second));
            packets.push(Packet { time, end });
        }
        Self::of(&packets)
    }

    fn of(packets: &[Packet]) -> Result<Self, VideoError> {
        let mut order: Vec<u32> = (0..packets.len() as u32).collect();
        order.sort_by_key(|place| packets[*place as usize].time);
        let first = order.first().ok_or(VideoError::NoPictures)?;
        let zero = packets[*first as usize].time;
        let times: Vec<Duration> =
            order.iter().map(|place| packets[*place as usize].time - zero).collect();
        let mut end = 0;
        let ends = packets.iter().map(|packet| {
            end = packet.end.max(end);
            end
        });
        let ends = ends.collect();
        let gaps = (times.len() as u64 - 1).max(1);
        let last = times.last().map_or(0, |last| last.as_nanos());
        let period = Duration::from_nanos((last + gaps / 2) / gaps);
        Ok(Self { times, decoded_as: order, ends, period })
    }

    /// How many pictures there are.
    pub fn count(&self) -> usize {
        self.times.len()
    }

    /// Bytes of the file up to the end of the last picture.
    pub fn file_bytes(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Mean time between pictures.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Length of the film: to the end of its last picture.
    pub fn duration(&self) -> Duration {
        self.times.last().map_or(Duration::ZERO, |last| *last + self.period)
    }

    /// When a picture is shown, counted from the first; the end of the film beyond the last one.
    pub fn time(&self, picture: usize) -> Duration {
        self.times.get(picture).copied().unwrap_or_else(|| self.duration())
    }

    /// Bytes of the file that must be there before each picture comes out of a decoder, in the order
    /// in which pictures are shown. The decoder holds back `held_pictures`: the n-th one comes out
    /// with the (n + held)-th of the file, and not before all that it depends on is there.
    pub fn needed_bytes(&self, held_pictures: usize) -> Vec<u64> {
        let last = self.ends.len() - 1;
        let mut most = 0;
        let needed = self.decoded_as.iter().enumerate().map(|(shown_as, place)| {
            most = (*place as usize).max(most);
            self.ends[most.max(shown_as.saturating_add(held_pictures)).min(last)]
        });
        needed.collect()
    }

    /// By how much a picture is decoded before the one of the same number is shown: no picture is
    /// shown before it is decoded.
    fn reordering(&self) -> Duration {
        let early = self.decoded_as.iter().zip(&self.times);
        let early = early.map(|(place, shown)| self.time(*place as usize).saturating_sub(*shown));
        early.max().unwrap_or(Duration::ZERO)
    }

    /// Where each step of so much media ends in the file, as a demultiplexer reads it: by decoding
    /// time. A picture at the end of a step belongs to it.
    pub fn step_ends(&self, step: Duration) -> Vec<u64> {
        let mut ends: Vec<u64> = Vec::new();
        let reordering = self.reordering();
        for (time, end) in self.times.iter().zip(&self.ends) {
            let nanos = time.saturating_sub(reordering + ROUNDED).as_nanos();
            let place = (nanos.div_ceil(step.as_nanos().max(1)) as usize).saturating_sub(1);
            let before = ends.last().copied().unwrap_or(0);
            ends.resize(place.max(ends.len().saturating_sub(1)) + 1, before);
            if let Some(last) = ends.last_mut() {
                *last = *end;
            }
        }
        ends
    }
}

/// The picture of a line; `None` for a packet of another track.
fn packet(line: usize, text: &str) -> Result<Option<Packet>, VideoError> {
    let mut fields = text.trim().split(',');
    let mut field = |what| fields.next().ok_or(VideoError::Line { line, what });
    let track = field("track")?;
    let time = field("presentation time")?;
    field("decoding time")?;
    let size: u64 = field("size")?.parse().map_err(|_| VideoError::Line { line, what: "size" })?;
    let position = field("position")?;
    if track != "0" {
        return Ok(None);
    }
    let what = "presentation time";
    let time: f64 = time.parse().map_err(|_| VideoError::Line { line, what })?;
    // A first picture that is decoded before it is shown may have a time below zero.
    if !(-60.0..=MAX_FILM_S).contains(&time) {
        return Err(VideoError::OutOfRange { line, what });
    }
    let what = "position";
    let position: u64 = position.parse().map_err(|_| VideoError::Line { line, what })?;
    let end = position.checked_add(size).filter(|end| *end <= MAX_FILE_BYTES);
    let end = end.ok_or(VideoError::OutOfRange { line, what })?;
    Ok(Some(Packet { time: Duration::from_secs_f64(time + 60.0), end }))
}
