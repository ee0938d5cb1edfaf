use crate::*;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const NOW: i64 = 1_000_000_000_000;
const SECOND: i64 = 1_000_000_000;
const PATIENCE: Duration = Duration::from_secs(60);

/// The page that the writer in Python writes; its test holds it against the same file.
fn golden() -> Vec<u8> {
    let hex = include_str!("tests/page.hex").trim();
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect()
}

/// A name of its own in the folder for temporary files, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("skyweave-awareness-{}-{number}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn holding(bytes: &[u8]) -> Self {
        let made = Self::new();
        std::fs::write(&made.0, bytes).unwrap();
        made
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn read(bytes: &[u8], now_ns: i64) -> Option<Hint> {
    let file = Scratch::holding(bytes);
    Page::open(&file.0).unwrap().read(now_ns)
}

// ---- pages -----------------------------------------------------------------------------------

#[test]
fn the_golden_page_is_read() {
    let hint = read(&golden(), NOW).unwrap();
    assert_eq!((hint.issued_ns, hint.valid_until_ns), (NOW, NOW + 10 * SECOND));
    assert_eq!((hint.boundary_ns, hint.boundary_kind), (NOW + 3 * SECOND, Kind::Slot));
    assert_eq!((hint.boundary_uncertainty_ns, hint.boundary_probability), (SECOND * 3 / 10, 0.6));
    assert_eq!((hint.outage_start_ns, hint.outage_end_ns), (NOW + SECOND, NOW + 2 * SECOND));
    assert_eq!(hint.outage_probability, 0.75);
    assert_eq!((hint.rtt_ms, hint.up_mbps), ([30.0, 40.0, 90.5], [1.0, 2.0, 3.0]));
    assert!(hint.down_mbps.iter().all(|value| value.is_nan()));
}

#[test]
fn what_is_stale_or_of_the_future_is_no_hint() {
    assert!(read(&golden(), NOW + 10 * SECOND - 1).is_some());
    assert_eq!(read(&golden(), NOW + 10 * SECOND), None);
    assert_eq!(read(&golden(), NOW - 1), None);
    assert_eq!(read(&golden(), i64::MIN), None);
}

#[test]
fn every_changed_bit_is_noticed() {
    let whole = golden();
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut wrong = whole.clone();
            wrong[at] ^= 1 << bit;
            let sequence = (16..24).contains(&at);
            let odd = at == 16 && bit == 0;
            assert_eq!(read(&wrong, NOW).is_some(), sequence && !odd, "byte {at}, bit {bit}");
        }
    }
}

#[test]
fn garbage_and_absence_are_no_hint() {
    for size in [0, 1, 24, 100, 175, 4096] {
        assert_eq!(read(&vec![0; size], NOW), None);
        assert_eq!(read(&vec![0xff; size], NOW), None);
    }
    assert!(Page::open(Scratch::new().0.clone()).is_err());
}

#[test]
fn numbers_that_cannot_be_are_not_heeded() {
    let good = read(&golden(), NOW).unwrap();
    let wrong = [
        Hint { boundary_probability: 1.5, ..good },
        Hint { outage_probability: f64::NAN, ..good },
        Hint { valid_until_ns: i64::MAX, issued_ns: 1, ..good },
        Hint { outage_end_ns: NOW, ..good },
        Hint { rtt_ms: [3.0, 2.0, 1.0], ..good },
        Hint { up_mbps: [1.0, 2.0, f64::INFINITY], ..good },
        Hint { down_mbps: [f64::NAN, 1.0, 2.0], ..good },
    ];
    assert!(good.holds(NOW));
    assert!(wrong.iter().all(|hint| !hint.holds(NOW)));
}

/// A writer that never rests; every hint that is seen is whole, for its checksum is right.
#[test]
fn a_hint_is_seen_whole_while_it_is_written() {
    let file = Scratch::holding(&golden());
    let page = Page::open(&file.0).unwrap();
    let target = std::fs::OpenOptions::new().write(true).open(&file.0).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let content = golden()[24..].to_vec();
            let mut sequence = 2_u64;
            while !stop.load(Ordering::Relaxed) {
                target.write_all_at(&(sequence + 1).to_le_bytes(), 16).unwrap();
                target.write_all_at(&vec![0; content.len()], 24).unwrap();
                target.write_all_at(&content, 24).unwrap();
                sequence += 2;
                target.write_all_at(&sequence.to_le_bytes(), 16).unwrap();
            }
        });
        let mut seen = 0;
        while seen < 200 {
            if let Some(hint) = page.read(NOW) {
                assert_eq!(hint.rtt_ms, [30.0, 40.0, 90.5]);
                seen += 1;
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}

// ---- sockets ---------------------------------------------------------------------------------

/// A publisher that says this to the first who asks, and returns what it was asked.
fn answering(said: Vec<u8>) -> (Scratch, std::thread::JoinHandle<String>) {
    let name = Scratch::new();
    let door = UnixListener::bind(&name.0).unwrap();
    let thread = std::thread::spawn(move || {
        let (mut end, _) = door.accept().unwrap();
        let mut asked = vec![0; 4096];
        let size = end.read(&mut asked).unwrap();
        let _ = end.write_all(&said);
        String::from_utf8_lossy(&asked[..size]).into_owned()
    });
    (name, thread)
}

fn asked(said: &[u8]) -> Option<String> {
    let (name, thread) = answering(said.to_vec());
    let found = forecasts(&name.0, PATIENCE);
    assert!(thread.join().unwrap().starts_with("GET /forecast HTTP/1.1\r\n"));
    found
}

#[test]
fn forecasts_are_asked_for() {
    let body = r#"{"forecasts": {}}"#;
    let whole = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    assert_eq!(asked(whole.as_bytes()).as_deref(), Some(body));
    assert_eq!(asked(&whole.as_bytes()[..whole.len() - 1]), None, "torn");
    assert_eq!(asked(whole.replace("200", "404").as_bytes()), None);
}

#[test]
fn what_is_no_publisher_is_no_hint() {
    for said in [&b""[..], b"\xff\xff\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n", b"hello"] {
        assert_eq!(asked(said), None);
    }
    assert_eq!(forecasts(Scratch::new().0.clone(), PATIENCE), None);
    assert!(Events::listen(Scratch::new().0.clone(), "firings", PATIENCE).is_err());
}

#[test]
fn events_come_until_the_publisher_ends() {
    let said = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n\
                event: firings\ndata: {\"trigger\": \"spike\"}\n\n\
                : nothing\n\nevent: lost\ndata: {\"rows\": 3}\n\nevent: samples\ndata: {\"to";
    let (name, thread) = answering(said.into());
    let events = Events::listen(&name.0, "firings,samples", PATIENCE).unwrap();
    let found: Vec<_> = events.map(|one| (one.level, one.data)).collect();
    let pair = |level: &str, data: &str| (level.to_owned(), data.to_owned());
    let whole = [pair("firings", r#"{"trigger": "spike"}"#), pair("lost", r#"{"rows": 3}"#)];
    assert_eq!(found, whole, "without the torn one");
    assert!(thread.join().unwrap().contains("levels=firings,samples"));
}
