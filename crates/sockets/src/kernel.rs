//! One end of a workload over the kernel's own TCP or Multipath TCP.
//!
//! The connection is the only stream. What a caller wants to know of it while it runs, it asks the
//! kernel, with [`KernelEnd::fileno`].

use crate::clock::Clock;
use crate::error::SocketError;
use application::{
    Application, MAX_FILLER_BYTES, PathStatus, Read, Row, Signal, StreamId, Streams, Workload,
    deliver,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use units::{Direction, Duration, Instant};

/// `IPPROTO_MPTCP` (include/uapi/linux/in.h).
const MPTCP: i32 = 262;
/// The only stream.
const STREAM: StreamId = StreamId(0);
/// A wait for the peer ends this soon, so that the end of time is seen.
const LONGEST_WAIT: Duration = Duration::from_millis(100);
/// Between two tries to reach the server: a device tries again as soon as it has a path.
const RETRY: Duration = Duration::from_millis(100);

/// Which of the kernel's transports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KernelTransport {
    /// TCP.
    Tcp,
    /// Multipath TCP, over the paths that the path manager of the namespace has.
    Mptcp,
}

/// One end of a workload. All times are those of `CLOCK_MONOTONIC`, which both ends share.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelPlan {
    /// TCP or Multipath TCP.
    pub transport: KernelTransport,
    /// The kernel's name of the congestion control (`TCP_CONGESTION`).
    pub congestion: String,
    /// Where the server is.
    pub server: SocketAddr,
    /// Client: the address of its first path.
    #[serde(default)]
    pub source: Option<IpAddr>,
    /// What runs.
    pub workload: Workload,
    /// Times in rows count from here.
    pub epoch_ns: u64,
    /// It is over then.
    pub end_ns: u64,
}

impl KernelPlan {
    fn end(&self) -> Instant {
        Instant::from_nanos(self.end_ns)
    }

    fn socket(&self) -> io::Result<Socket> {
        let protocol = match self.transport {
            KernelTransport::Tcp => Protocol::TCP,
            KernelTransport::Mptcp => Protocol::from(MPTCP),
        };
        let socket = Socket::new(Domain::for_address(self.server), Type::STREAM, Some(protocol))?;
        self.prepare(&socket)?;
        Ok(socket)
    }

    fn prepare(&self, socket: &Socket) -> io::Result<()> {
        socket.set_tcp_congestion(self.congestion.as_bytes())?;
        socket.set_tcp_nodelay(true) // pieces and requests leave as they are written
    }
}

/// What became of one end.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KernelReport {
    /// `CLOCK_MONOTONIC` of the moment when all that one end waited for had come; `None`: it had not.
    pub completed_ns: Option<u64>,
    /// What the application measured, in the columns of its workload.
    pub application: Vec<Row>,
}

/// A server's socket, waiting for one client.
#[derive(Debug)]
pub struct KernelListener {
    socket: Socket,
    plan: KernelPlan,
}

impl KernelListener {
    /// Listens where the plan says.
    ///
    /// # Errors
    /// An address, a transport or a congestion control that is not available.
    pub fn bind(plan: KernelPlan) -> Result<Self, SocketError> {
        let listen = || {
            let socket = plan.socket()?;
            socket.set_reuse_address(true)?;
            socket.bind(&plan.server.into())?;
            socket.listen(1)?;
            Ok(socket)
        };
        let socket = listen().map_err(|error| refused(&plan, error))?;
        Ok(Self { socket, plan })
    }

    /// Where it listens.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.socket.local_addr().ok()?.as_socket()
    }

    /// The server's end, when its client has come. `None`: none came in time. `plan` is the one that
    /// it was made with, now that its times are known.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn accept(&self, plan: KernelPlan) -> Result<Option<KernelEnd>, SocketError> {
        let clock = Clock::since(0);
        while clock.now() < plan.end() {
            if !ready(&self.socket, PollFlags::IN, clock, plan.end())?.is_empty() {
                let accepted = self.socket.accept().map(|(socket, _)| socket);
                let socket = accepted.map_err(|error| refused(&self.plan, error))?;
                return KernelEnd::new(socket, plan, false).map(Some);
            }
        }
        Ok(None)
    }
}

/// One end of a connection with its application.
#[derive(Debug)]
pub struct KernelEnd {
    streams: KernelStreams,
    application: Box<dyn Application>,
    plan: KernelPlan,
    is_client: bool,
    moved_bytes: Arc<AtomicU64>,
}

impl KernelEnd {
    /// The client's end. `None`: the server was not reached in time, and why.
    ///
    /// # Errors
    /// What the system refuses whatever the network does.
    pub fn connect(plan: KernelPlan) -> Result<Result<Self, String>, SocketError> {
        let clock = Clock::since(0);
        let mut why = "its time was over".to_owned();
        while clock.now() < plan.end() {
            let socket = plan.socket().map_err(|error| refused(&plan, error))?;
            let left = plan.end() - clock.now();
            let bound = plan
                .source
                .map_or(Ok(()), |source| socket.bind(&SocketAddr::new(source, 0).into()));
            match bound.and_then(|()| socket.connect_timeout(&plan.server.into(), left.into())) {
                Ok(()) => return Self::new(socket, plan, true).map(Ok),
                Err(error) => why = error.to_string(), // the path is down
            }
            std::thread::sleep(RETRY.min(left).into());
        }
        Ok(Err(why))
    }

    fn new(socket: Socket, plan: KernelPlan, is_client: bool) -> Result<Self, SocketError> {
        let ready = plan.prepare(&socket).and_then(|()| socket.set_nonblocking(true));
        ready.map_err(|error| refused(&plan, error))?;
        let workload = plan.workload.describe();
        let application = if is_client { workload.client() } else { workload.server() };
        let streams = KernelStreams {
            socket,
            is_blocked: false,
            is_drained: false,
            holds_back: false,
            is_finished: false,
            is_broken: false,
            read_bytes: 0,
            written_bytes: 0,
        };
        Ok(Self { streams, application, plan, is_client, moved_bytes: Arc::default() })
    }

    /// The socket, to ask the kernel about.
    pub fn fileno(&self) -> RawFd {
        self.streams.socket.as_raw_fd()
    }

    /// Bytes written by the end that sends most, or read by the other; filled while it runs.
    pub fn moved_bytes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.moved_bytes)
    }

    /// Runs the application until it is done, the peer is, or its time is over.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn run(&mut self) -> Result<KernelReport, SocketError> {
        let (clock, end) = (Clock::since(0), self.plan.end());
        let mut completed_ns = None;
        self.tell(clock.now(), Signal::Open);
        let mut now = clock.now();
        while now < end {
            self.tell(now, Signal::Timer);
            if self.application.is_done() {
                let _gone = self.streams.socket.shutdown(Shutdown::Write); // by the peer, perhaps
            }
            if self.application.is_done() || self.streams.is_finished {
                completed_ns = Some(clock.to_monotonic_ns(now));
            }
            if completed_ns.is_some() || self.streams.is_broken {
                break;
            }
            let until = self.application.poll_at().map_or(end, |at| at.min(end));
            let came = ready(&self.streams.socket, self.streams.interest(), clock, until)?;
            now = clock.now();
            self.act(now, came);
        }
        let application =
            self.application.rows(Instant::from_nanos(self.plan.epoch_ns), now.min(end));
        Ok(KernelReport { completed_ns, application })
    }

    fn act(&mut self, now: Instant, came: PollFlags) {
        if came.intersects(PollFlags::OUT) {
            self.streams.is_blocked = false;
            self.tell(now, Signal::Writable);
        }
        if came.intersects(PollFlags::IN | PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR) {
            let before = self.streams.read_bytes;
            self.streams.is_drained = false;
            self.tell(now, Signal::Readable(STREAM));
            let idle = self.streams.read_bytes == before;
            // Nothing was read: the peer has finished, or the application holds back.
            self.streams.is_broken |= idle && came.intersects(PollFlags::ERR);
            self.streams.is_finished |= idle && came.intersects(PollFlags::RDHUP);
            self.streams.holds_back = idle && !self.streams.is_drained;
        }
    }

    fn tell(&mut self, now: Instant, signal: Signal) {
        // Whatever it does now, it may read after.
        let acts = match signal {
            Signal::Timer => self.application.poll_at().is_some_and(|at| at <= now),
            _ => true,
        };
        self.streams.holds_back &= !acts;
        deliver(&mut *self.application, now, signal, &mut self.streams);
        let sends = (self.plan.workload.describe().direction() == Direction::Up) == self.is_client;
        let moved = if sends { self.streams.written_bytes } else { self.streams.read_bytes };
        self.moved_bytes.store(moved, Ordering::Relaxed);
    }
}

#[derive(Debug)]
struct KernelStreams {
    socket: Socket,
    /// A write was cut short.
    is_blocked: bool,
    /// The last read found nothing.
    is_drained: bool,
    /// The application left what is there unread, and is not asked again before it acts.
    holds_back: bool,
    /// The peer has finished: it has all that it waited for.
    is_finished: bool,
    /// The connection broke off.
    is_broken: bool,
    read_bytes: u64,
    written_bytes: u64,
}

impl KernelStreams {
    fn interest(&self) -> PollFlags {
        let mut flags = PollFlags::RDHUP;
        flags.set(PollFlags::IN, !self.holds_back);
        flags.set(PollFlags::OUT, self.is_blocked);
        flags
    }
}

impl Streams for KernelStreams {
    fn has_one_stream(&self) -> bool {
        true
    }

    fn open(&mut self, _both_ways: bool) -> Option<StreamId> {
        Some(STREAM)
    }

    fn write(&mut self, _stream: StreamId, data: &[u8]) -> usize {
        let mut taken = 0;
        while taken < data.len() {
            match (&self.socket).write(&data[taken..]) {
                Ok(count) => taken += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    self.is_broken = true;
                    break;
                }
            }
        }
        self.is_blocked |= taken < data.len();
        self.written_bytes += taken as u64;
        taken
    }

    /// As our source for bulk data writes (docs/model.md §2.4).
    fn filler_bytes(&self) -> usize {
        MAX_FILLER_BYTES
    }

    fn finish(&mut self, _stream: StreamId) {
        let _gone = self.socket.shutdown(Shutdown::Write); // by the peer, perhaps
    }

    fn read(&mut self, _stream: StreamId, most_bytes: usize) -> Read {
        let mut data = vec![0; most_bytes.min(1 << 18)];
        loop {
            match (&self.socket).read(&mut data) {
                Ok(0) => {
                    self.is_finished = true;
                    return Read::Finished;
                }
                Ok(count) => {
                    self.read_bytes += count as u64;
                    data.truncate(count);
                    return Read::Data(data);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.is_drained = true;
                    return Read::Blocked;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    self.is_broken = true;
                    return Read::Reset;
                }
            }
        }
    }

    /// None: neither rustix nor socket2 reads `TCP_INFO`, and this workspace has no unsafe code. Whoever
    /// holds the socket asks the kernel ([`KernelEnd::fileno`]).
    fn paths(&self) -> Vec<PathStatus> {
        Vec::new()
    }
}

/// Waits until a socket is ready, or `until`; what it is ready for.
fn ready(
    socket: &Socket,
    flags: PollFlags,
    clock: Clock,
    until: Instant,
) -> Result<PollFlags, SocketError> {
    let mut polled = [PollFd::new(socket, flags)];
    let timeout = clock.until(until.min(clock.now() + LONGEST_WAIT));
    match poll(&mut polled, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(polled[0].revents()),
        Err(error) => Err(SocketError::Wait(io::Error::from(error))),
    }
}

fn refused(plan: &KernelPlan, error: io::Error) -> SocketError {
    SocketError::Bind {
        address: format!("{} over {:?} with '{}'", plan.server, plan.transport, plan.congestion),
        reason: error.to_string(),
    }
}
