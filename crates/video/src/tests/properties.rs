use super::fluid::{Network, Period, play};
use crate::abr::Algorithm;
use crate::progressive::{Kind, Settings};
use crate::{Event, Film, FrameTable, Ladder, Qoe, Value};
use proptest::prelude::*;
use units::{Duration, Instant};

/// A film of pictures with these sizes and times of showing, in any order.
fn film(pictures: &[(u32, u16)]) -> FrameTable {
    let mut position = 0_u64;
    let line = |(size, centis): &(u32, u16)| {
        let text = format!("0,{},0,{size},{position}\n", f64::from(*centis) / 100.0);
        position += u64::from(*size);
        text
    };
    FrameTable::parse(&pictures.iter().map(line).collect::<String>()).expect("a film")
}

proptest! {
    #[test]
    fn players_show_or_drop_each_picture_once_and_never_go_back(
        pictures in prop::collection::vec((0_u32..2_000_000, 0_u16..3000), 1..80),
        arrivals in prop::collection::vec((0_u64..4_000_000_000, 0_u64..90_000_000), 0..60),
        held in 0_u32..8,
        wait in any::<bool>(),
    ) {
        let film = film(&pictures);
        let kind = if wait { Kind::Wait } else { Kind::Discard };
        let settings = Settings { held_pictures: Some(held), ..Settings::default() };
        let mut player = kind.start(&film, &settings, Instant::ZERO).expect("a player");
        let mut now = Instant::ZERO;
        let mut most = 0;
        for (later, bytes) in arrivals {
            now += Duration::from_nanos(later);
            most = most.max(bytes); // a transport that tells of fewer than before changes nothing
            player.on_bytes(now, bytes);
        }
        let end = now + Duration::from_secs(1);
        let player = player.closed(end);
        let counts = player.counts();
        prop_assert_eq!(counts.received_bytes, most);
        let taken = counts.shown + counts.discarded + counts.flushed;
        prop_assert!(taken <= film.count() as u64);
        if most >= film.file_bytes() {
            prop_assert_eq!(taken, film.count() as u64);
        }
        let rows = player.log().rows();
        for pair in rows.windows(2) {
            prop_assert!(pair[0].at <= pair[1].at, "{:?}", pair);
            prop_assert!(pair[0].counts.received_bytes <= pair[1].counts.received_bytes);
            prop_assert!(pair[0].counts.underflows <= pair[1].counts.underflows);
            prop_assert!(pair[0].position <= pair[1].position, "{:?}", pair);
        }
        for row in rows {
            prop_assert!(row.position <= film.duration());
            prop_assert!(row.buffer <= film.duration());
        }
    }

    #[test]
    fn sessions_fetch_each_chunk_once_within_the_buffer(
        periods in prop::collection::vec((500_u32..20_000, 0_u32..20_000, 0_u32..400), 1..8),
        chunks in 1_usize..25,
        most_buffer_s in 4.0_f64..60.0,
        place in 0..Algorithm::ALL.len(),
        gives_up in any::<bool>(),
    ) {
        let mut all: Vec<Period> = periods
            .iter()
            .map(|(ms, kbps, latency_ms)| Period {
                ms: f64::from(*ms),
                kbps: f64::from(*kbps),
                latency_ms: f64::from(*latency_ms),
            })
            .collect();
        all.push(Period { ms: 5000.0, kbps: 500.0, latency_ms: 20.0 }); // it ends at some time
        let ladder = Ladder::constant(4.0, vec![0.3, 0.8, 2.0], chunks).expect("a ladder");
        let qoe = Qoe::new(Value::Log, &ladder);
        let film = Film { ladder, qoe, most_buffer_s, forecast: None, gives_up };
        let name = format!("\"{}\"", Algorithm::ALL[place]);
        let player = play(film, &name, &mut Network::new(all));
        prop_assert!(player.is_done());
        let session = player.closed(Instant::ZERO);
        let rows = session.rows();
        let responses = rows.iter().filter(|row| row.event == Event::Response);
        let came: Vec<usize> = responses.filter_map(|row| row.entry.map(|one| one.chunk)).collect();
        prop_assert_eq!(came, (0..chunks).collect::<Vec<_>>());
        for pair in rows.windows(2) {
            prop_assert!(pair[0].at <= pair[1].at);
            prop_assert!(pair[0].position <= pair[1].position);
            prop_assert!(pair[0].stall <= pair[1].stall);
        }
        let most = Duration::from_secs_f64(most_buffer_s) + Duration::from_micros(1);
        prop_assert!(rows.iter().all(|row| row.buffer <= most));
        let last = rows.last().expect("rows");
        prop_assert_eq!((last.event, last.position.as_secs()), (Event::Ended, 4 * chunks as u64));
    }
}

#[test]
fn a_player_keeps_no_more_rows_than_it_may() {
    // Two pictures a day apart make 345,600 samples.
    let film = FrameTable::parse("0,0,0,5,0\n0,86400,0,5,5").expect("a film");
    for kind in [Kind::Wait, Kind::Discard] {
        let mut player = kind.start(&film, &Settings::default(), Instant::ZERO).expect("a player");
        player.on_bytes(Instant::ZERO, 10);
        let player = player.closed(Instant::from_millis(1));
        assert!(player.log().rows().len() <= 1 << 18);
        assert_eq!(player.counts().shown, 2);
    }
}
