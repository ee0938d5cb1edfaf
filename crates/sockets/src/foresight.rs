//! What the sender of a connection knows ahead of its paths: from the beginning, and by messages
//! during the run.

use crate::error::SocketError;
use forecast::{Feed, ForecastConfig, ForecastError, Update, UpdateConfig, updates};
use mpquic::{ApplicationHost, Endpoint};
use serde::Deserialize;
use std::collections::VecDeque;
use std::net::IpAddr;
use units::{Instant, PathId};

/// What is known of one path, in seconds since the run began.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathForecasts {
    /// The client's address on the path.
    pub client: IpAddr,
    /// What is known when the run begins.
    #[serde(default)]
    pub forecast: ForecastConfig,
    /// What arrives later.
    #[serde(default)]
    pub updates: Vec<UpdateConfig>,
}

/// What is known of all paths, and what has yet to arrive.
#[derive(Clone, Debug, Default)]
pub struct Foresight {
    paths: Vec<Known>,
}

#[derive(Clone, Debug)]
struct Known {
    client: IpAddr,
    feed: Feed,
    pending: VecDeque<Update>,
    /// All that the endpoint ever called the path.
    nets: Vec<PathId>,
}

impl Foresight {
    /// What is said of a run that began at `epoch`.
    ///
    /// # Errors
    /// A forecast that makes no sense.
    pub fn new(described: &[PathForecasts], epoch: Instant) -> Result<Self, SocketError> {
        let shift = epoch - Instant::ZERO;
        let known = |path: &PathForecasts| -> Result<Known, ForecastError> {
            let first =
                Update { arrives: Instant::ZERO, forecast: path.forecast.build(Instant::ZERO)? };
            let all = [first].into_iter().chain(updates(&path.updates)?);
            Ok(Known {
                client: path.client.to_canonical(),
                feed: Feed::default(),
                pending: all.map(|update| update.later_by(shift)).collect(),
                nets: Vec::new(),
            })
        };
        let paths = described.iter().map(|path| {
            let refuse =
                |error| SocketError::Config(format!("forecast of {}: {error}", path.client));
            known(path).map_err(refuse)
        });
        Ok(Self { paths: paths.collect::<Result<_, _>>()? })
    }

    /// When the next message arrives for a path that is there.
    pub fn due(&self) -> Instant {
        let there = self.paths.iter().filter(|path| !path.nets.is_empty());
        let next = there.filter_map(|path| path.pending.front());
        next.map(|update| update.arrives).min().unwrap_or(Instant::FAR_FUTURE)
    }

    /// Hands over what has arrived.
    pub fn deliver(&mut self, now: Instant, endpoint: &mut Endpoint, host: &mut ApplicationHost) {
        for path in &mut self.paths {
            while path.pending.front().is_some_and(|update| update.arrives <= now) {
                let Some(update) = path.pending.pop_front() else { break };
                for net in &path.nets {
                    endpoint.set_forecast(*net, update.forecast.clone());
                    host.foresee(*net, update.forecast.clone());
                }
                path.feed.update(update.forecast);
            }
        }
    }

    /// The endpoint calls the path from this address of the client `net`.
    pub fn on_path(
        &mut self,
        (endpoint, host): (&mut Endpoint, &mut ApplicationHost),
        net: PathId,
        client: Option<IpAddr>,
    ) {
        let client = client.map(|ip| ip.to_canonical());
        let Some(path) = self.paths.iter_mut().find(|path| Some(path.client) == client) else {
            return;
        };
        if !path.nets.contains(&net) {
            path.nets.push(net);
        }
        if let Some(known) = path.feed.forecast() {
            endpoint.set_forecast(net, known.clone());
            host.foresee(net, known.clone());
        }
    }
}
