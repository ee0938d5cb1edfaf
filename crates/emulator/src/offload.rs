//! Segmentation offload: one read brings many segments of a flow, one write takes many.
//!
//! A device with `IFF_VNET_HDR` gives super-packets as the sender's stack made them, each behind a
//! header of virtio-net, and takes them. Links never see those: a super-packet is split where it
//! enters ([`crate::frame::Packet::frames`]), each segment meets its own verdict, and neighbours of a
//! flow that are due together are written as one ([`Run`]). What a run holds, the kernel would split
//! into the very same segments: runs that it could not are not made.

mod checksum;
mod header;
mod layout;
mod merge;
mod segment;

pub(crate) use checksum::complete;
pub(crate) use header::Header;
pub(crate) use layout::{Layout, Protocol};
pub(crate) use merge::Run;
pub(crate) use segment::segment_bytes;

use serde::{Deserialize, Serialize};

/// What the devices of a relay give and take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offload {
    /// IP packets (`IFF_TUN | IFF_NO_PI`).
    #[default]
    None,
    /// Also `IFF_VNET_HDR`, with `TUN_F_CSUM`, `TUN_F_TSO4`, `TUN_F_TSO6` and `TUN_F_TSO_ECN`.
    Tcp,
    /// Also `TUN_F_USO4` and `TUN_F_USO6` (Linux 6.2).
    TcpUdp,
}

impl Offload {
    /// Whether packets come and go behind a [`Header`].
    pub(crate) fn has_header(self) -> bool {
        self != Self::None
    }

    /// Whether a device takes super-packets of a protocol.
    pub(crate) fn takes(self, protocol: Protocol) -> bool {
        match protocol {
            Protocol::Tcp => self.has_header(),
            Protocol::Udp => self == Self::TcpUdp,
        }
    }
}
