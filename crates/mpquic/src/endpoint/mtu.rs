//! Probes of how long the datagrams of a path may be.

use super::Endpoint;
use crate::path::Path;
use crate::space::SentFrame;
use crate::wire::Frame;
use units::{Instant, PathId};

/// A probe leaves ahead of so much data: its acknowledgements say what became of the probe, and no timer
/// has to.
const AHEAD_BYTES: u64 = 16 << 10;

impl Endpoint {
    /// Longest datagram that leaves on the path over `net`, as far as that is known.
    pub fn path_datagram_bytes(&self, net: PathId) -> Option<usize> {
        Some(self.paths.get(self.paths.id_over(net)?)?.mtu.current())
    }

    /// A full packet, on the path with the longest.
    pub(super) fn packet_bytes(&self) -> u64 {
        let open = self.paths.values().filter(|path| path.is_open());
        let longest = open.map(|path| path.mtu.current()).max();
        longest.unwrap_or(self.config.datagram_bytes) as u64
    }

    /// The probe of a path that has data to send (RFC 9000 §14.4: PING and PADDING).
    pub(super) fn mtu_datagram(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        let searches = self.config.most_datagram_bytes > self.config.datagram_bytes;
        if !searches || !self.handshake.confirmed || self.streams.unsent() < AHEAD_BYTES {
            return None;
        }
        let id = self.paths.values().find(|path| path.can_probe(now))?.id;
        let most = self.handshake.peer.max_udp_payload_size as usize;
        let path = self.paths.get_mut(id)?;
        path.mtu.bound(most);
        let size = path.mtu.probe(now)?;
        let Some(mut draft) = self.begin_one_rtt(Vec::with_capacity(size), id, size) else {
            self.paths.get_mut(id)?.mtu.on_lost(now, size);
            return None;
        };
        draft.put(&Frame::Ping);
        draft.pad_to(size);
        draft.frames.push(SentFrame::MtuProbe(size));
        self.finish_one_rtt(now, draft, id)
    }
}

impl Path {
    /// Longest datagram that leaves now: after a probe timeout, which long ones may be the reason of, one
    /// that passes for certain (RFC 8899 §4.3).
    pub fn datagram_bytes(&self) -> usize {
        if self.pto_count > 0 { self.mtu.base() } else { self.mtu.current() }
    }

    /// A probe of its MTU is due, and there is room for it.
    fn can_probe(&self, now: Instant) -> bool {
        let due = self.mtu.due().is_some_and(|due| due <= now);
        let room = self.in_flight + self.mtu.most() as u64 <= self.cc.window_bytes();
        due && room && self.is_usable() && self.pto_count == 0
    }
}
