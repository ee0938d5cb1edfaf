//! Paths come and go: who opens which subflow when, and what a closed one leaves behind.

use super::{Endpoint, PathState};
use crate::config::{Mode, Role};
use crate::event::EventKind;
use crate::subflow::{Handshake, Subflow};
use scheduler::PathEvent;
use std::collections::BTreeSet;
use units::{Instant, PathId};

impl Endpoint {
    /// Client: the interface of `path` exists from now on. The first one opens the connection, the
    /// others join it when it is fully established.
    pub fn path_up(&mut self, _now: Instant, path: PathId) {
        let Some(state) = self.paths.get_mut(path.index()) else { return };
        state.present = true;
        self.open_missing();
    }

    /// Client: the interface of `path` is gone; its subflow is closed and the peer informed.
    pub fn path_down(&mut self, now: Instant, path: PathId) {
        let Some(state) = self.paths.get_mut(path.index()) else { return };
        state.present = false;
        if self.config.mode == Mode::Tcp {
            return; // plain TCP has no other path to say it on: the link is silent, that is all
        }
        self.removals.push((path, state.incarnation));
        self.close(now, path);
        self.open_missing();
    }

    /// Client: interfaces that went away, with the number under which each was announced, for
    /// REMOVE_ADDR (RFC 8684 §3.4.2).
    pub(super) fn gone(&self) -> Vec<(PathId, u16)> {
        let told = |(index, state): (usize, &PathState)| {
            let was = state.incarnation > 0 && self.subflows.get(PathId(index as u8)).is_none();
            (was && !state.present).then_some((PathId(index as u8), state.incarnation))
        };
        let multipath = self.config.role == Role::Client && self.config.mode != Mode::Tcp;
        self.paths.iter().enumerate().filter(|_| multipath).filter_map(told).collect()
    }

    /// Opens what is present and not open: one subflow until the connection stands, then all.
    pub(super) fn open_missing(&mut self) {
        if self.config.role != Role::Client {
            return;
        }
        for index in 0..self.paths.len() {
            let opened = self.subflows.iter().count();
            let may_open = self.fully_established && self.config.mode != Mode::Tcp || opened == 0;
            if !may_open {
                return;
            }
            let path = PathId(index as u8);
            if self.paths[index].present && self.subflows.get(path).is_none() {
                self.paths[index].incarnation += 1;
                let handshake = Handshake::client(self.fully_established);
                self.open(path, self.paths[index].incarnation, handshake);
            }
        }
    }

    pub(super) fn open(&mut self, path: PathId, incarnation: u16, handshake: Handshake) {
        let mut subflow = Subflow::new(&self.config, &self.group, path, incarnation, handshake);
        let state = &mut self.paths[path.index()];
        subflow.tx.cc.on_forecast(&state.feed.boundaries());
        state.incarnation = incarnation;
        state.failed = false;
        state.silent_periods = 0;
        state.optimised_at = None;
        state.walked_to = 0;
        self.subflows.put(subflow);
        self.dirty = true;
    }

    /// Closes the subflow of `path`; what it held is reinjected on others (docs/model.md §2.5).
    pub(super) fn close(&mut self, now: Instant, path: PathId) {
        let Some(subflow) = self.subflows.take(path) else { return };
        self.views.outdate_all();
        self.paths[path.index()].past.add(&subflow.tx.stats, subflow.tx.delivered_bytes());
        let queued = match self.config.mode {
            Mode::Tcp => 0,
            Mode::V096 => {
                subflow.tx.outstanding().filter(|piece| self.send.reinject(piece.dsn)).count()
                    as u64
            }
            Mode::Upstream if subflow.tx.is_idle() => 0,
            Mode::Upstream => self.send.reinject_all(),
        };
        self.send.forget_path(path);
        let lost = subflow.rx.waiting().filter(|dsn| !self.receive.has(*dsn));
        let gone: BTreeSet<u64> = lost.collect();
        self.reordering.forget(now, &mut self.waits, |dsn| gone.contains(&dsn));
        self.dirty = true;
        self.note(now, Some(path), EventKind::Closed);
        self.dispatch.on_path_event(now, path, PathEvent::Closed);
        if queued > 0 {
            self.note(now, Some(path), EventKind::Reinjected(queued));
        }
    }
}
