use super::buffer::SendBuffer;
use rangemap::RangeMap;
use scheduler::Gap;
use std::ops::Range;
use units::Ranges;

/// The sending half of a stream, or the sending side of CRYPTO data.
#[derive(Debug)]
pub(crate) struct SendHalf {
    /// Bytes from `acked_to` on.
    buffer: SendBuffer,
    /// Everything before was acknowledged.
    acked_to: u64,
    /// Acknowledged beyond `acked_to`.
    acked: Ranges,
    /// First byte never sent.
    sent_to: u64,
    /// Sent beyond that, ahead of their turn.
    ahead: Ranges,
    /// To be sent again, first; with the path that carried it last.
    again: RangeMap<u64, u32>,
    /// The peer's limit.
    pub max_data: u64,
    /// RFC 9218 §4.1.
    pub urgency: u8,
    /// RFC 9218 §4.2.
    pub incremental: bool,
    finished: bool,
    fin_sent: bool,
    fin_again: Option<u32>,
    fin_acked: bool,
    pub reset: Option<u64>,
}

/// Bytes of a stream that go into a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub id: u64,
    pub range: Range<u64>,
    pub fin: bool,
}

impl Default for SendHalf {
    fn default() -> Self {
        Self::with_limit(0)
    }
}

impl SendHalf {
    pub fn with_limit(max_data: u64) -> Self {
        Self {
            buffer: SendBuffer::default(),
            acked_to: 0,
            acked: Ranges::default(),
            sent_to: 0,
            ahead: Ranges::default(),
            again: RangeMap::new(),
            max_data,
            urgency: super::DEFAULT_URGENCY,
            incremental: false,
            finished: false,
            fin_sent: false,
            fin_again: None,
            fin_acked: false,
            reset: None,
        }
    }

    pub fn write(&mut self, data: &[u8]) {
        self.buffer.extend(data);
    }

    pub fn write_zeros(&mut self, count: usize) {
        self.buffer.extend_zeros(count);
    }

    pub fn finish(&mut self) {
        self.finished = true;
    }

    pub fn is_finished(&self) -> bool {
        self.finished || self.reset.is_some()
    }

    /// Bytes that wait for being sent or acknowledged.
    pub fn held_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// End of what the application wrote.
    pub fn end(&self) -> u64 {
        self.acked_to + self.buffer.len() as u64
    }

    /// First byte that is not acknowledged.
    pub fn acked_to(&self) -> u64 {
        self.acked_to
    }

    /// Where the next new bytes begin.
    pub fn sent_to(&self) -> u64 {
        self.sent_to
    }

    /// End of what was sent: what flow control counts (RFC 9000 §4.1).
    pub fn highest_sent(&self) -> u64 {
        self.ahead.last().map_or(self.sent_to, |last| last.end)
    }

    /// Written and never sent, whatever the windows say.
    pub fn queued(&self) -> u64 {
        self.end() - self.sent_to - self.ahead.count()
    }

    /// Written, not sent yet, and within the stream's own limit; what went ahead included.
    pub fn unsent(&self) -> u64 {
        self.end().min(self.max_data).saturating_sub(self.sent_to)
    }

    /// What may be sent of what no packet carried yet.
    pub fn never_sent(&self) -> u64 {
        self.unsent().saturating_sub(self.ahead.count())
    }

    /// Bytes before the highest sent are missing: they need no window.
    pub fn has_hole(&self) -> bool {
        !self.ahead.is_empty()
    }

    pub fn has_again(&self) -> bool {
        self.reset.is_none() && (!self.again.is_empty() || self.fin_again.is_some())
    }

    fn has_new_fin(&self) -> bool {
        self.finished && !self.fin_sent && self.sent_to == self.end()
    }

    pub fn has_new(&self) -> bool {
        self.reset.is_none() && (self.unsent() > 0 || self.has_new_fin())
    }

    /// The next bytes to send again, whether the stream ends with them, and who carried them last.
    pub fn next_again(&mut self, max: u64) -> Option<(Range<u64>, bool, u32)> {
        if let Some((first, by)) = self.again.first_range_value().map(|(r, by)| (r.clone(), *by)) {
            let end = first.end.min(first.start + max);
            self.again.remove(first.start..end);
            let fin = self.finished && end == self.end();
            if fin {
                (self.fin_again, self.fin_sent) = (None, true);
            }
            return Some((first.start..end, fin, by));
        }
        self.fin_again.take().map(|by| (self.end()..self.end(), true, by))
    }

    /// The next new bytes, at most `max`, of which the connection's window admits `window`.
    pub fn next_new(&mut self, max: u64, window: u64) -> Option<(Range<u64>, bool)> {
        let start = self.sent_to;
        let hole_end = self.ahead.first().map_or(u64::MAX, |first| first.start);
        let allowed = self.highest_sent().saturating_add(window).min(hole_end);
        let end = (start + self.unsent().min(max)).min(allowed);
        let fin = self.finished && end == self.end();
        if end == start && (!fin || self.fin_sent) {
            return None;
        }
        self.sent_to = end;
        self.fin_sent |= fin;
        if self.ahead.first().is_some_and(|first| first.start == end)
            && let Some(first) = self.ahead.pop_first()
        {
            self.sent_to = first.end;
        }
        Some((start..end, fin))
    }

    /// The first bytes never sent that lie `gap` or more behind the next ones; they go ahead of these.
    /// `max` and `window` as in [`Self::next_new`]. The end of the stream waits for its turn.
    pub fn next_ahead(&mut self, gap: Gap, max: u64, window: u64) -> Option<Range<u64>> {
        let start = match gap {
            Gap::Stream(bytes) => self.sent_to.saturating_add(bytes),
            Gap::Unsent(bytes) => self.behind_unsent(bytes),
        };
        let start = self.ahead.get(start).map_or(start, |sent| sent.end);
        if start == self.sent_to || start >= self.end() {
            return None;
        }
        let next = self.ahead.behind(start).next().map_or(u64::MAX, |r| r.start);
        let allowed = self.highest_sent().saturating_add(window).min(self.max_data).min(next);
        let end = start.saturating_add(max).min(self.end()).min(allowed);
        if start >= end {
            return None;
        }
        self.ahead.insert(start..end);
        Some(start..end)
    }

    /// The offset of the byte with `bytes` never-sent bytes before it. Those who ask mostly go on where
    /// they were, at the end of what went ahead: the search begins there.
    fn behind_unsent(&self, bytes: u64) -> u64 {
        let mut unsent = self.highest_sent() - self.sent_to - self.ahead.count();
        let mut next_start = None;
        for sent in self.ahead.iter().rev() {
            unsent -= next_start.map_or(0, |start| start - sent.end);
            if bytes >= unsent {
                return sent.end.saturating_add(bytes - unsent);
            }
            next_start = Some(sent.start);
        }
        self.sent_to.saturating_add(bytes)
    }

    /// Sent, not acknowledged bytes from `from` on: for schedulers that repeat.
    pub fn unacked_from(&self, from: u64, max: u64) -> Option<Range<u64>> {
        let from = from.max(self.acked_to);
        let gap = self.acked.gaps(from..self.sent_to).next()?;
        Some(gap.start..gap.end.min(gap.start + max))
    }

    /// Appends the bytes of `range`, which was handed out before and is not acknowledged up to.
    pub fn copy(&self, range: &Range<u64>, out: &mut Vec<u8>) {
        let at = |offset: u64| offset.saturating_sub(self.acked_to) as usize;
        self.buffer.copy((at(range.start), at(range.end)), out);
    }

    /// What of `range` still has to arrive.
    pub fn missing(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let start = range.start.max(self.acked_to);
        if start >= range.end {
            return Vec::new();
        }
        self.acked.gaps(start..range.end).collect()
    }

    /// The bytes of a packet arrived: how many left the buffer. An end alone has none.
    pub fn on_acked(&mut self, range: Range<u64>, fin: bool) -> u64 {
        self.fin_acked |= fin;
        if fin {
            self.fin_again = None;
        }
        if range.end <= self.acked_to || range.is_empty() {
            return 0;
        }
        let fresh = range.start.max(self.acked_to)..range.end;
        if !self.again.is_empty() {
            self.again.remove(fresh.clone());
        }
        if fresh.start > self.acked_to {
            self.acked.insert(fresh);
            return 0;
        }
        let mut end = fresh.end;
        // What was acknowledged out of order and now joins.
        while self.acked.first().is_some_and(|first| first.start <= end)
            && let Some(first) = self.acked.pop_first()
        {
            end = end.max(first.end);
        }
        let freed = end - self.acked_to;
        self.buffer.drop_front(freed as usize);
        self.acked_to = end;
        freed
    }

    /// The bytes of a packet, which path `by` carried, may be lost: they are retransmitted.
    pub fn on_lost(&mut self, range: Range<u64>, fin: bool, by: u32) {
        if self.reset.is_some() {
            return;
        }
        if fin && !self.fin_acked {
            self.fin_again = Some(by);
        }
        for gap in self.missing(&range) {
            self.again.insert(gap, by);
        }
    }

    /// Everything, and the end, arrived.
    pub fn is_done(&self) -> bool {
        self.fin_acked && self.buffer.is_empty()
    }

    /// The peer will not see the rest: how many bytes are dropped.
    pub fn reset(&mut self, error_code: u64) -> u64 {
        let dropped = self.buffer.len() as u64;
        self.reset = Some(error_code);
        self.acked_to += dropped;
        self.buffer = SendBuffer::default();
        self.again = RangeMap::new();
        self.ahead = Ranges::default();
        self.acked = Ranges::default();
        self.fin_again = None;
        dropped
    }
}
