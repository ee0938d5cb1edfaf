use crate::capture::Capture;
use crate::clock::{Clock, thread_cpu_s};
use crate::core::{Change, Core, side};
use crate::device::Tun;
use crate::run::{Inbox, Tasks, run, tasks};
use crate::samples::{Sample, Sampler};
use crate::{EmulatorError, Offload, Statistics};
use link::{Direction, PathConfig, build_paths};
use std::any::Any;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use units::{Duration, Instant};

/// What a relay does.
#[derive(Clone, Debug)]
pub struct RelayConfig {
    /// The paths, each between two devices.
    pub paths: Vec<PathConfig>,
    /// Every random stream is derived from this, as in a simulated run.
    pub seed: u64,
    /// Time 0 of the links on `CLOCK_MONOTONIC`, in nanoseconds. Until then time stands at 0.
    pub epoch_ns: u64,
    /// Spacing of the samples, in milliseconds.
    pub sample_interval_ms: u64,
    /// What all devices give and take.
    pub offload: Offload,
    /// A folder for captures, `NAME.pcapng` of each path; none if absent.
    pub capture: Option<PathBuf>,
}

/// A running relay; it stops when dropped.
#[derive(Debug)]
pub struct Relay {
    names: Vec<String>,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    Running { tasks: Tasks, thread: JoinHandle<Report> },
    Ended(Arc<Report>),
}

/// What a relay leaves behind.
#[derive(Clone, Debug, Default)]
struct Report {
    statistics: Statistics,
    samples: Vec<Sample>,
    failure: Option<String>,
}

impl Relay {
    /// Starts a relay in a thread of its own. `devices` are the client's and the server's of each path,
    /// open TUN devices (`IFF_TUN | IFF_NO_PI`, and what the offload names); they become non-blocking.
    ///
    /// # Errors
    /// [`EmulatorError`] when the description makes no sense or a device or a file cannot be used.
    pub fn start(
        config: &RelayConfig,
        devices: Vec<(OwnedFd, OwnedFd)>,
    ) -> Result<Self, EmulatorError> {
        let clock = Clock::new(config.epoch_ns);
        let core = build(config, devices, clock)?;
        let (tasks, inbox) = tasks().map_err(EmulatorError::Start)?;
        let thread = thread::Builder::new().name("skyweave-relay".to_owned());
        let thread =
            thread.spawn(move || relay(core, clock, &inbox)).map_err(EmulatorError::Start)?;
        Ok(Self { names: names(config), state: Mutex::new(State::Running { tasks, thread }) })
    }

    /// Changes a link from now on.
    ///
    /// # Errors
    /// [`EmulatorError`] for an unknown path, a change that makes no sense, or a relay that has ended.
    pub fn change(
        &self,
        path: &str,
        direction: Direction,
        change: Change,
    ) -> Result<(), EmulatorError> {
        let link = direction.link_index(self.place(path)?);
        self.ask(move |core, now| core.change(now, link, &change))
            .map_err(|_| EmulatorError::Ended)?
            .map_err(EmulatorError::from)
    }

    /// Closes both links of a path: what they hold and what arrives is lost until [`Relay::open`].
    ///
    /// # Errors
    /// [`EmulatorError`] for an unknown path or a relay that has ended.
    pub fn close(&self, path: &str) -> Result<(), EmulatorError> {
        let path = self.place(path)?;
        self.ask(move |core, now| core.close(now, path)).map_err(|_| EmulatorError::Ended)
    }

    /// Opens both links of a path again.
    ///
    /// # Errors
    /// As [`Relay::close`].
    pub fn open(&self, path: &str) -> Result<(), EmulatorError> {
        let path = self.place(path)?;
        self.ask(move |core, now| core.open(now, path)).map_err(|_| EmulatorError::Ended)
    }

    /// What has been done so far, or until the end.
    pub fn statistics(&self) -> Statistics {
        self.ask(|core, _| statistics(core)).unwrap_or_else(|ended| ended.statistics.clone())
    }

    /// The samples so far, or until the end.
    pub fn samples(&self) -> Vec<Sample> {
        self.ask(|core, _| core.samples().to_vec()).unwrap_or_else(|ended| ended.samples.clone())
    }

    /// Why the relay has ended by itself, if it has.
    pub fn failure(&self) -> Option<String> {
        let mut state = self.lock();
        match &*state {
            State::Running { thread, .. } if !thread.is_finished() => None,
            _ => end(&mut state).failure.clone(),
        }
    }

    /// Ends the relay and lets go of its devices; frames under way are lost. Nothing happens the
    /// second time.
    pub fn stop(&self) {
        end(&mut self.lock());
    }

    /// Names of the links, "NAME.down" and "NAME.up", which [`Sample::link`] counts.
    pub fn link_names(&self) -> Vec<String> {
        link::link_names(&self.names)
    }

    /// Has something done in the relay's thread; what it left behind, if it has ended.
    fn ask<T: Send + 'static>(
        &self,
        task: impl FnOnce(&mut Core<Tun>, Instant) -> T + Send + 'static,
    ) -> Result<T, Arc<Report>> {
        let mut state = self.lock();
        if let State::Running { tasks, .. } = &*state {
            let (answer, answered) = sync_channel(1);
            tasks.send(Box::new(move |core, now| {
                let _gone = answer.send(task(core, now));
            }));
            if let Ok(value) = answered.recv() {
                return Ok(value);
            }
        }
        Err(end(&mut state))
    }

    fn place(&self, path: &str) -> Result<usize, EmulatorError> {
        let place = self.names.iter().position(|name| name == path);
        place.ok_or_else(|| EmulatorError::UnknownPath(path.to_owned()))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Asks for the end and waits for it.
fn end(state: &mut State) -> Arc<Report> {
    let report = match std::mem::replace(state, State::Ended(Arc::default())) {
        State::Ended(report) => report,
        State::Running { tasks, thread } => {
            drop(tasks);
            Arc::new(thread.join().unwrap_or_else(|panic| Report {
                failure: Some(describe(panic.as_ref())),
                ..Report::default()
            }))
        }
    };
    *state = State::Ended(Arc::clone(&report));
    report
}

fn build(
    config: &RelayConfig,
    devices: Vec<(OwnedFd, OwnedFd)>,
    clock: Clock,
) -> Result<Core<Tun>, EmulatorError> {
    if config.paths.is_empty() {
        return Err(EmulatorError::NoPaths);
    }
    if config.paths.len() != devices.len() {
        let (paths, devices) = (config.paths.len(), devices.len());
        return Err(EmulatorError::DeviceCount { paths, devices });
    }
    if config.sample_interval_ms == 0 {
        return Err(EmulatorError::SampleInterval);
    }
    let links = build_paths(&config.paths, config.seed)?;
    let mut tuns = Vec::with_capacity(links.len());
    for (index, fd) in devices.into_iter().flat_map(|(client, server)| [client, server]).enumerate()
    {
        tuns.push(Tun::new(fd).map_err(|source| EmulatorError::Device {
            path: config.paths[index / 2].name.clone(),
            direction: Direction::of_link(index).name(),
            side: side(index),
            action: "used",
            source,
        })?);
    }
    let sampler = Sampler::new(Duration::from_millis(config.sample_interval_ms));
    let begin = |folder: &PathBuf| Capture::create(folder, &names(config), clock.wall_epoch_ns());
    let capture = config.capture.as_ref().map(begin).transpose()?;
    Ok(Core::new(names(config), links, tuns, config.offload, sampler, capture))
}

fn names(config: &RelayConfig) -> Vec<String> {
    config.paths.iter().map(|path| path.name.clone()).collect()
}

/// The thread: its failure, a panic included, ends up in the report.
fn relay(mut core: Core<Tun>, clock: Clock, inbox: &Inbox) -> Report {
    let result = catch_unwind(AssertUnwindSafe(|| run(&mut core, clock, inbox)));
    let failure = match result {
        Ok(result) => result.err().map(|error| error.to_string()),
        Err(panic) => Some(describe(panic.as_ref())),
    };
    let (statistics, samples) = core.finish();
    Report { statistics: Statistics { cpu_s: thread_cpu_s(), ..statistics }, samples, failure }
}

fn statistics(core: &Core<Tun>) -> Statistics {
    Statistics { cpu_s: thread_cpu_s(), ..core.statistics() }
}

fn describe(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the relay panicked ({}); report this", text.unwrap_or("no message"))
}
