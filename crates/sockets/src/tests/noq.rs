//! noq-proto on sockets, with quinn-udp's GSO and GRO as ours: HTTP/0.9 from memory.

use bytes::{Bytes, BytesMut};
use mpquic::rustls;
use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint,
    EndpointConfig, Event, FourTuple, PathEvent, PathStatus, ServerConfig, StreamEvent, StreamId,
    TransportConfig, VarInt,
};
use quinn_udp::{RecvMeta, UdpSockRef, UdpSocketState};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use std::io::IoSliceMut;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

const BUFFERS: usize = 8;
const BUFFER_BYTES: usize = 65_535;
static ZEROS: [u8; 65_536] = [0; 65_536];
const KERNEL_BYTES: usize = 4 << 20;

/// How a connection of noq behaves.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    pub paths: u32,
    pub datagram_bytes: u16,
}

fn transport(tuning: Tuning) -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    config.mtu_discovery_config(None).initial_mtu(tuning.datagram_bytes);
    config.enable_segmentation_offload(true).send_window(16 << 20);
    config.receive_window(VarInt::from_u32(64 << 20));
    // Two paths soon exceed its limit of 1024 gaps in a stream, which is fatal: no more than that
    // many packets fit into the smaller window.
    let window = if tuning.paths > 1 { 400_000 } else { 16 << 20 };
    config.stream_receive_window(VarInt::from_u32(window));
    if tuning.paths > 1 {
        config.max_concurrent_multipath_paths(tuning.paths);
    }
    Arc::new(config)
}

struct Wire {
    io: UdpSocket,
    state: UdpSocketState,
}

pub struct Noq {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    wires: Vec<Wire>,
    buffers: Vec<Vec<u8>>,
    remote: Option<SocketAddr>,
    /// What a server gives to who asks, and what of it has left.
    pub gives_bytes: u64,
    given_bytes: u64,
    answering: Option<StreamId>,
    reading: Vec<StreamId>,
    asked: Option<StreamId>,
    pub received_bytes: u64,
    pub finished: bool,
    pub connected: bool,
    pub lost: Option<String>,
    pub established: usize,
    opened: bool,
}

impl Noq {
    fn new(wires: &[IpAddr], server: Option<ServerConfig>) -> Self {
        let config = EndpointConfig::default();
        let wires = wires.iter().map(|ip| {
            let io = UdpSocket::bind((*ip, 0)).unwrap();
            let state = UdpSocketState::new(UdpSockRef::from(&io)).unwrap();
            let force = rustix::net::sockopt::set_socket_recv_buffer_size_force;
            let _ = force(&io, KERNEL_BYTES); // as far as it is permitted, as ours
            let _ = state.set_send_buffer_size(UdpSockRef::from(&io), KERNEL_BYTES);
            Wire { io, state }
        });
        Self {
            endpoint: Endpoint::new(Arc::new(config), server.map(Arc::new), false),
            connection: None,
            wires: wires.collect(),
            buffers: vec![vec![0; BUFFER_BYTES]; BUFFERS],
            remote: None,
            gives_bytes: 0,
            given_bytes: 0,
            answering: None,
            reading: Vec::new(),
            asked: None,
            received_bytes: 0,
            finished: false,
            connected: false,
            lost: None,
            established: 0,
            opened: false,
        }
    }

    pub fn server(tls: rustls::ServerConfig, ip: IpAddr, gives_bytes: u64, tuning: Tuning) -> Self {
        let crypto = QuicServerConfig::try_from(tls).unwrap();
        let mut config = ServerConfig::with_crypto(Arc::new(crypto));
        config.transport_config(transport(tuning));
        let mut noq = Self::new(&[ip], Some(config));
        noq.gives_bytes = gives_bytes;
        noq
    }

    pub fn client(
        tls: rustls::ClientConfig,
        ips: &[IpAddr],
        remote: SocketAddr,
        tuning: Tuning,
    ) -> Self {
        let crypto = QuicClientConfig::try_from(tls).unwrap();
        let mut config = ClientConfig::new(Arc::new(crypto));
        config.transport_config(transport(tuning));
        let mut noq = Self::new(ips, None);
        noq.remote = Some(remote);
        noq.connection = noq.endpoint.connect(Instant::now(), config, remote, "localhost").ok();
        noq
    }

    pub fn address(&self) -> SocketAddr {
        self.wires[0].io.local_addr().unwrap()
    }

    /// Runs until `done`, or the connection is lost.
    pub fn run(&mut self, mut done: impl FnMut(&Self) -> bool) {
        while !done(self) && self.lost.is_none() {
            let received = self.receive();
            let now = Instant::now();
            if let Some((_, connection)) = &mut self.connection
                && connection.poll_timeout().is_some_and(|at| at <= now)
            {
                connection.handle_timeout(now);
            }
            self.settle();
            self.work(now);
            let sent = self.transmit(now);
            if !received && !sent {
                self.wait();
            }
        }
    }

    /// Takes leave.
    pub fn close(&mut self) {
        let now = Instant::now();
        if let Some((_, connection)) = &mut self.connection {
            connection.close(now, VarInt::from_u32(0), Bytes::new());
        }
        self.transmit(now);
    }

    fn wait(&self) {
        let at = self.connection.as_ref().and_then(|(_, connection)| connection.poll_timeout());
        let most = Duration::from_millis(20);
        let left = at.map_or(most, |at| at.saturating_duration_since(Instant::now()).min(most));
        let timeout = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos() as _ };
        let fds = self.wires.iter().map(|wire| PollFd::new(&wire.io, PollFlags::IN));
        let _ = poll(&mut fds.collect::<Vec<_>>(), Some(&timeout));
    }

    fn receive(&mut self) -> bool {
        let mut any = false;
        for place in 0..self.wires.len() {
            let mut metas = [RecvMeta::default(); BUFFERS];
            let wire = &self.wires[place];
            let own = wire.io.local_addr().unwrap().ip();
            let mut buffers = std::mem::take(&mut self.buffers);
            let mut slices: Vec<IoSliceMut<'_>> =
                buffers.iter_mut().map(|buffer| IoSliceMut::new(buffer)).collect();
            let count = wire.state.recv(UdpSockRef::from(&wire.io), &mut slices, &mut metas);
            for (meta, bytes) in metas.iter().zip(&slices).take(count.unwrap_or(0)) {
                any = true;
                let ecn = meta.ecn.and_then(|ecn| EcnCodepoint::from_bits(ecn as u8));
                let tuple = FourTuple::new(meta.addr, meta.dst_ip.or(Some(own)));
                // As noq's own driver: what GRO put together is taken apart by the connection.
                for datagram in bytes[..meta.len].chunks(meta.stride) {
                    self.handle(tuple, ecn, datagram);
                }
            }
            drop(slices);
            self.buffers = buffers;
        }
        any
    }

    fn handle(&mut self, tuple: FourTuple, ecn: Option<EcnCodepoint>, datagram: &[u8]) {
        let now = Instant::now();
        let mut answer = Vec::new();
        match self.endpoint.handle(now, tuple, ecn, BytesMut::from(datagram), &mut answer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                if self.connection.is_none() {
                    let accepted = self.endpoint.accept(incoming, now, &mut answer, None);
                    self.connection = accepted.ok();
                } else {
                    self.endpoint.ignore(incoming);
                }
            }
            _ => {}
        }
    }

    /// Lets endpoint and connection tell each other what they have to.
    fn settle(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
    }

    fn transmit(&mut self, now: Instant) -> bool {
        let mut any = false;
        let Some((_, connection)) = &mut self.connection else { return false };
        let mut out = Vec::new();
        for _ in 0..20 {
            out.clear();
            let most = NonZeroUsize::new(44).unwrap(); // fits into 65,535 bytes
            let Some(sent) = connection.poll_transmit(now, most, &mut out) else { break };
            any = true;
            let from = |wire: &&Wire| {
                sent.src_ip.is_some_and(|ip| wire.io.local_addr().unwrap().ip() == ip)
            };
            let wire = self.wires.iter().find(from).unwrap_or(&self.wires[0]);
            let transmit = quinn_udp::Transmit {
                destination: sent.destination,
                ecn: sent.ecn.and_then(|ecn| quinn_udp::EcnCodepoint::from_bits(ecn as u8)),
                contents: &out[..sent.size],
                segment_size: sent.segment_size,
                src_ip: sent.src_ip,
            };
            while let Err(error) = wire.state.try_send(UdpSockRef::from(&wire.io), &transmit) {
                if error.kind() != std::io::ErrorKind::WouldBlock {
                    break; // lost, as packets are
                }
                let _ = poll(&mut [PollFd::new(&wire.io, PollFlags::OUT)], None);
            }
        }
        self.settle();
        any
    }

    fn work(&mut self, now: Instant) {
        while let Some(event) = self.connection.as_mut().and_then(|(_, conn)| conn.poll()) {
            self.take_event(event);
        }
        self.open_further(now);
        if self.remote.is_some() && self.connected && self.asked.is_none() {
            let (_, connection) = self.connection.as_mut().unwrap();
            let id = connection.streams().open(Dir::Bi).unwrap();
            connection.send_stream(id).write(b"GET /file\r\n").unwrap();
            connection.send_stream(id).finish().unwrap();
            self.asked = Some(id);
            self.reading.push(id);
        }
        for id in self.reading.clone() {
            self.read(id);
        }
        self.give();
    }

    fn take_event(&mut self, event: Event) {
        match event {
            Event::Connected => self.connected = true,
            Event::ConnectionLost { reason } => self.lost = Some(reason.to_string()),
            Event::Path(PathEvent::Established { .. }) => self.established += 1,
            Event::Stream(StreamEvent::Opened { dir }) => {
                let (_, connection) = self.connection.as_mut().unwrap();
                while let Some(id) = connection.streams().accept(dir) {
                    self.reading.push(id);
                }
            }
            _ => {}
        }
    }

    /// A client opens its other paths as soon as it can.
    fn open_further(&mut self, now: Instant) {
        let Some(remote) = self.remote.filter(|_| self.connected && !self.opened) else { return };
        let (_, connection) = self.connection.as_mut().unwrap();
        self.opened = self.wires[1..].iter().all(|wire| {
            let own = wire.io.local_addr().unwrap().ip();
            connection
                .open_path(FourTuple::new(remote, Some(own)), PathStatus::Available, now)
                .is_ok()
        });
    }

    fn read(&mut self, id: StreamId) {
        let (_, connection) = self.connection.as_mut().unwrap();
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.received_bytes += chunk.bytes.len() as u64,
                Ok(None) => {
                    self.reading.retain(|other| *other != id);
                    if self.remote.is_some() {
                        self.finished = true;
                    } else {
                        self.answering = Some(id); // whatever was asked for
                    }
                    break;
                }
                Err(_) => break,
            }
        }
        let _ = chunks.finalize();
    }

    fn give(&mut self) {
        let Some(id) = self.answering else { return };
        let (_, connection) = self.connection.as_mut().unwrap();
        while self.given_bytes < self.gives_bytes {
            let left = (self.gives_bytes - self.given_bytes).min(ZEROS.len() as u64) as usize;
            let Ok(taken) = connection.send_stream(id).write(&ZEROS[..left]) else { return };
            self.given_bytes += taken as u64;
        }
        let _ = connection.send_stream(id).finish();
        self.answering = None;
    }
}
