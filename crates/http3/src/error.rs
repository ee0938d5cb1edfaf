/// Error codes of HTTP/3 and QPACK (RFC 9114 §8.1, RFC 9204 §8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Code {
    /// Nothing is wrong.
    NoError = 0x100,
    /// A violation without a code of its own.
    GeneralProtocol = 0x101,
    /// A fault of this end.
    Internal = 0x102,
    /// A stream that must not be.
    StreamCreation = 0x103,
    /// A stream ended that both ends need.
    ClosedCriticalStream = 0x104,
    /// A frame that must not be there.
    FrameUnexpected = 0x105,
    /// A frame whose content does not fit its length.
    Frame = 0x106,
    /// The peer wants too much.
    ExcessiveLoad = 0x107,
    /// A stream or push ID that is not allowed.
    Id = 0x108,
    /// Settings that contradict themselves or HTTP/3.
    Settings = 0x109,
    /// A control stream that begins without settings.
    MissingSettings = 0x10a,
    /// A request that was not looked at.
    RequestRejected = 0x10b,
    /// A request that nobody waits for any more.
    RequestCancelled = 0x10c,
    /// A request that ended too early.
    RequestIncomplete = 0x10d,
    /// A message whose form is wrong.
    Message = 0x10e,
    /// A field section that cannot be decoded.
    QpackDecompression = 0x200,
    /// Wrong on the stream of the peer's encoder.
    QpackEncoderStream = 0x201,
    /// Wrong on the stream of the peer's decoder.
    QpackDecoderStream = 0x202,
}

/// What a peer did wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} ({code:?}, {:#x})", *code as u64)]
pub struct Error {
    /// Its code.
    pub code: Code,
    /// What it is.
    pub reason: &'static str,
}

impl Error {
    pub(crate) const fn new(code: Code, reason: &'static str) -> Self {
        Self { code, reason }
    }

    /// Whether the connection ends by it; else its stream alone does (RFC 9114 §8).
    pub fn ends_connection(&self) -> bool {
        !matches!(
            self.code,
            Code::Message
                | Code::RequestIncomplete
                | Code::RequestRejected
                | Code::RequestCancelled
                | Code::ExcessiveLoad
        )
    }
}

pub(crate) type Result<T> = std::result::Result<T, Error>;
