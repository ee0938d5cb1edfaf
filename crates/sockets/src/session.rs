//! What an application does with a connection.

use crate::socket::Route;
use mpquic::{Endpoint, Event, PathStats};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use units::{Instant, PathId};

/// Whether there is more to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Call again when something happened.
    Working,
    /// Close the connection with this code; everything that matters was acknowledged.
    Done(u64),
}

/// What a driver reports beside the endpoint's own events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A path carries data.
    PathUp(String),
    /// A path is gone for now, and why.
    PathDown(String, String),
    /// The peer speaks no multipath: the connection has this path only.
    OnePath(String),
    /// The connection ended, for this reason, and another one is tried.
    Again(String),
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
    /// What the endpoint counted; `None` when it never was a path.
    pub stats: Option<PathStats>,
    /// It is one now.
    pub open: bool,
    /// UDP payload that came here, of all that the path ever was.
    pub received_bytes: u64,
}

/// The addresses of both ends of a path.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// Ours, if known.
    pub local: Option<IpAddr>,
    /// The peer's.
    pub remote: IpAddr,
}

/// An application's part in one connection. Everything is called from the driver's thread.
pub trait Session: Send {
    /// Something happened: `events` since the last call, datagrams or timers.
    fn work(&mut self, now: Instant, endpoint: &mut Endpoint, events: &[Event]) -> Status;

    /// Becomes readable when there is work that the connection does not know of: [`Session::work`] is
    /// called then.
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// There is something to write, and the connection has room for it: [`Session::work`] is called
    /// before anything is waited for.
    fn has_more(&self, _endpoint: &Endpoint) -> bool {
        false
    }

    /// When [`Session::look`] is to be called next.
    fn due(&self) -> Instant {
        Instant::FAR_FUTURE
    }

    /// A look at the paths at [`Session::due`]; the last one, if it is due, when all is over.
    fn look(&mut self, _now: Instant, _paths: &[PathReport]) -> Status {
        Status::Working
    }

    /// Since when the peer has asked for nothing; `None`: something is under way. A server without a
    /// free place closes the one that is idle the longest.
    fn idle_since(&self) -> Option<Instant> {
        None
    }

    /// A path carries data now: `net` is what the endpoint calls it.
    fn on_path(&mut self, _endpoint: &mut Endpoint, _net: PathId, _ends: Ends) {}

    /// Something that a person may want to know.
    fn notice(&mut self, _notice: Notice) {}
}

impl PathReport {
    pub(crate) fn of_route(
        route: Route,
        port: u16,
        (stats, open): (Option<PathStats>, bool),
        received_bytes: u64,
    ) -> Self {
        let route = route.canonical();
        let local = route.local.map(|ip: IpAddr| SocketAddr::new(ip, port));
        let (name, remote) = (route.remote.to_string(), route.remote);
        Self { name, local, remote, stats, open, received_bytes }
    }
}
