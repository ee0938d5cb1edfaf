//! In-order waits: examples, and a model that follows each byte.

use super::{at, ms};
use crate::{BlockedTime, InOrderWaits, Reordering};
use proptest::prelude::*;
use std::ops::Range;
use units::{Duration, Instant, PathId};

const FAST: PathId = PathId(0);
const SLOW: PathId = PathId(1);

/// A receiver that knows what came.
#[derive(Default)]
struct Receiver {
    reordering: Reordering,
    waits: InOrderWaits,
    came: Vec<bool>,
}

impl Receiver {
    fn arrive(&mut self, now: Instant, path: PathId, bytes: Range<u64>) {
        self.came.resize(self.came.len().max(bytes.end as usize), false);
        self.came[bytes.start as usize..bytes.end as usize].fill(true);
        let in_order_to = self.in_order_to();
        self.reordering.on_arrival(now, path, bytes, in_order_to, &mut self.waits);
    }

    fn in_order_to(&self) -> u64 {
        self.came.iter().take_while(|came| **came).count() as u64
    }
}

#[test]
fn bytes_in_order_do_not_wait() {
    let mut one = Receiver::default();
    assert_eq!(one.waits.quantile(0.5), None);
    one.arrive(at(10), FAST, 0..1000);
    one.arrive(at(20), SLOW, 1000..2000);
    assert_eq!(one.waits.quantile(0.99), Some(Duration::ZERO));
    assert_eq!(one.waits.longest(), Some(Duration::ZERO));
    assert_eq!(one.waits.blocked_time(), BlockedTime::default());
}

#[test]
fn a_segment_on_another_path_is_what_the_others_waited_for() {
    let mut one = Receiver::default();
    one.arrive(at(10), FAST, 1000..3000);
    one.arrive(at(30), FAST, 3000..4000);
    assert_eq!(one.waits.waiting_bytes(), 3000);
    one.arrive(at(110), SLOW, 0..1000);
    let blocked = one.waits.blocked_by(SLOW);
    assert_eq!(blocked.others_byte_s, 2000.0 * 0.1 + 1000.0 * 0.08);
    assert_eq!((blocked.own_byte_s, one.waits.blocked_by(FAST)), (0.0, <_>::default()));
    assert_eq!(one.waits.longest(), Some(ms(100)));
    assert_eq!(one.waits.mean(), Some(ms(70))); // of 4,000 bytes
    assert_eq!(one.waits.quantile(0.25), Some(Duration::ZERO)); // the segment itself
    assert_eq!((one.waits.waiting_bytes(), one.waits.waiting_max_bytes()), (0, 3000));
    assert_eq!(one.waits.blocked_time(), BlockedTime { by_other: ms(100), by_own: ms(0) });
}

#[test]
fn a_loss_on_the_same_path_is_told_apart() {
    let mut one = Receiver::default();
    one.arrive(at(0), FAST, 1000..2000); // behind a loss of its own
    one.arrive(at(40), SLOW, 2000..3000);
    one.arrive(at(100), FAST, 0..1000);
    let blocked = one.waits.blocked_by(FAST);
    assert_eq!((blocked.own_byte_s, blocked.others_byte_s), (100.0, 60.0));
    // From 40 ms on something of another path waited as well.
    assert_eq!(one.waits.blocked_time(), BlockedTime { by_other: ms(60), by_own: ms(40) });
}

#[test]
fn a_wait_for_two_holes_is_divided_between_them() {
    let mut one = Receiver::default();
    one.arrive(at(0), FAST, 2000..3000);
    one.arrive(at(30), SLOW, 0..1000);
    one.arrive(at(80), FAST, 1000..2000);
    assert_eq!(one.waits.blocked_by(SLOW).others_byte_s, 30.0);
    assert_eq!(one.waits.blocked_by(FAST).own_byte_s, 50.0);
    assert_eq!(one.waits.longest(), Some(ms(80)));
}

#[test]
fn what_was_thrown_away_waits_no_more() {
    let mut one = Receiver::default();
    one.arrive(at(0), FAST, 1000..2000);
    one.arrive(at(0), SLOW, 2000..3000);
    one.reordering.forget(at(10), &mut one.waits, |start| start == 1000);
    assert_eq!(one.waits.waiting_bytes(), 1000);
    one.reordering.on_arrival(at(50), SLOW, 1000..2000, 0, &mut one.waits); // again
    one.arrive(at(60), SLOW, 0..1000);
    assert_eq!(one.waits.blocked_by(SLOW).own_byte_s, 60.0 + 10.0);
    assert_eq!(one.waits.blocked_by(SLOW).others_byte_s, 10.0); // until it was thrown away
    assert_eq!((one.waits.waiting_bytes(), one.waits.longest()), (0, Some(ms(60))));
}

#[test]
fn a_stream_that_nobody_wants_leaves_nothing() {
    let mut one = Receiver::default();
    one.arrive(at(0), FAST, 1000..2000);
    one.arrive(at(0), SLOW, 3000..4000);
    one.reordering.clear(&mut one.waits);
    assert_eq!((one.waits.waiting_bytes(), one.waits.waiting_max_bytes()), (0, 2000));
    assert_eq!((one.waits.quantile(1.0), one.waits.blocked_by(SLOW)), (None, <_>::default()));
}

#[test]
fn a_flood_of_tiny_pieces_costs_no_more_than_is_stated() {
    let mut one = Reordering::default();
    let mut waits = InOrderWaits::default();
    for start in 0..1 << 17 {
        one.on_arrival(at(1), FAST, 2 * start + 1..2 * start + 2, 0, &mut waits);
    }
    assert_eq!(waits.waiting_bytes(), 1 << 16);
    one.on_arrival(at(2), FAST, 0..1, 2 << 17, &mut waits);
    assert_eq!((waits.waiting_bytes(), waits.longest()), (0, Some(ms(1))));
}

/// What each byte did.
#[derive(Default)]
struct Model {
    arrivals: Vec<Option<(Instant, PathId)>>,
    in_order_to: usize,
    progress_at: Instant,
    waits: Vec<Duration>,
    own: [u64; 3],
    others: [u64; 3],
    time: BlockedTime,
}

impl Model {
    fn arrive(&mut self, now: Instant, path: PathId, bytes: Range<u64>) {
        for byte in bytes {
            self.arrivals[byte as usize].get_or_insert((now, path));
        }
        let end = self.arrivals.iter().take_while(|one| one.is_some()).count();
        if end == self.in_order_to {
            return;
        }
        let mut since = [now; 2];
        for (came, by) in self.arrivals[self.in_order_to..].iter().flatten() {
            let from = (*came).max(self.progress_at);
            let own = *by == path;
            let sums = if own { &mut self.own } else { &mut self.others };
            sums[path.index()] += (now - from).as_nanos();
            since[usize::from(own)] = from.min(since[usize::from(own)]);
        }
        self.time.by_other += now - since[0];
        self.time.by_own += since[0] - since[1];
        let over = self.arrivals[self.in_order_to..end].iter().flatten();
        self.waits.extend(over.map(|(came, _)| now - *came));
        (self.in_order_to, self.progress_at) = (end, now);
    }
}

proptest! {
    #[test]
    fn each_byte_is_measured(
        arrivals in prop::collection::vec((0_u64..40, 1_u64..9, 0_u64..30, 0_u8..3), 1..120)
    ) {
        let mut model = Model { arrivals: vec![None; 48], ..Model::default() };
        let mut one = Receiver::default();
        let mut now = at(1);
        // The last arrival brings what is still missing.
        for (start, bytes, gap, path) in arrivals.into_iter().chain([(0, 48, 5, 0)]) {
            now += ms(gap);
            model.arrive(now, PathId(path), start..start + bytes);
            one.arrive(now, PathId(path), start..start + bytes);
            let waiting = model.arrivals[model.in_order_to..].iter().flatten().count();
            prop_assert_eq!(one.waits.waiting_bytes(), waiting as u64);
            prop_assert_eq!(one.waits.blocked_time(), model.time);
        }
        model.waits.sort_unstable();
        prop_assert_eq!(one.waits.longest(), model.waits.last().copied());
        let sum: Duration = model.waits.iter().copied().sum();
        prop_assert_eq!(one.waits.mean(), Some(sum / model.waits.len() as u32));
        for share in [0.01, 0.5, 0.9, 0.99, 1.0] {
            let rank = (share * model.waits.len() as f64).ceil() as usize;
            let true_s = model.waits[rank - 1].as_secs_f64();
            let found_s = one.waits.quantile(share).unwrap().as_secs_f64();
            prop_assert!((found_s - true_s).abs() <= 0.01 * true_s + 1e-6, "{found_s} {true_s}");
        }
        for path in 0..3 {
            let blocked = one.waits.blocked_by(PathId(path));
            prop_assert_eq!(blocked.own_byte_s, model.own[usize::from(path)] as f64 / 1e9);
            prop_assert_eq!(blocked.others_byte_s, model.others[usize::from(path)] as f64 / 1e9);
        }
    }
}
