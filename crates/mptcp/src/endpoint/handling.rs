//! What an arriving segment does.

use super::Endpoint;
use crate::config::{Mode, Role};
use crate::event::EventKind;
use crate::segment::{Kind, Segment};
use crate::subflow::{Effects, Handshake};
use scheduler::PathEvent;
use units::{Duration, Instant, PathId};

impl Endpoint {
    /// A segment came on `path`. Segments of unknown paths and of earlier subflows are ignored.
    pub fn handle(&mut self, now: Instant, path: PathId, segment: &Segment) {
        if !self.subflows.knows(path) {
            return;
        }
        self.dirty = true;
        if let Some((removed, incarnation)) = segment.removed
            && self.subflows.knows(removed)
            && self.paths[removed.index()].incarnation <= incarnation
        {
            self.close(now, removed);
        }
        if segment.kind == Kind::Syn {
            self.on_syn(now, path, segment);
        }
        let current = self.subflows.get_mut(path);
        let Some(subflow) = current.filter(|s| s.incarnation == segment.incarnation) else {
            return;
        };
        match segment.kind {
            Kind::Syn | Kind::SynAck => subflow.rx.set_echo(segment.sent_at),
            // The fourth ACK, once more if it was lost (RFC 8684 §3.2).
            Kind::JoinAck | Kind::Probe => subflow.rx.acks.request(),
            Kind::Data => {}
        }
        match segment.kind {
            Kind::Syn => {}
            Kind::SynAck => self.on_syn_ack(now, path),
            Kind::JoinAck | Kind::Data | Kind::Probe => self.on_confirmed(now, path),
        }
        self.on_window(now, segment);
        if matches!(segment.kind, Kind::JoinAck | Kind::Data | Kind::Probe) {
            self.on_data(now, path, segment);
        }
    }

    fn on_syn(&mut self, now: Instant, path: PathId, segment: &Segment) {
        if self.config.role != Role::Server {
            return;
        }
        match self.subflows.get_mut(path) {
            Some(subflow) if subflow.incarnation >= segment.incarnation => {
                if subflow.incarnation == segment.incarnation {
                    subflow.handshake.resend();
                }
            }
            occupied => {
                let replaces = occupied.is_some();
                let join = self.fully_established;
                if replaces {
                    self.close(now, path);
                }
                self.open(path, segment.incarnation, Handshake::server(join));
            }
        }
    }

    fn on_syn_ack(&mut self, now: Instant, path: PathId) {
        let Some(subflow) = self.subflows.get_mut(path) else { return };
        let rtt = subflow.handshake.on_syn_ack(now);
        subflow.rx.acks.request();
        if let Some(rtt) = rtt {
            self.sample_handshake(path, rtt);
        }
        let established = self.subflows.get(path).is_some_and(|s| s.is_established());
        if established {
            self.on_established(now, path);
        }
    }

    /// The third or the fourth ACK (or data that stands for it).
    fn on_confirmed(&mut self, now: Instant, path: PathId) {
        let Some(subflow) = self.subflows.get_mut(path) else { return };
        let Some(rtt) = subflow.handshake.on_confirmed(now) else { return };
        if let Some(rtt) = rtt {
            self.sample_handshake(path, rtt);
        }
        self.on_established(now, path);
    }

    fn sample_handshake(&mut self, path: PathId, rtt: Duration) {
        if let Some(subflow) = self.subflows.get_mut(path)
            && !subflow.tx.rtt.has_sample()
        {
            subflow.tx.rtt.on_min_sample(rtt);
            subflow.tx.rtt.on_sample(rtt, 0, 0);
            subflow.tx.cc.on_handshake(rtt);
        }
    }

    fn on_established(&mut self, now: Instant, path: PathId) {
        self.paths[path.index()].last_heard = now;
        self.views.outdate_all();
        self.note(now, Some(path), EventKind::Established);
        self.dispatch.on_path_event(now, path, PathEvent::Established);
    }

    /// DATA_ACK and window, whichever subflow brought them: the largest count (docs/model.md §2.1).
    fn on_window(&mut self, now: Instant, segment: &Segment) {
        if self.send.on_data_ack(segment.data_ack, segment.window_end) {
            self.meta_backoff = 0;
            self.restart_meta_timer(now);
        }
    }

    fn on_data(&mut self, now: Instant, path: PathId, segment: &Segment) {
        self.revive(now, path);
        let Some(subflow) = self.subflows.get_mut(path) else { return };
        let effects = subflow.tx.on_ack(now, segment);
        if let Some(payload) = segment.payload {
            subflow.rx.on_answer(now, segment.echo);
            let (receive, mut fresh) = (&mut self.receive, 0);
            let rto = subflow.tx.rto();
            subflow.rx.on_payload(now, payload, segment.sent_at, rto, |piece| {
                fresh += receive.insert(piece.dsn, piece.bytes);
            });
            self.paths[path.index()].unique_bytes += fresh;
            let bytes = payload.dsn..payload.dsn + payload.bytes;
            self.reordering.on_arrival(now, path, bytes, self.receive.next(), &mut self.waits);
            self.fed_by = path;
            if self.receive.unread_bytes() == 0 {
                self.after_reading(now);
            }
        } else {
            subflow.rx.set_echo(segment.sent_at); // so that the data that answer are samples to the peer
        }
        self.apply(now, path, &effects);
        if !self.fully_established && (segment.payload.is_some() || segment.data_ack > 0) {
            self.fully_established = true;
            self.open_missing();
        }
    }

    /// The application has read at most this many bytes of what came in order; the window opens by them.
    pub fn read(&mut self, now: Instant, bytes: u64) {
        self.receive.consume(bytes);
        self.dirty = true;
        self.after_reading(now);
    }

    /// What Linux does at the end of `mptcp_recvmsg`.
    fn after_reading(&mut self, now: Instant) {
        self.acknowledge_what_is_read();
        self.update_window(self.fed_by);
        let rtts = self.subflows.iter().map(|subflow| subflow.rx.rtt());
        self.receive.autotune(now, || rtts.max().unwrap_or_default());
    }

    /// With nothing left to read, and nothing that waits for a hole, short segments are acknowledged
    /// (`mptcp_cleanup_rbuf`).
    fn acknowledge_what_is_read(&mut self) {
        if self.receive.waiting_bytes() > 0 || self.receive.unread_bytes() > 0 {
            return;
        }
        for path in self.subflows.with_short().iter() {
            if let Some(subflow) = self.subflows.get_mut(path)
                && subflow.rx.waiting_bytes() == 0
            {
                subflow.rx.acks.on_all_read();
            }
        }
    }

    /// A window that a filled hole or a reader reopens is announced at once (Linux `tcp_cleanup_rbuf`).
    fn update_window(&mut self, path: PathId) {
        if self.receive.has_reopened(self.subflows.waiting_bytes())
            && let Some(subflow) = self.subflows.get_mut(path)
        {
            subflow.rx.acks.request();
        }
    }

    /// Any packet on a path proves that it lives (`pf` cleared, un-staled).
    fn revive(&mut self, now: Instant, path: PathId) {
        let state = &mut self.paths[path.index()];
        state.last_heard = now;
        if std::mem::take(&mut state.failed) {
            state.silent_periods = 0;
            self.note(now, Some(path), EventKind::Revived);
            self.dispatch.on_path_event(now, path, PathEvent::Revived);
        }
    }

    /// Tells scheduler and record what happened on a subflow, and reacts to its timeouts.
    pub(super) fn apply(&mut self, now: Instant, path: PathId, effects: &Effects) {
        if effects.acked_bytes > 0 {
            self.dispatch.on_acked(now, path, effects.acked_bytes);
        }
        if let Some((dsn_end, data_ack)) = effects.delivered {
            self.dispatch.on_delivered(now, path, dsn_end, data_ack);
        }
        if effects.lost_bytes > 0 {
            self.dispatch.on_lost(now, path, effects.lost_bytes);
        }
        if let Some(packets) = effects.recovery {
            self.note(now, Some(path), EventKind::Recovery(packets));
        }
        if effects.undone {
            self.note(now, Some(path), EventKind::Undone);
        }
        if let Some(phase) = effects.phase {
            self.note(now, Some(path), EventKind::Phase(phase));
        }
        if let Some(times) = effects.timeout {
            self.note(now, Some(path), EventKind::Timeout(times));
            match self.config.mode {
                Mode::V096 => self.on_subflow_timeout_v096(now, path),
                Mode::Upstream => self.on_subflow_timeout_upstream(now, path, times),
                Mode::Tcp => {}
            }
        }
    }
}
