use super::ids::PathIds;
use super::maker::Maker;
use super::status::Statuses;
use super::{Health, Path, PathStats, PathStatus};
use crate::config::Config;
use forecast::{Feed, Forecast, Probability};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::slice::{Iter, IterMut};
use units::{Duration, Instant, PathId};

/// Paths of the caller's that a scheduler can distinguish.
pub(crate) const MAX_NETS: u8 = 64;

/// The paths of a connection in order of their IDs (a handful, looked up several times a packet), and
/// what is known of those that were and that may come.
#[derive(Debug)]
pub(crate) struct Paths {
    open: Vec<Path>,
    maker: Maker,
    pub ids: PathIds,
    /// Both ends speak multipath.
    pub multipath: bool,
    /// How long the peer may hold an acknowledgement back.
    peer_ack_delay: Duration,
    pub(super) statuses: Statuses,
    /// What the caller foretold, for paths that come later.
    feeds: BTreeMap<PathId, Feed>,
    /// A datagram that leaves a second time, elsewhere: a path's twin.
    pub repeated: Option<(PathId, Vec<u8>)>,
    /// Counts of paths that are over, by the caller's path.
    past_stats: BTreeMap<PathId, PathStats>,
    /// Which paths may be others than at the last [`Paths::take_changed`].
    changed: Changed,
}

/// Paths that may have changed since somebody looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changed {
    None,
    /// This one alone.
    One(u32),
    Any,
}

impl Changed {
    fn and(self, id: u32) -> Self {
        match self {
            Self::None => Self::One(id),
            Self::One(other) if other == id => self,
            Self::One(_) | Self::Any => Self::Any,
        }
    }
}

impl Paths {
    /// None yet. `peer_ack_delay` holds until the peer says otherwise.
    pub fn new(
        config: &Config,
        seed: u64,
        (least_probability, peer_ack_delay): (Probability, Duration),
    ) -> Self {
        Self {
            open: Vec::new(),
            maker: Maker::new(config, seed, least_probability),
            ids: PathIds::default(),
            multipath: false,
            peer_ack_delay,
            statuses: Statuses::default(),
            feeds: BTreeMap::new(),
            repeated: None,
            past_stats: BTreeMap::new(),
            changed: Changed::Any,
        }
    }

    // ---- the table ---------------------------------------------------------------------------

    pub fn get(&self, id: u32) -> Option<&Path> {
        self.open.iter().find(|path| path.id == id)
    }

    pub fn get_mut(&mut self, id: u32) -> Option<&mut Path> {
        self.changed = self.changed.and(id);
        self.open.iter_mut().find(|path| path.id == id)
    }

    /// Which paths may have changed since the last call.
    pub fn take_changed(&mut self) -> Changed {
        std::mem::replace(&mut self.changed, Changed::None)
    }

    pub fn contains(&self, id: u32) -> bool {
        self.get(id).is_some()
    }

    pub fn values(&self) -> Iter<'_, Path> {
        self.open.iter()
    }

    pub fn values_mut(&mut self) -> IterMut<'_, Path> {
        self.changed = Changed::Any;
        self.open.iter_mut()
    }

    /// Those with this ID or a higher one.
    pub fn from(&self, id: u32) -> Iter<'_, Path> {
        self.open[self.open.partition_point(|path| path.id < id)..].iter()
    }

    /// The IDs of those that `wanted` says.
    pub fn ids_of(&self, wanted: impl Fn(&Path) -> bool) -> SmallVec<[u32; 8]> {
        self.values().filter(|path| wanted(path)).map(|path| path.id).collect()
    }

    /// The open path bound to a path of the caller's.
    pub fn id_over(&self, net: PathId) -> Option<u32> {
        let bound = |path: &&Path| path.net == net && path.drains_until.is_none();
        self.open.iter().rev().find(bound).map(|path| path.id)
    }

    /// The path that carries data where a scheduler names `net`: the one whose view it saw, and not
    /// another over the same interface that waits for its validation.
    pub fn carrier_over(&self, net: PathId) -> Option<u32> {
        let carries = |path: &&Path| path.net == net && path.carries_data();
        self.open.iter().find(carries).map(|path| path.id)
    }

    /// That of [`Paths::id_over`].
    pub fn over_mut(&mut self, net: PathId) -> Option<&mut Path> {
        let bound = |path: &&mut Path| path.net == net && path.drains_until.is_none();
        self.values_mut().rev().find(bound)
    }

    // ---- coming and going --------------------------------------------------------------------

    /// A path with all that is known of its ID and of the caller's path; it is not in the table.
    pub(super) fn make(&mut self, id: u32, net: PathId) -> Path {
        let mut path = self.maker.path(id, net, self.feeds.get(&net).cloned());
        self.statuses.apply_to(&mut path);
        path.peer_ack_delay = self.peer_ack_delay;
        path
    }

    /// A new path.
    pub fn add(&mut self, id: u32, net: PathId) -> &mut Path {
        let path = self.make(id, net);
        let at = self.open.partition_point(|other| other.id < id);
        self.changed = Changed::Any;
        self.open.insert(at, path);
        &mut self.open[at]
    }

    /// The path's last packets had their time, or it never began.
    pub fn remove(&mut self, id: u32) {
        if let Some(at) = self.open.iter().position(|path| path.id == id) {
            self.changed = Changed::Any;
            let path = self.open.remove(at);
            let past = self.past_stats.entry(path.net).or_default();
            *past = path.stats.after(past);
        }
        self.statuses.forget(id);
    }

    /// The handshake is through: how long the peer may hold an acknowledgement back.
    pub fn set_peer_ack_delay(&mut self, delay: Duration) {
        self.peer_ack_delay = delay;
        self.values_mut().for_each(|path| path.peer_ack_delay = delay);
    }

    /// Replaces what is known ahead of the paths over `net`, unless that was issued later.
    pub fn set_forecast(&mut self, net: PathId, forecast: Forecast) {
        let feed = self.feeds.entry(net).or_insert_with(|| self.maker.feed());
        if feed.update(forecast) {
            let feed = feed.clone();
            if let Some(path) = self.over_mut(net) {
                path.cc.on_forecast(&feed.boundaries());
                path.feed = feed;
            }
        }
    }

    /// The application's wish for the paths over `net`, this one and those to come: the frame that
    /// tells the peer, if there is a path and that is new.
    pub fn set_backup(&mut self, net: PathId, backup: bool) -> Option<crate::wire::Frame<'static>> {
        self.statuses.set(net, backup);
        self.over_mut(net)?.set_backup(backup)
    }

    /// The peer's wish: whether it says something new, and which of the caller's paths it is about, if
    /// the path is there.
    pub fn on_status(&mut self, id: u32, status: PathStatus) -> (bool, Option<PathId>) {
        if let Some(path) = self.get_mut(id) {
            return (path.on_status(status), Some(path.net));
        }
        (!self.ids.is_over(id) && self.statuses.on_early(id, status), None)
    }

    // ---- what they are like ------------------------------------------------------------------

    /// Whether a path is left that was not given up.
    pub fn has_any(&self) -> bool {
        self.open.iter().any(|path| path.drains_until.is_none())
    }

    /// Whether a path other than this one is usable.
    pub fn others_work(&self, id: u32) -> bool {
        self.open.iter().any(|path| path.id != id && path.is_usable())
    }

    /// Longest probe timeout of any path: what draining and key retention are measured by.
    pub fn longest_pto(&self) -> Duration {
        self.open.iter().map(Path::pto).max().unwrap_or(Duration::from_secs(1))
    }

    /// Largest smoothed RTT of the open paths: the round trip of the connection's windows.
    pub fn slowest_rtt(&self) -> Duration {
        let open = self.open.iter().filter(|path| path.is_open());
        open.map(|path| path.rtt.smoothed()).max().unwrap_or_default()
    }

    /// What the paths over `net` have carried; `None` when there never was one.
    pub fn stats(&self, net: PathId) -> Option<PathStats> {
        let past = self.past_stats.get(&net).copied();
        let all = self.open.iter().filter(|path| path.net == net).map(Path::stats_now);
        past.into_iter().chain(all).reduce(|before, path| path.after(&before))
    }

    // ---- what happens to them ----------------------------------------------------------------

    /// A path was validated: those before it over the same interface have no more say. One that was
    /// opened since then may be waiting for its own validation.
    pub fn replace_older(&mut self, id: u32, net: PathId) -> Vec<u32> {
        let mut older = Vec::new();
        for path in self.values_mut() {
            if path.net == net && path.id < id && path.drains_until.is_none() {
                path.replaced = true;
                older.push(path.id);
            }
        }
        older
    }

    /// A path was given up, or moved: one that it had replaced counts again, unless there is another.
    pub fn restore_replaced(&mut self) {
        for id in self.ids_of(|path| path.replaced && path.drains_until.is_none()).iter().rev() {
            let Some(net) = self.get(*id).map(|path| path.net) else { continue };
            let bound = |path: &Path| path.net == net && path.drains_until.is_none();
            if !self.open.iter().any(|path| bound(path) && !path.replaced)
                && let Some(path) = self.get_mut(*id)
            {
                path.replaced = false;
            }
        }
    }

    /// The last path that worked is suspected: one that failed may be back by now, and must not wait
    /// for a probe timer that has backed off.
    pub fn ask_failed(&mut self, now: Instant) {
        let failed = |path: &&mut Path| path.is_awake() && path.health == Health::Failed;
        self.values_mut().filter(failed).for_each(|path| path.ask(now));
    }
}
