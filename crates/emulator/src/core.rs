//! The relay without threads, clocks and sockets: `now` is an argument and never decreases.

use crate::EmulatorError;
use crate::capture::Capture;
use crate::device::Device;
use crate::frame::{Frame, Pool};
use crate::offload::{Offload, Run};
use crate::pcapng::End;
use crate::samples::{Sample, Sampler};
use crate::statistics::{Counts, LatenessHistogram, Statistics};
use link::{CapacityConfig, DelayConfig, Direction, Link, LinkError, LossConfig, QueueConfig};
use serde::{Deserialize, Serialize};
use std::io;
use units::{Duration, Instant};

/// With offload, the time within which packets that follow each other closely are moved together.
const WINDOW: Duration = Duration::from_micros(100);

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
    offload: Offload,
    pool: Pool,
    read: Box<[u8]>,
    run: Run,
    /// When each frame of the run was due.
    due: Vec<Instant>,
    sampler: Sampler,
    lateness: LatenessHistogram,
    counts: Counts,
    capture: Option<Capture>,
}

impl<D: Device> Core<D> {
    /// `names` of the paths; two `links` and two `devices` for each, all with the same offload.
    pub(crate) fn new(
        names: Vec<String>,
        links: Vec<Link<Frame>>,
        devices: Vec<D>,
        offload: Offload,
        sampler: Sampler,
        capture: Option<Capture>,
    ) -> Self {
        let pool = Pool::default();
        Self {
            names,
            links,
            devices,
            offload,
            read: pool.largest(),
            pool,
            run: Run::default(),
            due: Vec::new(),
            sampler,
            lateness: LatenessHistogram::new(),
            counts: Counts::default(),
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

    /// Takes one packet from a device onto its link, split into frames: how many; 0 if none waits.
    ///
    /// # Errors
    /// [`EmulatorError::Device`] when the device is gone.
    pub(crate) fn receive(&mut self, now: Instant, device: usize) -> Result<usize, EmulatorError> {
        let link = device ^ 1;
        let read = self.devices[device].receive(&mut self.read);
        let Some(length) = read.map_err(|error| self.gone(link, device, "read", error))? else {
            return Ok(0);
        };
        self.take_samples(now);
        let packet = self.pool.packet(&mut self.read, length, self.offload);
        self.counts.odd_headers += u64::from(packet.is_odd());
        let mut frames = 0;
        for frame in packet.frames() {
            frames += 1;
            if let Some(capture) = &mut self.capture {
                capture.record(link, End::In, now, &frame);
            }
            // What the link refuses is lost; its counters know why.
            let _refused = self.links[link].push(now, frame);
        }
        self.counts.reads += 1;
        self.counts.frames_read += frames as u64;
        Ok(frames)
    }

    /// Writes the next frame that a link has delivered by `now`, and in one write those that follow it
    /// in its flow: how many.
    ///
    /// # Errors
    /// [`EmulatorError::Device`] when the device is gone.
    pub(crate) fn deliver(&mut self, now: Instant, link: usize) -> Result<usize, EmulatorError> {
        self.take_samples(now);
        let (run, offload) = (&mut self.run, self.offload);
        run.clear();
        self.due.clear();
        while let Some((due, frame)) =
            self.links[link].pop_timed_if(now, |frame| run.admits(frame, offload))
        {
            run.push(frame);
            self.due.push(due);
        }
        let frames = self.due.len();
        let sent = run.write(offload, |parts| self.devices[link].send(parts));
        let Some(sent) = sent else { return Ok(0) };
        if sent.map_err(|error| self.gone(link, link, "written", error))? {
            self.counts.writes += 1;
            self.counts.frames_written += frames as u64;
            self.due.iter().for_each(|due| self.lateness.record(now.since(*due)));
            if let Some(capture) = &mut self.capture {
                self.run
                    .frames()
                    .iter()
                    .for_each(|frame| capture.record(link, End::Out, now, frame));
            }
        } else {
            self.counts.device_drops += frames as u64;
        }
        self.run.clear();
        Ok(frames)
    }

    /// When something is to be done: never later than in truth.
    pub(crate) fn next_at(&self) -> Instant {
        let deliveries = self.links.iter().filter_map(Link::next_at);
        deliveries.fold(self.sampler.next_at(), Instant::min)
    }

    /// How long a packet may wait so that its neighbours are moved with it.
    pub(crate) fn window(&self) -> Duration {
        if self.offload.has_header() { WINDOW } else { Duration::ZERO }
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
            offload: self.offload,
            counts: self.counts,
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
