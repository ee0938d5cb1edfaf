//! A path of a client: its interface, and the sockets that it has one after the other.

use crate::error::SocketError;
use crate::interfaces::Local;
use crate::socket::Socket;
use std::net::SocketAddr;
use units::{Duration, Instant, PathId};

/// Between the first and the last refusal of packets to a server that is gone.
const REFUSED: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(crate) struct Lane {
    pub local: Local,
    /// The server's address that it talks to.
    pub remote: SocketAddr,
    /// All that the server has: one of the other family may be the only one that it reaches.
    remotes: Vec<SocketAddr>,
    pub socket: Option<Socket>,
    /// The endpoint's path over the present socket.
    pub net: Option<PathId>,
    /// The one before.
    pub last: Option<PathId>,
    /// Former ones that could not be given up yet, because they were the last.
    pub old: Vec<PathId>,
    /// Sending said that the local end is no more.
    pub gone: bool,
    pub received_bytes: u64,
    /// When its packets were refused, first and last, since anything came.
    refused: Option<(Instant, Instant)>,
    /// Address and port of the last socket.
    former: Option<SocketAddr>,
}

impl Lane {
    pub fn new(local: Local, remote: SocketAddr, remotes: Vec<SocketAddr>) -> Self {
        Self {
            local,
            remote,
            remotes,
            socket: None,
            net: None,
            last: None,
            old: Vec::new(),
            gone: false,
            received_bytes: 0,
            refused: None,
            former: None,
        }
    }

    /// A new socket, from any port.
    pub fn dial(&mut self) -> Result<Socket, SocketError> {
        let reaches = |remote: &&SocketAddr| self.local.source(**remote).is_ok();
        if !reaches(&&self.remote) {
            self.remote = self.remotes.iter().find(reaches).copied().unwrap_or(self.remote);
        }
        let socket = Socket::connect(&self.local, self.remote, 0)?;
        socket.check_route(&self.local, self.remote)?;
        Ok(socket)
    }

    /// Notes `bytes` received, and whether the peer's host refused packets (ECONNREFUSED).
    pub fn hear(&mut self, now: Instant, bytes: u64) {
        self.received_bytes += bytes;
        let refused = self.socket.as_ref().is_some_and(|socket| socket.io().take_refused());
        if bytes > 0 {
            self.refused = None;
        } else if refused {
            self.refused = Some((self.refused.map_or(now, |(first, _)| first), now));
        }
    }

    /// Nothing came, and packets were refused again and again.
    pub fn is_refused(&self) -> bool {
        self.refused.is_some_and(|(first, last)| last - first >= REFUSED)
    }

    /// Our address on it, also of the last socket that it had.
    pub fn address(&self) -> Option<SocketAddr> {
        self.former
    }

    /// The path begins over `socket`.
    pub fn begin(&mut self, socket: Socket, net: PathId) {
        self.former = socket.local_addr();
        self.old.extend(self.net.take());
        (self.socket, self.net, self.gone) = (Some(socket), Some(net), false);
        self.refused = None;
    }

    /// The path is over; another may follow.
    pub fn end(&mut self) {
        self.last = self.net.or(self.last);
        self.old.extend(self.net.take());
        (self.socket, self.gone) = (None, false);
    }

    /// The path is without a socket until it can have the same one again.
    pub fn hold(&mut self) {
        (self.socket, self.gone) = (None, false);
    }

    /// Whether there is an address to send from.
    pub fn has_a_way(&self) -> bool {
        self.remotes.iter().any(|remote| self.local.source(*remote).is_ok())
    }

    /// A path that is held gets a socket with the address and port that it had, so that nothing
    /// changes for the other end: false when it cannot.
    pub fn reopen(&mut self) -> bool {
        let Some(former) = self.former.filter(|_| self.net.is_some()) else { return false };
        let Ok(socket) = Socket::connect(&self.local, self.remote, former.port()) else {
            return false;
        };
        let same = socket.local_addr() == Some(former);
        if same {
            self.socket = Some(socket);
        }
        same
    }

    /// Whether the socket's address is no longer one that the path can send from.
    pub fn has_lost_its_address(&self) -> bool {
        let Some(own) = self.socket.as_ref().and_then(|socket| socket.local_addr()) else {
            return false;
        };
        match self.local.source(self.remote) {
            Ok(source) => self.gone || source.is_some_and(|source| source != own.ip()),
            Err(_) => true,
        }
    }
}
