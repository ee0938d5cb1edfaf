//! A path that follows its client to another address (RFC 9000 §9.3).

use super::Endpoint;
use crate::event::Event;
use crate::path::Move;
use crate::wire::{Frame, MIN_INITIAL_BYTES};
use scheduler::PathEvent;
use units::{Instant, PathId};

impl Endpoint {
    /// The challenge or answer that is due to another way of some path, or to its former one.
    pub(super) fn move_datagram(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        let (id, is_former) = self.paths.way_to_ask(now)?;
        let path = self.paths.get(id)?;
        let way = if is_former { path.former? } else { path.candidate? };
        let mut draft = self.begin_datagram(id)?;
        if let Some(data) = way.response {
            draft.put(&Frame::PathResponse { data });
        }
        if way.challenge_is_due(now) {
            draft.put(&Frame::PathChallenge { data: way.challenge });
        }
        // RFC 9000 §8.2.1: full size, as far as what came allows.
        draft.pad_to(MIN_INITIAL_BYTES.min(way.budget_bytes() as usize));
        // It says nothing about the path in use, so it is neither in flight nor ever lost there.
        (draft.eliciting, draft.padded) = (false, false);
        let (_, datagram) = self.finish_one_rtt(now, draft, id)?;
        let path = self.paths.get_mut(id)?;
        let way = if is_former { path.former.as_mut()? } else { path.candidate.as_mut()? };
        way.on_sent(now, datagram.len() as u64);
        Some((way.net, datagram))
    }

    /// A datagram of a path that is not proven leaves where copies of its packets come from, too.
    pub(super) fn repeat_to_twin(&mut self, id: u32, datagram: &[u8]) {
        let twin = self.paths.twin_of(id, datagram.len() as u64);
        self.paths.repeated = twin.map(|net| (net, datagram.to_vec()));
    }

    /// The peer answered on the other way of a path: it goes there.
    pub(super) fn move_path(&mut self, now: Instant, id: u32) {
        self.give_up_flight(id); // the old way may have been dead for long
        let Some(Move { from, to, failed }) = self.paths.move_over(now, id, &mut self.rng) else {
            return;
        };
        self.paths.restore_replaced(); // over the way that it has left
        self.trace.event(Event::PathMoved(from, to));
        if failed {
            self.trace.event(Event::PathRevived(to));
        }
        self.scheduling.dispatch.on_path_event(now, from, PathEvent::Closed);
        self.scheduling.dispatch.on_path_event(now, to, PathEvent::Established);
    }
}
