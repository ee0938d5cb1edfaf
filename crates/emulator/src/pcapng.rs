//! The blocks of a pcapng file (draft-ietf-opsawg-pcapng) of one path. Its four interfaces are what
//! enters and what leaves each link.

/// The interfaces of a file; the number of one is [`interface`].
const INTERFACES: [&str; 4] = ["down-in", "down-out", "up-in", "up-out"];
const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const BYTE_ORDER_MAGIC: u32 = 0x1A2B_3C4D;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// `LINKTYPE_RAW`: the packet begins with its IP header.
const RAW: u16 = 101;
const OPTION_NAME: u16 = 2;
const OPTION_RESOLUTION: u16 = 9;
/// Time stamps count 10^-9 s.
const NANOSECONDS: u8 = 9;

/// At which end of its link a frame is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    In,
    Out,
}

/// Number of the interface for one end of a link.
pub(crate) fn interface(link: usize, end: End) -> u32 {
    2 * (link % 2) as u32 + u32::from(end == End::Out)
}

/// The section header and the descriptions of the interfaces.
pub(crate) fn header() -> Vec<u8> {
    let mut out = Vec::new();
    block(&mut out, SECTION_HEADER, |out| {
        out.extend(BYTE_ORDER_MAGIC.to_le_bytes());
        out.extend(1_u16.to_le_bytes()); // version 1.0
        out.extend(0_u16.to_le_bytes());
        out.extend(u64::MAX.to_le_bytes()); // length not given
    });
    for name in INTERFACES {
        block(&mut out, INTERFACE_DESCRIPTION, |out| {
            out.extend(RAW.to_le_bytes());
            out.extend(0_u16.to_le_bytes());
            out.extend(0_u32.to_le_bytes()); // frames are never cut
            option(out, OPTION_NAME, name.as_bytes());
            option(out, OPTION_RESOLUTION, &[NANOSECONDS]);
            option(out, 0, &[]);
        });
    }
    out
}

/// An enhanced packet block; `time_ns` since 1970.
pub(crate) fn packet(out: &mut Vec<u8>, interface: u32, time_ns: u64, frame: &[u8]) {
    let length = frame.len() as u32; // a frame is below 64 KiB
    block(out, ENHANCED_PACKET, |out| {
        out.extend_from_slice(&interface.to_le_bytes());
        out.extend_from_slice(&((time_ns >> 32) as u32).to_le_bytes());
        out.extend_from_slice(&(time_ns as u32).to_le_bytes());
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(frame);
        pad(out);
    });
}

/// A block with its length before and after its body.
fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    body(out);
    let length = (out.len() - start + 4) as u32;
    out.extend_from_slice(&length.to_le_bytes());
    out[start + 4..start + 8].copy_from_slice(&length.to_le_bytes());
}

fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    out.extend(code.to_le_bytes());
    out.extend((value.len() as u16).to_le_bytes());
    out.extend(value);
    pad(out);
}

/// Everything begins at a multiple of four bytes.
fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(4), 0);
}
