use congestion::{Choice, Config as ControllerConfig};
use serde::{Deserialize, Serialize};

/// Which side of the connection an endpoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Opens the connection and every subflow.
    Client,
    /// Answers.
    Server,
}

/// Whose rules the connection follows (docs/model.md §2.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Mode {
    /// Plain TCP: one path, no data sequence numbers on the wire.
    #[serde(rename = "tcp")]
    Tcp,
    /// multipath-tcp.org v0.96: a decision per segment, reinjection on timeouts, penalisation.
    #[serde(rename = "v0.96")]
    V096,
    /// Linux upstream: bursts, send memory, stale subflows.
    #[serde(rename = "upstream")]
    Upstream,
}

/// IPv4 and TCP headers, and the timestamp option (RFC 7323) with its padding.
const TCP_HEADERS: u64 = 20 + 20 + 12;
const MTU: u64 = 1500;

impl Mode {
    /// Header bytes of a segment with payload: DSS of 20 bytes with 32-bit numbers in v0.96; of 24
    /// upstream, where the DSN has 64 bits and the DATA_ACK 32, as an end acknowledges that was sent
    /// no 64-bit DSN (docs/model.md §0.3).
    pub const fn data_header_bytes(self) -> u64 {
        match self {
            Self::Tcp => TCP_HEADERS,
            Self::V096 => TCP_HEADERS + 20,
            Self::Upstream => TCP_HEADERS + 24,
        }
    }

    /// Header bytes of a pure acknowledgement: the DSS carries the DATA_ACK alone (RFC 8684 §3.3).
    pub const fn ack_header_bytes(self) -> u64 {
        match self {
            Self::Tcp => TCP_HEADERS,
            Self::V096 => TCP_HEADERS + 8,
            Self::Upstream => TCP_HEADERS + 12,
        }
    }

    /// SACK blocks that fit beside the other options into 40 bytes (RFC 2018 §3).
    pub const fn sack_blocks(self) -> usize {
        match self {
            Self::Tcp => 3,
            Self::V096 => 2,
            Self::Upstream => 1,
        }
    }

    /// Payload of a full segment: 1,448, 1,428 or 1,424 bytes.
    pub const fn mss_bytes(self) -> u64 {
        MTU - self.data_header_bytes()
    }

    /// Bytes for which a full segment counts to its congestion control. Linux counts packets and turns
    /// them into bytes by `mss_cache`; upstream, that leaves no room for the DSS, which
    /// `tcp_current_mss` subtracts only when a segment is cut.
    pub const fn counted_bytes(self) -> u64 {
        match self {
            Self::Tcp | Self::V096 => self.mss_bytes(),
            Self::Upstream => MTU - TCP_HEADERS,
        }
    }
}

/// Everything that decides how an endpoint behaves, apart from its scheduler.
#[derive(Clone, Debug)]
pub struct EndpointConfig {
    /// Client or server.
    pub role: Role,
    /// Whose rules.
    pub mode: Mode,
    /// Congestion control of each subflow.
    pub congestion: Choice,
    /// What each controller is built from; the path's number is added to the seed.
    pub controller: ControllerConfig,
    /// Payload that may wait, unsent or without DATA_ACK, at the sender.
    pub send_buffer_bytes: u64,
    /// Payload that the receiver promises to hold (window-equivalent).
    pub receive_buffer_bytes: u64,
    /// Both buffers begin small and grow up to those sizes as Linux tunes them: the receive buffer
    /// with what is read per round trip, the send buffer with the windows of the subflows.
    pub autotune: bool,
    /// Backup flag of each path.
    pub backup: Vec<bool>,
}
