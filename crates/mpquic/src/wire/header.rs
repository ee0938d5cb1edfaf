use super::{ConnectionId, MAX_CID_LEN, Reader, WireError, put_varint};

/// QUIC version 1 (RFC 9000 §15).
pub const VERSION_1: u32 = 1;
/// Datagrams with Initial packets have at least this many bytes (RFC 9000 §14.1).
pub const MIN_INITIAL_BYTES: usize = 1200;

const LONG: u8 = 0x80; // RFC 9000 §17.2, Header Form
const FIXED: u8 = 0x40; // RFC 9000 §17.2, Fixed Bit
/// Key phase of a 1-RTT packet (RFC 9000 §17.3.1).
pub(crate) const KEY_PHASE_BIT: u8 = 0x04;
const KEY_PHASE: u8 = KEY_PHASE_BIT;

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The first flight, with a token for the server.
    Initial,
    /// Early data: not spoken here.
    ZeroRtt,
    /// Second half of the handshake.
    Handshake,
    /// The server wants an address proven first.
    Retry,
    /// The server does not speak the version.
    VersionNegotiation,
    /// Short header: 1-RTT.
    Short,
}

/// A packet's header as far as it is readable without keys; offsets count from the packet's start.
#[derive(Clone, Debug)]
pub struct Header {
    /// What it is.
    pub kind: Kind,
    /// Where it goes.
    pub dcid: ConnectionId,
    /// Where it comes from; empty in short headers.
    pub scid: ConnectionId,
    /// The token of an Initial or Retry.
    pub token: Vec<u8>,
    /// Where the protected packet number begins.
    pub number_at: usize,
    /// Bytes of this packet; what follows in the datagram is the next one.
    pub len: usize,
}

/// Reads the header of the first packet in `bytes`. Short headers have a destination ID of
/// `cid_len` bytes.
pub fn parse(bytes: &[u8], cid_len: usize) -> Result<Header, WireError> {
    let mut reader = Reader::new(bytes);
    let first = reader.u8("first byte")?;
    if first & LONG != 0 {
        return parse_long(bytes, first, reader);
    }
    if first & FIXED == 0 {
        return Err(WireError::Value("fixed bit")); // RFC 9000 §17.3.1
    }
    let dcid = ConnectionId::new(reader.bytes(cid_len, "destination connection ID")?)?;
    let number_at = bytes.len() - reader.left();
    Ok(Header {
        kind: Kind::Short,
        dcid,
        scid: ConnectionId::default(),
        token: Vec::new(),
        number_at,
        len: bytes.len(),
    })
}

fn parse_long(bytes: &[u8], first: u8, mut reader: Reader<'_>) -> Result<Header, WireError> {
    let version = reader.u32("version")?;
    let dcid = read_cid(&mut reader, version)?;
    let scid = read_cid(&mut reader, version)?;
    let mut header = Header {
        kind: Kind::VersionNegotiation,
        dcid,
        scid,
        token: Vec::new(),
        number_at: bytes.len(),
        len: bytes.len(),
    };
    if version == 0 {
        header.token = reader.rest().to_vec(); // the versions that the server speaks
        return Ok(header);
    }
    if version != VERSION_1 {
        return Err(WireError::Version(version));
    }
    if first & FIXED == 0 {
        return Err(WireError::Value("fixed bit")); // RFC 9000 §17.2
    }
    header.kind = match first >> 4 & 3 {
        0 => Kind::Initial, // RFC 9000 §17.2, Table 5
        1 => Kind::ZeroRtt,
        2 => Kind::Handshake,
        _ => Kind::Retry,
    };
    match header.kind {
        Kind::Retry => {
            header.token = reader.rest().to_vec();
            return Ok(header);
        }
        Kind::Initial => header.token = reader.prefixed("token")?.to_vec(),
        _ => {}
    }
    let payload = reader.prefixed("packet")?;
    header.len = bytes.len() - reader.left();
    header.number_at = header.len - payload.len();
    Ok(header)
}

/// A connection ID with its length. Those of other versions may be longer: they are cut, only the
/// version matters then.
fn read_cid(reader: &mut Reader<'_>, version: u32) -> Result<ConnectionId, WireError> {
    let len = usize::from(reader.u8("connection ID length")?);
    let bytes = reader.bytes(len, "connection ID")?;
    if version == VERSION_1 || version == 0 {
        return ConnectionId::new(bytes);
    }
    ConnectionId::new(&bytes[..len.min(MAX_CID_LEN)])
}

fn put_cid(out: &mut Vec<u8>, cid: &ConnectionId) {
    out.push(cid.as_slice().len() as u8);
    out.extend(cid.as_slice());
}

/// Begins an Initial (with `token`) or Handshake packet; the two bytes before the packet number
/// are its length, filled in when the packet is sealed (RFC 9000 §17.2).
pub fn begin_long(
    out: &mut Vec<u8>,
    kind: Kind,
    (dcid, scid): (&ConnectionId, &ConnectionId),
    token: &[u8],
    number_len: usize,
) {
    let type_bits = if kind == Kind::Initial { 0 } else { 2 << 4 };
    out.push(LONG | FIXED | type_bits | (number_len as u8 - 1));
    out.extend(VERSION_1.to_be_bytes());
    put_cid(out, dcid);
    put_cid(out, scid);
    if kind == Kind::Initial {
        put_varint(out, token.len() as u64);
        out.extend(token);
    }
    out.extend([0x40, 0]);
}

/// Begins a Retry packet; its token and tag follow (RFC 9000 §17.2.5). `unused` are random bits.
pub fn begin_retry(out: &mut Vec<u8>, (dcid, scid): (&ConnectionId, &ConnectionId), unused: u8) {
    out.push(LONG | FIXED | 3 << 4 | unused & 0x0f);
    out.extend(VERSION_1.to_be_bytes());
    put_cid(out, dcid);
    put_cid(out, scid);
}

/// Begins a 1-RTT packet (RFC 9000 §17.3.1).
pub fn begin_short(out: &mut Vec<u8>, dcid: &ConnectionId, key_phase: bool, number_len: usize) {
    let phase = if key_phase { KEY_PHASE } else { 0 };
    out.push(FIXED | phase | (number_len as u8 - 1));
    out.extend(dcid.as_slice());
}

/// The answer to a long header of a version that is not spoken, or `None` when `datagram` is not
/// one (RFC 9000 §6.1, §17.2.1). `unused` are random bits.
pub fn version_negotiation(datagram: &[u8], unused: u8) -> Option<Vec<u8>> {
    if datagram.len() < MIN_INITIAL_BYTES {
        return None;
    }
    let mut reader = Reader::new(datagram);
    let first = reader.u8("first byte").ok()?;
    let version = reader.u32("version").ok()?;
    if first & LONG == 0 || version == 0 || version == VERSION_1 {
        return None;
    }
    let mut cid = || {
        let len = usize::from(reader.u8("length").ok()?);
        reader.bytes(len, "connection ID").ok()
    };
    let (dcid, scid) = (cid()?, cid()?);
    let mut out = vec![LONG | FIXED | unused & 0x3f];
    out.extend(0_u32.to_be_bytes());
    for cid in [scid, dcid] {
        out.push(cid.len() as u8);
        out.extend(cid);
    }
    out.extend(VERSION_1.to_be_bytes());
    Some(out)
}
