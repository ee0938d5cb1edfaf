use serde::Serialize;

/// What became of the packets so far: `offered` = `delivered` + all the dropped ones + those that
/// the link still holds ([`crate::Link::queued_packets`] + [`crate::Link::flying_packets`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets given to [`crate::Link::push`], accepted or not.
    pub offered_packets: u64,
    /// Packets handed out by [`crate::Link::pop`].
    pub delivered_packets: u64,
    /// Their bytes on the wire.
    pub delivered_bytes: u64,
    /// Refused by a full queue.
    pub dropped_queue_packets: u64,
    /// Dropped from the queue by active queue management.
    pub dropped_aqm_packets: u64,
    /// Lost at random, after they used capacity.
    pub dropped_loss_packets: u64,
    /// Lost to outages, on arrival or while the link held them.
    pub dropped_outage_packets: u64,
}

impl Counters {
    /// Packets lost for any reason.
    pub fn dropped_packets(&self) -> u64 {
        self.dropped_queue_packets
            + self.dropped_aqm_packets
            + self.dropped_loss_packets
            + self.dropped_outage_packets
    }
}

/// Sums of one link over a run, as a record keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names say it; python/skyweave/model/totals.py lists them")]
pub struct LinkTotals {
    pub in_packets: u64,
    pub delivered_packets: u64,
    pub delivered_bytes: u64,
    pub dropped_queue: u64,
    pub dropped_aqm: u64,
    pub dropped_loss: u64,
    pub dropped_outage: u64,
}

impl From<Counters> for LinkTotals {
    fn from(counters: Counters) -> Self {
        Self {
            in_packets: counters.offered_packets,
            delivered_packets: counters.delivered_packets,
            delivered_bytes: counters.delivered_bytes,
            dropped_queue: counters.dropped_queue_packets,
            dropped_aqm: counters.dropped_aqm_packets,
            dropped_loss: counters.dropped_loss_packets,
            dropped_outage: counters.dropped_outage_packets,
        }
    }
}
