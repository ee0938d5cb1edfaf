//! A service that counts what its connections hold for their clients.

use mpquic::{Closed, Endpoint, Event};
use sockets::{Ends, Notice, PathReport, Service, Session, Status};
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use units::{Instant, PathId};

/// A service, and the bytes that all its connections have written and nobody acknowledged.
pub struct Held<S> {
    pub service: S,
    pub bytes: Arc<AtomicU64>,
}

struct HeldSession {
    session: Box<dyn Session>,
    own: u64,
    all: Arc<AtomicU64>,
}

impl<S: Service> Service for Held<S> {
    fn open(&mut self, now: Instant, remote: SocketAddr) -> Box<dyn Session> {
        let session = self.service.open(now, remote);
        Box::new(HeldSession { session, own: 0, all: self.bytes.clone() })
    }

    fn closed(&mut self, remote: SocketAddr, how: &Closed) {
        self.service.closed(remote, how);
    }

    fn due(&self) -> Instant {
        self.service.due()
    }

    fn look(&mut self, now: Instant, connections: usize) -> bool {
        self.service.look(now, connections)
    }
}

impl HeldSession {
    fn count(&mut self, bytes: u64) {
        self.all.fetch_add(bytes, Ordering::Relaxed);
        self.all.fetch_sub(std::mem::replace(&mut self.own, bytes), Ordering::Relaxed);
    }
}

impl Drop for HeldSession {
    fn drop(&mut self) {
        self.count(0);
    }
}

impl Session for HeldSession {
    fn work(&mut self, now: Instant, endpoint: &mut Endpoint, events: &[Event]) -> Status {
        let status = self.session.work(now, endpoint, events);
        self.count(endpoint.buffered_bytes());
        status
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.session.descriptor()
    }

    fn has_more(&self, endpoint: &Endpoint) -> bool {
        self.session.has_more(endpoint)
    }

    fn due(&self) -> Instant {
        self.session.due()
    }

    fn look(&mut self, now: Instant, paths: &[PathReport]) -> Status {
        self.session.look(now, paths)
    }

    fn idle_since(&self) -> Option<Instant> {
        self.session.idle_since()
    }

    fn on_path(&mut self, endpoint: &mut Endpoint, net: PathId, ends: Ends) {
        self.session.on_path(endpoint, net, ends);
    }

    fn notice(&mut self, notice: Notice) {
        self.session.notice(notice);
    }
}
