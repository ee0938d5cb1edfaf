//! Sending side of the connection: what is unsent, what lacks its DATA_ACK, what waits for
//! reinjection.

use super::Cuts;
use scheduler::PathSet;
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use units::PathId;

/// A piece of the stream that was sent and has no DATA_ACK yet. Its boundaries never change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetaSegment {
    pub dsn: u64,
    pub bytes: u64,
    /// Paths on which it was put (kernel `path_mask`).
    pub carried_by: PathSet,
    /// Paths from whose queue it was reinjected: once each (docs/model.md §2.5).
    pub reinjected_from: PathSet,
}

/// Send buffer and reinjection queue of a connection.
#[derive(Debug)]
pub(crate) struct SendBuffer {
    /// Bytes that the application wants to send in all.
    offered: u64,
    /// End of what fitted into the buffer.
    written: u64,
    limit_bytes: u64,
    mss_bytes: u64,
    /// Where new segments end early; `None`: nowhere, and they wait for room in the receive window.
    cuts: Option<Cuts>,
    una: u64,
    next: u64,
    segments: VecDeque<MetaSegment>,
    reinject: BTreeSet<u64>,
    /// Segments passed over for later ones: still unsent, sent before everything else that is new.
    holes: BTreeSet<u64>,
    hole_bytes: u64,
    window_end: u64,
    window_bytes: u64,
}

impl SendBuffer {
    pub fn new(limit_bytes: u64, mss_bytes: u64) -> Self {
        Self {
            offered: 0,
            written: 0,
            limit_bytes,
            mss_bytes,
            cuts: None,
            una: 0,
            next: 0,
            segments: VecDeque::new(),
            reinject: BTreeSet::new(),
            holes: BTreeSet::new(),
            hole_bytes: 0,
            window_end: 0,
            window_bytes: 0,
        }
    }

    /// Ends new segments early, as Linux does (docs/model.md §2.4).
    pub fn cutting(self, cuts: Cuts) -> Self {
        Self { cuts: Some(cuts), ..self }
    }

    fn is_upstream(&self) -> bool {
        self.cuts.as_ref().is_some_and(Cuts::are_all)
    }

    /// The application has `bytes` more to send.
    pub fn offer(&mut self, bytes: u64) {
        let before = self.offered;
        self.offered = self.offered.saturating_add(bytes);
        if let Some(cuts) = &mut self.cuts {
            cuts.on_offer(before..self.offered);
        }
        self.write();
    }

    /// The subflows lend the connection their memory: the buffer grows to this, and never shrinks.
    pub fn grow_to(&mut self, limit_bytes: u64) {
        self.limit_bytes = self.limit_bytes.max(limit_bytes);
        self.write();
    }

    /// The application writes what fits. Upstream wakes one that was cut short when a third of the
    /// buffer is free (`sk_stream_is_writeable`), so that it writes many bursts at once.
    fn write(&mut self) {
        let held_bytes = self.written - self.una;
        if self.is_upstream() && self.is_full() && held_bytes > self.limit_bytes / 3 * 2 {
            return;
        }
        let end = self.offered.min(self.una.saturating_add(self.limit_bytes));
        self.written = self.written.max(end);
    }

    /// Bytes in the buffer that no path has been assigned yet.
    pub fn unsent_bytes(&self) -> u64 {
        self.written - self.next + self.hole_bytes
    }

    /// The application is blocked for lack of send memory.
    pub fn is_full(&self) -> bool {
        self.written < self.offered
    }

    pub fn offered(&self) -> u64 {
        self.offered
    }

    pub fn is_empty(&self) -> bool {
        self.una == self.next
    }

    /// The window as advertised last, and what is left of it beyond everything sent.
    pub fn window_bytes(&self) -> (u64, u64) {
        (self.window_bytes, self.window_end.saturating_sub(self.next))
    }

    /// Place and length of the next new segment: what was passed over first. Short ones leave only
    /// when the application has nothing more to write; one that the send buffer cuts short waits
    /// for a DATA_ACK (RFC 9293 §3.8.6.2.1).
    pub fn next_new(&self) -> Option<(u64, u64)> {
        match self.holes.first() {
            Some(hole) => self.segment(*hole).map(|segment| (segment.dsn, segment.bytes)),
            None => self.fresh_at(self.next).map(|(dsn, bytes)| (dsn, self.cut(dsn, bytes))),
        }
    }

    /// The segment that would begin at `dsn`, where nothing has been cut yet.
    fn fresh_at(&self, dsn: u64) -> Option<(u64, u64)> {
        let bytes = self.written.saturating_sub(dsn).min(self.mss_bytes);
        if bytes == 0 || bytes < self.mss_bytes && self.is_full() && !self.is_empty() {
            return None;
        }
        Some((dsn, bytes))
    }

    /// How much of a fresh segment leaves now: all of it if the window has no room for any.
    fn cut(&self, dsn: u64, bytes: u64) -> u64 {
        self.cuts.as_ref().map_or(bytes, |cuts| cuts.cut(dsn..dsn + bytes, self.window_end))
    }

    /// Another write of the application begins (upstream): true once.
    pub fn write_begins(&mut self) -> bool {
        self.cuts.as_mut().is_some_and(Cuts::take_begins)
    }

    /// Data is left that no path has room for.
    pub fn on_held_up(&mut self) {
        if let Some(cuts) = &mut self.cuts {
            cuts.on_held_up(self.written);
        }
    }

    /// The first unsent segment that begins at `dsn` or later. Fresh ones before it are cut and
    /// passed over; `None`, and nothing is passed over, when data or window do not reach that far.
    pub fn pass_over_to(&mut self, dsn: u64) -> Option<(u64, u64)> {
        if let Some(hole) = self.holes.range(dsn..).next() {
            return self.segment(*hole).map(|segment| (segment.dsn, segment.bytes));
        }
        let count = dsn.saturating_sub(self.next).div_ceil(self.mss_bytes);
        let (start, bytes) = self.fresh_at(self.next.checked_add(count * self.mss_bytes)?)?;
        if !self.fits(start + bytes) {
            return None;
        }
        while self.next < start {
            self.holes.insert(self.next);
            self.hole_bytes += self.mss_bytes;
            self.push_sent(self.mss_bytes, PathSet::EMPTY);
        }
        Some((start, bytes))
    }

    /// The start of the first segment with `bytes` unassigned bytes before it.
    pub fn behind_unsent(&self, bytes: u64) -> u64 {
        if bytes >= self.hole_bytes {
            return self.next.saturating_add(bytes - self.hole_bytes);
        }
        let mut left = bytes;
        for hole in &self.holes {
            if left == 0 {
                return *hole;
            }
            left = left.saturating_sub(self.segment(*hole).map_or(0, |segment| segment.bytes));
        }
        self.next
    }

    /// Whether the receive window admits the bytes up to `end`.
    pub fn fits(&self, end: u64) -> bool {
        end <= self.window_end
    }

    /// The unsent segment at `dsn`, passed over before or next of all, was assigned to paths.
    pub fn on_assigned(&mut self, dsn: u64, bytes: u64, carried_by: PathSet) {
        if dsn == self.next {
            self.push_sent(bytes, carried_by);
        } else if let Some(segment) = self.segment_mut(dsn) {
            segment.carried_by = carried_by;
            self.fill_hole(dsn, bytes);
        }
    }

    fn fill_hole(&mut self, dsn: u64, bytes: u64) {
        if self.holes.remove(&dsn) {
            self.hole_bytes -= bytes;
        }
    }

    /// The next new segment was assigned to a path.
    pub fn push_sent(&mut self, bytes: u64, carried_by: PathSet) {
        let (dsn, reinjected_from) = (self.next, PathSet::EMPTY);
        self.segments.push_back(MetaSegment { dsn, bytes, carried_by, reinjected_from });
        self.next += bytes;
        if let Some(cuts) = &mut self.cuts {
            cuts.on_sent(self.next);
        }
    }

    /// DATA_ACK and window of an acknowledgement. True when the DATA_ACK advanced.
    pub fn on_data_ack(&mut self, data_ack: u64, window_end: u64) -> bool {
        if window_end >= self.window_end {
            self.window_end = window_end;
            self.window_bytes = window_end.saturating_sub(data_ack);
        }
        if data_ack <= self.una || data_ack > self.next {
            return false;
        }
        self.una = data_ack;
        self.write();
        while self.segments.front().is_some_and(|head| head.dsn + head.bytes <= data_ack) {
            self.segments.pop_front();
        }
        // Subflows join short pieces, so a DATA_ACK may end within a segment: its rest is still missing.
        let first = self.segments.front().map_or(self.next, |head| head.dsn);
        while self.reinject.first().is_some_and(|dsn| *dsn < first) {
            self.reinject.pop_first();
        }
        true
    }

    /// The oldest segment without DATA_ACK.
    pub fn head(&self) -> Option<MetaSegment> {
        self.segments.front().copied()
    }

    /// What was sent, begins before `end` and has no DATA_ACK, oldest first.
    pub fn sent_before(&self, end: u64) -> Vec<MetaSegment> {
        let before = self.segments.iter().take_while(|segment| segment.dsn < end);
        before.filter(|segment| !self.holes.contains(&segment.dsn)).copied().collect()
    }

    /// The segment that begins at `dsn`, unless it has its DATA_ACK.
    fn segment(&self, dsn: u64) -> Option<&MetaSegment> {
        self.first_from(dsn).filter(|segment| segment.dsn == dsn)
    }

    /// The first segment without DATA_ACK that begins at `dsn` or later.
    pub fn first_from(&self, dsn: u64) -> Option<&MetaSegment> {
        self.segments.get(self.segments.partition_point(|segment| segment.dsn < dsn))
    }

    /// The segment that begins at `dsn`, unless it has its DATA_ACK.
    pub fn segment_mut(&mut self, dsn: u64) -> Option<&mut MetaSegment> {
        let index = self.segments.partition_point(|segment| segment.dsn < dsn);
        self.segments.get_mut(index).filter(|segment| segment.dsn == dsn)
    }

    /// The lowest segment that waits for reinjection on another path.
    pub fn next_reinjection(&mut self) -> Option<MetaSegment> {
        let dsn = *self.reinject.first()?;
        self.segment_mut(dsn).copied()
    }

    /// Queues the segment at `dsn` for reinjection. False when it has its DATA_ACK, is queued, or
    /// was passed over and has still to go for the first time.
    pub fn reinject(&mut self, dsn: u64) -> bool {
        let was_sent = self.segment(dsn).is_some() && !self.holes.contains(&dsn);
        was_sent && self.reinject.insert(dsn)
    }

    /// Queues for reinjection what lies in `range`, which the subflow of `path` holds back: once for
    /// each path.
    pub fn reinject_held_back(&mut self, range: Range<u64>, path: PathId) {
        let first = self.segments.partition_point(|one| one.dsn + one.bytes <= range.start);
        for index in first..self.segments.len() {
            let segment = &mut self.segments[index];
            if segment.dsn >= range.end {
                break;
            }
            if !segment.reinjected_from.contains(path) {
                segment.reinjected_from = segment.reinjected_from.with(path);
                let dsn = segment.dsn;
                self.reinject(dsn);
            }
        }
    }

    /// Queues everything without DATA_ACK for reinjection; returns how many segments that are.
    pub fn reinject_all(&mut self) -> u64 {
        let before = self.reinject.len();
        let sent = self.segments.iter().map(|segment| segment.dsn);
        self.reinject.extend(sent.filter(|dsn| !self.holes.contains(dsn)));
        (self.reinject.len() - before) as u64
    }

    /// The subflow of `path` is gone: a later one counts as untried.
    pub fn forget_path(&mut self, path: PathId) {
        for segment in &mut self.segments {
            segment.carried_by = segment.carried_by.without(path);
            segment.reinjected_from = segment.reinjected_from.without(path);
        }
    }

    /// The segment at `dsn` was assigned again, or by a timer before its turn.
    pub fn on_reinjected(&mut self, dsn: u64, bytes: u64) {
        self.reinject.remove(&dsn);
        self.fill_hole(dsn, bytes);
    }
}
