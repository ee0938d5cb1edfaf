//! One end of a connection.

mod acks;
mod assign;
mod close;
mod control;
mod copies;
mod data;
mod failures;
mod frames;
mod handshake;
#[cfg(any(test, fuzzing))]
mod inspect;
mod keys;
mod moves;
mod mtu;
mod packets;
mod paths;
mod receive;
mod statistics;
mod status;
mod stream_api;
mod timers;
mod upkeep;

pub use stream_api::Read;

use crate::cids::Cids;
use crate::config::Config;
use crate::control::Control;
use crate::crypto;
use crate::datagrams::Datagrams;
use crate::error::Error;
use crate::event::Event;
use crate::handshake::Handshake;
use crate::keys::OneRtt;
use crate::lifetime::Lifetime;
use crate::path::Paths;
use crate::qlog::QlogSchema;
use crate::scheduling::Scheduling;
use crate::spare::Spare;
use crate::streams::Streams;
use crate::trace::Trace;
use crate::wire::ConnectionId;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use scheduler::Scheduler;
use units::{Instant, PathId};

/// A multipath QUIC endpoint with one connection.
///
/// Contract (sans-IO): after each call that takes `now`, call [`Endpoint::poll_transmit`] until it
/// returns `None`, then look at [`Endpoint::poll_timeout`]. The [`PathId`] is the caller's: an
/// interface, a socket, a link of the simulator. A path of the protocol, which has an ID of its own,
/// is bound to it.
///
/// Its parts have their own state and know nothing of it; what couples them is in the files of this
/// folder.
pub struct Endpoint {
    config: Config,
    rng: ChaCha20Rng,
    lifetime: Lifetime,
    handshake: Handshake,
    /// Of 1-RTT packets, once TLS has them.
    keys: Option<OneRtt>,
    cids: Cids,
    paths: Paths,
    streams: Streams,
    control: Control,
    datagrams: Datagrams,
    scheduling: Scheduling,
    trace: Trace,
    spare: Spare,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let side = if self.config.is_client() { "client" } else { "server" };
        f.debug_struct("Endpoint")
            .field("side", &side)
            .field("lifetime", &self.lifetime)
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    /// An endpoint. The client's handshake begins with the first [`Endpoint::poll_transmit`], on
    /// `path`. `seed` is the source of connection IDs and of everything else that the transport
    /// draws; TLS draws its keys from its provider.
    pub fn new(
        mut config: Config,
        scheduler: Box<dyn Scheduler>,
        (now, path): (Instant, PathId),
        seed: u64,
    ) -> Result<Self, Error> {
        if config.reset_key == [0; 32] {
            config.reset_key = crypto::own_reset_key(seed);
        }
        let scheduling = Scheduling::new(scheduler, config.pacing_timer);
        let handshake = Handshake::default();
        let least_probability = scheduling.dispatch.capabilities().least_probability;
        let known = (least_probability, handshake.peer_ack_delay());
        let mut endpoint = Self {
            rng: ChaCha20Rng::seed_from_u64(seed),
            lifetime: Lifetime::default(),
            keys: None,
            cids: Cids::default(),
            paths: Paths::new(&config, seed, known),
            streams: Streams::new(config.is_client(), &config),
            control: Control::default(),
            datagrams: Datagrams::default(),
            trace: Trace::default(),
            spare: Spare::default(),
            handshake,
            scheduling,
            config,
        };
        if endpoint.config.is_client() {
            endpoint.start_client(now, path)?;
        }
        Ok(endpoint)
    }

    /// The next datagram to send and its path.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        let ready = self.handshake.version_answer.take().or_else(|| self.paths.repeated.take());
        if ready.is_some() {
            return ready;
        }
        if !self.lifetime.is_open() {
            return self.closing_datagram(now);
        }
        if let Some(out) = self.handshake_datagram(now) {
            return Some(out);
        }
        if !self.handshake.complete {
            return None;
        }
        let out = self.control_datagram(now).or_else(|| self.mtu_datagram(now));
        out.or_else(|| self.data_datagram(now))
    }

    /// What happened since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.trace.events.drain(..).collect()
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.trace.events.pop_front()
    }

    /// The handshake is complete and the connection not over.
    pub fn is_connected(&self) -> bool {
        self.handshake.complete && self.lifetime.is_open()
    }

    /// Nothing will ever happen again.
    pub fn is_over(&self) -> bool {
        self.lifetime.is_over()
    }

    /// The application's protocol that both ends agreed on (RFC 7301), once they have.
    pub fn protocol(&self) -> Option<&[u8]> {
        self.handshake.protocol()
    }

    /// Whether both ends speak multipath.
    pub fn is_multipath(&self) -> bool {
        self.paths.multipath
    }

    /// Connection IDs that packets for this endpoint carry: the first call gives all of them (true),
    /// later ones what came (true) and went (false) since. A listener for many connections finds by
    /// them whose a datagram is ([`crate::wire::parse`] with [`crate::LOCAL_CID_BYTES`]).
    pub fn take_cid_changes(&mut self) -> Vec<(ConnectionId, bool)> {
        self.cids.local.take_changes()
    }

    /// Writes what happens from now on as qlog: `sink` gets one record after the other, with separator
    /// and newline, as it happens. What it keeps of them is its own affair. Times count from `now`.
    ///
    /// Call it right after [`Endpoint::new`] for a whole connection.
    pub fn set_qlog(
        &mut self,
        now: Instant,
        schema: QlogSchema,
        sink: impl FnMut(&str) + Send + 'static,
    ) {
        self.trace.begin_qlog(now, schema, self.config.is_client(), Box::new(sink));
    }
}
