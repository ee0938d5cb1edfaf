//! The core is driven with devices that are queues; the thread with pairs of sockets.

use crate::Offload;
use crate::core::Core;
use crate::device::Device;
use crate::samples::Sampler;
use link::{LinkConfig, PathConfig, build_paths};
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use units::{Duration, Instant};

mod captures;
mod core;
mod moderation;
mod offload;
mod relay;
mod verdicts;

const CLIENT: usize = 0;
const SERVER: usize = 1;
const DOWN: usize = 0;
const UP: usize = 1;

/// What a fake device does with a frame that is written to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mood {
    #[default]
    Takes,
    Refuses,
    Gone,
}

/// A device that is two queues.
#[derive(Debug, Default)]
struct Fake {
    to_read: VecDeque<Vec<u8>>,
    written: Vec<Vec<u8>>,
    mood: Mood,
}

impl Device for Fake {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        if self.mood == Mood::Gone {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(self.to_read.pop_front().map(|frame| {
            buffer[..frame.len()].copy_from_slice(&frame);
            frame.len()
        }))
    }

    fn send(&mut self, parts: &[IoSlice<'_>]) -> io::Result<bool> {
        let written = parts.iter().flat_map(|part| part.iter().copied()).collect();
        match self.mood {
            Mood::Takes => self.written.push(written),
            Mood::Refuses => return Ok(false),
            Mood::Gone => return Err(io::ErrorKind::NotFound.into()),
        }
        Ok(true)
    }
}

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// A path with the same link both ways.
fn path(name: &str, link: LinkConfig) -> PathConfig {
    PathConfig {
        name: name.to_owned(),
        down: link.clone(),
        up: link,
        backup: false,
        present: vec![link::UpWindow { start_s: 0.0, end_s: None }],
        forecast: link::PathForecast::default(),
        forecast_updates: Vec::new(),
    }
}

fn core_of(paths: &[PathConfig]) -> Core<Fake> {
    core_with(paths, Offload::None)
}

fn core_with(paths: &[PathConfig], offload: Offload) -> Core<Fake> {
    let links = build_paths(paths, 1).expect("the test's description is valid");
    let devices = links.iter().map(|_| Fake::default()).collect();
    let names = paths.iter().map(|path| path.name.clone()).collect();
    let sampler = Sampler::new(Duration::from_millis(100));
    Core::new(names, links, devices, offload, sampler, None)
}

/// A frame arrives at a device and is taken at once.
fn arrive(core: &mut Core<Fake>, now: Instant, device: usize, frame: &[u8]) {
    core.devices_mut()[device].to_read.push_back(frame.to_vec());
    assert!(core.receive(now, device).expect("the device is there") > 0);
}

fn deliver_all(core: &mut Core<Fake>, now: Instant, link: usize) {
    while core.deliver(now, link).expect("the device is there") > 0 {}
}
