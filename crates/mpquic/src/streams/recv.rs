use super::assembler::Assembler;
use crate::config::FlowControl;
use crate::error::{Code, TransportError};
use recovery::{InOrderWaits, Reordering};
use units::{Duration, Instant};

/// A window is announced anew once a 32nd part of it was read, or as much as some twenty packets
/// carry, or an eighth of a small one. A sender cannot use what it does not know of: announced by the
/// half, 4 MB carried 320 Mbit/s over a round trip of 50 ms, and not 640, since a sender that
/// paces keeps the same distance to the end of the window all the time.
fn worth_announcing(size: u64) -> u64 {
    (size / 32).max(32 << 10).min(size / 8).max(1)
}

/// A receive window that is raised as the application reads, and grows as [`FlowControl`] says.
#[derive(Debug)]
pub(crate) struct Window {
    rule: FlowControl,
    size: u64,
    limit: u64,
    pub max_data: u64,
    /// When half of it had been read the last time, or it grew for a hole, and how much was read.
    halved_at: (Instant, u64),
    /// A frame has to announce it to the peer.
    pub changed: bool,
}

impl Window {
    pub fn new(size: u64, limit: u64, rule: FlowControl) -> Self {
        Self {
            rule,
            size,
            limit: limit.max(size),
            max_data: size,
            halved_at: (Instant::ZERO, 0),
            changed: false,
        }
    }

    /// The application has read up to `read`; the window may grow by `most`: by how much it did.
    pub fn on_read(&mut self, now: Instant, read: u64, (rtt, most): (Duration, u64)) -> u64 {
        if self.rule == FlowControl::Tripled {
            return self.triple(read, read, most);
        }
        let before = self.size;
        let (at, from) = self.halved_at;
        if read - from >= before / 2 {
            if now - at < rtt * 2 {
                self.size = (before * 2).min(self.limit).min(before.saturating_add(most));
            }
            self.halved_at = (now, read);
        }
        self.announce(read);
        self.size - before
    }

    /// Announces the window beyond what was read, if enough of it is new.
    fn announce(&mut self, read: u64) {
        let end = read + self.size;
        if end.saturating_sub(self.max_data) >= worth_announcing(self.size) {
            (self.max_data, self.changed) = (end, true);
        }
    }

    /// The connection received `received` bytes in all, read or not: what tripled windows go by.
    pub fn on_received(&mut self, received: u64, read: u64) {
        if self.rule == FlowControl::Tripled {
            self.triple(received, read, u64::MAX);
        }
    }

    /// Announces three times as much once half of it is used, as far as `most` and the limit beyond
    /// what was read admit: by how much the window grew.
    fn triple(&mut self, used: u64, read: u64, most: u64) -> u64 {
        if used.saturating_mul(2) <= self.max_data {
            return 0;
        }
        let before = self.size;
        let wanted = self.max_data.saturating_mul(3).saturating_sub(read);
        let size = wanted.min(self.limit).min(before.saturating_add(most)).max(before);
        if read + size > self.max_data {
            (self.size, self.max_data, self.changed) = (size, read + size, true);
        }
        self.size - before
    }

    /// What came, up to `end`, waits for a hole and not for the application, which has read all up to
    /// `read`: where it reaches into the second half of the window, that doubles once a round trip. A
    /// sender over several paths would otherwise stand still for each byte that is late on one of them.
    /// The window may grow by `most`: by how much it did.
    pub fn on_held(
        &mut self,
        now: Instant,
        (read, end): (u64, u64),
        (rtt, most): (Duration, u64),
    ) -> u64 {
        let is_far = self.max_data.saturating_sub(end) > self.size / 2;
        if is_far || self.rule == FlowControl::Tripled {
            return 0;
        }
        if self.halved_at.0 == Instant::ZERO {
            self.halved_at.0 = now; // the first round trip begins
        }
        if now - self.halved_at.0 < rtt {
            return 0;
        }
        let before = self.size;
        self.size = (before * 2).min(self.limit).min(before.saturating_add(most));
        if self.size > before {
            self.halved_at = (now, read);
            self.max_data = self.max_data.max(read + self.size);
            self.changed = true;
        }
        self.size - before
    }

    /// How large it is.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Bytes up to `read` were dropped unread: there is room for others.
    pub fn on_dropped(&mut self, read: u64) {
        self.announce(read);
    }
}

/// The receiving half of a stream.
#[derive(Debug)]
pub(crate) struct RecvHalf {
    pub data: Assembler,
    pub reordering: Reordering,
    pub window: Window,
    /// End of what came.
    pub end: u64,
    pub final_size: Option<u64>,
    pub reset: Option<u64>,
    /// We asked the peer to stop.
    pub stopped: bool,
    /// The application saw the end.
    pub ended: bool,
}

impl RecvHalf {
    pub fn new(window: Window) -> Self {
        Self {
            data: Assembler::default(),
            reordering: Reordering::default(),
            window,
            end: 0,
            final_size: None,
            reset: None,
            stopped: false,
            ended: false,
        }
    }

    /// Data, or the final size alone, came: by how much the stream grew, and how many bytes are kept
    /// because they came for the first time.
    pub fn on_frame(
        &mut self,
        offset: u64,
        data: &[u8],
        fin: bool,
    ) -> Result<(u64, u64), TransportError> {
        let end = offset + data.len() as u64;
        let wrong_size = match self.final_size {
            Some(size) => end > size || (fin && end != size),
            None => fin && end < self.end,
        };
        if wrong_size {
            return Err(TransportError::new(Code::FinalSize, "final size")); // RFC 9000 §4.5
        }
        if end > self.window.max_data {
            return Err(TransportError::new(Code::FlowControl, "stream window")); // RFC 9000 §4.1
        }
        if fin {
            self.final_size = Some(end);
        }
        let keeps = self.reset.is_none() && !self.stopped;
        let fresh = if keeps { self.data.insert(offset, data) } else { 0 };
        let grown = end.saturating_sub(self.end);
        self.end = self.end.max(end);
        Ok((grown, fresh))
    }

    /// Forgets what it holds.
    pub fn clear(&mut self, waits: &mut InOrderWaits) {
        self.data.clear();
        self.reordering.clear(waits);
    }

    /// Everything that will come has come.
    pub fn is_complete(&self) -> bool {
        let nobody_waits = self.stopped && self.final_size.is_some();
        self.reset.is_some() || nobody_waits || self.final_size == Some(self.data.read_offset())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(50);

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    /// A hole is no reason to stand still: the window grows once a round trip, to its limit.
    #[test]
    fn what_waits_for_a_hole_makes_room_for_more_up_to_the_limit() {
        let mut window = Window::new(1000, 5000, FlowControl::Rounds);
        assert_eq!(window.on_held(at(100), (0, 400), (RTT, u64::MAX)), 0); // it does not reach far
        assert_eq!(window.on_held(at(50), (0, 600), (RTT, u64::MAX)), 0);
        assert_eq!(window.on_held(at(100), (0, 600), (RTT, u64::MAX)), 1000);
        assert_eq!((window.max_data, window.changed), (2000, true));
        assert_eq!(window.on_held(at(120), (0, 1900), (RTT, u64::MAX)), 0); // within the round trip
        assert_eq!(window.on_held(at(150), (0, 1900), (RTT, 500)), 500); // no more than it may
        assert_eq!(window.on_held(at(200), (0, 2400), (RTT, u64::MAX)), 2500);
        assert_eq!(window.on_held(at(300), (0, 4900), (RTT, u64::MAX)), 0);
        assert_eq!((window.max_data, window.size()), (5000, 5000));
        window.on_read(at(400), 4900, (RTT, u64::MAX));
        assert_eq!(window.max_data, 9900);
    }

    /// In small steps: a sender that paces hears of room long before it needs it.
    #[test]
    fn a_window_is_announced_in_small_steps_and_doubles_by_the_half() {
        assert_eq!(
            [4, 1 << 18, 1 << 20, 1 << 22].map(worth_announcing),
            [1, 1 << 15, 1 << 15, 1 << 17]
        );

        let mut window = Window::new(800, 1600, FlowControl::Rounds);
        let mut announced = Vec::new();
        for read in (50..=1200).step_by(50) {
            window.on_read(at(read), read, (RTT, u64::MAX));
            if std::mem::take(&mut window.changed) {
                announced.push(window.max_data - read);
            }
        }
        // 400 bytes took 400 ms, eight round trips: no reason to grow.
        assert_eq!(announced, [800; 12]);
        window.on_read(at(1250), 1600, (RTT, u64::MAX));
        assert_eq!((window.size(), window.max_data), (1600, 3200));
    }

    /// picoquic d515d2d4: `2 * data_received > maxdata_local` announces three times as much.
    #[test]
    fn a_tripled_window_goes_by_what_was_used_and_not_by_time() {
        let free = (RTT, u64::MAX);
        let mut stream = Window::new(1000, 8000, FlowControl::Tripled);
        assert_eq!(stream.on_read(at(1), 500, free), 0); // exactly half
        assert_eq!(stream.on_held(at(999), (500, 1000), free), 0); // a hole moves nothing
        assert_eq!(stream.on_read(at(1000), 501, free), 1499);
        assert_eq!((stream.max_data, stream.size(), stream.changed), (3000, 2499, true));
        assert_eq!(stream.on_read(at(1000), 1501, free), 5000);
        assert_eq!((stream.max_data, stream.size()), (9000, 7499));
        assert_eq!(stream.on_read(at(1000), 4501, free), 501); // to the limit beyond what was read
        assert_eq!((stream.max_data, stream.size()), (12_501, 8000));

        let mut connection = Window::new(1000, 8000, FlowControl::Tripled);
        connection.on_received(501, 0);
        assert_eq!(connection.max_data, 3000); // read or not
        connection.on_received(2000, 100);
        assert_eq!(connection.max_data, 8100);
        connection.on_received(8000, 100);
        assert_eq!(connection.max_data, 8100); // never more unread than the limit
    }
}
