//! Segments that follow each other, back into one super-packet.

use super::segment::{ALONE, CWR, FIN, PSH};
use super::{Header, Layout, Offload, Protocol};
use crate::frame::Frame;
use std::io::IoSlice;

/// Segments in a run: all kernels take as many of UDP.
const MOST_SEGMENTS: usize = 64;
/// Lengths of IP are 16 bits.
const MOST_BYTES: usize = 65_535;

/// Frames that are written as one packet: those of a flow that the kernel would make of it again.
#[derive(Debug, Default)]
pub(crate) struct Run {
    frames: Vec<Frame>,
    payload: usize,
    head: Vec<u8>,
}

impl Run {
    pub(crate) fn clear(&mut self) {
        self.frames.clear();
        self.payload = 0;
    }

    pub(crate) fn frames(&self) -> &[Frame] {
        &self.frames
    }

    pub(crate) fn push(&mut self, frame: Frame) {
        self.payload += frame.payload().len();
        self.frames.push(frame);
    }

    /// Whether a frame may be the next of the run, for a device with this offload.
    pub(crate) fn admits(&self, next: &Frame, offload: Offload) -> bool {
        let (Some(first), Some(last)) = (self.frames.first(), self.frames.last()) else {
            return true;
        };
        let Some(layout) = first.layout() else { return false };
        let (segment, added) = (first.payload().len(), next.payload().len());
        let has_room = self.frames.len() < MOST_SEGMENTS
            && layout.payload + self.payload + added <= MOST_BYTES
            && last.payload().len() == segment
            && (1..=segment).contains(&added);
        has_room
            && offload.takes(layout.protocol)
            && may_merge(first, layout)
            && follows(last, next, layout)
    }

    /// Hands what is to be written to `write`: behind its header, if the device has that.
    pub(crate) fn write<T>(
        &mut self,
        offload: Offload,
        write: impl FnOnce(&[IoSlice<'_>]) -> T,
    ) -> Option<T> {
        let (first, last) = (self.frames.first()?, self.frames.last()?);
        let Some(layout) = first.layout().filter(|_| !(self.frames.len() == 1 && first.is_whole()))
        else {
            let header = first.header().bytes();
            let parts = [IoSlice::new(&header), IoSlice::new(first.packet())];
            return Some(write(&parts[usize::from(!offload.has_header())..]));
        };
        self.head.clear();
        self.head.extend_from_slice(&header(first, layout, self.frames.len()).bytes());
        first.write_headers(layout, last, self.payload, &mut self.head);
        let mut parts = [IoSlice::new(&[]); 1 + MOST_SEGMENTS];
        parts[0] = IoSlice::new(&self.head);
        let mut count = 1;
        for run in self.frames.chunk_by(Frame::is_before) {
            parts[count] = IoSlice::new(run[0].payload_to(&run[run.len() - 1]));
            count += 1;
        }
        Some(write(&parts[..count]))
    }
}

/// The header for a run of frames.
fn header(first: &Frame, layout: Layout, frames: usize) -> Header {
    let gso_type = match (layout.protocol, layout.is_v4) {
        _ if frames == 1 => Header::GSO_NONE,
        (Protocol::Udp, _) => Header::GSO_UDP_L4,
        (Protocol::Tcp, is_v4) => {
            let ecn = first.tcp_flags(layout) & CWR != 0;
            let version = if is_v4 { Header::GSO_TCPV4 } else { Header::GSO_TCPV6 };
            version | if ecn { Header::GSO_ECN } else { 0 }
        }
    };
    Header {
        flags: Header::NEEDS_CSUM,
        gso_type,
        header_bytes: layout.payload as u16,
        gso_size: if frames == 1 { 0 } else { first.payload().len() as u16 },
        csum_start: layout.transport as u16,
        csum_offset: layout.csum_offset() as u16,
    }
}

fn may_merge(frame: &Frame, layout: Layout) -> bool {
    layout.protocol == Protocol::Udp || frame.tcp_flags(layout) & ALONE == 0
}

/// Whether `next` is what the kernel would make of a super-packet after `last`.
fn follows(last: &Frame, next: &Frame, layout: Layout) -> bool {
    if last.is_before(next) {
        return true;
    }
    if next.layout() != Some(layout) || !has_same_headers(last.headers(), next.headers(), layout) {
        return false;
    }
    if layout.is_v4 && next.ip_id() != last.ip_id().wrapping_add(1) {
        return false;
    }
    if layout.protocol == Protocol::Udp {
        return true;
    }
    let (before, after) = (last.tcp_flags(layout), next.tcp_flags(layout));
    let end = last.sequence(layout).wrapping_add(last.payload().len() as u32);
    before & (FIN | PSH) == 0
        && after & !(FIN | PSH) == before & !CWR
        && next.sequence(layout) == end
}

/// Whether two headers differ only in what differs between segments of a super-packet.
fn has_same_headers(one: &[u8], other: &[u8], layout: Layout) -> bool {
    let same = |from: usize, to: usize| one[from..to] == other[from..to];
    let t = layout.transport;
    let ip = if layout.is_v4 {
        same(0, 2) && same(6, 10) && same(12, t) // but length, identification and checksum
    } else {
        same(0, 4) && same(6, t) // but length
    };
    ip && match layout.protocol {
        // But sequence, flags and checksum.
        Protocol::Tcp => {
            same(t, t + 4)
                && same(t + 8, t + 13)
                && same(t + 14, t + 16)
                && same(t + 18, layout.payload)
        }
        Protocol::Udp => same(t, t + 4),
    }
}
