use super::{ConnectionId, ResetToken};
use std::ops::RangeInclusive;

/// Datagrams received with each ECN mark (RFC 9000 §19.3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounts {
    /// Marked ECT(0).
    pub ect0: u64,
    /// Marked ECT(1).
    pub ect1: u64,
    /// Marked CE: congestion experienced.
    pub ce: u64,
}

/// Which packets of a space were received (RFC 9000 §19.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AckFrame {
    /// How long the newest was held back, in units of 2^`ack_delay_exponent` µs.
    pub delay: u64,
    /// Received packet numbers, newest range first; never empty.
    pub ranges: Vec<RangeInclusive<u64>>,
    /// Counts of ECN marks.
    pub ecn: Option<EcnCounts>,
}

/// A further connection ID of the sender (RFC 9000 §19.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewCid {
    /// Its sequence number.
    pub sequence: u64,
    /// Those with lower numbers are to be retired.
    pub retire_prior_to: u64,
    /// The ID.
    pub cid: ConnectionId,
    /// What a stateless reset for it ends with.
    pub token: ResetToken,
}

/// A frame. Where RFC 9000 has one frame for bidirectional and unidirectional streams each, `bidi`
/// distinguishes them. Multipath frames are those of draft-ietf-quic-multipath-21.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "fields have the names of RFC 9000 §19 and of the draft")]
pub enum Frame<'a> {
    /// This many bytes of PADDING.
    Padding(usize),
    Ping,
    /// `path` is `None` in an ACK, the path in a PATH_ACK.
    Ack {
        path: Option<u32>,
        ack: AckFrame,
    },
    ResetStream {
        id: u64,
        error_code: u64,
        final_size: u64,
    },
    StopSending {
        id: u64,
        error_code: u64,
    },
    Crypto {
        offset: u64,
        data: &'a [u8],
    },
    NewToken {
        token: &'a [u8],
    },
    Stream {
        id: u64,
        offset: u64,
        data: &'a [u8],
        fin: bool,
    },
    MaxData {
        maximum: u64,
    },
    MaxStreamData {
        id: u64,
        maximum: u64,
    },
    MaxStreams {
        bidi: bool,
        maximum: u64,
    },
    DataBlocked {
        limit: u64,
    },
    StreamDataBlocked {
        id: u64,
        limit: u64,
    },
    StreamsBlocked {
        bidi: bool,
        limit: u64,
    },
    /// `path` is `None` in NEW_CONNECTION_ID, the path in PATH_NEW_CONNECTION_ID.
    NewConnectionId {
        path: Option<u32>,
        new: NewCid,
    },
    RetireConnectionId {
        path: Option<u32>,
        sequence: u64,
    },
    PathChallenge {
        data: [u8; 8],
    },
    PathResponse {
        data: [u8; 8],
    },
    /// `frame_type` is `None` in the application's variant.
    ConnectionClose {
        error_code: u64,
        frame_type: Option<u64>,
        reason: &'a [u8],
    },
    HandshakeDone,
    Datagram {
        data: &'a [u8],
    },
    PathAbandon {
        path: u32,
        error_code: u64,
    },
    PathStatus {
        path: u32,
        sequence: u64,
        backup: bool,
    },
    MaxPathId {
        maximum: u32,
    },
    PathsBlocked {
        maximum: u32,
    },
    PathCidsBlocked {
        path: u32,
        next_sequence: u64,
    },
}

impl Frame<'_> {
    /// Whether the peer has to acknowledge a packet with it (RFC 9000 §13.2, Table 3).
    pub fn is_ack_eliciting(&self) -> bool {
        !matches!(self, Self::Padding(_) | Self::Ack { .. } | Self::ConnectionClose { .. })
    }

    /// Whether it may be in an Initial or Handshake packet (RFC 9000 §12.4, Table 3).
    pub fn is_allowed_in_handshake(&self) -> bool {
        matches!(
            self,
            Self::Padding(_)
                | Self::Ping
                | Self::Ack { path: None, .. }
                | Self::Crypto { .. }
                | Self::ConnectionClose { frame_type: Some(_), .. }
        )
    }

    /// Whether only peers that negotiated multipath may send it.
    pub fn is_multipath(&self) -> bool {
        matches!(
            self,
            Self::Ack { path: Some(_), .. }
                | Self::NewConnectionId { path: Some(_), .. }
                | Self::RetireConnectionId { path: Some(_), .. }
                | Self::PathAbandon { .. }
                | Self::PathStatus { .. }
                | Self::MaxPathId { .. }
                | Self::PathsBlocked { .. }
                | Self::PathCidsBlocked { .. }
        )
    }
}

/// Frame types: RFC 9000 §19, RFC 9221 §4, draft-ietf-quic-multipath-21 §4.
pub(super) mod code {
    pub const PADDING: u64 = 0x00;
    pub const PING: u64 = 0x01;
    pub const ACK: u64 = 0x02;
    pub const ACK_ECN: u64 = 0x03;
    pub const RESET_STREAM: u64 = 0x04;
    pub const STOP_SENDING: u64 = 0x05;
    pub const CRYPTO: u64 = 0x06;
    pub const NEW_TOKEN: u64 = 0x07;
    pub const STREAM: u64 = 0x08; // to 0x0f: OFF 4, LEN 2, FIN 1
    pub const MAX_DATA: u64 = 0x10;
    pub const MAX_STREAM_DATA: u64 = 0x11;
    pub const MAX_STREAMS_BIDI: u64 = 0x12;
    pub const MAX_STREAMS_UNI: u64 = 0x13;
    pub const DATA_BLOCKED: u64 = 0x14;
    pub const STREAM_DATA_BLOCKED: u64 = 0x15;
    pub const STREAMS_BLOCKED_BIDI: u64 = 0x16;
    pub const STREAMS_BLOCKED_UNI: u64 = 0x17;
    pub const NEW_CONNECTION_ID: u64 = 0x18;
    pub const RETIRE_CONNECTION_ID: u64 = 0x19;
    pub const PATH_CHALLENGE: u64 = 0x1a;
    pub const PATH_RESPONSE: u64 = 0x1b;
    pub const CONNECTION_CLOSE: u64 = 0x1c;
    pub const APPLICATION_CLOSE: u64 = 0x1d;
    pub const HANDSHAKE_DONE: u64 = 0x1e;
    pub const DATAGRAM: u64 = 0x30; // RFC 9221 §4
    pub const DATAGRAM_LEN: u64 = 0x31;
    pub const PATH_ACK: u64 = 0x3e;
    pub const PATH_ACK_ECN: u64 = 0x3f;
    pub const PATH_ABANDON: u64 = 0x3e75;
    pub const PATH_STATUS_BACKUP: u64 = 0x3e76;
    pub const PATH_STATUS_AVAILABLE: u64 = 0x3e77;
    pub const PATH_NEW_CONNECTION_ID: u64 = 0x3e78;
    pub const PATH_RETIRE_CONNECTION_ID: u64 = 0x3e79;
    pub const MAX_PATH_ID: u64 = 0x3e7a;
    pub const PATHS_BLOCKED: u64 = 0x3e7b;
    pub const PATH_CIDS_BLOCKED: u64 = 0x3e7c;
}
