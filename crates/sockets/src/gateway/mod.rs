//! Any program's TCP connections over multipath QUIC.
//!
//! The client's side ([`Doors`]) listens on TCP addresses of its own machine and opens one
//! bidirectional stream for each connection that it accepts; the server's side ([`Gateway`]) connects
//! each stream to an origin by TCP. A stream names one of the server's configured origins, and nothing
//! else is ever connected.
//!
//! What a stream begins with: one byte with the length of the origin's name, then the name; length 0:
//! the first origin. Then the bytes of TCP, both ways. TCP's FIN is the stream's, RST is RESET_STREAM
//! with STOP_SENDING.
//!
//! **How much is held.** A side reads from TCP what the peer's window for the stream admits, and as much
//! as is in flight beyond what is in flight: two bandwidth-delay products. What the other end of TCP does
//! not take stays in the stream, whose window then closes. The windows of all streams fit into half of
//! the connection's, so a player that stopped holds up no other one.

mod doors;
mod origins;
mod server;
mod splice;
mod splices;

pub use doors::{Connect, Door, Doors, Passing};
pub use origins::{Origin, Origins};
pub use server::Gateway;

use std::net::{IpAddr, SocketAddr};
use units::Duration;

/// The protocol of gateways (RFC 7301).
pub const GATEWAY: &[u8] = b"skyweave-gateway/1";

/// TCP connections of one client.
const MOST_CONNECTIONS: usize = 256;
/// How often the caller hears of what happens, and is asked whether to go on.
const LOOK: Duration = Duration::from_millis(100);

/// Why a stream was given up.
mod code {
    /// The TCP connection broke.
    pub const BROKEN: u64 = 0x1;
    /// The stream did not begin as it should.
    pub const BAD_OPENING: u64 = 0x400;
    /// The server has no origin of that name.
    pub const NO_SUCH_ORIGIN: u64 = 0x404;
    /// The origin does not answer, or refuses.
    pub const UNREACHABLE: u64 = 0x502;
    /// The server has no descriptor left.
    pub const BUSY: u64 = 0x503;
}

/// What the code of a stream says.
fn words(code: u64) -> String {
    match code {
        code::BROKEN => "the other end of it broke off".into(),
        code::NO_SUCH_ORIGIN => "the gateway has no such origin".into(),
        code::UNREACHABLE => "the gateway cannot reach the origin".into(),
        code::BUSY => "the gateway is busy; try again later".into(),
        code => format!("it was given up with code {code:#x}"),
    }
}

/// Why a splice ended before its time.
fn why(end: splice::End) -> Option<String> {
    match end {
        splice::End::Complete => None,
        splice::End::Broken => Some("its TCP connection broke".into()),
        splice::End::GivenUp(code) => Some(words(code)),
        splice::End::Lost => Some("the connection to the other side ended".into()),
    }
}

/// What happened at either side, for whoever watches it; the address is the other end's: at the server
/// the client's, at the client the player's, and for the connection itself the server's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passed {
    /// A connection between both sides is there.
    Opened(SocketAddr),
    /// A client has a further path now, from this address.
    Path(SocketAddr, IpAddr),
    /// A TCP connection passes to this origin.
    Begun(SocketAddr, String),
    /// A TCP connection to this origin could not begin: why.
    Refused(SocketAddr, String, String),
    /// A TCP connection ended: its origin, the bytes towards it and from it, and why before its time.
    Ended(SocketAddr, String, [u64; 2], Option<String>),
    /// The connection between both sides ended, how.
    Closed(SocketAddr, String),
    /// The queue of the watcher was full: the number of events dropped since the last one it got.
    Missed(u64),
}

/// Windows of one side: that of each stream at first and at most, and by how much all together grow.
struct Windows {
    stream: u64,
    most: u64,
    growth: u64,
}

/// A server holds at most 4 + 12 MiB of what a client sends.
const SERVER: Windows = Windows { stream: 16 << 10, most: 4 << 20, growth: 12 << 20 };
/// A client holds at most 16 + 112 MiB of what its server sends.
const CLIENT: Windows = Windows { stream: 64 << 10, most: 8 << 20, growth: 112 << 20 };

/// Bounds what a side of a gateway holds for its peer, such that no stream holds up another.
pub fn bound_for_gateway(config: &mut mpquic::Config) {
    let is_client = matches!(config.role, mpquic::Role::Client { .. });
    let windows = if is_client { CLIENT } else { SERVER };
    config.stream_window_bytes = windows.stream;
    config.max_stream_window_bytes = windows.most;
    config.stream_growth_bytes = windows.growth;
    config.receive_window_bytes = 2 * (MOST_CONNECTIONS as u64 * windows.stream + windows.growth);
    config.max_receive_window_bytes = config.receive_window_bytes;
    config.turn_bytes = splice::TURN_BYTES;
    // Only clients open streams.
    config.max_streams = if is_client { 0 } else { MOST_CONNECTIONS as u64 };
    config.max_datagram_bytes = 0;
}
