use link::WireSize;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

type Buffers = Arc<Mutex<Vec<Vec<u8>>>>;

/// Buffers of frames that are gone, for those to come: in steady state nothing is allocated.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    buffers: Buffers,
}

impl Pool {
    /// A frame with a copy of `bytes`.
    pub(crate) fn frame(&self, bytes: &[u8]) -> Frame {
        let spare = self.buffers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut buffer = spare.unwrap_or_default();
        buffer.extend_from_slice(bytes);
        Frame { bytes: buffer, pool: Arc::clone(&self.buffers) }
    }
}

/// An IP packet on its way; wherever it ends, its buffer goes back to the pool.
pub(crate) struct Frame {
    bytes: Vec<u8>,
    pool: Buffers,
}

impl Deref for Frame {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl WireSize for Frame {
    /// The whole IP packet.
    fn wire_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        let mut buffer = std::mem::take(&mut self.bytes);
        buffer.clear();
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame({} bytes)", self.bytes.len())
    }
}
