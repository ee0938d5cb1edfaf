/// An encryption level with CRYPTO data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Initial,
    Handshake,
    OneRtt,
}

impl Level {
    /// Those whose packets have long headers.
    pub const LONG: [Self; 2] = [Self::Initial, Self::Handshake];
}
