/// Counts of a whole connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets that could not be decrypted or read.
    pub dropped_packets: u64,
    /// Packets that came twice.
    pub duplicate_packets: u64,
    /// Times that the scheduler held data back although some path had room.
    pub waits: u64,
    /// Times that a path had room and the peer's flow control stopped the data to send.
    pub window_stalls: u64,
    /// Receiver: stream bytes that came with no hole before them, all streams together.
    pub in_order_bytes: u64,
    /// Receiver: stream bytes that had come before.
    pub duplicate_bytes: u64,
    /// Receiver: stream bytes that wait for a hole now, and the most there ever were.
    pub reorder_bytes: u64,
    /// The most of these that there ever were.
    pub reorder_max_bytes: u64,
    /// Frames of the peer about paths and connection IDs that changed nothing.
    pub idle_frames: u64,
    /// Key updates, ours and the peer's.
    pub key_updates: u64,
}
