//! A path that follows its client to another address (RFC 9000 §9.3).

use super::Endpoint;
use crate::event::Event;
use crate::path::Move;
use crate::wire::{Frame, MIN_INITIAL_BYTES};
use scheduler::PathEvent;
use units::{Instant, PathId};

impl Endpoint {
    /// The challenge that some path's other way is due.
    pub(super) fn move_datagram(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        let id = self.paths.way_to_ask(now)?;
        let candidate = self.paths.get(id)?.candidate?;
        let mut draft = self.begin_datagram(id)?;
        draft.put(&Frame::PathChallenge { data: candidate.challenge });
        // RFC 9000 §8.2.1: full size, as far as what came allows.
        draft.pad_to(MIN_INITIAL_BYTES.min(candidate.budget_bytes() as usize));
        // It says nothing about the path in use, so it is neither in flight nor ever lost there.
        (draft.eliciting, draft.padded) = (false, false);
        let (_, datagram) = self.finish_one_rtt(now, draft, id)?;
        let candidate = self.paths.get_mut(id)?.candidate.as_mut()?;
        candidate.on_sent(now, datagram.len() as u64);
        Some((candidate.net, datagram))
    }

    /// The peer answered on the other way of a path: it goes there.
    pub(super) fn move_path(&mut self, now: Instant, id: u32) {
        self.give_up_flight(id); // the old way may have been dead for long
        let Some(Move { from, to, failed }) = self.paths.move_over(now, id) else { return };
        self.trace.event(Event::PathMoved(from, to));
        if failed {
            self.trace.event(Event::PathRevived(to));
        }
        self.scheduling.dispatch.on_path_event(now, from, PathEvent::Closed);
        self.scheduling.dispatch.on_path_event(now, to, PathEvent::Established);
    }
}
