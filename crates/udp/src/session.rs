//! What an application does with a connection.

use crate::socket::Route;
use mpquic::{Endpoint, Event, PathStats};
use std::net::{IpAddr, SocketAddr};
use units::Instant;

/// Whether there is more to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Call again when something happened.
    Working,
    /// Close the connection with this code; everything that matters was acknowledged.
    Done(u64),
}

/// What a driver tells beside the endpoint's own events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A path carries data.
    PathUp(String),
    /// A path is gone for now, and why.
    PathDown(String, String),
    /// The peer speaks no multipath: the connection has this path only.
    OnePath(String),
}

/// One path as a driver knows it.
#[derive(Clone, Debug)]
pub struct PathReport {
    /// Name of the interface, or the peer's address at a server.
    pub name: String,
    /// Our address and port.
    pub local: Option<SocketAddr>,
    /// The peer's.
    pub remote: SocketAddr,
    /// What the endpoint says of it; `None` when it is not open.
    pub stats: Option<PathStats>,
    /// UDP payload that came here, of all that the path ever was.
    pub received_bytes: u64,
}

/// An application's part in one connection. Everything is called from the driver's thread.
pub trait Session {
    /// Something happened: `events` since the last call, datagrams or timers.
    fn work(&mut self, now: Instant, endpoint: &mut Endpoint, events: &[Event]) -> Status;

    /// When [`Session::look`] is to be called next.
    fn due(&self) -> Instant {
        Instant::FAR_FUTURE
    }

    /// A look at the paths at [`Session::due`]: false ends the connection.
    fn look(&mut self, _now: Instant, _paths: &[PathReport]) -> bool {
        true
    }

    /// Something that a person may want to know.
    fn notice(&mut self, _notice: Notice) {}
}

impl PathReport {
    pub(crate) fn of_route(
        route: Route,
        port: u16,
        stats: Option<PathStats>,
        received_bytes: u64,
    ) -> Self {
        let local = route.local.map(|ip: IpAddr| SocketAddr::new(ip, port));
        Self { name: route.remote.to_string(), local, remote: route.remote, stats, received_bytes }
    }
}
