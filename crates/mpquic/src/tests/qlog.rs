//! The qlog of a run against the run's own counts and the rules of the schema.

use super::world::*;
use crate::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use units::{Instant, PathId};

const BYTES: u64 = 2_000_000;

type Text = Arc<Mutex<String>>;

fn logged(endpoint: &mut Endpoint, schema: QlogSchema) -> Text {
    let text = Text::default();
    let sink = text.clone();
    endpoint.set_qlog(Instant::ZERO, schema, move |record| sink.lock().unwrap().push_str(record));
    text
}

/// Header and events of a text; every record is JSON between separator and newline (RFC 7464).
fn records(text: &Text) -> (Value, Vec<Value>) {
    let text = text.lock().unwrap();
    let mut records = text.split('\u{1e}');
    assert_eq!(records.next(), Some(""));
    let mut all = records.map(|record| {
        let record = record.strip_suffix('\n').expect("a newline");
        assert!(!record.contains('\n'));
        serde_json::from_str::<Value>(record).expect("JSON")
    });
    let header = all.next().unwrap();
    (header, all.collect())
}

fn named<'a>(events: &'a [Value], name: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["name"].as_str().unwrap().ends_with(name))
}

/// A run over two lossy paths that damage and repeat packets, both ends logged.
fn run(schema: QlogSchema) -> (World<Own, Own>, [Text; 2]) {
    let link = |mbps, delay| Link { loss: 15, duplicate: 10, corrupt: 5, ..Link::new(mbps, delay) };
    let (mut client, mut server) = (Own::client(0, |_| {}), Own::server(BYTES, |_| {}));
    let texts = [&mut client, &mut server].map(|host| logged(&mut host.endpoint, schema));
    let mut world = World::new(client, server, vec![link(20.0, 10), link(10.0, 20)], 3);
    let soon = Instant::from_millis(1000);
    assert!(world.run(soon, |world| world.client.endpoint.add_path(world.now, PathId(1)).is_ok()));
    world.transfer(30);
    world.client.endpoint.close(world.now, 5, b"done");
    world.run(world.now + units::Duration::from_millis(500), |_| false);
    (world, texts)
}

fn elicits(frame: &Value) -> bool {
    let kind = frame["frame_type"].as_str().unwrap();
    !matches!(kind, "ack" | "path_ack" | "padding" | "connection_close")
}

fn frames(event: &Value) -> &Vec<Value> {
    event["data"]["frames"].as_array().unwrap()
}

#[test]
fn the_counts_of_the_log_are_those_of_the_run() {
    let (world, texts) = run(QlogSchema::Draft);
    for (host, text) in [&world.client, &world.server].into_iter().zip(&texts) {
        let (_, events) = records(text);
        let totals = host.endpoint.totals();
        let dropped = totals.dropped_packets + totals.duplicate_packets;
        assert_eq!(named(&events, ":packet_dropped").count() as u64, dropped);
        let paths = [0, 1].map(|net| host.endpoint.path_stats(PathId(net)).unwrap());
        let lost: u64 = paths.iter().map(|path| path.lost_packets).sum();
        assert_eq!(named(&events, ":packet_lost").count() as u64, lost);
        let counted = |id: u64| {
            let sent = named(&events, ":packet_sent");
            let sent = sent.filter(|event| event["data"]["header"]["path_id"] == id);
            let counts = |event: &&Value| {
                frames(event).iter().any(|f| elicits(f) || f["frame_type"] == "padding")
            };
            sent.filter(counts).count() as u64
        };
        assert_eq!([counted(0), counted(1)], paths.map(|path| path.sent_packets));
        let stream: u64 = named(&events, ":packet_sent")
            .flat_map(frames)
            .filter(|frame| frame["frame_type"] == "stream")
            .map(|frame| frame["raw"]["payload_length"].as_u64().unwrap_or(0))
            .sum();
        let again: u64 = paths.iter().map(|path| path.retransmitted_bytes).sum();
        assert_eq!(stream, host.bulk.to_send + again);
        assert_eq!(named(&events, ":connection_closed").count(), 1);
        if host.bulk.to_send > 0 {
            assert!(named(&events, ":recovery_metrics_updated").count() > 100);
            assert!(named(&events, ":scheduler_decision").count() > 1000);
        }
    }
    // What one end received the other has sent.
    let numbers = |text: &Text, name: &str| -> BTreeSet<String> {
        let (_, events) = records(text);
        named(&events, name).map(|event| event["data"]["header"].to_string()).collect()
    };
    let [client, server] = &texts;
    assert!(numbers(client, ":packet_received").is_subset(&numbers(server, ":packet_sent")));
    assert!(numbers(server, ":packet_received").is_subset(&numbers(client, ":packet_sent")));
}

/// Fields that draft-ietf-quic-qlog-quic-events-13 requires, and the values that it allows.
fn check_draft(event: &Value) {
    let data = &event["data"];
    let texts = |value: &Value, allowed: &[&str]| {
        let text = value.as_str().unwrap_or_else(|| panic!("{event}"));
        assert!(allowed.contains(&text), "{event}");
    };
    match event["name"].as_str().unwrap().split(':').nth(1).unwrap() {
        "packet_sent" | "packet_received" => {
            texts(&data["header"]["packet_type"], &["initial", "handshake", "1RTT"]);
            assert!(data["header"]["packet_number"].is_u64(), "{event}");
            assert!(!frames(event).is_empty(), "{event}");
            for frame in frames(event) {
                assert!(frame["frame_type"].is_string() && frame["frame_type"] != "unknown");
                let needs_raw = frame["frame_type"] == "crypto";
                assert!(!needs_raw || frame["raw"]["length"].is_u64(), "{event}");
            }
        }
        "packet_lost" => {
            texts(&data["trigger"], &["reordering_threshold", "time_threshold"]);
        }
        "packet_dropped" => texts(
            &data["trigger"],
            &["invalid", "duplicate", "connection_unknown", "decryption_failure", "unsupported"],
        ),
        "parameters_set" => texts(&data["initiator"], &["local", "remote"]),
        "connection_started" => assert!(data["local"].is_object() && data["remote"].is_object()),
        "connection_closed" => {
            texts(&data["trigger"], &["application", "error", "idle_timeout", "unspecified"]);
            texts(&data["initiator"], &["local", "remote"]);
        }
        "tuple_assigned" => assert!(data["tuple_id"].is_string()),
        "recovery_metrics_updated" => {
            for name in ["min_rtt", "smoothed_rtt", "latest_rtt", "rtt_variance"] {
                assert!(data[name].is_f64(), "{event}");
            }
            assert!(data["congestion_window"].is_u64() && data["bytes_in_flight"].is_u64());
        }
        "scheduler_decision" => {
            texts(&data["decision"], &["send", "wait", "duplicate", "repeat", "ahead"]);
        }
        "path_state" => {
            texts(&data["state"], &["established", "failed", "revived", "abandoned"]);
        }
        other => panic!("an event that nobody knows: {other}"),
    }
}

#[test]
fn every_record_is_as_the_draft_wants_it() {
    let (_, texts) = run(QlogSchema::Draft);
    for (text, side) in texts.iter().zip(["client", "server"]) {
        let (header, events) = records(text);
        assert_eq!(header["file_schema"], "urn:ietf:params:qlog:file:sequential");
        assert_eq!(header["serialization_format"], "application/qlog+json-seq");
        assert_eq!(header["trace"]["vantage_point"]["type"], side);
        assert!(header["trace"]["event_schemas"].as_array().unwrap().len() == 2);
        let mut last = 0.0;
        for event in &events {
            let time = event["time"].as_f64().unwrap();
            assert!(time >= last, "{event}");
            last = time;
            check_draft(event);
        }
        assert_eq!(events[0]["name"], "quic:connection_started");
        let paths: BTreeSet<_> = events.iter().map(|event| event["tuple"].to_string()).collect();
        assert!(paths.contains("\"p0\"") && paths.contains("\"p1\""), "{paths:?}");
    }
}

/// qvis wants version 0.3, `qlog_format`, `trace`, and names with the category of old.
#[test]
fn the_log_for_qvis_has_the_names_that_it_looks_up() {
    let (_, texts) = run(QlogSchema::Qvis);
    let (header, events) = records(&texts[1]);
    assert_eq!(header["qlog_version"], "0.3");
    assert_eq!(header["qlog_format"], "JSON-SEQ");
    assert_eq!(header["trace"]["common_fields"]["time_format"], "relative");
    let names: BTreeSet<_> = events.iter().map(|event| event["name"].as_str().unwrap()).collect();
    let expected = [
        "connectivity:connection_started",
        "connectivity:connection_closed",
        "transport:parameters_set",
        "transport:packet_sent",
        "transport:packet_received",
        "transport:packet_dropped",
        "recovery:packet_lost",
        "recovery:metrics_updated",
        "skyweave:scheduler_decision",
    ];
    assert!(expected.iter().all(|name| names.contains(name)), "{names:?}");
    assert!(names.iter().all(|name| !name.starts_with("quic:")), "{names:?}");
}

#[test]
fn an_endpoint_with_a_log_sends_the_same_as_one_without() {
    let bytes = |with: bool| {
        let mut server = Own::server(BYTES, |_| {});
        let _text = with.then(|| logged(&mut server.endpoint, QlogSchema::Draft));
        let link = Link { loss: 10, ..Link::new(20.0, 10) };
        let mut world = World::new(Own::client(0, |_| {}), server, vec![link], 3);
        (world.transfer(30), world.links[1][0].carried)
    };
    assert_eq!(bytes(true), bytes(false));
}
