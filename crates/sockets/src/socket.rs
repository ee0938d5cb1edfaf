//! One UDP socket: batches out by GSO, batches in by GRO and `recvmmsg`.

use crate::error::SocketError;
use crate::interfaces::Local;
use mpquic::Ecn;
use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use rustix::io::Errno;
use rustix::net::sockopt;
use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Longest UDP payload, and so the longest GSO batch and the longest that GRO hands over.
const MAX_BATCH_BYTES: usize = 65_000;
const RECEIVE_BYTES: usize = 65_535;
/// Messages that one `recvmmsg` takes; with GRO each has up to [`RECEIVE_BYTES`].
const RECEIVE_MESSAGES: usize = 2;
/// Calls of `recvmmsg` in one turn of a driver, after which it sends: acknowledgements of many connections
/// share a turn.
pub(crate) const TURN_RECEIVES: usize = 32;
/// Bytes received in one turn: acknowledgements leave before a sender's whole window has been read, else the
/// sender would idle meanwhile, and the receiver while the next window is sent.
pub(crate) const TURN_BYTES: u64 = 128 << 10;
/// Kernel buffers: about a millisecond of 10 Gbit/s and the pauses of a busy machine beside it.
const BUFFER_BYTES: usize = 4 << 20;
/// Batches that wait for a socket that takes no more; beyond, datagrams are lost as in a full queue.
const MAX_WAITING: usize = 64;

/// Whom a datagram goes to, and from which of our addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Route {
    pub remote: SocketAddr,
    /// `None`: the socket's own.
    pub local: Option<IpAddr>,
}

impl Route {
    /// The addresses as people and forecasts name them: a socket for both families writes IPv4 as
    /// IPv4 in IPv6.
    pub fn canonical(self) -> Self {
        let remote = SocketAddr::new(self.remote.ip().to_canonical(), self.remote.port());
        Self { remote, local: self.local.map(|local| local.to_canonical()) }
    }
}

/// Consecutive datagrams of one size; the last may be shorter.
#[derive(Debug)]
struct Batch {
    route: Route,
    ecn: Option<Ecn>,
    segment: usize,
    bytes: Vec<u8>,
    count: usize,
    closed: bool,
}

/// What became of a batch.
enum Fate {
    Gone,
    Waits,
    /// The local end of the path is no more.
    NoPath(io::Error),
}

/// Space that datagrams are received into; one for all sockets of a driver.
pub(crate) struct Space {
    bytes: Vec<Vec<u8>>,
}

impl Space {
    pub fn new() -> Self {
        Self { bytes: vec![vec![0; RECEIVE_BYTES]; RECEIVE_MESSAGES] }
    }

    /// One without room, to stand in for another.
    pub fn empty() -> Self {
        Self { bytes: Vec::new() }
    }
}

/// What the kernel has of a socket.
#[derive(Debug)]
pub(crate) struct Io {
    socket: UdpSocket,
    state: UdpSocketState,
    /// The other end's machine said that nobody listens there.
    refused: AtomicBool,
}

/// A socket and what waits to be sent.
#[derive(Debug)]
pub(crate) struct Socket {
    io: Arc<Io>,
    open: Vec<Batch>,
    waiting: VecDeque<Batch>,
    spare: Vec<Vec<u8>>,
}

impl Socket {
    /// A socket that listens on `address`.
    pub fn listen(address: SocketAddr) -> Result<Self, SocketError> {
        let refused = |error| SocketError::Bind {
            address: address.to_string(),
            reason: reason(&error, "another program uses that port; take another one"),
        };
        let socket = new(address).map_err(refused)?;
        if let SocketAddr::V6(v6) = address
            && v6.ip().is_unspecified()
        {
            socket.set_only_v6(false).map_err(refused)?;
        }
        socket.bind(&address.into()).map_err(refused)?;
        Self::over(socket).map_err(refused)
    }

    /// A socket for a path from `local` to `remote`; `port` 0: any.
    pub fn connect(local: &Local, remote: SocketAddr, port: u16) -> Result<Self, SocketError> {
        let source = local.source(remote)?;
        let refused = |error| SocketError::Bind {
            address: local.to_string(),
            reason: reason(&error, "is that an address of this machine?"),
        };
        let any: IpAddr = match remote {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let address = SocketAddr::new(source.unwrap_or(any), port);
        let socket = new(address).map_err(refused)?;
        if let Local::Interface(name) = local
            && let Err(error) = socket.bind_device(Some(name.as_bytes()))
            && error.raw_os_error() != Some(Errno::PERM.raw_os_error())
        {
            return Err(refused(error)); // not permitted: its address alone has to do
        }
        socket.bind(&address.into()).map_err(refused)?;
        // A connected socket hears that nobody listens there (ICMP), but keeps its source: one that takes
        // the default route, whichever that is, does without. So does one that has no route yet.
        if *local != Local::Any {
            socket.connect(&remote.into()).ok();
        }
        Self::over(socket).map_err(refused)
    }

    /// Whether the kernel has a route from `local` to `remote` now; nothing is sent.
    pub fn check_route(&self, local: &Local, remote: SocketAddr) -> Result<(), SocketError> {
        let probe = || -> io::Result<()> {
            let socket = new(remote)?;
            if let Local::Interface(name) = local {
                socket.bind_device(Some(name.as_bytes())).ok(); // its address alone may have to do
            }
            if let Some(own) = self.local_addr() {
                socket.bind(&SocketAddr::new(own.ip(), 0).into())?;
            }
            socket.connect(&remote.into())
        };
        let address = local.to_string();
        probe().map_err(|error| SocketError::Bind { address, reason: error.to_string() })
    }

    fn over(socket: socket2::Socket) -> io::Result<Self> {
        let socket: UdpSocket = socket.into();
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        enlarge(&socket, &state);
        let (open, waiting, spare) = (Vec::new(), VecDeque::new(), Vec::new());
        let io = Io { socket, state, refused: AtomicBool::new(false) };
        Ok(Self { io: Arc::new(io), open, waiting, spare })
    }

    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.io.socket.local_addr().ok()
    }

    /// For `poll`.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.io.socket.as_fd()
    }

    /// The receiving side, apart from what waits to be sent.
    pub fn io(&self) -> Arc<Io> {
        self.io.clone()
    }

    /// The kernel takes no more at present.
    pub fn is_blocked(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Puts a datagram behind those of the same route. An error: the path's local end is gone.
    pub fn queue(&mut self, route: Route, datagram: &[u8], ecn: Option<Ecn>) -> io::Result<()> {
        let most = self.io.state.max_gso_segments().max(1);
        let place = self.open.iter().position(|batch| batch.route == route);
        let place = match place {
            Some(place) if self.open[place].takes(datagram.len(), ecn, most) => place,
            Some(place) => {
                let full = std::mem::replace(
                    &mut self.open[place],
                    Batch::new((route, ecn), datagram.len(), self.spare.pop()),
                );
                self.post(full)?;
                place
            }
            None => {
                let batch = Batch::new((route, ecn), datagram.len(), self.spare.pop());
                self.open.push(batch);
                self.open.len() - 1
            }
        };
        self.open[place].push(datagram);
        Ok(())
    }

    /// Sends what was queued, as far as the kernel takes it. An error: the path's end is gone.
    pub fn flush(&mut self) -> io::Result<()> {
        let mut result = Ok(());
        while let Some(batch) = self.waiting.pop_front() {
            match self.send(&batch) {
                Fate::Waits => {
                    self.waiting.push_front(batch);
                    break;
                }
                Fate::Gone => self.reuse(batch),
                Fate::NoPath(error) => {
                    self.reuse(batch);
                    result = Err(error);
                }
            }
        }
        while let Some(batch) = self.open.pop() {
            if let Err(error) = self.post(batch) {
                result = Err(error);
            }
        }
        result
    }

    fn post(&mut self, batch: Batch) -> io::Result<()> {
        let fate = if self.waiting.is_empty() { self.send(&batch) } else { Fate::Waits };
        match fate {
            Fate::Waits if self.waiting.len() < MAX_WAITING => self.waiting.push_back(batch),
            Fate::Waits | Fate::Gone => self.reuse(batch), // or lost, as in a full queue
            Fate::NoPath(error) => {
                self.reuse(batch);
                return Err(error);
            }
        }
        Ok(())
    }

    fn reuse(&mut self, batch: Batch) {
        if self.spare.len() < 8 {
            self.spare.push(batch.bytes);
        }
    }

    fn send(&self, batch: &Batch) -> Fate {
        let transmit = Transmit {
            destination: batch.route.remote,
            ecn: batch.ecn.map(codepoint),
            contents: &batch.bytes,
            segment_size: (batch.count > 1).then_some(batch.segment),
            src_ip: batch.route.local,
        };
        match self.io.state.try_send(UdpSockRef::from(&self.io.socket), &transmit) {
            Ok(()) => Fate::Gone,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Fate::Waits,
            Err(error) if is_gone(&error) => Fate::NoPath(error),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                self.io.refused.store(true, Ordering::Relaxed); // said of what was sent before
                Fate::Gone
            }
            // Too long for the path, refused by a filter, no memory, GSO that the device cannot
            // (quinn-udp then goes without): lost, as packets are.
            Err(_) => Fate::Gone,
        }
    }
}

impl Io {
    /// Whether the other end's machine said since the last call that nobody listens there. Anybody who
    /// knows both addresses and ports can say so: it is a sign, and no proof.
    pub fn take_refused(&self) -> bool {
        self.refused.swap(false, Ordering::Relaxed)
    }

    /// Receives one round of messages and hands each datagram over: false when there is no more.
    pub fn receive(
        &self,
        space: &mut Space,
        mut take: impl FnMut(Route, Option<Ecn>, &mut [u8]),
    ) -> bool {
        let mut meta = [RecvMeta::default(); RECEIVE_MESSAGES];
        let mut slices: Vec<IoSliceMut<'_>> =
            space.bytes.iter_mut().map(|bytes| IoSliceMut::new(bytes)).collect();
        let count = self.state.recv(UdpSockRef::from(&self.socket), &mut slices, &mut meta);
        let count = match count {
            Ok(count) => count,
            Err(error) => {
                let refused = error.kind() == io::ErrorKind::ConnectionRefused;
                self.refused.fetch_or(refused, Ordering::Relaxed);
                return refused; // behind the error there may be more
            }
        };
        for (meta, bytes) in meta[..count].iter().zip(&mut slices) {
            let route = Route { remote: meta.addr, local: meta.dst_ip };
            let bytes = &mut bytes[..meta.len];
            for datagram in bytes.chunks_mut(meta.stride.max(1)) {
                take(route, meta.ecn.map(mark), datagram);
            }
        }
        count == RECEIVE_MESSAGES
    }
}

impl Batch {
    fn new((route, ecn): (Route, Option<Ecn>), segment: usize, spare: Option<Vec<u8>>) -> Self {
        let mut bytes = spare.unwrap_or_default();
        bytes.clear();
        Self { route, ecn, segment, bytes, count: 0, closed: false }
    }

    fn takes(&self, len: usize, ecn: Option<Ecn>, most: usize) -> bool {
        !self.closed
            && self.ecn == ecn
            && len <= self.segment
            && self.count < most
            && self.bytes.len() + len <= MAX_BATCH_BYTES
    }

    fn push(&mut self, datagram: &[u8]) {
        self.bytes.extend_from_slice(datagram);
        self.count += 1;
        self.closed = datagram.len() < self.segment;
    }
}

fn new(address: SocketAddr) -> io::Result<socket2::Socket> {
    let domain = socket2::Domain::for_address(address);
    socket2::Socket::new(domain, socket2::Type::DGRAM, Some(socket2::Protocol::UDP))
}

/// Larger kernel buffers; beyond the limit of ordinary users when it is permitted.
fn enlarge(io: &UdpSocket, state: &UdpSocketState) {
    if sockopt::set_socket_recv_buffer_size_force(io, BUFFER_BYTES).is_err() {
        let _ = state.set_recv_buffer_size(UdpSockRef::from(io), BUFFER_BYTES); // as far as it goes
    }
    let _ = state.set_send_buffer_size(UdpSockRef::from(io), BUFFER_BYTES);
}

/// The local end of a path is no more: its interface went, is down, or lost its address or route.
fn is_gone(error: &io::Error) -> bool {
    let gone = [
        Errno::NODEV,
        Errno::NXIO,
        Errno::NETDOWN,
        Errno::NETUNREACH,
        Errno::HOSTUNREACH,
        Errno::ADDRNOTAVAIL,
    ];
    gone.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

pub(crate) fn reason(error: &io::Error, in_use: &str) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable => format!("{error}; {in_use}"),
        io::ErrorKind::PermissionDenied => {
            format!("{error}; ports below 1024 need root, take a higher one")
        }
        _ => error.to_string(),
    }
}

fn codepoint(ecn: Ecn) -> EcnCodepoint {
    match ecn {
        Ecn::Ect0 => EcnCodepoint::Ect0,
        Ecn::Ect1 => EcnCodepoint::Ect1,
        Ecn::Ce => EcnCodepoint::Ce,
    }
}

fn mark(ecn: EcnCodepoint) -> Ecn {
    match ecn {
        EcnCodepoint::Ect0 => Ecn::Ect0,
        EcnCodepoint::Ect1 => Ecn::Ect1,
        EcnCodepoint::Ce => Ecn::Ce,
    }
}
