//! Packets that did not decrypt (RFC 9001 §6.6).

use crate::error::{Code, TransportError};

/// How many came, over all keys of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Forgeries(pub u64);

impl Forgeries {
    /// One more came; `limit`: how many the AEAD of its key withstands.
    pub fn count(&mut self, limit: u64) -> Result<(), TransportError> {
        self.0 += 1;
        if self.0 > limit {
            return Err(TransportError::new(Code::AeadLimitReached, "too many forged packets"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgeries_are_counted_up_to_their_limit() {
        let mut forgeries = Forgeries::default();
        assert!(forgeries.count(2).is_ok() && forgeries.count(2).is_ok());
        assert_eq!(forgeries.count(2).unwrap_err().code, Code::AeadLimitReached);
    }
}
