//! What a path sends whatever its window says: acknowledgements, challenges, probes.

use super::Endpoint;
use super::packets::Draft;
use crate::config::AckPath;
use crate::path::{CHALLENGE_PERIOD, CHALLENGE_TRIES, LEAST_BYTES, Path};
use crate::space::SentFrame;
use crate::wire::{Frame, MIN_INITIAL_BYTES};
use units::{Instant, PathId};

/// Exponent of our ACK delays (RFC 9000 §18.2: the default).
const ACK_DELAY_EXPONENT: u64 = 3;

/// Who carries an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carriers {
    One(u32),
    Usable,
}

impl Carriers {
    fn include(self, path: &Path) -> bool {
        match self {
            Self::One(id) => path.id == id,
            Self::Usable => path.is_usable(),
        }
    }
}

impl Endpoint {
    /// The next packet that no scheduler decides on.
    pub(super) fn control_datagram(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        self.update_rest(now);
        self.assign_acks(now);
        let mut from = 0;
        while let Some(path) = self.paths.from(from).find(|path| path.has_duty(now)) {
            let id = path.id;
            if let Some(out) = self.path_datagram(now, id) {
                return Some(out);
            }
            from = id + 1;
        }
        self.rebind_datagram(now)
    }

    fn path_datagram(&mut self, now: Instant, id: u32) -> Option<(PathId, Vec<u8>)> {
        let mut draft = self.begin_datagram(id)?;
        self.put_acks(now, &mut draft, id);
        let path = self.paths.get_mut(&id)?;
        let mut pads = false;
        if let Some(data) = path.response.take() {
            draft.put(&Frame::PathResponse { data });
            pads = true;
        }
        if let Some(data) = path.challenge.filter(|_| path.challenge_is_due(now)) {
            draft.put(&Frame::PathChallenge { data });
            Self::put_status(path, &mut draft);
            path.challenge_at = Some(now + CHALLENGE_PERIOD);
            path.challenge_tries += 1;
            pads = true;
        }
        if path.probes > 0 {
            path.probes -= 1;
            self.fill_probe(&mut draft, id);
        }
        if pads {
            draft.pad_to(MIN_INITIAL_BYTES); // RFC 9000 §8.2.1, §8.2.2
        }
        if draft.is_empty() {
            return None;
        }
        self.finish_one_rtt(now, draft, id)
    }

    /// The probe of an only path carries data where there is some (RFC 9002 §6.2.4). With others
    /// it is a PING: nothing that somebody waits for goes where it may be lost.
    fn fill_probe(&mut self, draft: &mut Draft, id: u32) {
        if !self.others_work(id) {
            self.put_control(draft);
            self.put_chunks(draft, id);
        }
        if !draft.eliciting {
            draft.put(&Frame::Ping);
        }
    }

    /// A challenge that is due and cannot leave (anti-amplification, no connection ID) counts as
    /// tried.
    pub(super) fn postpone_challenge(&mut self, now: Instant, id: u32) {
        let no_cid = self.peer_cids.current(id).is_none();
        let Some(path) = self.paths.get_mut(&id) else { return };
        let due = path.challenge.is_some() && path.challenge_at.is_none_or(|at| at <= now);
        if due && (no_cid || path.amplification_left() < LEAST_BYTES) {
            path.challenge_at = Some(now + CHALLENGE_PERIOD);
            path.challenge_tries += 1;
        }
    }

    pub(super) fn challenge_gave_up(path: &Path, now: Instant) -> bool {
        let late = path.challenge_at.is_some_and(|at| at <= now);
        !path.validated && late && path.challenge_tries >= CHALLENGE_TRIES
    }

    pub(super) fn challenge_path(&mut self, id: u32) {
        use rand::Rng;
        let mut data = [0; 8];
        self.rng.fill_bytes(&mut data);
        if let Some(path) = self.paths.get_mut(&id) {
            path.challenge = Some(data);
            (path.challenge_at, path.challenge_tries) = (None, 0);
        }
    }

    // ---- acknowledgements --------------------------------------------------------------------

    /// Acknowledgements that are due are given to the paths that carry them.
    fn assign_acks(&mut self, now: Instant) {
        let mut from = 0;
        let due = |path: &&Path| path.space.received.ack_at.is_some_and(|at| at <= now);
        while let Some(id) = self.paths.from(from).find(due).map(|path| path.id) {
            from = id + 1;
            let carriers = match self.config.ack_path {
                AckPath::Scheduled => self.scheduled_ack_path(now).map(Carriers::One),
                _ => None,
            };
            let Some(carriers) = carriers.or_else(|| self.ack_carriers(id)) else {
                continue; // every path rests or drains: it leaves when one is back
            };
            if let Some(path) = self.paths.get_mut(&id) {
                path.space.received.on_ack_sent();
            }
            for path in self.paths.values_mut().filter(|path| carriers.include(path)) {
                if !path.acks_to_carry.contains(&id) {
                    path.acks_to_carry.push(id);
                }
            }
        }
    }

    /// Which paths carry the acknowledgements of path `id`; `None`: all rest.
    fn ack_carriers(&self, id: u32) -> Option<Carriers> {
        let own = self.paths.get(&id);
        let usable = || self.paths.values().filter(|path| path.is_usable());
        let fastest = || usable().min_by_key(|path| path.rtt.smoothed());
        let chosen = match self.config.ack_path {
            AckPath::Duplicated if usable().next().is_some() => return Some(Carriers::Usable),
            AckPath::Same => own.filter(|path| path.is_usable()).or_else(fastest),
            _ => fastest(),
        };
        let chosen = chosen.or_else(|| own.filter(|path| path.is_awake()));
        let any = || self.paths.values().find(|path| path.is_awake());
        chosen.or_else(any).map(|path| Carriers::One(path.id))
    }

    /// Acknowledgements that are not due yet leave with a packet of path `id` where they belong there.
    fn rides(&self, id: u32, other: &Path) -> bool {
        if other.space.received.ack_at.is_none() {
            return false;
        }
        match self.config.ack_path {
            AckPath::Duplicated => false, // one of them alone would take the others' place
            AckPath::Scheduled => true,   // a packet of data is where the scheduler wants it
            AckPath::Same if other.id == id && other.is_usable() => true,
            _ => self.ack_carriers(other.id) == Some(Carriers::One(id)),
        }
    }

    /// Writes the acknowledgements that leave on path `id`: those that must, and those that may.
    pub(super) fn put_acks(&mut self, now: Instant, draft: &mut Draft, id: u32) {
        let Some(path) = self.paths.get_mut(&id) else { return };
        let mut carried = std::mem::take(&mut path.acks_to_carry);
        carried.retain(|other| !self.put_ack(now, draft, *other));
        let mut from = 0;
        while let Some(other) =
            self.paths.from(from).find(|path| self.rides(id, path)).map(|path| path.id)
        {
            from = other + 1;
            self.put_ack(now, draft, other);
        }
        let count = draft.frames.iter().filter(|frame| matches!(frame, SentFrame::Ack { .. }));
        let count = count.count() as u64;
        if let Some(path) = self.paths.get_mut(&id) {
            path.acks_to_carry = carried;
            path.stats.acks += count;
        }
    }

    /// Writes the acknowledgement of a path; false: it does not fit.
    fn put_ack(&mut self, now: Instant, draft: &mut Draft, of: u32) -> bool {
        let Some(path) = self.paths.get_mut(&of) else { return true };
        let Some(ack) = path.space.received.ack(now, ACK_DELAY_EXPONENT) else { return true };
        let largest = ack.ranges.first().map_or(0, |range| *range.end());
        let frame = Frame::Ack { path: self.multipath.then_some(of), ack };
        if !draft.put(&frame) {
            return false;
        }
        path.space.received.on_ack_sent();
        draft.frames.push(SentFrame::Ack { path: of, largest });
        true
    }

    // ---- control frames ----------------------------------------------------------------------

    pub(super) fn has_control(&self) -> bool {
        !self.control.is_empty()
            || self.streams.window.changed
            || !self.streams.raised.is_empty()
            || self.streams.counts.iter().any(|count| count.changed)
            || self.streams.blocked().is_some_and(|limit| self.blocked_at != Some(limit))
    }

    /// Writes the control frames that fit.
    pub(super) fn put_control(&mut self, draft: &mut Draft) {
        while let Some(frame) = self.control.pop_front() {
            if !draft.put(&frame) {
                self.control.push_front(frame);
                return;
            }
            draft.frames.push(SentFrame::Control(Box::new(frame)));
        }
        self.put_windows(draft);
    }

    fn put_windows(&mut self, draft: &mut Draft) {
        let window = &mut self.streams.window;
        if window.changed && draft.put(&Frame::MaxData { maximum: window.max_data }) {
            window.changed = false;
            draft.frames.push(SentFrame::MaxData);
        }
        while let Some(id) = self.streams.raised.first().copied() {
            if let Some(half) = self.streams.recv.get(&id) {
                if !draft.put(&Frame::MaxStreamData { id, maximum: half.window.max_data }) {
                    return;
                }
                draft.frames.push(SentFrame::MaxStreamData(id));
            }
            self.streams.raised.remove(&id);
        }
        for (index, count) in self.streams.counts.iter_mut().enumerate() {
            let bidi = index == 0;
            if count.changed && draft.put(&Frame::MaxStreams { bidi, maximum: count.granted }) {
                count.changed = false;
                draft.frames.push(SentFrame::MaxStreams(bidi));
            }
        }
        if let Some(limit) = self.streams.blocked().filter(|limit| self.blocked_at != Some(*limit))
            && draft.put(&Frame::DataBlocked { limit })
        {
            self.blocked_at = Some(limit);
        }
    }
}
