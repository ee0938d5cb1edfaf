use crate::wire::WireError;

/// Error codes of the transport (RFC 9000 §20.1, draft-ietf-quic-multipath-21 §4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "names of RFC 9000 §20.1")]
#[repr(u64)]
pub enum Code {
    NoError = 0x00,
    InternalError = 0x01,
    ConnectionRefused = 0x02,
    FlowControl = 0x03,
    StreamLimit = 0x04,
    StreamState = 0x05,
    FinalSize = 0x06,
    FrameEncoding = 0x07,
    TransportParameter = 0x08,
    ConnectionIdLimit = 0x09,
    ProtocolViolation = 0x0a,
    CryptoBufferExceeded = 0x0d,
    KeyUpdate = 0x0e,
    AeadLimitReached = 0x0f,
    NoViablePath = 0x10,
    /// CRYPTO_ERROR: 0x0100 and the TLS alert.
    Crypto = 0x0100,
}

/// What the peer did wrong, or what failed here: the connection closes with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code:?} ({value:#x}): {reason}")]
pub struct TransportError {
    /// Which kind of error.
    pub code: Code,
    /// The code on the wire.
    pub value: u64,
    /// What happened.
    pub reason: &'static str,
}

impl TransportError {
    pub(crate) fn new(code: Code, reason: &'static str) -> Self {
        Self { code, value: code as u64, reason }
    }

    /// The peer broke a rule that has no code of its own (RFC 9000 §20.1).
    pub(crate) fn violation(reason: &'static str) -> Self {
        Self::new(Code::ProtocolViolation, reason)
    }

    pub(crate) fn tls(alert: u8) -> Self {
        let value = Code::Crypto as u64 + u64::from(alert); // RFC 9001 §4.8
        Self { code: Code::Crypto, value, reason: "the TLS handshake failed" }
    }
}

impl From<WireError> for TransportError {
    fn from(error: WireError) -> Self {
        let reason = match error {
            WireError::PathId => {
                // draft-ietf-quic-multipath-21 §4: beyond any limit that was announced
                return Self::new(Code::ProtocolViolation, "path ID beyond 2^32 - 1");
            }
            WireError::Short(what) | WireError::Value(what) => what,
            WireError::UnknownFrame(_) => "unknown frame type",
            WireError::Version(_) => "version",
        };
        Self::new(Code::FrameEncoding, reason)
    }
}

/// Why a call of the application did not work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// rustls refused its configuration.
    #[error(
        "TLS cannot start: {0}; check versions, cipher suites and names in the rustls configuration"
    )]
    Tls(String),
    /// No such stream, or not in that direction.
    #[error("stream {0} is not open in this direction")]
    NoStream(u64),
    /// The peer allows no further stream yet.
    #[error("the peer allows no more streams yet; wait for Event::StreamsAvailable")]
    StreamLimit,
    /// The stream was finished or reset before.
    #[error("stream {0} takes no more data: it is finished or reset")]
    Finished(u64),
    /// Larger than the peer, or a packet, takes.
    #[error("a datagram of {bytes} bytes is longer than the {limit} that can be sent")]
    DatagramSize {
        /// What was to be sent.
        bytes: usize,
        /// What can be.
        limit: usize,
    },
    /// The peer speaks no multipath extension.
    #[error("the peer did not negotiate multipath; this connection has one path")]
    NoMultipath,
    /// The peer takes packets from no other address of ours (`disable_active_migration`).
    #[error("the peer refuses further paths (disable_active_migration); this connection has one")]
    NoMigration,
    /// Only clients open paths (draft-ietf-quic-multipath-21 §3.1).
    #[error("only the client adds paths")]
    NotClient,
    /// The peer's limit of path IDs, or of connection IDs for one, is reached.
    #[error("no path ID with connection IDs is left; try again after the peer has given more")]
    PathLimit,
    /// There is no such path, or there is one already.
    #[error("path {0} is not in a state for this")]
    Path(u8),
    /// The connection is closing or not established yet.
    #[error("the connection is not open")]
    NotOpen,
}
