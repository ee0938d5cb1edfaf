//! What happens in a connection, as qlog: JSON text sequences (RFC 7464), one event a record.
//!
//! The names and fields are those of draft-ietf-quic-qlog-main-schema-14 and
//! draft-ietf-quic-qlog-quic-events-13, or of qlog 0.3, which the viewer qvis opens. The crate `qlog` of
//! quiche is not used: it writes the first only and knows no paths.

mod frames;

pub(crate) use frames::frames;

use crate::event::Closed;
use crate::wire::Params;
use serde_json::{Map, Value, json};
use units::Instant;

/// Events of ours that no draft has.
const OWN_SCHEMA: &str = "urn:skyweave:qlog:events:multipath";

/// Which qlog is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QlogSchema {
    /// draft-ietf-quic-qlog-main-schema-14, draft-ietf-quic-qlog-quic-events-13.
    #[default]
    Draft,
    /// Version 0.3 (draft-ietf-quic-qlog-main-schema-03): what qvis opens as `.sqlog`.
    Qvis,
}

/// The events that are written, with the category that version 0.3 puts before their name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    ConnectionStarted,
    ConnectionClosed,
    TupleAssigned,
    ParametersSet,
    PacketSent,
    PacketReceived,
    PacketDropped,
    PacketLost,
    MetricsUpdated,
    SchedulerDecision,
    PathState,
}

impl Name {
    fn text(self, schema: QlogSchema) -> &'static str {
        let (draft, qvis) = match self {
            Self::ConnectionStarted => {
                ("quic:connection_started", "connectivity:connection_started")
            }
            Self::ConnectionClosed => ("quic:connection_closed", "connectivity:connection_closed"),
            Self::TupleAssigned => ("quic:tuple_assigned", "connectivity:path_assigned"),
            Self::ParametersSet => ("quic:parameters_set", "transport:parameters_set"),
            Self::PacketSent => ("quic:packet_sent", "transport:packet_sent"),
            Self::PacketReceived => ("quic:packet_received", "transport:packet_received"),
            Self::PacketDropped => ("quic:packet_dropped", "transport:packet_dropped"),
            Self::PacketLost => ("quic:packet_lost", "recovery:packet_lost"),
            Self::MetricsUpdated => ("quic:recovery_metrics_updated", "recovery:metrics_updated"),
            Self::SchedulerDecision => {
                ("skyweave:scheduler_decision", "skyweave:scheduler_decision")
            }
            Self::PathState => ("skyweave:path_state", "skyweave:path_state"),
        };
        match schema {
            QlogSchema::Draft => draft,
            QlogSchema::Qvis => qvis,
        }
    }
}

/// Takes each record: separator, JSON, newline.
pub(crate) type Sink = Box<dyn FnMut(&str) + Send>;

/// Writes the records of one connection.
pub(crate) struct Qlog {
    schema: QlogSchema,
    start: Instant,
    sink: Sink,
    /// The last metrics written of each path: only changes are.
    metrics: std::collections::BTreeMap<u32, Value>,
}

impl Qlog {
    /// Begins with the header; times count from `start`.
    pub fn new(schema: QlogSchema, start: Instant, is_client: bool, sink: Sink) -> Self {
        let mut qlog = Self { schema, start, sink, metrics: Default::default() };
        let vantage_point = json!({ "type": if is_client { "client" } else { "server" } });
        let header = match schema {
            QlogSchema::Draft => json!({
                "file_schema": "urn:ietf:params:qlog:file:sequential",
                "serialization_format": "application/qlog+json-seq",
                "title": "skyweave mpquic",
                "trace": {
                    "vantage_point": vantage_point,
                    "event_schemas": ["urn:ietf:params:qlog:events:quic-13", OWN_SCHEMA],
                    "common_fields": {
                        "time_format": "relative_to_epoch",
                        "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
                    },
                },
            }),
            QlogSchema::Qvis => json!({
                "qlog_version": "0.3",
                "qlog_format": "JSON-SEQ",
                "title": "skyweave mpquic",
                "trace": {
                    "vantage_point": vantage_point,
                    "common_fields": {
                        "protocol_type": ["QUIC"],
                        "time_format": "relative",
                        "reference_time": 0,
                    },
                },
            }),
        };
        qlog.write(&header);
        qlog
    }

    fn write(&mut self, record: &Value) {
        // RFC 7464 §2.2: record separator, JSON text, line feed.
        (self.sink)(&format!("\u{1e}{record}\n"));
    }

    /// Writes an event, of a path if it has one.
    pub fn event(&mut self, now: Instant, name: Name, path: Option<u32>, data: Value) {
        let time_ms = (now - self.start).as_nanos() as f64 / 1e6;
        let mut event = Map::new();
        event.insert("time".into(), json!(time_ms));
        event.insert("name".into(), json!(name.text(self.schema)));
        event.insert("data".into(), data);
        if let Some(path) = path {
            event.insert("tuple".into(), json!(tuple(path)));
        }
        self.write(&Value::Object(event));
    }

    /// Writes the metrics of a path unless they are those of the last time.
    pub fn metrics(&mut self, now: Instant, path: u32, data: Value) {
        if self.metrics.get(&path) != Some(&data) {
            self.metrics.insert(path, data.clone());
            self.event(now, Name::MetricsUpdated, Some(path), data);
        }
    }

    /// A path is over: its ID is never used again.
    pub fn forget_path(&mut self, path: u32) {
        self.metrics.remove(&path);
    }

    /// Who set something.
    fn owner(&self, local: bool) -> (String, Value) {
        let key = if self.schema == QlogSchema::Draft { "initiator" } else { "owner" };
        (key.into(), json!(if local { "local" } else { "remote" }))
    }

    /// Writes the transport parameters of one end.
    pub fn parameters(&mut self, now: Instant, params: &Params, local: bool) {
        let mut data = Map::from_iter([self.owner(local)]);
        let numbers = [
            ("max_idle_timeout", params.max_idle_timeout_ms),
            ("max_udp_payload_size", params.max_udp_payload_size),
            ("ack_delay_exponent", params.ack_delay_exponent),
            ("max_ack_delay", params.max_ack_delay_ms),
            ("active_connection_id_limit", params.active_connection_id_limit),
            ("initial_max_data", params.initial_max_data),
            ("initial_max_stream_data_bidi_local", params.initial_max_stream_data_bidi_local),
            ("initial_max_stream_data_bidi_remote", params.initial_max_stream_data_bidi_remote),
            ("initial_max_stream_data_uni", params.initial_max_stream_data_uni),
            ("initial_max_streams_bidi", params.initial_max_streams_bidi),
            ("initial_max_streams_uni", params.initial_max_streams_uni),
            ("max_datagram_frame_size", params.max_datagram_frame_size),
        ];
        data.extend(numbers.map(|(name, value)| (name.to_owned(), json!(value))));
        data.insert("disable_active_migration".into(), json!(params.disable_active_migration));
        if let Some(maximum) = params.initial_max_path_id {
            data.insert("initial_max_path_id".into(), json!(maximum));
        }
        let cids = [
            ("original_destination_connection_id", &params.original_destination_connection_id),
            ("initial_source_connection_id", &params.initial_source_connection_id),
            ("retry_source_connection_id", &params.retry_source_connection_id),
        ];
        for (name, cid) in cids {
            if let Some(cid) = cid {
                data.insert(name.into(), json!(format!("{cid:?}")));
            }
        }
        self.event(now, Name::ParametersSet, None, Value::Object(data));
    }

    /// Writes how the connection ended.
    pub fn closed(&mut self, now: Instant, why: &Closed) {
        let local = matches!(why, Closed::Local | Closed::Error(_) | Closed::IdleTimeout);
        let mut data = Map::from_iter([self.owner(local)]);
        let (kind, code, reason, trigger) = match why {
            Closed::Local => ("application_error", None, None, "application"),
            Closed::Error(error) => {
                ("connection_error", Some(error.value), Some(error.reason), "error")
            }
            Closed::PeerTransport(code, reason) => {
                ("connection_error", Some(*code), Some(reason.as_str()), "error")
            }
            Closed::PeerApplication(code, reason) => {
                ("application_error", Some(*code), Some(reason.as_str()), "application")
            }
            Closed::IdleTimeout => ("connection_error", None, None, "idle_timeout"),
            Closed::StatelessReset => ("connection_error", None, None, "stateless_reset"),
            Closed::VersionMismatch => ("connection_error", None, None, "version_mismatch"),
        };
        if let Some(code) = code {
            match self.schema {
                QlogSchema::Draft => {
                    data.insert(kind.into(), json!("unknown"));
                    data.insert("error_code".into(), json!(code));
                }
                QlogSchema::Qvis => {
                    let of = kind.trim_end_matches("error");
                    data.insert(format!("{of}code"), json!(code));
                }
            }
        }
        data.extend(reason.map(|reason| ("reason".into(), json!(reason))));
        data.insert("trigger".into(), json!(trigger));
        self.event(now, Name::ConnectionClosed, None, Value::Object(data));
    }
}

/// What stands for a path in the field `tuple`.
pub(crate) fn tuple(path: u32) -> String {
    format!("p{path}")
}
