use crate::error::TransportError;
use units::PathId;

/// What an endpoint reports to its application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete; data can be sent.
    Connected,
    /// The peer has confirmed the handshake (RFC 9001 §4.1.2).
    Confirmed,
    /// Both ends speak multipath.
    MultipathNegotiated,
    /// The peer does not: the connection stays on one path.
    NoMultipath,
    /// The peer opened a stream.
    StreamOpened(u64),
    /// A stream has data, its end, or its reset to read.
    Readable(u64),
    /// Everything of a finished stream was acknowledged.
    Sent(u64),
    /// The peer does not want more of a stream; it was reset with this code.
    Stopped(u64, u64),
    /// The peer allows more streams (bidirectional: true).
    StreamsAvailable(bool),
    /// A DATAGRAM came.
    DatagramReceived,
    /// A path was validated and carries data.
    PathEstablished(PathId),
    /// A path was silent for too long: its data goes elsewhere until it answers again.
    PathFailed(PathId),
    /// Server: the peer's packets of a path come another way now, from the first to the second, and
    /// it has answered there: what leaves goes there, too.
    PathMoved(PathId, PathId),
    /// A failed path answered.
    PathRevived(PathId),
    /// The peer calls a path backup (true) or available.
    PathStatus(PathId, bool),
    /// Client: the peer lets us open a further path.
    PathLimitsRaised,
    /// A path is gone; the error code says who why.
    PathAbandoned(PathId, u64),
    /// The keys were updated (RFC 9001 §6).
    KeysUpdated,
    /// The connection is over.
    Closed(Closed),
}

/// How a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Closed {
    /// By this application.
    Local,
    /// By an error found here.
    Error(TransportError),
    /// By the peer's transport: error code and reason.
    PeerTransport(u64, String),
    /// By the peer's application: error code and reason.
    PeerApplication(u64, String),
    /// Nothing was heard for too long.
    IdleTimeout,
    /// The peer lost its state (RFC 9000 §10.3).
    StatelessReset,
    /// The server speaks none of our versions.
    VersionMismatch,
}
