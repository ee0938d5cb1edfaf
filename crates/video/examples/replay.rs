//! Plays a recorded delivery curve with a reference player and prints what a viewer would have seen.
//!
//!     cargo run --release -p skyweave-video --example replay -- FRAMES.csv CURVE.json discard 3 150
//!
//! CURVE.json has `times_s` and `received`; then come the player, its held pictures ("-": its own), and
//! the second at which the session is over. Prints JSON: totals, and the events with their times.

use serde::Deserialize;
use serde_json::json;
use std::error::Error;
use std::io::Write;
use units::{Duration, Instant};
use video::FrameTable;
use video::progressive::{Event, Kind, Settings};

#[derive(Deserialize)]
struct Curve {
    times_s: Vec<f64>,
    received: Vec<u64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [frames, curve, player, held, end] = arguments.as_slice() else {
        return Err("replay FRAMES.csv CURVE.json PLAYER HELD END_S".into());
    };
    let film = FrameTable::parse(&std::fs::read_to_string(frames)?)?;
    let curve: Curve = serde_json::from_str(&std::fs::read_to_string(curve)?)?;
    let kind: Kind = serde_json::from_value(json!(player))?;
    let end = Instant::ZERO + Duration::from_secs_f64(end.parse()?);
    let settings = Settings { held_pictures: held.parse().ok(), ..Settings::default() };
    let mut player = kind.start(&film, &settings, Instant::ZERO)?;
    for (time_s, received) in curve.times_s.iter().zip(&curve.received) {
        let at = Instant::ZERO + Duration::from_secs_f64(*time_s);
        if at <= end {
            player.on_bytes(at, *received);
        }
    }
    let player = player.closed(end);
    let events = player.log().rows().iter().filter(|row| row.event != Event::Sample);
    let events: Vec<_> = events
        .map(|row| {
            json!({
                "event": row.event.name(),
                "at_s": row.at.as_secs_f64(),
                "position_s": row.position.as_secs_f64(),
                "discarded": row.counts.discarded,
            })
        })
        .collect();
    let counts = player.counts();
    let last = player.log().rows().last().map_or(Duration::ZERO, |row| row.counts.stall);
    let found = json!({
        "startup_s": player.startup().map(|startup| startup.as_secs_f64()),
        "shown": counts.shown,
        "discarded": counts.discarded,
        "flushed": counts.flushed,
        "underflows": counts.underflows,
        "stall_s": last.as_secs_f64(),
        "events": events,
    });
    writeln!(std::io::stdout(), "{found}")?;
    Ok(())
}
