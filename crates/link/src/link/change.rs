//! What may change while packets are under way. Nothing that has departed is judged again.

use super::{Link, WireSize};
use crate::config::build;
use crate::{CapacityConfig, DelayConfig, LinkError, LossConfig, QueueConfig};
use units::Instant;

impl<P: WireSize> Link<P> {
    /// The capacity from `now` on; times in a series count from time 0 of the link. The packet in
    /// service keeps the work that it has had. Delivery opportunities up to and including `now` are
    /// the old capacity's.
    ///
    /// # Errors
    /// [`LinkError`] with the first field that breaks a rule; the link is as before then.
    pub fn set_capacity(&mut self, now: Instant, to: &CapacityConfig) -> Result<(), LinkError> {
        let capacity = build::capacity(to)?;
        self.advance(now);
        let departure = self.server.change(now, capacity, self.queue.front().is_some());
        self.plan(departure);
        Ok(())
    }

    /// The delay of what departs from `now` on; times in a series count from time 0 of the link.
    ///
    /// # Errors
    /// As [`Link::set_capacity`].
    pub fn set_delay(&mut self, now: Instant, to: &DelayConfig) -> Result<(), LinkError> {
        let delay = build::delay(to)?;
        self.advance(now);
        self.delay = delay;
        self.plan(self.departure);
        Ok(())
    }

    /// The random loss of what departs from `now` on. The n-th packet to depart meets the n-th
    /// number of the link's stream, whatever held before; Gilbert–Elliott begins in the good state.
    ///
    /// # Errors
    /// As [`Link::set_capacity`].
    pub fn set_loss(&mut self, now: Instant, to: &LossConfig) -> Result<(), LinkError> {
        let model = build::loss(to)?;
        self.advance(now);
        self.loss.change(model);
        self.plan(self.departure);
        Ok(())
    }

    /// The queue from `now` on: what waits stays, even above the new bounds; active queue
    /// management starts afresh.
    ///
    /// # Errors
    /// As [`Link::set_capacity`].
    pub fn set_queue(&mut self, now: Instant, to: &QueueConfig) -> Result<(), LinkError> {
        let queue = build::queue(to)?;
        self.advance(now);
        self.queue.change(queue);
        Ok(())
    }

    /// The link goes down: what waits or flies is lost, and so is what arrives until
    /// [`Link::open`], as in an outage.
    pub fn close(&mut self, now: Instant) {
        self.advance(now);
        self.lose_all(now);
        self.closed = true;
    }

    /// The link is up again, outages of its description aside.
    pub fn open(&mut self, now: Instant) {
        self.advance(now);
        self.closed = false;
    }
}
