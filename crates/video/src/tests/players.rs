use crate::FrameTable;
use crate::progressive::lateness::Lateness;
use crate::progressive::{Event, Kind, Player, Settings};
use units::{Duration, Instant};

/// Ten seconds at 25 pictures a second, 1000 bytes each, in the order in which they are shown.
fn film() -> FrameTable {
    let line = |n: u32| format!("0,{},0,1000,{}\n", f64::from(n) / 25.0, n * 1000);
    FrameTable::parse(&(0..250).map(line).collect::<String>()).expect("a film")
}

fn start(kind: Kind, settings: Settings) -> Box<dyn Player> {
    kind.start(&film(), &settings, Instant::ZERO).expect("a player")
}

fn ms(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

/// Delivers pictures at a constant interval in milliseconds, but none in the gap.
fn deliver(mut player: Box<dyn Player>, each_ms: u64, gap: (u64, u64)) -> Box<dyn Player> {
    for n in 1..=250 {
        let at = n * each_ms;
        let at = if (gap.0..gap.1).contains(&at) { gap.1 } else { at };
        player.on_bytes(ms(at), n * 1000);
    }
    player.closed(ms(60_000))
}

fn moments(player: &dyn Player, event: Event) -> Vec<f64> {
    let of_kind = |row: &&crate::progressive::Row| row.event == event;
    player.log().rows().iter().filter(of_kind).map(|row| row.at.as_secs_f64()).collect()
}

#[test]
fn a_film_that_comes_in_time_is_shown_whole() {
    for kind in [Kind::Wait, Kind::Discard] {
        let player = start(kind, Settings::default());
        let player = deliver(player, 20, (0, 0));
        let counts = player.counts();
        assert_eq!((counts.shown, counts.discarded, counts.flushed), (250, 0, 0), "{kind:?}");
        assert_eq!((counts.underflows, counts.stall), (0, Duration::ZERO), "{kind:?}");
        assert_eq!(counts.received_bytes, 250_000);
        let startup = player.startup().expect("a start");
        let ended = moments(&*player, Event::Ended);
        assert_eq!(ended, [10.0 + startup.as_secs_f64()], "{kind:?}");
    }
}

#[test]
fn wait_starts_with_enough_media_and_stops_for_what_is_missing() {
    let settings = Settings { start_s: Some(1.0), resume_s: Some(2.0), held_pictures: None };
    let player = start(Kind::Wait, settings);
    // 1 s of media are there with picture 25, after 0.5 s. Nothing comes from 2 to 6 s, by when 100
    // pictures, 4 s, are there: they last until 4.5 s.
    let player = deliver(player, 20, (2001, 6000));
    assert_eq!(player.startup(), Some(Duration::from_millis(500)));
    assert_eq!(moments(&*player, Event::Underflow), [4.5]);
    // At 6 s all pictures of the gap come at once.
    assert_eq!(moments(&*player, Event::Playing), [0.5, 6.0]);
    assert_eq!(player.counts().stall, Duration::from_millis(1500));
    assert_eq!(moments(&*player, Event::Ended), [12.0]);
    assert_eq!(player.counts().shown, 250);
}

#[test]
fn a_picture_at_its_deadline_is_in_time() {
    let settings = Settings { start_s: Some(0.08), resume_s: Some(0.08), held_pictures: None };
    let mut player = start(Kind::Wait, settings);
    player.on_bytes(ms(0), 2000);
    player.on_bytes(ms(80), 3000);
    assert_eq!(player.counts().underflows, 0);
    player.on_bytes(ms(121), 4000);
    assert_eq!(player.counts().underflows, 1);
}

#[test]
fn discard_starts_one_step_beyond_its_delay() {
    let player = start(Kind::Discard, Settings::default());
    let player = deliver(player, 20, (0, 0));
    // 1.25 s of media are five steps; the fifth ends with picture 32 of 25 a second, there at 640 ms.
    assert_eq!(player.startup(), Some(Duration::from_millis(650)));
}

#[test]
fn discard_drops_what_is_late_and_buffers_anew() {
    let player = start(Kind::Discard, Settings { held_pictures: Some(0), ..Settings::default() });
    // 101 pictures, the last for 4 s, are there at 2.02 s; the clock began at 0.65 s, so they last until
    // 4.69 s. The gap ends at 4.85 s: four were due 160 to 40 ms ago, and later than half of 40 ms.
    let player = deliver(player, 20, (2021, 4850));
    let counts = player.counts();
    assert_eq!((counts.discarded, counts.underflows), (4, 0));
    assert_eq!(counts.shown, 246);

    // 0.1 s later: the end of the step at 4.25 s was due at 4.9 s. The six pictures up to it are late, of the
    // next step the first has no clock, and four are over when the clock starts at the end of that step.
    let player = start(Kind::Discard, Settings { held_pictures: Some(0), ..Settings::default() });
    let player = deliver(player, 20, (2021, 4950));
    let counts = player.counts();
    assert_eq!((counts.underflows, counts.discarded, counts.flushed), (1, 6 + 4, 1));
    assert_eq!(counts.shown, 250 - 11);
    // All the rest came at 4.95 s: the clock runs 10 ms later, and ends 0.25 s of film earlier.
    assert_eq!(counts.stall, Duration::from_millis(10));
    let ended = moments(&*player, Event::Ended);
    assert_eq!(ended, [4.96 + (10.0 - 4.5)]);
}

#[test]
fn a_film_whose_last_step_is_late_ends_with_that_step() {
    let mut player = start(Kind::Discard, Settings::default());
    player.on_bytes(ms(500), 249_000);
    player.on_bytes(ms(30_000), 250_000);
    let player = player.closed(ms(60_000));
    assert_eq!(moments(&*player, Event::Ended), [30.0]);
    let rows = player.log().rows();
    assert!(rows.windows(2).all(|pair| pair[0].at <= pair[1].at));
}

#[test]
fn held_pictures_come_out_later() {
    let late = |held| {
        let settings = Settings { held_pictures: Some(held), ..Settings::default() };
        let player = start(Kind::Discard, settings);
        let player = deliver(player, 20, (2021, 4850));
        player.counts().discarded
    };
    assert_eq!(late(3), late(0) + 3);
}

#[test]
fn the_delay_grows_by_the_median_of_the_last_three() {
    // Ever slower than the film: each underflow is late by more, and the player buffers for longer.
    let player = start(Kind::Discard, Settings::default());
    let player = deliver(player, 90, (0, 0));
    let playing = moments(&*player, Event::Playing);
    let underflows = moments(&*player, Event::Underflow);
    assert!(underflows.len() >= 3, "{underflows:?}");
    assert_eq!(playing.len(), underflows.len() + 1);
    let counts = player.counts();
    assert_eq!(counts.shown + counts.discarded + counts.flushed, 250);
}

#[test]
fn latenesses_are_lowered_by_what_the_delay_was_raised_by() {
    let ms = Duration::from_millis;
    let mut late = Lateness::default();
    late.note(ms(300));
    assert_eq!(late.median(), Duration::ZERO);
    late.lower(Duration::ZERO);
    late.note(ms(100));
    assert_eq!(late.median(), ms(100));
    // 200 ms of the first are left, of the second nothing.
    late.lower(ms(100));
    late.note(ms(50));
    assert_eq!(late.median(), ms(50));
    late.lower(ms(50));
    late.note(ms(400));
    late.note(ms(500));
    assert_eq!(late.median(), ms(400));
}

#[test]
fn what_never_came_is_neither_shown_nor_dropped() {
    for kind in [Kind::Wait, Kind::Discard] {
        let mut player = start(kind, Settings::default());
        player.on_bytes(ms(500), 100_000);
        let player = player.closed(ms(20_000));
        let counts = player.counts();
        let taken = if kind == Kind::Wait { 100 } else { 97 };
        assert_eq!((counts.shown, counts.discarded), (taken, 0), "{kind:?}");
        let last = player.log().rows().last().expect("rows");
        assert_eq!((last.event, last.at), (Event::Closed, ms(20_000)));
        assert_eq!(moments(&*player, Event::Ended), [] as [f64; 0]);
    }
}

#[test]
fn settings_of_no_player_are_refused() {
    let settings = Settings { start_s: Some(f64::NAN), ..Settings::default() };
    let error = Kind::Wait.start(&film(), &settings, Instant::ZERO).expect_err("no number");
    assert!(error.to_string().contains("start_s = NaN"), "{error}");
}
