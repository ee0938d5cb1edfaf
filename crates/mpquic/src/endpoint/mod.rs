//! One end of a connection.

mod acks;
mod assign;
mod close;
mod control;
mod data;
mod datagrams;
mod frames;
mod handshake;
mod idle;
#[cfg(any(test, fuzzing))]
mod inspect;
mod keys;
mod packets;
mod path_ids;
mod paths;
mod rebind;
mod receive;
mod status;
mod stream_api;
pub(crate) use rebind::Candidate;
pub use stream_api::Read;
mod timers;
mod trace;

use crate::cids::{LOCAL_LEN, LocalCids, PeerCids};
use crate::config::{Config, Role};
use crate::error::Error;
use crate::event::Event;
use crate::path::{EcnPath, Path, PathStats, Paths};
use crate::streams::Streams;
use crate::wire::{ConnectionId, Frame, Params};
use close::Life;
use congestion::Group;
use data::Copy as DataCopy;
use datagrams::Datagrams;
use forecast::Feed;
use handshake::Handshake;
use idle::Idle;
use keys::OneRtt;
use path_ids::PathIds;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scheduler::{Dispatch, PathView, Scheduler};
use std::collections::{BTreeMap, VecDeque};
use units::{Duration, Instant, PathId};

/// Explicit congestion notification of a datagram (RFC 3168 §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// ECT(0).
    Ect0,
    /// ECT(1).
    Ect1,
    /// Congestion experienced.
    Ce,
}

/// A multipath QUIC endpoint with one connection.
///
/// Contract (sans-IO): after each call that takes `now`, call [`Endpoint::poll_transmit`] until it
/// returns `None`, then look at [`Endpoint::poll_timeout`]. The [`PathId`] is the caller's: an
/// interface, a socket, a link of the simulator. A path of the protocol, which has an ID of its own,
/// is bound to it.
pub struct Endpoint {
    config: Config,
    is_client: bool,
    dispatch: Dispatch,
    rng: ChaCha20Rng,
    seed: u64,
    group: Group,
    life: Life,
    handshake: Handshake,
    one_rtt: Option<OneRtt>,
    connected: bool,
    confirmed: bool,
    multipath: bool,
    local: Params,
    peer: Params,
    local_cids: LocalCids,
    peer_cids: PeerCids,
    paths: Paths,
    /// Counts of paths that are over, by the caller's path.
    past_stats: BTreeMap<PathId, PathStats>,
    /// What the caller foretold, for paths that come later.
    feeds: BTreeMap<PathId, Feed>,
    statuses: status::Statuses,
    path_ids: PathIds,
    streams: Streams,
    control: VecDeque<Frame<'static>>,
    datagrams: Datagrams,
    copies: VecDeque<DataCopy>,
    outbox: VecDeque<(PathId, Vec<u8>)>,
    events: VecDeque<Event>,
    views: Vec<PathView>,
    idle: Idle,
    /// When a pacer lets the next packet of data go.
    paced_until: Instant,
    /// `DATA_BLOCKED` was sent for this limit.
    blocked_at: Option<u64>,
    totals: Totals,
    qlog: Option<Box<crate::qlog::Qlog>>,
    /// The peer's flow control has stopped us, and we have counted that.
    stalled: bool,
}

/// Counts of a whole connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets that could not be decrypted or read.
    pub dropped_packets: u64,
    /// Packets that came twice.
    pub duplicate_packets: u64,
    /// Times that the scheduler held data back although some path had room.
    pub waits: u64,
    /// Times that a path had room and the peer's flow control stopped the data to send.
    pub window_stalls: u64,
    /// Receiver: stream bytes that came with no hole before them, all streams together.
    pub in_order_bytes: u64,
    /// Receiver: stream bytes that had come before.
    pub duplicate_bytes: u64,
    /// Receiver: stream bytes that wait for a hole now, and the most there ever were.
    pub reorder_bytes: u64,
    /// The most of these that there ever were.
    pub reorder_max_bytes: u64,
    /// Key updates, ours and the peer's.
    pub key_updates: u64,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let side = if self.is_client { "client" } else { "server" };
        f.debug_struct("Endpoint")
            .field("side", &side)
            .field("life", &self.life)
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    /// An endpoint. The client's handshake begins with the first [`Endpoint::poll_transmit`], on
    /// `path`. `seed` is the source of connection IDs and of everything else that the transport
    /// draws; TLS draws its keys from its provider.
    pub fn new(
        config: Config,
        scheduler: Box<dyn Scheduler>,
        (now, path): (Instant, PathId),
        seed: u64,
    ) -> Result<Self, Error> {
        let is_client = matches!(config.role, Role::Client { .. });
        let mut endpoint = Self {
            is_client,
            dispatch: Dispatch::new(scheduler),
            rng: ChaCha20Rng::seed_from_u64(seed),
            seed,
            group: Group::new(),
            life: Life::Open,
            handshake: Handshake::default(),
            one_rtt: None,
            connected: false,
            confirmed: false,
            multipath: false,
            local: Params::default(),
            peer: Params::default(),
            local_cids: LocalCids::default(),
            peer_cids: PeerCids::default(),
            paths: Paths::default(),
            past_stats: BTreeMap::new(),
            feeds: BTreeMap::new(),
            statuses: status::Statuses::default(),
            path_ids: PathIds::default(),
            streams: Streams::new(is_client, &config),
            control: VecDeque::new(),
            datagrams: Datagrams::default(),
            copies: VecDeque::new(),
            outbox: VecDeque::new(),
            events: VecDeque::new(),
            views: Vec::new(),
            idle: Idle::default(),
            paced_until: Instant::FAR_FUTURE,
            blocked_at: None,
            totals: Totals::default(),
            qlog: None,
            stalled: false,
            config,
        };
        if is_client {
            endpoint.start_client(now, path)?;
        }
        Ok(endpoint)
    }

    /// The next datagram to send and its path.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        if let Some(out) = self.outbox.pop_front() {
            return Some(out);
        }
        match self.life {
            Life::Open => {}
            Life::Closing { .. } => return self.closing_datagram(now),
            _ => return None,
        }
        if let Some(out) = self.handshake_datagram(now) {
            return Some(out);
        }
        if !self.connected {
            return None;
        }
        self.control_datagram(now).or_else(|| self.data_datagram(now))
    }

    /// What happened since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.events.drain(..).collect()
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The handshake is complete and the connection not over.
    pub fn is_connected(&self) -> bool {
        self.connected && matches!(self.life, Life::Open)
    }

    /// Nothing will ever happen again.
    pub fn is_over(&self) -> bool {
        matches!(self.life, Life::Over)
    }

    /// Whether both ends speak multipath.
    pub fn is_multipath(&self) -> bool {
        self.multipath
    }

    /// Connection IDs that packets for this endpoint carry: the first call gives all of them (true),
    /// later ones what came (true) and went (false) since. A listener for many connections finds by
    /// them whose a datagram is ([`crate::wire::parse`] with [`crate::LOCAL_CID_BYTES`]).
    pub fn take_cid_changes(&mut self) -> Vec<(ConnectionId, bool)> {
        self.local_cids.take_changes()
    }

    /// Counts of the connection.
    pub fn totals(&self) -> Totals {
        let counted = &self.streams.counted;
        Totals {
            in_order_bytes: counted.in_order_bytes,
            duplicate_bytes: counted.duplicate_bytes,
            reorder_bytes: counted.waiting_bytes,
            reorder_max_bytes: counted.waiting_max_bytes,
            waits: self.dispatch.waits(),
            ..self.totals
        }
    }

    /// What the paths over `net` have carried; `None` when there never was one.
    pub fn path_stats(&self, net: PathId) -> Option<PathStats> {
        let past = self.past_stats.get(&net).copied();
        let all = self.paths.values().filter(|path| path.net == net).map(Path::stats_now);
        past.into_iter().chain(all).reduce(|before, path| path.after(&before))
    }

    /// What the peer's flow control still admits: the connection's window, and together those of the
    /// streams that are not finished.
    pub fn send_window_bytes(&self) -> u64 {
        self.streams.send_window_bytes()
    }

    /// Whether datagrams that leave on `net` are to be marked ECT(0): [`Config::ecn`], and nothing in
    /// the way there has cleared or dropped the marks (RFC 9000 §13.4.2.2).
    pub fn marks_ecn(&self, net: PathId) -> bool {
        let path = self.paths.values().rev().find(|path| path.net == net);
        path.map_or(self.config.ecn, |path| path.ecn != EcnPath::Off)
    }

    /// Bytes that the connection holds for its peer and its application, bookkeeping of pieces
    /// included.
    pub fn held_bytes(&self) -> u64 {
        let handshake = self.handshake.held_bytes();
        self.streams.held_bytes() + self.datagrams.held_bytes() + handshake as u64
    }

    /// Packets whose fate is not known yet, and bookkeeping for it; bounded by the windows.
    pub fn tracked_packets(&self) -> usize {
        self.paths.values().map(|path| path.space.sent.len()).sum()
    }

    fn max_ack_delay(&self) -> Duration {
        Duration::from_millis(self.peer.max_ack_delay_ms)
    }

    fn new_cid(&mut self) -> ConnectionId {
        let mut bytes = [0; LOCAL_LEN];
        self.rng.fill_bytes(&mut bytes);
        ConnectionId::new(&bytes).unwrap_or_default() // 8 bytes are never too long
    }

    fn new_path(&mut self, id: u32, net: PathId) -> Path {
        let mss = self.config.datagram_bytes as u64;
        let seed = self.seed.wrapping_add(u64::from(id));
        let config = congestion::Config::new(mss, seed);
        let cc = congestion::build(&self.config.congestion, config, &self.group);
        let unknown = || Feed::new(self.dispatch.capabilities().least_probability);
        let feed = self.feeds.get(&net).cloned().unwrap_or_else(unknown);
        let mut path = Path::new(id, net, cc, feed);
        self.statuses.apply_to(&mut path);
        path.set_grain(self.config.pacing_grain);
        path.peer_ack_delay = self.max_ack_delay();
        if self.config.ecn {
            path.ecn = EcnPath::Testing;
        }
        path
    }

    /// Largest smoothed RTT of the open paths: the round trip of the connection's windows.
    fn slowest_rtt(&self) -> Duration {
        let open = self.paths.values().filter(|path| path.is_open());
        open.map(|path| path.rtt.smoothed()).max().unwrap_or_default()
    }
}

#[cfg(test)]
impl Endpoint {
    /// Sends a frame that an honest endpoint would not.
    pub(crate) fn inject(&mut self, frame: Frame<'static>) {
        self.control.push_back(frame);
    }

    /// Other limits than those of the AEAD, whose would take days to reach.
    pub(crate) fn set_key_limits(&mut self, sealed: u64, forged: u64) {
        if let Some(keys) = &mut self.one_rtt {
            keys.limits = (sealed, forged);
        }
    }
}
