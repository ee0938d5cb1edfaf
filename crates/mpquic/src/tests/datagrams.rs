//! What schedulers see of DATAGRAMs.

use super::tls;
use super::world::*;
use scheduler::{Algorithm, ConnectionView, Decision, Scheduler};
use std::sync::{Arc, Mutex};
use units::{Instant, PathId};

/// What a scheduler was asked about (segment, unsent), and the bytes that it heard of as sent.
#[derive(Debug, Default)]
struct Notes {
    asked: Vec<(u64, u64)>,
    sent_bytes: u64,
}

#[derive(Debug)]
struct Witness(Arc<Mutex<Notes>>, Box<dyn Scheduler>);

impl Scheduler for Witness {
    fn select(&mut self, view: &ConnectionView<'_>) -> Decision {
        self.0.lock().unwrap().asked.push((view.segment_bytes, view.unsent_bytes));
        self.1.select(view)
    }

    fn on_sent(&mut self, _: Instant, _: PathId, bytes: u64) {
        self.0.lock().unwrap().sent_bytes += bytes;
    }
}

#[test]
fn datagrams_that_wait_count_as_unsent() {
    let notes = Arc::new(Mutex::new(Notes::default()));
    let scheduler = Box::new(Witness(notes.clone(), Algorithm::MinRtt.build()));
    let client = Own::with_scheduler(tls::client_role(), 0, scheduler, |_| {});
    let links = vec![Link::new(10.0, 20), Link::new(10.0, 90)];
    let mut world = World::new(client, Own::server(0, |_| {}), links, 1);
    world.run(Instant::from_millis(500), |_| false);
    *notes.lock().unwrap() = Notes::default();
    for _ in 0..30 {
        assert!(world.client.endpoint.send_datagram(&[7; 1000]).unwrap());
    }
    world.run(Instant::from_millis(2000), |_| false);
    let notes = notes.lock().unwrap();
    assert_eq!(notes.asked[0].1, 30_000);
    assert!(notes.asked.is_sorted_by_key(|(_, unsent)| std::cmp::Reverse(*unsent)), "{notes:?}");
    assert!(notes.asked[0].0 > 1000, "a full packet, not one byte: {notes:?}");
    assert_eq!(notes.sent_bytes, 30_000);
    assert_eq!(std::iter::from_fn(|| world.server.endpoint.recv_datagram()).count(), 30);
}
