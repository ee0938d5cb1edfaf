//! Data that goes ahead of its turn, or waits in the queue of a path.

use super::Endpoint;
use crate::scheduling::{Copy, OVERHEAD_BYTES};
use crate::space::Again;
use scheduler::{Gap, PathSet, able};
use units::{Instant, PathId};

impl Endpoint {
    /// A later piece of the stream leaves now, and what lies before it is next (`Decision::Ahead`).
    /// `None`: something lost comes first, or the data or a window do not reach that far.
    pub(super) fn ahead_datagram(
        &mut self,
        now: Instant,
        net: PathId,
        gap: Gap,
    ) -> Option<(PathId, Vec<u8>)> {
        if self.streams.has_again() && matches!(gap, Gap::Stream(_)) {
            return None;
        }
        let id = self.paths.carrier_over(net)?;
        let mut draft = self.begin_datagram(id)?;
        let chunk = self.streams.chunk_ahead(draft.room(), gap)?;
        self.put_chunk(&mut draft, &chunk, (id, None));
        self.put_acks(now, &mut draft, id);
        self.scheduling.dispatch.on_sent(now, net, chunk.range.end - chunk.range.start);
        self.finish_one_rtt(now, draft, id)
    }

    /// Assigns the next piece to the first of these paths, which have no room yet. False: there is
    /// none, or nothing to assign but DATAGRAMs and control frames, which do not wait in queues.
    pub(super) fn enqueue(&mut self, now: Instant, to: PathSet) -> bool {
        let Some(net) = to.iter().next() else { return false };
        let Some(id) = self.paths.carrier_over(net) else { return false };
        let full = self.config.datagram_bytes - OVERHEAD_BYTES as usize;
        let Some((chunk, by)) = self.streams.next_chunk(full) else { return false };
        let why = by.map(|by| if by == id { Again::Retransmission } else { Again::Reinjection });
        let bytes = chunk.range.end - chunk.range.start;
        self.scheduling.dispatch.on_sent(now, net, bytes);
        if let Some(path) = self.paths.get_mut(id) {
            path.queued_bytes += bytes;
            path.queue.push_back((chunk, why));
        }
        true
    }

    /// The first piece that waits for a path which has room now.
    pub(super) fn queued_datagram(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        let able = able(&self.scheduling.views);
        let mut ready = self.paths.values().filter(|path| !path.queue.is_empty());
        let id = ready.find(|path| path.carries_data() && able.contains(path.net))?.id;
        loop {
            let path = self.paths.get_mut(id)?;
            let (chunk, why) = path.queue.pop_front()?;
            path.queued_bytes -= chunk.range.end - chunk.range.start;
            let copy = Copy { path: id, chunks: vec![chunk], why };
            if let Some(out) = self.copy_datagram(now, &copy) {
                return Some(out);
            }
        }
    }

    /// What waits for a path that does not work any more is scheduled anew.
    pub(super) fn release_queue(&mut self, id: u32) {
        let Some(path) = self.paths.get_mut(id) else { return };
        path.queued_bytes = 0;
        for (chunk, _) in std::mem::take(&mut path.queue) {
            self.streams.on_lost(&chunk, id);
        }
    }
}
