//! Pieces that go ahead of their turn, and pieces that wait for a path.

use super::world::*;
use crate::streams::SendHalf;
use crate::*;
use proptest::prelude::*;
use scheduler::Gap;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use units::{Instant, PathId};

proptest! {
    /// However pieces are cut, every byte leaves once as new, never beyond the windows.
    #[test]
    fn pieces_ahead_leave_no_byte_out_and_none_twice(
        ops in proptest::collection::vec((0..3, 0_u64..400, 1_u64..100, 0_u64..300), 1..80),
        stream_window in 0_u64..1500,
    ) {
        let mut half = SendHalf::with_limit(stream_window);
        half.write(&[7; 1000]);
        half.finish();
        let mut sent = vec![0_u32; 1000];
        let mut ends = 0;
        let take = |sent: &mut Vec<u32>, range: std::ops::Range<u64>| {
            sent[range.start as usize..range.end as usize].iter_mut().for_each(|n| *n += 1);
        };
        for (which, gap, max, window) in ops {
            let allowed = (half.highest_sent() + window).min(stream_window);
            let before = half.queued();
            let range = match which {
                0 => half.next_ahead(Gap::Stream(gap), max, window),
                1 => half.next_ahead(Gap::Unsent(gap), max, window),
                _ => half.next_new(max, window).map(|(range, fin)| {
                    ends += u32::from(fin);
                    range
                }),
            };
            let Some(range) = range else { continue };
            if which == 1 {
                let unsent = sent[..range.start as usize].iter().filter(|count| **count == 0);
                prop_assert_eq!(unsent.count() as u64, gap);
            }
            prop_assert!(range.end - range.start <= max && range.end <= allowed.max(half.sent_to()));
            prop_assert_eq!(before - half.queued(), range.end - range.start);
            take(&mut sent, range);
        }
        prop_assert_eq!(half.next_ahead(Gap::Stream(u64::MAX), 50, 1000), None);
        half.max_data = 1000;
        while let Some((range, fin)) = half.next_new(50, 1000) {
            ends += u32::from(fin);
            take(&mut sent, range);
        }
        prop_assert!(sent.iter().all(|count| *count == 1), "{:?}", sent);
        prop_assert_eq!((ends, half.queued(), half.highest_sent()), (1, 0, 1000));
    }
}

/// Decisions of the sender over a fast and a slow path, by verb and interface.
fn decisions(scheduler: &str) -> (Vec<Value>, World<Own, Own>) {
    let links = vec![Link::new(40.0, 10), Link::new(20.0, 80)];
    let client = Own::new(super::tls::client_role(), 0, scheduler, |_| {});
    let mut server = Own::new(super::tls::server_role(), 8_000_000, scheduler, |_| {});
    let text = Arc::new(Mutex::new(Vec::new()));
    let sink = text.clone();
    server.endpoint.set_qlog(Instant::ZERO, QlogSchema::Draft, move |record| {
        if record.contains("scheduler_decision") {
            sink.lock().unwrap().push(serde_json::from_str(&record[1..]).unwrap());
        }
    });
    let mut world = World::new(client, server, links, 1);
    let soon = Instant::from_millis(500);
    assert!(world.run(soon, |world| world.client.endpoint.add_path(world.now, PathId(1)).is_ok()));
    world.transfer(30);
    let decisions = std::mem::take(&mut *text.lock().unwrap());
    (decisions, world)
}

#[test]
fn stms_lets_the_slow_path_run_ahead() {
    let (decisions, world) = decisions("stms");
    let ahead = decisions.iter().filter(|event| event["data"]["decision"] == "ahead");
    assert!(ahead.clone().count() > 100);
    assert!(ahead.clone().all(|event| event["data"]["interfaces"][0] == 1));
    let slow = world.client.endpoint.path_stats(PathId(1)).unwrap();
    assert!(slow.unique_bytes > 500_000, "{slow:?}");
}

#[test]
fn sttf_and_daps_fill_the_queue_of_a_full_path() {
    for scheduler in ["sttf", "daps"] {
        let (decisions, _) = decisions(scheduler);
        let queued = decisions.iter().filter(|event| {
            let data = &event["data"];
            let able = data["able_interfaces"].as_array().unwrap();
            data["decision"] == "send" && !able.contains(&data["interfaces"][0])
        });
        assert!(queued.count() > 50, "{scheduler}");
    }
}
