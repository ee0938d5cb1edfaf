//! What users choose, as JSON of the Python side.

use crate::error::SocketError;
use mpquic::{AckPath, Config, Reinjection, Role};
use serde::Deserialize;
use std::path::PathBuf;
use units::Duration;

/// Smallest and largest datagram that can be chosen (RFC 9000 §14, and what UDP over IPv6 carries).
const DATAGRAM_BYTES: std::ops::RangeInclusive<usize> = 1200..=65_000;

/// kGranularity of RFC 9002 §6.1.2: timers and wake-ups are no finer.
pub(crate) const PACING_GRAIN: Duration = Duration::from_millis(1);

/// How a connection behaves.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Which path carries the next packet of data.
    pub scheduler: scheduler::Choice,
    /// Congestion control of each path.
    pub congestion: congestion::Choice,
    /// Which path carries acknowledgements.
    pub ack_path: AckPath,
    /// What is sent again on suspicion.
    pub reinjection: Reinjection,
    /// UDP payload of a full packet.
    pub datagram_bytes: usize,
    /// Longest that each path is asked for; not above `datagram_bytes`: none is.
    pub most_datagram_bytes: usize,
    /// Paths at a time; 1: no multipath.
    pub max_paths: u32,
    /// Explicit congestion notification.
    pub ecn: bool,
    /// Silence after which the connection is over.
    pub idle_timeout_s: f64,
    /// Bytes that may wait for acknowledgement.
    pub send_buffer_bytes: u64,
    /// Window that the receiver offers at first, and at most.
    pub receive_window_bytes: u64,
    /// See there.
    pub max_receive_window_bytes: u64,
    /// Folder for a qlog file of each connection.
    pub qlog: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            scheduler: scheduler::Algorithm::MinRtt.into(),
            congestion: congestion::Algorithm::Cubic.into(),
            ack_path: AckPath::Same,
            reinjection: Reinjection::default(),
            datagram_bytes: 1200,
            most_datagram_bytes: 0,
            // More than a client has interfaces: one that comes back takes a new path ID at once.
            max_paths: 8,
            ecn: true,
            idle_timeout_s: 60.0,
            send_buffer_bytes: 16 << 20,
            receive_window_bytes: 16 << 20,
            max_receive_window_bytes: 64 << 20,
            qlog: None,
        }
    }
}

impl Options {
    /// The configuration of an endpoint.
    ///
    /// # Errors
    /// Values that make no sense.
    pub fn config(&self, role: Role) -> Result<Config, SocketError> {
        let (least, most) = (DATAGRAM_BYTES.start(), DATAGRAM_BYTES.end());
        let longest = self.most_datagram_bytes.max(self.datagram_bytes);
        for got in [self.datagram_bytes, longest] {
            if DATAGRAM_BYTES.contains(&got) {
                continue;
            }
            let say = format!("datagrams of {got} bytes cannot be; take {least} to {most}");
            return Err(SocketError::Config(say));
        }
        let idle_timeout = Duration::try_from_secs_f64(self.idle_timeout_s)
            .map_err(|error| SocketError::Config(format!("idle timeout: {error}")))?;
        let mut config = Config::new(role);
        config.congestion = self.congestion.clone();
        config.ack_path = self.ack_path;
        config.reinjection = self.reinjection;
        config.datagram_bytes = self.datagram_bytes;
        config.most_datagram_bytes = self.most_datagram_bytes;
        config.max_paths = self.max_paths.max(1);
        config.ecn = self.ecn;
        config.pacing_grain = PACING_GRAIN;
        config.idle_timeout = idle_timeout;
        config.send_buffer_bytes = self.send_buffer_bytes;
        config.stream_window_bytes = self.receive_window_bytes;
        config.receive_window_bytes = self.receive_window_bytes;
        config.max_receive_window_bytes = self.max_receive_window_bytes;
        Ok(config)
    }
}
