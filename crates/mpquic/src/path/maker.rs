use super::mtu::Mtu;
use super::{EcnPath, Path};
use crate::config::{Config, PacingTimer};
use congestion::{Choice, Group};
use forecast::{Feed, Probability};
use units::{Duration, PathId};

/// What new paths are made of.
#[derive(Debug)]
pub(super) struct Maker {
    seed: u64,
    mss_bytes: u64,
    congestion: Choice,
    /// What coupled controllers share.
    group: Group,
    pacing_grain: Duration,
    pacing_timer: PacingTimer,
    ecn: bool,
    /// Datagrams that pass for certain, and the longest that may be tried.
    datagram_bytes: (usize, usize),
    /// Of the outages that the scheduler heeds.
    least_probability: Probability,
}

impl Maker {
    pub fn new(config: &Config, seed: u64, least_probability: Probability) -> Self {
        Self {
            seed,
            mss_bytes: config.datagram_bytes as u64,
            congestion: config.congestion.clone(),
            group: Group::new(),
            pacing_grain: config.pacing_grain,
            pacing_timer: config.pacing_timer,
            ecn: config.ecn,
            datagram_bytes: (config.datagram_bytes, config.most_datagram_bytes),
            least_probability,
        }
    }

    /// A path of which nothing is known but what was foretold.
    pub fn path(&self, id: u32, net: PathId, feed: Option<Feed>) -> Path {
        let seed = self.seed.wrapping_add(u64::from(id));
        let config = congestion::Config::new(self.mss_bytes, seed);
        let mut cc = congestion::build(&self.congestion, config, &self.group);
        let feed = feed.unwrap_or_else(|| self.feed());
        cc.on_forecast(&feed.boundaries());
        let mut path = Path::new(id, net, cc, feed);
        path.set_pacing(self.pacing_grain, self.pacing_timer);
        path.mtu = Mtu::new(self.datagram_bytes.0, self.datagram_bytes.1);
        if self.ecn {
            path.ecn = EcnPath::Testing;
        }
        path
    }

    /// An empty forecast.
    pub fn feed(&self) -> Feed {
        Feed::new(self.least_probability)
    }
}
