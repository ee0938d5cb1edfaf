//! Streams that are not there, go the other way, are over, or are more than allowed (RFC 9000 §2–§4).

use super::*;
use units::Duration;

/// A server's own streams have the odd IDs; 2 and 3 go one way.
#[test]
fn frames_for_streams_that_are_not_there_or_go_the_other_way_end_the_connection() {
    let stream = |id| Frame::Stream { id, offset: 0, data: &[1], fin: false };
    let cases = [
        ("RFC 9000 §19.8: not created", stream(1)),
        ("RFC 9000 §19.8: send-only", stream(3)),
        ("RFC 9000 §19.4: send-only", Frame::ResetStream { id: 3, error_code: 0, final_size: 0 }),
        ("RFC 9000 §19.5: not created", Frame::StopSending { id: 1, error_code: 0 }),
        ("RFC 9000 §19.5: receive-only", Frame::StopSending { id: 2, error_code: 0 }),
        ("RFC 9000 §19.10: not created", Frame::MaxStreamData { id: 1, maximum: 9 }),
        ("RFC 9000 §19.10: receive-only", Frame::MaxStreamData { id: 2, maximum: 9 }),
        ("RFC 9000 §19.13: send-only", Frame::StreamDataBlocked { id: 3, limit: 9 }),
    ];
    for (name, frame) in cases {
        assert_eq!(error_of(Victim::server(), &[frame]), Some(Code::StreamState), "{name}");
    }
    // Also when it exists.
    let mut victim = Victim::server();
    assert_eq!(victim.own.endpoint.open_stream(false), Ok(3));
    assert_eq!(victim.hears(&[stream(3)]).error(), Some(Code::StreamState));
}

#[test]
fn a_stream_opens_all_below_it() {
    let mut victim = Victim::server();
    victim.hears(&[Frame::Stream { id: 8, offset: 0, data: &[1], fin: false }]);
    let opened = [0, 4, 8].map(|id| victim.own.has(&Event::StreamOpened(id)));
    assert_eq!(opened, [true; 3]);
}

/// The limit is four streams of each kind.
#[test]
fn more_streams_than_allowed_end_the_connection() {
    for (last, next) in [(12, 16), (14, 18)] {
        let stream = |id| Frame::Stream { id, offset: 0, data: &[1], fin: false };
        assert_eq!(error_of(Victim::server(), &[stream(last)]), None);
        assert_eq!(error_of(Victim::server(), &[stream(next)]), Some(Code::StreamLimit));
        let blocked = Frame::StreamDataBlocked { id: next, limit: 0 };
        assert_eq!(error_of(Victim::server(), &[blocked]), Some(Code::StreamLimit));
    }
    let mut victim = Victim::client();
    let opened = (0..5).filter(|_| victim.own.endpoint.open_stream(true).is_ok()).count();
    assert_eq!(opened, 4);
    assert_eq!(victim.own.endpoint.open_stream(true), Err(Error::StreamLimit));
}

/// The window of a stream is 1000 bytes, that of the connection 1500. RFC 9000 §4.1, §4.5, §19.9:
/// final sizes count like data.
#[test]
fn final_sizes_count_against_the_windows() {
    let reset = |id, final_size| Frame::ResetStream { id, error_code: 0, final_size };
    let data = |id, offset| Frame::Stream { id, offset, data: &[1; 100], fin: false };
    let error = Some(Code::FlowControl);
    assert_eq!(error_of(Victim::server(), &[reset(0, 1001)]), error);
    assert_eq!(error_of(Victim::server(), &[data(0, 901)]), error);
    // The application reads nothing of the first stream.
    for (second, expected) in
        [(reset(4, 500), None), (reset(4, 501), error), (data(4, 400), None), (data(4, 401), error)]
    {
        assert_eq!(error_of(Victim::server(), &[data(0, 900), second]), expected);
    }
}

/// A peer that leaves the first byte of each stream out and fills all that it may: windows grow for what
/// waits behind a hole, to what was configured and no further.
#[test]
fn holes_open_no_more_window_than_was_configured() {
    const GROWTH: u64 = 8_000;
    const CONNECTION: u64 = 20_000;
    let mut victim = Victim::server_with(|config| {
        config.stream_growth_bytes = GROWTH;
        config.max_receive_window_bytes = CONNECTION;
    });
    let log = victim.log();
    let (mut windows, mut ends) = ([1000; 4], [0; 4]);
    let mut allowed = 1500;
    let mut held = 0;
    for _ in 0..50 {
        for index in 0..4 {
            let room = allowed - ends.iter().sum::<u64>();
            let end = windows[index].min(ends[index] + room);
            // Never the first byte; the last one again, so that the next round trip is seen.
            let start = ends[index].saturating_sub(1).max(1);
            if start < end {
                let data = vec![7; (end - start) as usize];
                let id = 4 * index as u64;
                victim.hears(&[Frame::Stream { id, offset: start, data: &data, fin: false }]);
                ends[index] = end;
            }
        }
        held = held.max(victim.own.endpoint.held_bytes());
        victim.until(victim.now + Duration::from_millis(100));
        for frame in log.frames("max_stream_data") {
            let window = &mut windows[number(&frame, "stream_id") as usize / 4];
            *window = number(&frame, "maximum").max(*window);
        }
        for frame in log.frames("max_data") {
            allowed = number(&frame, "maximum").max(allowed);
        }
        assert_eq!(victim.error(), None);
    }
    let grown: u64 = windows.iter().map(|window| window - 1000).sum();
    assert!(grown > 0 && grown <= GROWTH, "{windows:?}");
    assert!(allowed > 1500 && allowed <= CONNECTION, "{allowed}");
    assert!(held <= CONNECTION + 50_000, "{held}");
}

fn number(frame: &serde_json::Value, field: &str) -> u64 {
    frame[field].as_u64().expect("a number")
}

/// RFC 9000 §4.5.
#[test]
fn a_final_size_that_changes_ends_the_connection() {
    let reset = |final_size| Frame::ResetStream { id: 0, error_code: 0, final_size };
    let data = |offset, fin| Frame::Stream { id: 0, offset, data: &[1; 10], fin };
    let error = Some(Code::FinalSize);
    assert_eq!(error_of(Victim::server(), &[data(0, true), data(10, false)]), error);
    assert_eq!(error_of(Victim::server(), &[data(0, true), reset(11)]), error);
    assert_eq!(error_of(Victim::server(), &[data(10, false), reset(19)]), error);
    assert_eq!(error_of(Victim::server(), &[reset(20), data(11, false)]), error);
    assert_eq!(error_of(Victim::server(), &[data(0, true), data(0, true), reset(10)]), None);
}

#[test]
fn nothing_is_written_behind_the_end_of_a_stream() {
    let mut victim = Victim::client();
    let client = &mut victim.own.endpoint;
    let (finished, given_up) =
        (client.open_stream(true).unwrap(), client.open_stream(true).unwrap());
    client.finish(finished).unwrap();
    client.reset(given_up, 3).unwrap();
    for stream in [finished, given_up] {
        assert_eq!(client.write(stream, &[1]), Err(Error::Finished(stream)));
        assert_eq!(client.finish(stream), Err(Error::Finished(stream)));
    }
}

/// RFC 9000 §3.3, §3.5: neither new data nor lost ones follow a reset.
#[test]
fn a_stream_that_the_peer_stops_is_reset_and_silent() {
    let link = Link { loss: 50, ..Link::new(5.0, 20) };
    let mut world =
        World::new(Own::client(1_000_000, |_| {}), Own::server(0, |_| {}), vec![link], 1);
    world.server.reads = false;
    world.run(ms(600), |_| false);
    let stream = world.client.stream.unwrap();
    world.server.endpoint.stop(stream, 8).unwrap();
    assert!(world.run(ms(2000), |world| world.client.has(&Event::Stopped(stream, 8))));
    let log = Log::of(&mut world.client.endpoint, world.now);
    let until = world.now + Duration::from_secs(5);
    world.run(until, |_| false);
    let resets = log.frames("reset_stream");
    assert!(resets.iter().all(|frame| *frame == resets[0]) && !resets.is_empty(), "{resets:?}");
    assert_eq!(log.frames("stream").len(), 0);
    assert!(world.server.endpoint.is_ended(stream));
}

/// RFC 9000 §4.2: the window is raised as the application reads, whether the peer complains or not.
#[test]
fn windows_are_raised_unasked() {
    let mut victim = Victim::server();
    let data = Frame::Stream { id: 0, offset: 0, data: &[1; 900], fin: true };
    victim.hears(&[data]);
    let log = victim.log();
    let now = victim.now;
    assert!(matches!(victim.own.endpoint.read(now, 0, 1000), Ok(Read::Data(_))));
    assert_eq!(victim.own.endpoint.read(now, 0, 1000), Ok(Read::Finished));
    victim.says();
    assert_eq!(log.frames("max_data").len(), 1);
}
