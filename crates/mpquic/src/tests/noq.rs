//! noq-proto as a host.

use super::tls;
use super::world::{Bulk, Host, pattern};
use crate::Ecn;
use bytes::{Bytes, BytesMut};
use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint,
    EndpointConfig, Event, FourTuple, PathEvent, PathStatus, ServerConfig, StreamEvent, StreamId,
    TransportConfig, VarInt,
};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock};
use units::{Instant, PathId};

/// Where virtual time begins for noq, which takes the standard library's moments.
static EPOCH: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);

fn moment(now: Instant) -> std::time::Instant {
    *EPOCH + std::time::Duration::from_nanos(now.as_nanos())
}

fn address(server: bool, net: u8) -> SocketAddr {
    let host = if server { 2 } else { 1 };
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, net, host)), 4000 + host as u16)
}

pub struct Noq {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    is_server: bool,
    answers: Vec<(PathId, Vec<u8>)>,
    pub bulk: Bulk,
    stream: Option<StreamId>,
    reading: Vec<StreamId>,
    pub connected: bool,
    pub lost: Option<String>,
    pub established: Vec<String>,
    pub abandoned: usize,
    /// Answer the first packet by a Retry.
    pub retries: bool,
    mark: Option<EcnCodepoint>,
}

fn transport(paths: u32) -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    config.mtu_discovery_config(None).enable_segmentation_offload(false);
    // Two paths soon exceed its limit of 1024 gaps in a stream, which is fatal: no more than that
    // many packets fit into this window.
    config.stream_receive_window(VarInt::from_u32(1_150_000)).send_window(64 << 20);
    if paths > 1 {
        config.max_concurrent_multipath_paths(paths);
    }
    Arc::new(config)
}

impl Noq {
    fn new(is_server: bool, bytes: u64, server: Option<ServerConfig>) -> Self {
        let mut config = EndpointConfig::default();
        config.rng_seed(Some([7; 32]));
        Self {
            endpoint: Endpoint::new(Arc::new(config), server.map(Arc::new), false),
            connection: None,
            is_server,
            answers: Vec::new(),
            bulk: Bulk::sending(bytes),
            stream: None,
            reading: Vec::new(),
            connected: false,
            lost: None,
            established: Vec::new(),
            abandoned: 0,
            retries: false,
            mark: None,
        }
    }

    pub fn server(bytes: u64, paths: u32) -> Self {
        let crypto = QuicServerConfig::try_from(tls::server()).unwrap();
        let mut config = ServerConfig::with_crypto(Arc::new(crypto));
        config.transport_config(transport(paths));
        Self::new(true, bytes, Some(config))
    }

    pub fn client(bytes: u64, paths: u32) -> Self {
        let crypto = QuicClientConfig::try_from(tls::client()).unwrap();
        let mut config = ClientConfig::new(Arc::new(crypto));
        config.transport_config(transport(paths));
        let mut noq = Self::new(false, bytes, None);
        let to = address(true, 0);
        noq.connection =
            noq.endpoint.connect(moment(Instant::ZERO), config, to, "server.test").ok();
        noq
    }

    pub fn connection(&mut self) -> &mut Connection {
        &mut self.connection.as_mut().unwrap().1
    }

    pub fn open_path(&mut self, now: Instant, net: u8) -> bool {
        let to = FourTuple::new(address(true, net), Some(address(false, net).ip()));
        self.connection().open_path(to, PathStatus::Available, moment(now)).is_ok()
    }

    pub fn close_path(&mut self, now: Instant, id: u32) -> bool {
        self.connection().close_path(moment(now), id.into(), VarInt::from_u32(0x3e)).is_ok()
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

    fn read(&mut self, now: Instant, id: StreamId) {
        let (_, connection) = self.connection.as_mut().unwrap();
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.bulk.take(now, &chunk.bytes),
                Ok(None) => {
                    self.bulk.end(now);
                    self.reading.retain(|other| *other != id);
                    break;
                }
                Err(_) => break,
            }
        }
        let _ = chunks.finalize();
    }

    fn take_event(&mut self, event: Event) {
        match event {
            Event::Connected => self.connected = true,
            Event::ConnectionLost { reason } => self.lost = Some(reason.to_string()),
            Event::Path(PathEvent::Established { id, .. }) => {
                self.established.push(id.to_string());
            }
            Event::Path(PathEvent::Abandoned { .. }) => self.abandoned += 1,
            Event::Stream(StreamEvent::Opened { dir }) => {
                while let Some(id) = self.connection().streams().accept(dir) {
                    self.reading.push(id);
                }
            }
            _ => {}
        }
    }
}

impl Host for Noq {
    fn marked(&mut self, ecn: Option<Ecn>) {
        self.mark = ecn.map(|ecn| match ecn {
            Ecn::Ect0 => EcnCodepoint::Ect0,
            Ecn::Ect1 => EcnCodepoint::Ect1,
            Ecn::Ce => EcnCodepoint::Ce,
        });
    }

    fn handle(&mut self, now: Instant, net: PathId, datagram: Vec<u8>) {
        let (to, from) = (address(self.is_server, net.0), address(!self.is_server, net.0));
        let tuple = FourTuple::new(from, Some(to.ip()));
        let mut answer = Vec::new();
        let data = BytesMut::from(Bytes::from(datagram));
        match self.endpoint.handle(moment(now), tuple, self.mark.take(), data, &mut answer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                if self.retries && incoming.may_retry() {
                    let sent = self.endpoint.retry(incoming, &mut answer).unwrap();
                    self.answers.push((net, answer[..sent.size].to_vec()));
                } else if self.connection.is_none() {
                    let accepted = self.endpoint.accept(incoming, moment(now), &mut answer, None);
                    self.connection = accepted.ok();
                } else {
                    self.endpoint.ignore(incoming);
                }
            }
            Some(DatagramEvent::Response(sent)) => {
                self.answers.push((net, answer[..sent.size].to_vec()))
            }
            None => {}
        }
        self.settle();
    }

    fn transmit(&mut self, now: Instant) -> Option<(PathId, Vec<u8>)> {
        if let Some(answer) = self.answers.pop() {
            return Some(answer);
        }
        let mut out = Vec::new();
        let (_, connection) = self.connection.as_mut()?;
        let sent = connection.poll_transmit(moment(now), NonZeroUsize::MIN, &mut out);
        self.settle();
        let sent = sent?;
        out.truncate(sent.size);
        let IpAddr::V4(to) = sent.destination.ip() else { panic!("IPv4 only") };
        Some((PathId(to.octets()[2]), out))
    }

    fn timeout(&self) -> Option<Instant> {
        let (_, connection) = self.connection.as_ref()?;
        let at = connection.poll_timeout()?.saturating_duration_since(*EPOCH);
        Some(Instant::from_nanos(at.as_nanos() as u64))
    }

    fn on_timeout(&mut self, now: Instant) {
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(moment(now));
        }
        self.settle();
    }

    fn work(&mut self, now: Instant) {
        while let Some(event) = self.connection.as_mut().and_then(|(_, conn)| conn.poll()) {
            self.take_event(event);
        }
        for id in self.reading.clone() {
            self.read(now, id);
        }
        if !self.connected || self.bulk.to_send == 0 || self.bulk.finished || self.lost.is_some() {
            return;
        }
        let stream = match self.stream {
            Some(stream) => stream,
            None => self.connection().streams().open(Dir::Uni).unwrap(),
        };
        self.stream = Some(stream);
        while self.bulk.written < self.bulk.to_send {
            let left = self.bulk.to_send - self.bulk.written;
            let data = pattern(self.bulk.written, left.min(65_536) as usize);
            let (_, connection) = self.connection.as_mut().unwrap();
            let Ok(taken) = connection.send_stream(stream).write(data) else { return };
            self.bulk.written += taken as u64;
        }
        let (_, connection) = self.connection.as_mut().unwrap();
        self.bulk.finished = connection.send_stream(stream).finish().is_ok();
    }

    fn bulk(&self) -> &Bulk {
        &self.bulk
    }
}
