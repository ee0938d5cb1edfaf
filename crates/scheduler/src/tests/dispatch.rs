//! What holds whatever a scheduler answers.

use super::{MSS, path, send, view};
use crate::{
    Capabilities, ConnectionView, Decision, Dispatch, Gap, Order, PathSet, PathView, Scheduler,
};
use units::{Duration, Instant, PathId};

/// Answers always the same, and avoids some paths.
#[derive(Debug)]
struct Fixed {
    answer: Decision,
    avoided: PathSet,
    queue_limit_windows: u64,
}

impl Scheduler for Fixed {
    fn select(&mut self, _: &ConnectionView<'_>) -> Decision {
        self.answer
    }

    fn avoids(&self, _now: Instant, path: &PathView) -> bool {
        self.avoided.contains(path.id)
    }

    fn rests_until(&self, _now: Instant, _path: &PathView) -> Option<Instant> {
        Some(Instant::from_millis(1000))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { queue_limit_windows: self.queue_limit_windows, ..Capabilities::default() }
    }
}

fn always(answer: Decision) -> Dispatch {
    Dispatch::new(Box::new(Fixed { answer, avoided: PathSet::EMPTY, queue_limit_windows: 0 }))
}

fn avoiding(avoided: &[u8]) -> Dispatch {
    let avoided = avoided.iter().fold(PathSet::EMPTY, |set, id| set.with(PathId(*id)));
    Dispatch::new(Box::new(Fixed { answer: Decision::Wait(None), avoided, queue_limit_windows: 0 }))
}

fn order(dispatch: &mut Dispatch, view: &ConnectionView<'_>) -> Order {
    let decision = dispatch.ask(view);
    dispatch.order(view, decision)
}

fn sent(ids: &[u8]) -> Order {
    Order::Send(ids.iter().fold(PathSet::EMPTY, |set, id| set.with(PathId(*id))))
}

/// Two idle paths; the second one is a backup, and faster.
fn with_backup() -> [PathView; 2] {
    [path(0, 100, 10, 0), PathView { backup: true, ..path(1, 20, 10, 0) }]
}

#[test]
fn a_wait_while_nothing_is_under_way_sends_on_the_fastest_path() {
    let mut lazy = always(Decision::Wait(None));
    let paths = [path(0, 100, 10, 0), path(1, 20, 10, 0)];
    assert_eq!(order(&mut lazy, &view(&paths, 1_000_000)), sent(&[1]));
    assert_eq!(lazy.waits(), 0);

    let busy = [path(0, 100, 10, 1), path(1, 20, 10, 0)];
    assert_eq!(order(&mut lazy, &view(&busy, 1_000_000)), Order::Wait);
    let queued = [PathView { queued_packets: 1, ..paths[0] }, paths[1]];
    assert_eq!(order(&mut lazy, &view(&queued, 1_000_000)), Order::Wait);
    assert_eq!(lazy.waits(), 2);
}

#[test]
fn a_wait_until_a_moment_is_left_alone_and_a_past_one_is_not() {
    let paths = with_backup();
    let view = view(&paths, 1_000_000);
    let later = view.now + Duration::from_millis(5);
    let mut patient = always(Decision::Wait(Some(later)));
    assert_eq!(order(&mut patient, &view), Order::Wait);
    assert_eq!(patient.wake_at(), later);
    patient.on_timer(later);
    assert_eq!(patient.wake_at(), Instant::FAR_FUTURE);
    assert_eq!(order(&mut always(Decision::Wait(Some(view.now))), &view), sent(&[0]));
}

#[test]
fn the_rule_leaves_backup_and_avoided_paths_out_while_another_is_usable() {
    let fastest = |dispatch: &Dispatch, paths: &[PathView]| {
        dispatch.fastest(Instant::from_millis(1000), paths).map(|path| path.0)
    };
    let paths = with_backup();
    let gone = PathView { usable: false, ..paths[0] };
    let full = PathView { has_room: false, ..paths[0] };
    assert_eq!(fastest(&avoiding(&[]), &paths), Some(0));
    assert_eq!(fastest(&avoiding(&[]), &[gone, paths[1]]), Some(1));
    assert_eq!(fastest(&avoiding(&[]), &[full, paths[1]]), None, "waits for room");
    assert_eq!(fastest(&avoiding(&[0]), &paths), Some(1));
    assert_eq!(fastest(&avoiding(&[0, 1]), &paths), Some(0), "nothing else is usable");
    let three = [paths[0], path(1, 20, 10, 0), path(2, 50, 10, 0)];
    assert_eq!(fastest(&avoiding(&[1]), &three), Some(2));
}

#[test]
fn an_answer_is_held_to_what_paths_take() {
    let full = path(0, 10, 5, 5);
    let dead = PathView { usable: false, ..path(1, 20, 10, 0) };
    let free = path(2, 30, 10, 0);
    let all = [full, dead, free];
    let both = PathSet::EMPTY.with(PathId(0)).with(PathId(2));
    let view = view(&all, 1_000_000);
    assert_eq!(order(&mut always(send(2)), &view), sent(&[2]));
    assert_eq!(order(&mut always(send(0)), &view), Order::Wait, "no room");
    assert_eq!(order(&mut always(send(1)), &view), Order::Wait, "dead");
    for unknown in [63, 64, 255] {
        assert_eq!(order(&mut always(send(unknown)), &view), Order::Wait, "unknown");
    }
    assert_eq!(order(&mut always(Decision::Duplicate(both)), &view), sent(&[2]));
    assert_eq!(order(&mut always(Decision::Repeat(PathId(0))), &view), Order::Wait);
    assert_eq!(order(&mut always(Decision::Repeat(PathId(2))), &view), Order::Repeat(PathId(2)));
}

#[test]
fn a_full_path_takes_segments_into_its_queue_if_the_scheduler_fills_queues() {
    let mut fills = Dispatch::new(Box::new(Fixed {
        answer: send(0),
        avoided: PathSet::EMPTY,
        queue_limit_windows: 2,
    }));
    let full = path(0, 10, 5, 5);
    let paths = [PathView { queued_packets: 9, ..full }, path(1, 20, 10, 0)];
    let zero = PathSet::EMPTY.with(PathId(0));
    assert!(fills.may_assign(&paths[..1]));
    assert_eq!(order(&mut fills, &view(&paths, 1_000_000)), Order::Queue(zero));
    let paths = [PathView { queued_packets: 10, ..full }, path(1, 20, 10, 0)];
    assert!(!fills.may_assign(&paths[..1]));
    assert_eq!(order(&mut fills, &view(&paths, 1_000_000)), Order::Wait);
}

#[test]
fn with_nothing_to_schedule_only_a_repetition_leaves() {
    let paths = with_backup();
    let nothing = ConnectionView { segment_bytes: 0, ..view(&paths, 1_000_000) };
    for answer in [send(0), Decision::Wait(None), ahead(0)] {
        assert_eq!(order(&mut always(answer), &nothing), Order::Wait);
    }
    assert_eq!(order(&mut always(Decision::Repeat(PathId(1))), &nothing), Order::Repeat(PathId(1)));
    let again = ConnectionView { reinjection: true, ..view(&paths, 1_000_000) };
    assert_eq!(order(&mut always(ahead(1)), &again), sent(&[0]), "a reinjection goes first");
    let first = order(&mut always(ahead(1)), &view(&paths, 1_000_000));
    assert_eq!(first, Order::Ahead { path: PathId(1), gap: Gap::Stream(3 * MSS) });
}

fn ahead(path: u8) -> Decision {
    Decision::Ahead { path: PathId(path), gap: Gap::Stream(3 * MSS) }
}

#[test]
fn a_wait_is_timed_from_its_first_answer_and_short_ones_are_not_reported() {
    let paths = [path(0, 100, 10, 1)];
    let mut lazy = always(Decision::Wait(None));
    let at = |millis| ConnectionView { now: Instant::from_millis(millis), ..view(&paths, 1 << 20) };
    for millis in [100, 104, 130] {
        order(&mut lazy, &at(millis));
    }
    assert_eq!(lazy.end_wait(Instant::from_millis(140)), Some(Duration::from_millis(40)));
    assert_eq!(lazy.end_wait(Instant::from_millis(150)), None);
    order(&mut lazy, &at(200));
    assert_eq!(lazy.end_wait(Instant::from_millis(209)), None);
}

#[test]
fn a_rest_that_is_over_is_none() {
    let dispatch = always(Decision::Wait(None));
    let one = path(0, 100, 10, 0);
    let until = Instant::from_millis(1000);
    assert_eq!(dispatch.rests_until(Instant::from_millis(999), &one), Some(until));
    assert_eq!(dispatch.rests_until(until, &one), None);
}
