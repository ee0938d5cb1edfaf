//! A peer that says anything: no end panics, writes without bound, or remembers without bound.

use super::world::*;
use crate::*;
use proptest::prelude::*;
use units::{Direction, Instant};

/// Writes whatever it was given, on every kind of stream and as DATAGRAMs.
#[derive(Debug)]
struct Babbler(Vec<Vec<u8>>);

impl Application for Babbler {
    fn on_open(&mut self, _now: Instant, streams: &mut dyn Streams) {
        for data in &self.0 {
            let Some(stream) = streams.open(true) else { return };
            streams.write(stream, data);
            if data.len() % 2 == 0 {
                streams.finish(stream);
            }
            if data.len() <= streams.longest_datagram_bytes() {
                streams.send_datagram(data);
            }
        }
    }
}

fn victims() -> Vec<Box<dyn Describe>> {
    let requests = Requests {
        direction: Direction::Down,
        object_bytes: vec![40],
        count: Some(9),
        think_s: 0.0,
        parallel: 2,
        urgency: 3,
        background: false,
        duration_s: None,
    };
    let paced = Paced {
        direction: Ways::Both,
        rate_mbps: 1.0,
        piece_bytes: 100,
        deadline_ms: 1.0,
        duration_s: 0.1,
        on_s: None,
        off_s: None,
        reliable: false,
        ease: None,
    };
    let video = Video::default();
    let adaptive = r#"{"abr": "robust-mpc", "ladder_mbps": [0.0001, 0.0002], "film_s": 8}"#;
    let adaptive: Adaptive = serde_json::from_str(adaptive).expect("a film");
    vec![Box::new(requests), Box::new(paced), Box::new(video), Box::new(adaptive)]
}

proptest! {
    #[test]
    fn no_end_panics_or_believes_it(
        data in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..700), 1..8),
        one_stream in any::<bool>(),
    ) {
        for victim in victims() {
            for place in [CLIENT, SERVER] {
                let kind = if one_stream { Kind::tcp() } else { Kind::quic() };
                let end = if place == CLIENT { victim.client() } else { victim.server() };
                let babbler: Box<dyn Application> = Box::new(Babbler(data.clone()));
                let ends = if place == CLIENT { [end, babbler] } else { [babbler, end] };
                let mut world = World::of(kind, ends);
                world.run(seconds(1.0));
                world.rows(place);
            }
        }
    }
}

#[test]
fn a_server_does_not_serve_what_nobody_could_want() {
    let mut request = u64::MAX.to_be_bytes().to_vec();
    request.resize(300, 0);
    let server = victims()[0].server();
    let mut world = World::of(Kind::quic(), [Box::new(Babbler(vec![request])), server]);
    world.run(seconds(1.0));
    assert_eq!(world.wire.most_unread, 300, "nothing but the request was ever sent");
}

#[test]
fn a_server_reads_no_more_requests_than_it_can_remember() {
    // Requests for objects of a gigabyte: none is ever complete, so the rest stays unread.
    let mut all = Vec::new();
    for _ in 0..1000 {
        all.extend(1_000_000_000_u64.to_be_bytes());
        all.resize(all.len() + 292, 0);
    }
    let kind = Kind { window_bytes: 1 << 20, ..Kind::tcp() };
    let mut world = World::of(kind, [Box::new(Babbler(vec![all])), victims()[0].server()]);
    world.run(seconds(1.0));
    assert!(world.unread(SERVER) > 700 * 300);
}
