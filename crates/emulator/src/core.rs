//! The relay without threads, clocks and sockets: `now` is an argument and never decreases.

use crate::EmulatorError;
use crate::capture::Capture;
use crate::device::Device;
use crate::frame::{Frame, Pool};
use crate::pcapng::End;
use crate::samples::{Sample, Sampler};
use crate::statistics::{LatenessHistogram, Statistics};
use link::{CapacityConfig, DelayConfig, Direction, Link, LinkError, LossConfig, QueueConfig};
use serde::{Deserialize, Serialize};
use std::io;
use units::Instant;

/// The largest IP packet.
const MAX_FRAME_BYTES: usize = 1 << 16;

/// What changes about a link that is in use; times in a series count from the epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// What it can carry.
    Capacity(CapacityConfig),
    /// One-way propagation delay.
    Delay(DelayConfig),
    /// Random loss.
    Loss(LossConfig),
    /// Where packets wait.
    Queue(QueueConfig),
}

/// Links between devices. Link i (numbered as by [`link::build_paths`]) takes what device i ^ 1 gives
/// and writes to device i: the client's of a path is even, the server's odd.
#[derive(Debug)]
pub(crate) struct Core<D> {
    names: Vec<String>,
    links: Vec<Link<Frame>>,
    devices: Vec<D>,
    pool: Pool,
    scratch: Box<[u8]>,
    sampler: Sampler,
    lateness: LatenessHistogram,
    device_drops: u64,
    capture: Option<Capture>,
}

impl<D: Device> Core<D> {
    /// `names` of the paths; two `links` and two `devices` for each.
    pub(crate) fn new(
        names: Vec<String>,
        links: Vec<Link<Frame>>,
        devices: Vec<D>,
        sampler: Sampler,
        capture: Option<Capture>,
    ) -> Self {
        Self {
            names,
            links,
            devices,
            pool: Pool::default(),
            scratch: vec![0; MAX_FRAME_BYTES].into_boxed_slice(),
            sampler,
            lateness: LatenessHistogram::new(),
            device_drops: 0,
            capture,
        }
    }

    pub(crate) fn devices(&self) -> &[D] {
        &self.devices
    }

    #[cfg(test)]
    pub(crate) fn devices_mut(&mut self) -> &mut [D] {
        &mut self.devices
    }

    /// The relay begins at `now`, which may be long after the epoch.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.sampler.begin(now);
    }

    /// Takes one frame from a device onto its link: whether there was one.
    ///
    /// # Errors
    /// [`EmulatorError::Device`] when the device is gone.
    pub(crate) fn receive(&mut self, now: Instant, device: usize) -> Result<bool, EmulatorError> {
        let link = device ^ 1;
        let read = self.devices[device].receive(&mut self.scratch);
        let Some(length) = read.map_err(|error| self.gone(link, device, "read", error))? else {
            return Ok(false);
        };
        self.take_samples(now);
        let bytes = &self.scratch[..length];
        if let Some(capture) = &mut self.capture {
            capture.record(link, End::In, now, bytes);
        }
        // What the link refuses is lost; its counters know why.
        let _refused = self.links[link].push(now, self.pool.frame(bytes));
        Ok(true)
    }

    /// Writes the next frame that a link has delivered by `now`: whether there was one.
    ///
    /// # Errors
    /// [`EmulatorError::Device`] when the device is gone.
    pub(crate) fn deliver(&mut self, now: Instant, link: usize) -> Result<bool, EmulatorError> {
        if self.links[link].next_at().is_none_or(|next| next > now) {
            return Ok(false);
        }
        self.take_samples(now);
        let Some((due, frame)) = self.links[link].pop_timed(now) else {
            return Ok(false);
        };
        let sent = self.devices[link].send(&frame);
        if sent.map_err(|error| self.gone(link, link, "written", error))? {
            self.lateness.record(now.since(due));
            if let Some(capture) = &mut self.capture {
                capture.record(link, End::Out, now, &frame);
            }
        } else {
            self.device_drops += 1;
        }
        Ok(true)
    }

    /// When something is due: never later than in truth.
    pub(crate) fn next_at(&self) -> Instant {
        let deliveries = self.links.iter().filter_map(Link::next_at);
        deliveries.fold(self.sampler.next_at(), Instant::min)
    }

    /// Takes the samples that are due by `now`, before any link is called with a later time.
    pub(crate) fn take_samples(&mut self, now: Instant) {
        while self.sampler.next_at() <= now {
            self.sampler.take(&mut self.links);
            if let Some(capture) = &mut self.capture {
                capture.flush();
            }
        }
    }

    /// Changes a link.
    ///
    /// # Errors
    /// [`LinkError`] when the change makes no sense; nothing has changed then.
    pub(crate) fn change(
        &mut self,
        now: Instant,
        link: usize,
        change: &Change,
    ) -> Result<(), LinkError> {
        self.take_samples(now);
        let link = &mut self.links[link];
        match change {
            Change::Capacity(to) => link.set_capacity(now, to),
            Change::Delay(to) => link.set_delay(now, to),
            Change::Loss(to) => link.set_loss(now, to),
            Change::Queue(to) => link.set_queue(now, to),
        }
    }

    /// Closes both links of a path.
    pub(crate) fn close(&mut self, now: Instant, path: usize) {
        self.take_samples(now);
        self.links[2 * path..2 * path + 2].iter_mut().for_each(|link| link.close(now));
    }

    /// Opens both links of a path.
    pub(crate) fn open(&mut self, now: Instant, path: usize) {
        self.take_samples(now);
        self.links[2 * path..2 * path + 2].iter_mut().for_each(|link| link.open(now));
    }

    /// What has been done so far; `cpu_s` is for the caller to fill in.
    pub(crate) fn statistics(&self) -> Statistics {
        let names = link::link_names(&self.names).into_iter();
        let totals = self.links.iter().map(|link| link.counters().into());
        Statistics {
            links: names.zip(totals).collect(),
            lateness_us: self.lateness.summary(),
            cpu_s: 0.0,
            device_drops: self.device_drops,
            capture_error: self.capture.as_ref().and_then(Capture::fault).map(str::to_owned),
        }
    }

    pub(crate) fn samples(&self) -> &[Sample] {
        self.sampler.rows()
    }

    /// Ends: the capture is written, the devices are let go. What has been done, and the samples.
    pub(crate) fn finish(mut self) -> (Statistics, Vec<Sample>) {
        let mut statistics = self.statistics();
        statistics.capture_error = self.capture.take().and_then(Capture::finish);
        (statistics, self.sampler.into_rows())
    }

    fn gone(
        &self,
        link: usize,
        device: usize,
        action: &'static str,
        source: io::Error,
    ) -> EmulatorError {
        EmulatorError::Device {
            path: self.names[link / 2].clone(),
            direction: Direction::of_link(link).name(),
            side: side(device),
            action,
            source,
        }
    }
}

/// Whose a device is.
pub(crate) fn side(device: usize) -> &'static str {
    if device.is_multiple_of(2) { "client" } else { "server" }
}
