//! What goes into the qlog, if there is one.

use super::Endpoint;
use super::handshake::Level;
use super::packets::Draft;
use super::receive::Arrival;
use crate::event::{Closed, Event};
use crate::qlog::{Name, Qlog, QlogSchema, frames, tuple};
use crate::space::SentPacket;
use scheduler::{Decision, PathSet};
use serde_json::{Value, json};
use units::{Instant, PathId};

impl Endpoint {
    /// Writes what happens from now on as qlog: `sink` gets one record after the other, with separator
    /// and newline, as it happens. What it keeps of them is its own affair. Times count from `now`.
    ///
    /// Call it right after [`Endpoint::new`] for a whole connection.
    pub fn set_qlog(
        &mut self,
        now: Instant,
        schema: QlogSchema,
        sink: impl FnMut(&str) + Send + 'static,
    ) {
        let mut qlog = Qlog::new(schema, now, self.is_client, Box::new(sink));
        // Addresses are the caller's: none are known here.
        let started = json!({ "local": {}, "remote": {} });
        qlog.event(now, Name::ConnectionStarted, None, started);
        self.qlog = Some(Box::new(qlog));
    }

    pub(super) fn log_parameters(&mut self, now: Instant) {
        if let Some(qlog) = &mut self.qlog {
            qlog.parameters(now, &self.local, true);
            qlog.parameters(now, &self.peer, false);
        }
    }

    /// A packet in plain text is about to be sealed.
    pub(super) fn log_sent(&mut self, now: Instant, draft: &Draft, level: Level, path: u32) {
        let Some(qlog) = &mut self.qlog else { return };
        let header = header(level, draft.number(), self.multipath.then_some(path));
        let data = json!({
            "header": header,
            "frames": frames(draft.payload()),
            "raw": { "length": draft.sealed_len() },
        });
        qlog.event(now, Name::PacketSent, Some(path), data);
    }

    /// A packet was opened.
    pub(super) fn log_received(
        &mut self,
        now: Instant,
        (level, path, number): (Level, u32, u64),
        (payload, length): (&[u8], usize),
    ) {
        let Some(qlog) = &mut self.qlog else { return };
        let data = json!({
            "header": header(level, number, self.multipath.then_some(path)),
            "frames": frames(payload),
            "raw": { "length": length },
        });
        qlog.event(now, Name::PacketReceived, Some(path), data);
    }

    /// A packet is dropped, and counted, for one of the reasons that qlog knows.
    pub(super) fn drop_packet(&mut self, arrival: &Arrival, length: usize, trigger: &'static str) {
        if trigger == "duplicate" {
            self.totals.duplicate_packets += 1;
        } else {
            self.totals.dropped_packets += 1;
        }
        if let Some(qlog) = &mut self.qlog {
            let data = json!({ "raw": { "length": length }, "trigger": trigger });
            qlog.event(arrival.now, Name::PacketDropped, None, data);
        }
    }

    /// Packets were found lost.
    pub(super) fn log_lost(
        &mut self,
        now: Instant,
        (level, path): (Level, u32),
        lost: &[(u64, SentPacket)],
    ) {
        let Some(qlog) = &mut self.qlog else { return };
        let space = match level {
            Level::OneRtt => self.paths.get(&path).map(|path| &path.space),
            _ => Some(&self.handshake.space(level).space),
        };
        let largest = space.and_then(|space| space.largest_acked);
        for (number, _) in lost {
            // RFC 9002 §6.1.1: three packets later.
            let overtaken = largest.is_some_and(|largest| largest >= number + 3);
            let trigger = if overtaken { "reordering_threshold" } else { "time_threshold" };
            let header = header(level, *number, self.multipath.then_some(path));
            let data = json!({ "header": header, "trigger": trigger });
            qlog.event(now, Name::PacketLost, Some(path), data);
        }
    }

    pub(super) fn log_metrics(&mut self, now: Instant, id: u32) {
        let Some(qlog) = &mut self.qlog else { return };
        let Some(path) = self.paths.get(&id) else { return };
        let ms = |span: units::Duration| span.as_nanos() as f64 / 1e6;
        let mut data = json!({
            "min_rtt": ms(path.rtt.min()),
            "smoothed_rtt": ms(path.rtt.smoothed()),
            "latest_rtt": ms(path.rtt.latest()),
            "rtt_variance": ms(path.rtt.var()),
            "pto_count": path.pto_count,
            "congestion_window": path.cc.window_bytes(),
            "bytes_in_flight": path.in_flight,
            "packets_in_flight": path.space.sent.in_flight_packets(),
            "pacing_rate": path.pacing_rate().as_bps(),
        });
        if path.cc.ssthresh_bytes() < u64::MAX {
            data["ssthresh"] = json!(path.cc.ssthresh_bytes());
        }
        qlog.metrics(now, id, data);
    }

    /// What the scheduler saw and said.
    pub(super) fn log_decision(&mut self, now: Instant, decision: Decision, bytes: u64) {
        let Some(qlog) = &mut self.qlog else { return };
        let named = |path: PathId| json!([path.0]);
        let all = |paths: PathSet| json!(paths.iter().map(|path| path.0).collect::<Vec<_>>());
        let (verb, on): (_, Value) = match decision {
            Decision::Send(path) => ("send", named(path)),
            Decision::Duplicate(paths) => ("duplicate", all(paths)),
            Decision::Wait(_) => ("wait", json!([])),
            Decision::Repeat(path) => ("repeat", named(path)),
            Decision::Ahead { path, .. } => ("ahead", named(path)),
        };
        let able = self.views.iter().filter(|view| view.usable && view.has_room);
        let data = json!({
            "decision": verb,
            "interfaces": on,
            "able_interfaces": able.map(|view| view.id.0).collect::<Vec<_>>(),
            "segment_bytes": bytes,
            "unsent_bytes": self.streams.unsent(),
            "reinjection": self.streams.has_again(),
        });
        qlog.event(now, Name::SchedulerDecision, None, data);
    }

    /// Tells the application, and the log, what became of a path.
    pub(super) fn tell_of_path(&mut self, now: Instant, id: u32, event: Event) {
        if let Some(qlog) = &mut self.qlog {
            let (state, net) = match &event {
                Event::PathEstablished(net) => ("established", net),
                Event::PathFailed(net) => ("failed", net),
                Event::PathRevived(net) => ("revived", net),
                Event::PathAbandoned(net, _) => ("abandoned", net),
                _ => return self.events.push_back(event),
            };
            let data = json!({ "path_id": id, "interface": net.0, "state": state });
            qlog.event(now, Name::PathState, Some(id), data);
            let mut assigned = json!({ "tuple_id": tuple(id), "path_id": tuple(id) });
            if state == "established" {
                assigned["tuple_local"] = json!({});
                assigned["tuple_remote"] = json!({});
            }
            if matches!(state, "established" | "abandoned") {
                qlog.event(now, Name::TupleAssigned, None, assigned);
            }
        }
        self.events.push_back(event);
    }

    /// Tells the application, and the log, how the connection ended.
    pub(super) fn tell_closed(&mut self, now: Instant, why: Closed) {
        if let Some(qlog) = &mut self.qlog {
            qlog.closed(now, &why);
        }
        self.events.push_back(Event::Closed(why));
    }
}

/// A packet's header; `path` where the connection has several.
fn header(level: Level, number: u64, path: Option<u32>) -> Value {
    let kind = match level {
        Level::Initial => "initial",
        Level::Handshake => "handshake",
        Level::OneRtt => "1RTT",
    };
    let mut header = json!({ "packet_type": kind, "packet_number": number });
    if let Some(path) = path.filter(|_| level == Level::OneRtt) {
        header["path_id"] = json!(path);
    }
    header
}
