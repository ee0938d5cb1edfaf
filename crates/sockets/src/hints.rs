//! What another program foresees of paths while connections run (`docs/awareness.md`).
//!
//! Whoever learns something puts it on the board; every connection that looks at it hands it on to its
//! endpoint. Without hints, and when those there were are over, nothing differs from a run without a board.

use crate::clock::monotonic_ns;
use crate::error::SocketError;
use crate::interfaces;
use crate::server::Service;
use crate::session::{Ends, Notice, PathReport, Session, Status};
use forecast::{Forecast, ForecastConfig};
use mpquic::{Closed, Endpoint, Event};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::ops::DerefMut;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use units::{Duration, Instant, PathId};

/// A board of forecasts, shared by who writes and who reads.
#[derive(Clone, Debug, Default)]
pub struct Hints(Arc<Board>);

#[derive(Debug, Default)]
struct Board {
    /// How often something was put up: a look costs one load.
    version: AtomicU64,
    paths: Mutex<BTreeMap<String, Hint>>,
}

#[derive(Clone, Debug)]
struct Hint {
    /// On a clock that began at `put_up_ns` of `CLOCK_MONOTONIC`.
    forecast: Forecast,
    put_up_ns: u64,
}

impl Hints {
    /// Puts up what is foreseen of some paths, in seconds from now; what was known of them before is
    /// replaced. A path is named by its interface, or by the address of either end.
    ///
    /// # Errors
    /// A forecast that makes no sense: nothing is put up.
    pub fn put(&self, described: &BTreeMap<String, ForecastConfig>) -> Result<(), SocketError> {
        let put_up_ns = monotonic_ns();
        let hint = |(name, config): (&String, &ForecastConfig)| {
            let refuse = |error| SocketError::Config(format!("forecast of '{name}': {error}"));
            let forecast = config.build(Instant::ZERO).map_err(refuse)?;
            Ok((name.clone(), Hint { forecast, put_up_ns }))
        };
        let fresh: Vec<_> = described.iter().map(hint).collect::<Result<_, SocketError>>()?;
        let mut paths = self.0.paths.lock().unwrap_or_else(PoisonError::into_inner);
        paths.extend(fresh);
        self.0.version.fetch_add(1, Ordering::Release);
        Ok(())
    }

    fn version(&self) -> u64 {
        self.0.version.load(Ordering::Acquire)
    }

    /// What is known of a path, on the clock of an endpoint that shows `now`: what was put up last, unless
    /// it is over. A connection that is younger than a hint waits for the next one.
    pub(crate) fn of(&self, ends: Ends, now: Instant) -> Option<Forecast> {
        let paths = self.0.paths.lock().unwrap_or_else(PoisonError::into_inner);
        let own = paths.iter().filter(|(name, _)| is_called(name, ends)).map(|(_, hint)| hint);
        let newest = own.max_by_key(|hint| hint.put_up_ns)?;
        let age = Duration::from_nanos(monotonic_ns().saturating_sub(newest.put_up_ns));
        let put_up_at = (now - Instant::ZERO).checked_sub(age)?;
        let forecast = newest.forecast.clone().later_by(put_up_at);
        (!forecast.is_over(now)).then_some(forecast)
    }
}

fn is_called(name: &str, ends: Ends) -> bool {
    match name.parse::<IpAddr>() {
        Ok(ip) => {
            let is = |end: IpAddr| end.to_canonical() == ip.to_canonical();
            is(ends.remote) || ends.local.is_some_and(is)
        }
        Err(_) => ends.local.is_some_and(|local| interfaces::has(name, local)),
    }
}

/// A session whose connection takes forecasts from a board of hints; all else is the session's own.
pub struct Aware<S> {
    pub(crate) inner: S,
    hints: Hints,
    seen: u64,
    paths: Vec<(PathId, Ends)>,
}

impl<S> Aware<S> {
    /// `inner` as it is, beside a board.
    pub fn new(inner: S, hints: Hints) -> Self {
        Self { inner, hints, seen: 0, paths: Vec::new() }
    }

    fn tell(&self, now: Instant, endpoint: &mut Endpoint) {
        for (net, ends) in &self.paths {
            if let Some(forecast) = self.hints.of(*ends, now) {
                endpoint.set_forecast(*net, forecast);
            }
        }
    }
}

impl<S: DerefMut<Target: Session> + Send> Session for Aware<S> {
    fn work(&mut self, now: Instant, endpoint: &mut Endpoint, events: &[Event]) -> Status {
        let version = self.hints.version();
        if self.seen != version {
            self.seen = version;
            self.tell(now, endpoint);
        }
        self.inner.work(now, endpoint, events)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.inner.descriptor()
    }

    fn has_more(&self, endpoint: &Endpoint) -> bool {
        self.inner.has_more(endpoint)
    }

    fn due(&self) -> Instant {
        self.inner.due()
    }

    fn look(&mut self, now: Instant, paths: &[PathReport]) -> Status {
        self.inner.look(now, paths)
    }

    fn idle_since(&self) -> Option<Instant> {
        self.inner.idle_since()
    }

    fn on_path(&mut self, endpoint: &mut Endpoint, net: PathId, ends: Ends) {
        self.paths.retain(|(known, _)| *known != net);
        self.paths.push((net, ends));
        self.seen = 0; // what stands there is new to this path
        self.inner.on_path(endpoint, net, ends);
    }

    fn notice(&mut self, notice: Notice) {
        self.inner.notice(notice);
    }
}

/// A service whose connections all take forecasts from a board of hints.
pub struct AwareService<S> {
    inner: S,
    hints: Hints,
}

impl<S> AwareService<S> {
    /// `inner` as it is, beside a board.
    pub fn new(inner: S, hints: Hints) -> Self {
        Self { inner, hints }
    }
}

impl<S: Service> Service for AwareService<S> {
    fn open(&mut self, now: Instant, remote: SocketAddr) -> Box<dyn Session> {
        Box::new(Aware::new(self.inner.open(now, remote), self.hints.clone()))
    }

    fn closed(&mut self, remote: SocketAddr, how: &Closed) {
        self.inner.closed(remote, how);
    }

    fn due(&self) -> Instant {
        self.inner.due()
    }

    fn look(&mut self, now: Instant, connections: usize) -> bool {
        self.inner.look(now, connections)
    }
}
