use crate::wire::{AckFrame, Frame, Reader};
use serde_json::{Value, json};
use std::fmt::Write;

/// The frames of a payload in plain text, as far as it can be read.
pub(crate) fn frames(payload: &[u8]) -> Vec<Value> {
    let mut reader = Reader::new(payload);
    let mut all = Vec::new();
    while !reader.is_empty() {
        let before = reader.left();
        let Ok(frame) = Frame::decode(&mut reader) else { break };
        let mut value = one(&frame);
        let payload_bytes = match frame {
            Frame::Stream { data, .. } | Frame::Crypto { data, .. } | Frame::Datagram { data } => {
                data.len()
            }
            Frame::Padding(count) => count,
            _ => 0,
        };
        if payload_bytes > 0 {
            let length = before - reader.left();
            value["raw"] = json!({ "length": length, "payload_length": payload_bytes });
            value["length"] = json!(payload_bytes); // version 0.3 has it here
        }
        all.push(value);
    }
    all
}

/// A frame with its fields; those of paths have the names of draft-ietf-quic-multipath-21.
fn one(frame: &Frame<'_>) -> Value {
    match frame {
        Frame::Padding(_) => json!({ "frame_type": "padding" }),
        Frame::Ping => json!({ "frame_type": "ping" }),
        Frame::Ack { path, ack } => acknowledgement(*path, ack),
        Frame::Crypto { offset, .. } => json!({ "frame_type": "crypto", "offset": offset }),
        Frame::NewToken { token } => {
            json!({ "frame_type": "new_token", "token": { "raw": { "length": token.len() } } })
        }
        Frame::Stream { id, offset, fin, .. } => {
            json!({ "frame_type": "stream", "stream_id": id, "offset": offset, "fin": fin })
        }
        Frame::Datagram { .. } => json!({ "frame_type": "datagram" }),
        Frame::ConnectionClose { error_code, frame_type, reason } => json!({
            "frame_type": "connection_close",
            "error_space": if frame_type.is_some() { "transport" } else { "application" },
            "error": "unknown",
            "error_code": error_code,
            "reason": String::from_utf8_lossy(reason),
        }),
        Frame::HandshakeDone => json!({ "frame_type": "handshake_done" }),
        _ => flow(frame).unwrap_or_else(|| paths(frame)),
    }
}

fn acknowledgement(path: Option<u32>, ack: &AckFrame) -> Value {
    let ranges = ack.ranges.iter().map(|range| match (*range.start(), *range.end()) {
        (start, end) if start == end => json!([start]),
        (start, end) => json!([start, end]),
    });
    let mut value = json!({
        "frame_type": "ack",
        "ack_delay": (ack.delay << 3) as f64 / 1e3, // in ms, by the default exponent
        "acked_ranges": ranges.collect::<Vec<_>>(),
    });
    if let Some(path) = path {
        value["frame_type"] = json!("path_ack");
        value["path_id"] = json!(path);
    }
    if let Some(ecn) = ack.ecn {
        value["ect0"] = json!(ecn.ect0);
        value["ect1"] = json!(ecn.ect1);
        value["ce"] = json!(ecn.ce);
    }
    value
}

/// Frames of flow control and of streams that end.
fn flow(frame: &Frame<'_>) -> Option<Value> {
    let kind = |bidi: bool| if bidi { "bidirectional" } else { "unidirectional" };
    Some(match *frame {
        Frame::ResetStream { id, error_code, final_size } => json!({
            "frame_type": "reset_stream", "stream_id": id, "error": "unknown",
            "error_code": error_code, "final_size": final_size,
        }),
        Frame::StopSending { id, error_code } => json!({
            "frame_type": "stop_sending", "stream_id": id, "error": "unknown",
            "error_code": error_code,
        }),
        Frame::MaxData { maximum } => json!({ "frame_type": "max_data", "maximum": maximum }),
        Frame::MaxStreamData { id, maximum } => {
            json!({ "frame_type": "max_stream_data", "stream_id": id, "maximum": maximum })
        }
        Frame::MaxStreams { bidi, maximum } => {
            json!({ "frame_type": "max_streams", "stream_type": kind(bidi), "maximum": maximum })
        }
        Frame::DataBlocked { limit } => json!({ "frame_type": "data_blocked", "limit": limit }),
        Frame::StreamDataBlocked { id, limit } => {
            json!({ "frame_type": "stream_data_blocked", "stream_id": id, "limit": limit })
        }
        Frame::StreamsBlocked { bidi, limit } => {
            json!({ "frame_type": "streams_blocked", "stream_type": kind(bidi), "limit": limit })
        }
        _ => return None,
    })
}

/// Frames of paths and connection IDs.
fn paths(frame: &Frame<'_>) -> Value {
    match *frame {
        Frame::NewConnectionId { path, new } => named(
            path,
            "new_connection_id",
            json!({
                "sequence_number": new.sequence,
                "retire_prior_to": new.retire_prior_to,
                "connection_id_length": new.cid.as_slice().len(),
                "connection_id": format!("{:?}", new.cid),
            }),
        ),
        Frame::RetireConnectionId { path, sequence } => {
            named(path, "retire_connection_id", json!({ "sequence_number": sequence }))
        }
        Frame::PathChallenge { data } => {
            json!({ "frame_type": "path_challenge", "data": hex(&data) })
        }
        Frame::PathResponse { data } => {
            json!({ "frame_type": "path_response", "data": hex(&data) })
        }
        Frame::PathAbandon { path, error_code } => {
            json!({ "frame_type": "path_abandon", "path_id": path, "error_code": error_code })
        }
        Frame::PathStatus { path, sequence, backup } => json!({
            "frame_type": if backup { "path_status_backup" } else { "path_status_available" },
            "path_id": path, "path_status_sequence_number": sequence,
        }),
        Frame::MaxPathId { maximum } => {
            json!({ "frame_type": "max_path_id", "maximum_path_id": maximum })
        }
        Frame::PathsBlocked { maximum } => {
            json!({ "frame_type": "paths_blocked", "maximum_path_id": maximum })
        }
        Frame::PathCidsBlocked { path, next_sequence } => json!({
            "frame_type": "path_cids_blocked", "path_id": path,
            "next_sequence_number": next_sequence,
        }),
        _ => json!({ "frame_type": "unknown", "frame_type_bytes": 0 }),
    }
}

/// A frame that has a variant for paths.
fn named(path: Option<u32>, name: &str, mut value: Value) -> Value {
    match path {
        Some(path) => {
            value["frame_type"] = json!(format!("path_{name}"));
            value["path_id"] = json!(path);
        }
        None => value["frame_type"] = json!(name),
    }
    value
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
