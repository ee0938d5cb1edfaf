use crate::*;

fn parsed(json: &str) -> Result<Workload, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

fn refusal(json: &str) -> String {
    match parsed(json) {
        Err(error) => error,
        Ok(workload) => workload.describe().check().expect_err(json).to_string(),
    }
}

#[test]
fn a_workload_without_a_kind_is_bulk() {
    let bulk = parsed(r#"{"bytes": 5, "direction": "up"}"#).unwrap();
    assert_eq!(bulk.kind(), "bulk");
    assert_eq!(parsed(r#"{"kind": "bulk", "bytes": 5, "direction": "up"}"#).unwrap(), bulk);
}

#[test]
fn every_kind_survives_a_round_trip_and_its_rows_fit_its_columns() {
    for json in [
        r#"{"kind": "bulk", "direction": "down", "bytes": null, "duration_s": 3.0}"#,
        r#"{"kind": "requests", "object_bytes": [1000], "think_s": 0.5, "duration_s": 3.0}"#,
        r#"{"kind": "paced", "rate_mbps": 2.0, "deadline_ms": 100.0, "duration_s": 3.0}"#,
        r#"{"kind": "video", "player": "wait", "duration_s": 3.0}"#,
        r#"{"kind": "video", "film": {"csv": "0,0,0,9,0"}, "held_pictures": 1, "duration_s": 3.0}"#,
        r#"{"kind": "adaptive", "abr": {"name": "bola", "steady": true}, "ladder_mbps": [0.001, 1],
            "qoe": "log", "forecast": {"down_mbps": {"times_s": [0], "quantiles": [0.5],
            "values": [[5]]}}, "film_s": 8}"#,
        r#"{"kind": "adaptive", "abr": "mpc-forecast", "ladder_mbps": [0.001, 1], "film_s": 8,
            "forecast_updates": [{"arrives_s": 1, "forecast": {"outages": []}}]}"#,
    ] {
        let workload = parsed(json).unwrap();
        let again = serde_json::to_string(&workload).unwrap();
        assert_eq!(parsed(&again).unwrap(), workload, "{again}");
        workload.describe().check().unwrap();
        let mut world = super::world::World::new(super::world::Kind::tcp(), workload.describe());
        world.run(super::world::seconds(3.0));
        let columns = workload.describe().columns();
        for row in [0, 1].into_iter().flat_map(|side| world.rows(side)) {
            assert_eq!(row.len(), columns.len());
            for (cell, column) in row.iter().zip(columns) {
                assert!(cell.kind().is_none_or(|kind| kind == column.kind), "{column:?}");
            }
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused_in_a_sentence() {
    let unknown = refusal(r#"{"kind": "vidoe"}"#);
    assert!(
        unknown.contains("'vidoe', which does not exist; there are bulk, requests"),
        "{unknown}"
    );
    assert!(refusal(r#"{"kind": 3}"#).contains("it must be a word"));
    assert!(refusal(r#"{"kind": "bulk"}"#).contains("neither bytes nor duration_s"));
    assert!(refusal(r#"{"kind": "bulk", "size": 3}"#).contains("unknown field `size`"));
    assert!(refusal(r#"{"kind": "requests", "object_bytes": []}"#).contains("no object_bytes"));
    let huge = r#"{"kind": "requests", "object_bytes": [9000000000000000000]}"#;
    assert!(refusal(huge).contains("object_bytes = 9000000000000000000"));
    let paced = |more: &str| {
        refusal(&format!(
            r#"{{"kind": "paced", "rate_mbps": 1, "deadline_ms": 5, "duration_s": 9{more}}}"#
        ))
    };
    assert!(paced(r#", "piece_bytes": 4"#).contains("piece_bytes = 4"));
    assert!(paced(r#", "on_s": 4"#).contains("on_s or off_s alone"));
    let endless = r#"{"kind": "paced", "rate_mbps": 1e5, "deadline_ms": 5, "duration_s": 1e6}"#;
    assert!(refusal(endless).contains("number of pieces"));
}
