//! What a path sends whatever its window says: acknowledgements, challenges, probes.

use super::Endpoint;
use crate::config::AckPath;
use crate::draft::Draft;
use crate::path::Carriers;
use crate::space::SentFrame;
use crate::wire::{Frame, MIN_INITIAL_BYTES};
use units::{Instant, PathId};

/// Exponent of our ACK delays (RFC 9000 §18.2: the default).
const ACK_DELAY_EXPONENT: u64 = 3;

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
        self.move_datagram(now)
    }

    fn path_datagram(&mut self, now: Instant, id: u32) -> Option<(PathId, Vec<u8>)> {
        let mut draft = self.begin_datagram(id)?;
        self.put_acks(now, &mut draft, id);
        if !self.config.is_client() && (id, draft.number()) == (0, 0) {
            // HANDSHAKE_DONE and connection IDs go with the first acknowledgement: some clients
            // leave their address as soon as they hear it (picoquic), and then need both.
            self.control.write(&mut draft, &mut self.streams);
        }
        let path = self.paths.get_mut(id)?;
        let mut pads = false;
        if let Some(data) = path.response.take() {
            draft.put(&Frame::PathResponse { data });
            // RFC 9000 §9.3.3: no probing packet, which shows that the peer is here.
            draft.put(&Frame::Ping);
            pads = true;
        }
        let again = path.challenge_tries > 0 && self.config.is_client();
        let challenge = path.take_challenge(now);
        if let Some(data) = challenge {
            draft.put(&Frame::PathChallenge { data });
            path.put_status(&mut draft);
            pads = true;
            if again {
                // The peer cannot answer on a path without connection IDs of ours. They may have been
                // lost with the only path that worked, and a probe may bring them (RFC 9000 §9.1).
                for frame in self.cids.given(id, &self.config.reset_key) {
                    draft.put(&frame);
                }
            }
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
        if !draft.eliciting && self.handshake.confirmed && self.paths.asks_with_acks(now, id) {
            draft.put(&Frame::Ping);
        }
        let (net, datagram) = self.finish_one_rtt(now, draft, id)?;
        if let Some(path) = self.paths.get_mut(id).filter(|_| challenge.is_some()) {
            path.challenge_in_full = datagram.len() >= MIN_INITIAL_BYTES;
        }
        self.repeat_to_twin(id, &datagram);
        Some((net, datagram))
    }

    /// The probe of an only path carries data where there is some (RFC 9002 §6.2.4). With others
    /// it is a PING: nothing that somebody waits for goes where it may be lost.
    fn fill_probe(&mut self, draft: &mut Draft, id: u32) {
        if !self.paths.others_work(id) {
            self.control.write(draft, &mut self.streams);
            self.put_chunks(draft, id);
        }
        if !draft.eliciting {
            draft.put(&Frame::Ping);
        }
    }

    // ---- acknowledgements --------------------------------------------------------------------

    /// Acknowledgements that are due are given to the paths that carry them.
    fn assign_acks(&mut self, now: Instant) {
        let mut from = 0;
        while let Some(id) = self.paths.ack_due(now, from) {
            from = id + 1;
            let policy = self.config.ack_path;
            let carriers = match policy {
                AckPath::Scheduled => self.scheduled_ack_path(now).map(Carriers::One),
                _ => None,
            };
            // Without any every path rests or drains: it leaves when one is back.
            if let Some(carriers) = carriers.or_else(|| self.paths.ack_carriers(policy, id)) {
                self.paths.hand_ack_to(carriers, id);
            }
        }
    }

    /// Writes the acknowledgements that leave on path `id`: those that must, and those that may.
    pub(super) fn put_acks(&mut self, now: Instant, draft: &mut Draft, id: u32) {
        let Some(path) = self.paths.get_mut(id) else { return };
        let mut carried = std::mem::take(&mut path.acks_to_carry);
        carried.retain(|other| !self.put_ack(now, draft, *other));
        let mut from = 0;
        while let Some(other) = self.paths.rider(self.config.ack_path, id, from) {
            from = other + 1;
            self.put_ack(now, draft, other);
        }
        let count = draft.frames.iter().filter(|frame| matches!(frame, SentFrame::Ack { .. }));
        let count = count.count() as u64;
        if let Some(path) = self.paths.get_mut(id) {
            path.acks_to_carry = carried;
            path.stats.acks += count;
        }
    }

    /// Writes the acknowledgement of a path; false: it does not fit.
    fn put_ack(&mut self, now: Instant, draft: &mut Draft, of: u32) -> bool {
        let multipath = self.paths.multipath;
        let Some(path) = self.paths.get_mut(of) else { return true };
        let Some(ack) = path.space.received.ack(now, ACK_DELAY_EXPONENT) else { return true };
        let largest = ack.ranges.first().map_or(0, |range| *range.end());
        let frame = Frame::Ack { path: multipath.then_some(of), ack };
        let fits = draft.put(&frame);
        if let Frame::Ack { ack, .. } = frame {
            path.space.received.reuse(ack);
        }
        if !fits {
            return false;
        }
        path.space.received.on_ack_sent();
        draft.frames.push(SentFrame::Ack { path: of, largest });
        true
    }
}
