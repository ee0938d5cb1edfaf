//! What the peer says about streams.

use super::{SendHalf, Streams, is_bidi};
use crate::error::{Code, TransportError};
use crate::event::Event;
use crate::wire::Frame;
use std::collections::VecDeque;
use units::{Duration, Instant, PathId};

/// Bookkeeping of out-of-order pieces may cost a quarter of the largest window and this much.
const OVERHEAD_FLOOR_BYTES: u64 = 1 << 20;

impl Streams {
    /// Makes sure that a stream which the peer names exists, if it may (RFC 9000 §3.2, §4.6).
    /// False: it is over, the frame is late.
    fn touch(&mut self, id: u64, events: &mut VecDeque<Event>) -> Result<bool, TransportError> {
        let kind = usize::from(!is_bidi(id));
        let index = id >> 2;
        if self.is_ours(id) {
            if index >= self.counts[kind].opened {
                return Err(TransportError::new(Code::StreamState, "a stream that is not open"));
            }
            return Ok(true);
        }
        if index >= self.counts[kind].granted {
            return Err(TransportError::new(Code::StreamLimit, "more streams than allowed"));
        }
        while self.counts[kind].peer_opened <= index {
            let id = self.counts[kind].peer_opened << 2 | id & 3;
            self.counts[kind].peer_opened += 1;
            self.recv.insert(id, self.new_recv());
            if is_bidi(id) {
                let limit = self.peer.initial_max_stream_data_bidi_local;
                self.send.insert(id, SendHalf::with_limit(limit));
            }
            events.push_back(Event::StreamOpened(id));
        }
        Ok(true)
    }

    fn touch_recv(
        &mut self,
        id: u64,
        events: &mut VecDeque<Event>,
    ) -> Result<bool, TransportError> {
        if self.is_ours(id) && !is_bidi(id) {
            return Err(TransportError::new(Code::StreamState, "data on a send-only stream"));
        }
        self.touch(id, events)?;
        Ok(self.recv.contains_key(&id))
    }

    fn touch_send(
        &mut self,
        id: u64,
        events: &mut VecDeque<Event>,
    ) -> Result<bool, TransportError> {
        if !self.is_ours(id) && !is_bidi(id) {
            return Err(TransportError::new(Code::StreamState, "a receive-only stream"));
        }
        self.touch(id, events)?;
        Ok(self.send.contains_key(&id))
    }

    /// The connection as a whole grew by `bytes` (RFC 9000 §4.1).
    fn grow(&mut self, bytes: u64) -> Result<(), TransportError> {
        self.received_data += bytes;
        if self.received_data > self.window.max_data {
            return Err(TransportError::new(Code::FlowControl, "connection window"));
        }
        self.window.on_received(self.received_data, self.read_data);
        Ok(())
    }

    /// A STREAM frame on a path: how many of its bytes came for the first time.
    pub fn on_data(
        &mut self,
        (now, path, rtt): (Instant, PathId, Duration),
        (id, offset, fin): (u64, u64, bool),
        data: &[u8],
        events: &mut VecDeque<Event>,
    ) -> Result<u64, TransportError> {
        if !self.touch_recv(id, events)? {
            self.counted.duplicate_bytes += data.len() as u64;
            return Ok(0);
        }
        let Some(half) = self.recv.get_mut(&id) else { return Ok(0) };
        let was_readable = half.data.is_readable();
        let before = half.data.overhead_bytes();
        let whole = half.data.whole_to();
        let (grown, fresh) = half.on_frame(offset, data, fin)?;
        self.overhead = self.overhead + half.data.overhead_bytes() - before;
        let counted = &mut self.counted;
        counted.in_order_bytes += half.data.whole_to() - whole;
        counted.duplicate_bytes += data.len() as u64 - fresh;
        let discards = half.stopped || half.reset.is_some();
        if !discards {
            let bytes = offset..offset + data.len() as u64;
            let whole_to = half.data.whole_to();
            half.reordering.on_arrival(now, path, bytes, whole_to, &mut self.waits);
        }
        if !was_readable && !half.data.is_readable() && !discards {
            let reach = (half.data.read_offset(), half.end);
            let more = half.window.on_held(now, reach, (rtt, self.growth));
            self.growth = self.growth.saturating_sub(more);
            if std::mem::take(&mut half.window.changed) && half.final_size.is_none() {
                self.raised.insert(id);
            }
            if self.counted.in_order_bytes <= self.read_data {
                let reach = (self.read_data, self.received_data + grown);
                self.window.on_held(now, reach, (rtt, u64::MAX));
            }
        }
        let tell =
            (!was_readable && half.data.is_readable()) || (half.is_complete() && !half.ended);
        if tell && !discards {
            events.push_back(Event::Readable(id));
        }
        self.grow(grown)?;
        if discards {
            self.drop_unread(grown);
            self.collect(id);
        }
        // Slow-drip attacks on reassembly: RFC 9000 §21.6.
        if self.overhead as u64 > self.window_limit / 4 + OVERHEAD_FLOOR_BYTES {
            return Err(TransportError::new(Code::InternalError, "too many pieces out of order"));
        }
        Ok(fresh)
    }

    fn on_reset(
        &mut self,
        id: u64,
        code: u64,
        size: u64,
        events: &mut VecDeque<Event>,
    ) -> Result<(), TransportError> {
        if !self.touch_recv(id, events)? {
            return Ok(());
        }
        let Some(half) = self.recv.get_mut(&id) else { return Ok(()) };
        let was_complete = half.is_complete(); // RFC 9000 §3.2: "Data Recvd" ignores the reset
        let (grown, _) = half.on_frame(size, &[], true)?;
        let mut dropped = 0;
        if half.stopped {
            dropped = grown;
        } else if half.reset.is_none() && !was_complete {
            dropped = size - half.data.read_offset();
            self.overhead -= half.data.overhead_bytes();
            half.clear(&mut self.waits);
            half.reset = Some(code);
            events.push_back(Event::Readable(id));
        }
        self.grow(grown)?;
        // What was not read counts as read: the connection's window must not shrink.
        self.drop_unread(dropped);
        if self.recv.get(&id).is_some_and(|half| half.stopped) {
            self.collect(id);
        }
        Ok(())
    }

    /// Frames about streams other than STREAM. What has to be answered is returned.
    pub fn on_frame(
        &mut self,
        frame: &Frame<'_>,
        events: &mut VecDeque<Event>,
    ) -> Result<Option<Frame<'static>>, TransportError> {
        match *frame {
            Frame::ResetStream { id, error_code, final_size } => {
                self.on_reset(id, error_code, final_size, events)?;
            }
            Frame::StopSending { id, error_code } if self.touch_send(id, events)? => {
                // RFC 9000 §3.5: answered by a reset.
                let done = self.send.get(&id).is_none_or(SendHalf::is_done);
                if let Ok(Some(final_size)) = self.reset(id, error_code)
                    && !done
                {
                    events.push_back(Event::Stopped(id, error_code));
                    return Ok(Some(Frame::ResetStream { id, error_code, final_size }));
                }
            }
            Frame::MaxData { maximum } => self.max_data = self.max_data.max(maximum),
            Frame::MaxStreamData { id, maximum } if self.touch_send(id, events)? => {
                if let Some(half) = self.send.get_mut(&id) {
                    half.max_data = half.max_data.max(maximum);
                    self.ready.insert((half.urgency, id));
                }
            }
            Frame::MaxStreams { bidi, maximum } => {
                let count = &mut self.counts[usize::from(!bidi)];
                if maximum > count.allowed {
                    count.allowed = maximum;
                    events.push_back(Event::StreamsAvailable(bidi));
                }
            }
            Frame::StreamDataBlocked { id, .. } => {
                self.touch_recv(id, events)?;
            }
            _ => {}
        }
        Ok(None)
    }
}
