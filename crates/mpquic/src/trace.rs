//! What a connection reports: events for its application, counters, and a qlog if one is written.

use crate::arrival::Arrival;
use crate::draft::Draft;
use crate::event::{Closed, Event};
use crate::handshake::Level;
use crate::path::Path;
use crate::qlog::{Name, Qlog, QlogSchema, Sink, frames, tuple};
use crate::space::SentPacket;
use crate::totals::Totals;
use crate::wire::Params;
use scheduler::{Decision, PathSet, PathView};
use serde_json::{Value, json};
use std::collections::VecDeque;
use units::{Duration, Instant, PathId};

/// Whose a packet is: its level, and for 1-RTT its path; of a connection with several or not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub level: Level,
    pub path: u32,
    pub multipath: bool,
}

#[derive(Default)]
pub(crate) struct Trace {
    pub events: VecDeque<Event>,
    pub totals: Totals,
    qlog: Option<Box<Qlog>>,
}

impl Trace {
    /// Writes what happens from now on as qlog.
    pub fn begin_qlog(&mut self, now: Instant, schema: QlogSchema, is_client: bool, sink: Sink) {
        let mut qlog = Qlog::new(schema, now, is_client, sink);
        // Addresses are the caller's: none are known here.
        let started = json!({ "local": {}, "remote": {} });
        qlog.event(now, Name::ConnectionStarted, None, started);
        self.qlog = Some(Box::new(qlog));
    }

    /// The transport parameters, ours and the peer's.
    pub fn parameters(&mut self, now: Instant, local: &Params, peer: &Params) {
        if let Some(qlog) = &mut self.qlog {
            qlog.parameters(now, local, true);
            qlog.parameters(now, peer, false);
        }
    }

    /// A packet in plain text is about to be sealed.
    pub fn packet_sent(&mut self, now: Instant, draft: &Draft, origin: Origin) {
        let Some(qlog) = &mut self.qlog else { return };
        let data = json!({
            "header": header(origin, draft.number()),
            "frames": frames(draft.payload()),
            "raw": { "length": draft.sealed_len() },
        });
        qlog.event(now, Name::PacketSent, Some(origin.path), data);
    }

    /// A packet was opened.
    pub fn packet_received(
        &mut self,
        now: Instant,
        (origin, number): (Origin, u64),
        (payload, length): (&[u8], usize),
    ) {
        let Some(qlog) = &mut self.qlog else { return };
        let data = json!({
            "header": header(origin, number),
            "frames": frames(payload),
            "raw": { "length": length },
        });
        qlog.event(now, Name::PacketReceived, Some(origin.path), data);
    }

    /// A packet is dropped, and counted, for one of the reasons that qlog knows.
    pub fn packet_dropped(&mut self, arrival: &Arrival, length: usize, trigger: &'static str) {
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

    /// Packets were found lost; `largest` is the largest acknowledged number of their space.
    pub fn packets_lost(
        &mut self,
        now: Instant,
        (origin, largest): (Origin, Option<u64>),
        lost: &[(u64, SentPacket)],
    ) {
        let Some(qlog) = &mut self.qlog else { return };
        for (number, _) in lost {
            // RFC 9002 §6.1.1: three packets later.
            let overtaken = largest.is_some_and(|largest| largest >= number + 3);
            let trigger = if overtaken { "reordering_threshold" } else { "time_threshold" };
            let data = json!({ "header": header(origin, *number), "trigger": trigger });
            qlog.event(now, Name::PacketLost, Some(origin.path), data);
        }
    }

    /// What a path is like now.
    pub fn metrics(&mut self, now: Instant, path: &Path) {
        let Some(qlog) = &mut self.qlog else { return };
        let ms = |span: Duration| span.as_nanos() as f64 / 1e6;
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
        qlog.metrics(now, path.id, data);
    }

    /// What the scheduler saw and said; `again`: of data that was sent before.
    pub fn decision(
        &mut self,
        now: Instant,
        (decision, views): (Decision, &[PathView]),
        (segment_bytes, unsent_bytes, again): (u64, u64, bool),
    ) {
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
        let able = views.iter().filter(|view| view.usable && view.has_room);
        let data = json!({
            "decision": verb,
            "interfaces": on,
            "able_interfaces": able.map(|view| view.id.0).collect::<Vec<_>>(),
            "segment_bytes": segment_bytes,
            "unsent_bytes": unsent_bytes,
            "reinjection": again,
        });
        qlog.event(now, Name::SchedulerDecision, None, data);
    }

    /// Tells the application, and the log, what became of a path.
    pub fn path_event(&mut self, now: Instant, id: u32, event: Event) {
        if let Some(qlog) = &mut self.qlog
            && let Some((state, net)) = path_state(&event)
        {
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

    /// A path is over.
    pub fn forget_path(&mut self, id: u32) {
        if let Some(qlog) = &mut self.qlog {
            qlog.forget_path(id);
        }
    }

    /// Tells the application.
    pub fn event(&mut self, event: Event) {
        self.events.push_back(event);
    }

    /// Tells the application, and the log, how the connection ended.
    pub fn closed(&mut self, now: Instant, why: Closed) {
        if let Some(qlog) = &mut self.qlog {
            qlog.closed(now, &why);
        }
        self.events.push_back(Event::Closed(why));
    }
}

/// The state that an event puts a path in, and which of the caller's it is over.
fn path_state(event: &Event) -> Option<(&'static str, PathId)> {
    match *event {
        Event::PathEstablished(net) => Some(("established", net)),
        Event::PathFailed(net) => Some(("failed", net)),
        Event::PathRevived(net) => Some(("revived", net)),
        Event::PathAbandoned(net, _) => Some(("abandoned", net)),
        _ => None,
    }
}

/// A packet's header; with its path where the connection has several.
fn header(origin: Origin, number: u64) -> Value {
    let kind = match origin.level {
        Level::Initial => "initial",
        Level::Handshake => "handshake",
        Level::OneRtt => "1RTT",
    };
    let mut header = json!({ "packet_type": kind, "packet_number": number });
    if origin.multipath && origin.level == Level::OneRtt {
        header["path_id"] = json!(origin.path);
    }
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_that_are_dropped_are_counted_with_and_without_a_log() {
        let mut trace = Trace::default();
        let arrival = Arrival::new(Instant::ZERO, PathId(0), None, 40);
        trace.packet_dropped(&arrival, 40, "duplicate");
        trace.begin_qlog(Instant::ZERO, QlogSchema::Draft, true, Box::new(|_| {}));
        trace.packet_dropped(&arrival, 40, "decryption_failure");
        assert_eq!((trace.totals.duplicate_packets, trace.totals.dropped_packets), (1, 1));
    }

    #[test]
    fn every_event_reaches_the_application_and_states_of_paths_the_log() {
        use std::sync::{Arc, Mutex};
        let log = Arc::new(Mutex::new(String::new()));
        let sink = log.clone();
        let mut trace = Trace::default();
        let write = move |record: &str| sink.lock().unwrap().push_str(record);
        trace.begin_qlog(Instant::ZERO, QlogSchema::Draft, false, Box::new(write));
        trace.path_event(Instant::ZERO, 3, Event::PathFailed(PathId(7)));
        trace.path_event(Instant::ZERO, 3, Event::Connected);
        assert_eq!(trace.events, [Event::PathFailed(PathId(7)), Event::Connected]);
        assert_eq!(log.lock().unwrap().matches("path_state").count(), 1);
        assert!(log.lock().unwrap().contains(r#""interface":7"#));
    }
}
