use crate::retry::Retried;
use congestion::{Algorithm, Choice};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use units::Duration;

/// Which path carries the acknowledgements of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AckPath {
    /// The same one, unless it failed or rests.
    #[default]
    Same,
    /// The one with the smallest RTT.
    Fastest,
    /// The one that the scheduler names ([`scheduler::Scheduler::ack_path`]).
    Scheduled,
    /// Every usable one.
    Duplicated,
}

/// How the windows grow that this end announces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowControl {
    /// A window doubles while it is read faster than twice a round trip, and once a round trip while
    /// it waits for a hole.
    #[default]
    Rounds,
    /// An announced limit triples once half of it is used, whatever the time: by what the connection
    /// received in any order, by what the application read of a stream (picoquic of March 2022,
    /// commit d515d2d4, `picoquic_cc_increased_window` for round trips up to 100 ms).
    Tripled,
}

/// Which pacers wake an end that has data to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PacingTimer {
    /// Those of all paths.
    #[default]
    Every,
    /// Only that of the path that sent last: each wake-up sends one burst on one path. No pacer wakes
    /// the end while a path passes its pacer but its congestion window is full. Datagrams that
    /// arrive wake the end, too. So picoquic of March 2022 (commit d515d2d4, `sender.c`:
    /// `picoquic_select_next_path_mp`, and the end of `picoquic_prepare_packet_ex`, with
    /// segmentation offload).
    Last,
}

/// What is sent again, and when, beyond data that is known to be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reinjection {
    /// The flight of a path that stopped answering (its probe timer fired), or that an announced
    /// outage hits, is retransmitted on the others.
    pub on_failure: bool,
    /// With nothing new to send, what a slower path still has in flight is retransmitted on a
    /// faster one that would deliver it sooner, up to a tenth of all that was sent; or what the
    /// scheduler names ([`scheduler::Scheduler::rescues`]), within its own budget.
    pub at_tail: bool,
}

impl Default for Reinjection {
    fn default() -> Self {
        Self { on_failure: true, at_tail: true }
    }
}

/// Which end, and its TLS configuration.
#[derive(Clone, Debug)]
pub enum Role {
    /// Opens the connection to a server of this name.
    Client {
        /// How to verify the server, and ALPN.
        tls: Arc<rustls::ClientConfig>,
        /// Whom to expect.
        server_name: rustls::pki_types::ServerName<'static>,
    },
    /// Waits for a client.
    Server {
        /// Certificate and ALPN.
        tls: Arc<rustls::ServerConfig>,
    },
}

/// Everything that an endpoint is built from.
#[derive(Clone, Debug)]
pub struct Config {
    /// Client or server.
    pub role: Role,
    /// Congestion control of each path; coupled ones share the connection's group.
    pub congestion: Choice,
    /// UDP payload of a full packet: 1200 fits every path (RFC 9000 §14).
    pub datagram_bytes: usize,
    /// Each path is asked whether it passes longer ones, up to this (RFC 8899); no more than
    /// `datagram_bytes`: none is.
    pub most_datagram_bytes: usize,
    /// Paths at a time; 1 does not offer multipath.
    pub max_paths: u32,
    /// Window that a stream has at first; it doubles, as the application reads, up to
    /// `max_receive_window_bytes`.
    pub stream_window_bytes: u64,
    /// The same for the connection.
    pub receive_window_bytes: u64,
    /// Neither window grows beyond this.
    pub max_receive_window_bytes: u64,
    /// Nor a stream's beyond this.
    pub max_stream_window_bytes: u64,
    /// By how much the windows of all streams together may grow. Where `max_streams` first windows and
    /// this fit into half of `receive_window_bytes`, a stream that nobody reads never holds up another one.
    pub stream_growth_bytes: u64,
    /// How the windows grow from the first size towards their limits.
    pub flow_control: FlowControl,
    /// Bytes that may wait for acknowledgement or sending, all streams together.
    pub send_buffer_bytes: u64,
    /// New bytes of one stream that leave before the next stream has its turn; `u64::MAX`: all that it
    /// has, so that what was asked for first is complete first.
    pub turn_bytes: u64,
    /// Streams of each kind that the peer may have open.
    pub max_streams: u64,
    /// Longest DATAGRAM that is taken; 0: none. As many as fit in 1 MiB wait to be read.
    pub max_datagram_bytes: u64,
    /// Silence after which the connection ends; zero: never.
    pub idle_timeout: Duration,
    /// Client: while it has a stream to read, a path that is silent for this long is asked for a
    /// sign of life. That shows the server the address that a NAT has given the path meanwhile, and
    /// the client that the path is dark. Zero: never.
    pub keep_alive: Duration,
    /// Whose path acknowledgements take.
    pub ack_path: AckPath,
    /// What is sent again.
    pub reinjection: Reinjection,
    /// Pacing in steps of this length: what falls due within may leave at once, as one batch. Zero:
    /// one packet after the other, ten at most at once. For drivers whose timers and sockets cost
    /// time.
    pub pacing_grain: Duration,
    /// Which pacers wake the end when it has data to send.
    pub pacing_timer: PacingTimer,
    /// Explicit congestion notification: marks of the network count as congestion. Whoever sends the
    /// datagrams then marks those ECT(0) that leave on a path of which [`crate::Endpoint::marks_ecn`]
    /// says so.
    pub ecn: bool,
    /// Server: what the token of the client's first packet said ([`crate::Retry::check`]), if it
    /// was asked for one. Its address counts as proven.
    pub retried: Option<Retried>,
    /// Key of the stateless reset tokens, which is secret: whoever has it can answer for an end that
    /// lost its state ([`crate::stateless_reset`]). Zeroes: the connection draws its own.
    pub reset_key: [u8; 32],
}

impl Config {
    /// Defaults for bulk transfers over several paths.
    pub fn new(role: Role) -> Self {
        Self {
            role,
            congestion: Algorithm::Cubic.into(),
            datagram_bytes: 1200,
            most_datagram_bytes: 0,
            max_paths: 4,
            stream_window_bytes: 16 << 20,
            receive_window_bytes: 32 << 20,
            max_receive_window_bytes: 450_000_000,
            max_stream_window_bytes: u64::MAX,
            stream_growth_bytes: u64::MAX,
            flow_control: FlowControl::Rounds,
            send_buffer_bytes: 64 << 20,
            turn_bytes: u64::MAX,
            max_streams: 256,
            max_datagram_bytes: 65_535,
            idle_timeout: Duration::from_secs(30),
            keep_alive: Duration::from_secs(1),
            ack_path: AckPath::Same,
            reinjection: Reinjection::default(),
            pacing_grain: Duration::ZERO,
            pacing_timer: PacingTimer::Every,
            ecn: false,
            retried: None,
            reset_key: [0; 32],
        }
    }

    /// Which end it is.
    pub(crate) fn is_client(&self) -> bool {
        matches!(self.role, Role::Client { .. })
    }
}
