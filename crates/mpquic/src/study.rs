//! The configuration of an endpoint out of a study's connection: one for both engines.

use crate::{AckPath, Config, FlowControl, PacingTimer, Reinjection, Role};
use congestion::Choice;
use serde::{Deserialize, Serialize};
use units::Duration;

/// Window at first where it grows by itself (`autotune`): about that of a new TCP connection.
const FIRST_WINDOW_BYTES: u64 = 131_072;
/// The same where windows triple: picoquic's, of a connection and of a stream (`quicctx.c`,
/// `initial_max_data` and `initial_max_stream_data_bidi_local`).
const FIRST_TRIPLED_BYTES: (u64, u64) = (0x10_0000, 0x20_0000);
/// Smallest and largest datagram: RFC 9000 §14, and what UDP over IPv4 carries.
const DATAGRAM_BYTES: std::ops::RangeInclusive<usize> = 1200..=65_507;

/// What only multipath QUIC decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuicConfig {
    /// Which path carries acknowledgements.
    pub ack_path: AckPath,
    /// What is retransmitted on another path beyond what is known to be lost.
    pub reinjection: Reinject,
    /// UDP payload of a full packet.
    pub datagram_bytes: usize,
    /// How receive windows grow.
    pub flow_control: FlowControl,
    /// Which pacers wake a sender.
    pub pacing_timer: PacingTimer,
}

impl Default for QuicConfig {
    fn default() -> Self {
        Self {
            ack_path: AckPath::Same,
            reinjection: Reinject::All,
            datagram_bytes: 1440,
            flow_control: FlowControl::Rounds,
            pacing_timer: PacingTimer::Every,
        }
    }
}

impl QuicConfig {
    /// The size of its datagrams is one that QUIC can send.
    pub fn is_possible(&self) -> bool {
        DATAGRAM_BYTES.contains(&self.datagram_bytes)
    }
}

/// [`Reinjection`] in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reinject {
    /// Nothing.
    None,
    /// The flight of a path that fell silent.
    Failure,
    /// A slower path's rest when nothing is left to send.
    Tail,
    /// Both.
    All,
}

impl From<Reinject> for Reinjection {
    fn from(word: Reinject) -> Self {
        Self {
            on_failure: matches!(word, Reinject::Failure | Reinject::All),
            at_tail: matches!(word, Reinject::Tail | Reinject::All),
        }
    }
}

/// A connection as a study describes it, as far as its endpoints are concerned.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyConnection {
    /// Congestion control of each path.
    pub congestion: Choice,
    /// What only multipath QUIC decides.
    pub quic: QuicConfig,
    /// Bytes that may wait for acknowledgement or sending.
    pub send_buffer_bytes: u64,
    /// Window that the receiver offers, at most.
    pub receive_buffer_bytes: u64,
    /// The window begins small and grows to that.
    pub autotune: bool,
    /// Paths that it may have at a time.
    pub paths: usize,
}

impl StudyConnection {
    /// The configuration of either end.
    pub fn config(&self, role: Role) -> Config {
        let window = self.receive_buffer_bytes;
        let (first, first_of_stream) = match self.quic.flow_control {
            FlowControl::Tripled => FIRST_TRIPLED_BYTES,
            FlowControl::Rounds if self.autotune => (FIRST_WINDOW_BYTES, FIRST_WINDOW_BYTES),
            FlowControl::Rounds => (window, window),
        };
        let mut config = Config::new(role);
        config.congestion = self.congestion.clone();
        config.datagram_bytes = self.quic.datagram_bytes;
        // Twice: an abandoned path keeps its ID for some time.
        config.max_paths = 2 * self.paths as u32 + 2;
        config.stream_window_bytes = first_of_stream.min(window);
        config.receive_window_bytes = first.min(window);
        config.flow_control = self.quic.flow_control;
        config.pacing_timer = self.quic.pacing_timer;
        config.max_receive_window_bytes = window;
        config.send_buffer_bytes = self.send_buffer_bytes;
        config.idle_timeout = Duration::ZERO; // as TCP: an outage of any length ends nothing
        config.ack_path = self.quic.ack_path;
        config.reinjection = self.quic.reinjection.into();
        config
    }
}
