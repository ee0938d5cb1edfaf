use super::WireError;
use std::fmt;

/// Longest connection ID of QUIC version 1 (RFC 9000 §17.2).
pub const MAX_CID_LEN: usize = 20;

/// A connection ID: up to 20 bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId {
    len: u8,
    bytes: [u8; MAX_CID_LEN],
}

impl ConnectionId {
    /// From its bytes; an error beyond 20.
    pub fn new(from: &[u8]) -> Result<Self, WireError> {
        if from.len() > MAX_CID_LEN {
            return Err(WireError::Value("connection ID length"));
        }
        let mut bytes = [0; MAX_CID_LEN];
        bytes[..from.len()].copy_from_slice(from);
        Ok(Self { len: from.len() as u8, bytes })
    }

    /// Its bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl fmt::Debug for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Proves that who resets a connection without its state once had it (RFC 9000 §10.3).
#[derive(Clone, Copy)]
pub struct ResetToken(pub [u8; 16]);

impl PartialEq for ResetToken {
    /// In constant time: RFC 9000 §10.3.1.
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
    }
}

impl Eq for ResetToken {}

impl fmt::Debug for ResetToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResetToken")
    }
}
