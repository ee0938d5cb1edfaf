use super::*;
use crate::moderation::{Moderation, Pause, Turn};

const WINDOW: Duration = Duration::from_micros(100);

/// A turn that moves this many frames, one a step.
fn turn(frames: usize) -> Turn {
    let (mut turn, mut left) = (Turn::default(), frames);
    let step = || -> Result<usize, ()> {
        let moved = left.min(1);
        left -= moved;
        Ok(moved)
    };
    turn.batch(step).unwrap();
    turn
}

/// The pauses after turns at these µs, with so many frames each.
fn pauses(window: Duration, turns: &[(u64, usize)]) -> Vec<Pause> {
    let mut moderation = Moderation::new(window);
    let at = |us| Instant::ZERO + Duration::from_micros(us);
    turns.iter().map(|(us, frames)| moderation.pause(at(*us), turn(*frames))).collect()
}

#[test]
fn lone_packets_are_seen_to_at_once() {
    assert_eq!(pauses(WINDOW, &[(0, 1), (100, 1), (101, 0), (250, 1)]), [Pause::Poll; 4]);
}

#[test]
fn what_follows_closely_is_collected_until_a_sleep_collects_no_more_than_one() {
    let turns = [(0, 1), (99, 1), (199, 5), (299, 1), (390, 2), (490, 0), (495, 1)];
    let (poll, sleep) = (Pause::Poll, Pause::Sleep);
    assert_eq!(pauses(WINDOW, &turns), [poll, sleep, sleep, poll, sleep, poll, poll]);
}

#[test]
fn a_turn_that_was_cut_short_is_continued_at_once() {
    let turns = [(0, 40), (5, 40), (10, 0), (110, 0)];
    let after = [Pause::None, Pause::None, Pause::Sleep, Pause::Poll];
    assert_eq!(pauses(WINDOW, &turns), after);
}

#[test]
fn without_a_window_nothing_is_collected() {
    let turns = [(0, 1), (1, 1), (1, 40), (2, 0)];
    let after = [Pause::Poll, Pause::Poll, Pause::None, Pause::Poll];
    assert_eq!(pauses(Duration::ZERO, &turns), after);
}
