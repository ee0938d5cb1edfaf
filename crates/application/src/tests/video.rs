use super::world::*;
use crate::*;

fn workload(json: &str) -> Workload {
    serde_json::from_str(json).expect(json)
}

/// Events of a session, samples left out.
fn events(rows: &[Row]) -> Vec<(f64, &'static str)> {
    let event = |row: &Row| match (row[0], row[1]) {
        (Cell::Number(at), Cell::Word(word)) => (at, word),
        other => panic!("{other:?}"),
    };
    rows.iter().map(event).filter(|(_, word)| *word != "sample").collect()
}

fn last(rows: &[Row], workload: &Workload, name: &str) -> f64 {
    *numbers(&rows[rows.len() - 1..], workload.describe().columns(), name).last().expect("a row")
}

/// Four seconds of 25 pictures a second, 1000 bytes each.
fn film() -> String {
    let line = |n: u32| format!("0,{},0,1000,{}\\n", f64::from(n) / 25.0, n * 1000);
    (0..100).map(line).collect()
}

#[test]
fn a_film_is_played_while_it_comes() {
    for kind in [Kind::tcp(), Kind::quic()] {
        let json =
            format!(r#"{{"kind": "video", "player": "wait", "film": {{"csv": "{}"}}}}"#, film());
        let wanted = workload(&json);
        let mut world = World::new(kind, wanted.describe());
        world.run(seconds(30.0));
        assert!(world.ends[CLIENT].is_done());
        let rows = world.rows(CLIENT);
        // A window of 10,000 bytes each 10 ms, from 20 ms on: the fourth has 1.5 s of film, and all of it
        // is there before it is missed.
        assert_eq!(events(&rows), [(0.05, "playing"), (4.05, "ended")]);
        assert_eq!(last(&rows, &wanted, "shown"), 100.0);
        assert_eq!(last(&rows, &wanted, "received_bytes"), 100_000.0);
    }
}

#[test]
fn a_film_that_comes_slowly_runs_dry() {
    let json = format!(
        r#"{{"kind": "video", "player": "wait", "start_s": 0.4, "resume_s": 0.4, "film": {{"csv": "{}"}}}}"#,
        film()
    );
    let wanted = workload(&json);
    // Two pictures of 40 ms each 120 ms.
    let kind = Kind { window_bytes: 2000, delay: units::Duration::from_millis(120), ..Kind::tcp() };
    let mut world = World::new(kind, wanted.describe());
    world.run(seconds(30.0));
    let rows = world.rows(CLIENT);
    assert!(last(&rows, &wanted, "underflows") >= 3.0, "{:?}", events(&rows));
    // 0.4 s of film take 0.6 s to come, less what is there already: three times 0.52 s.
    let stall_s = last(&rows, &wanted, "stall_s");
    assert!((stall_s - 1.56).abs() < 1e-6, "{:?}", events(&rows));
}

#[test]
fn chunks_are_asked_for_in_turn_and_played() {
    let json = r#"{"kind": "adaptive", "abr": "throughput", "ladder_mbps": [0.1, 0.4, 1.6],
                   "chunk_s": 2, "film_s": 20, "buffer_s": 8}"#;
    let wanted = workload(json);
    for kind in [Kind::tcp(), Kind::quic()] {
        let mut world = World::new(Kind { window_bytes: 20_000, ..kind }, wanted.describe());
        world.run(seconds(60.0));
        assert!(world.ends[CLIENT].is_done());
        let rows = world.rows(CLIENT);
        let columns = wanted.describe().columns();
        let chunks: Vec<Row> =
            rows.into_iter().filter(|row| row[1] == Cell::Word("response")).collect();
        let numbers_of = |name| numbers(&chunks, columns, name);
        assert_eq!(numbers_of("chunk"), (0..10).map(f64::from).collect::<Vec<_>>());
        // 20,000 bytes each 20 ms are 8 Mbit/s: the first chunk is the lowest, and soon the best is taken.
        assert_eq!(numbers_of("quality")[0], 0.0);
        assert_eq!(numbers_of("quality")[9], 2.0);
        let rows = world.rows(CLIENT);
        assert_eq!(last(&rows, &wanted, "underflows"), 0.0);
        assert_eq!(last(&rows, &wanted, "position_s"), 20.0);
        let sum: f64 = numbers_of("bitrate_mbps").iter().sum();
        assert!((last(&rows, &wanted, "qoe_quality") - sum).abs() < 1e-9);
        let qoe = sum - last(&rows, &wanted, "qoe_switches");
        assert!((last(&rows, &wanted, "qoe") - qoe).abs() < 1e-9);
    }
}

#[test]
fn a_request_waits_until_there_is_room() {
    let json = r#"{"kind": "adaptive", "abr": "fixed", "ladder_mbps": [0.1], "chunk_s": 2,
                   "film_s": 20, "buffer_s": 4}"#;
    let wanted = workload(json);
    let mut world = World::new(Kind { window_bytes: 1 << 20, ..Kind::quic() }, wanted.describe());
    world.run(seconds(60.0));
    let rows = world.rows(CLIENT);
    let all = events(&rows);
    let asked = all.iter().filter(|(_, word)| *word == "request");
    let asked: Vec<f64> = asked.map(|(at, _)| *at).collect();
    // Two chunks fit; each further one is asked for when one has been played.
    assert_eq!(asked[..3], [0.0, 0.02, 2.02]);
    assert!(asked[2..].windows(2).all(|pair| (pair[1] - pair[0] - 2.0).abs() < 1e-6), "{asked:?}");
}

#[test]
fn what_cannot_be_played_is_refused_in_a_sentence() {
    let refused = |json: &str| match serde_json::from_str::<Workload>(json) {
        Err(error) => error.to_string(),
        Ok(workload) => workload.describe().check().expect_err(json).to_string(),
    };
    let video = |more: &str| refused(&format!(r#"{{"kind": "video", {more}}}"#));
    assert!(video(r#""film": "vbr""#).contains("no film is called 'vbr'"));
    assert!(video(r#""film": {"csv": ""}"#).contains("no pictures"));
    assert!(video(r#""film": {"csv": "0,0"}"#).contains("line 1"));
    assert!(video(r#""direction": "up""#).contains("leave direction out"));
    assert!(video(r#""start_s": -1"#).contains("start_s = -1"));
    assert!(video(r#""resume_s": 1"#).contains("only player = \"wait\""));
    assert!(video(r#""player": "vlc""#).contains("unknown variant `vlc`"));
    let adaptive =
        |more: &str| refused(&format!(r#"{{"kind": "adaptive", "ladder_mbps": [1, 2], {more}}}"#));
    assert!(adaptive(r#""abr": "boda""#).contains("no ABR algorithm is called 'boda'"));
    assert!(adaptive(r#""abr": "bola", "chunk_s": 0"#).contains("the chunks of its film"));
    assert!(adaptive(r#""abr": "bola", "film_s": 1e9"#).contains("the chunks of its film"));
    assert!(adaptive(r#""abr": "bola", "buffer_s": 1"#).contains("buffer_s = 1"));
    assert!(
        adaptive(r#""abr": "bola", "chunk_bytes": [[5, 6]]"#)
            .contains("chunk_bytes for chunks = 1")
    );
    let falling = refused(r#"{"kind": "adaptive", "abr": "bola", "ladder_mbps": [2, 1]}"#);
    assert!(falling.contains("must rise"), "{falling}");
}
