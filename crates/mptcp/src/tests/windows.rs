//! Readers that hold back: the window closes, is probed, and opens again.

use super::pairs::{FIRST, Pair, minrtt};
use super::{at, ms};
use crate::Mode;
use scheduler::PathSet;
use units::{Duration, PathId};

const MODES: [Mode; 3] = [Mode::Tcp, Mode::V096, Mode::Upstream];
/// Of every pair.
const BUFFER_BYTES: u64 = 1 << 20;

/// A pair whose reader has stopped, with more on offer than the buffer takes.
fn stopped(mode: Mode) -> Pair {
    let mut pair = Pair::new(mode, vec![], minrtt);
    pair.reads = false;
    pair.server.offer(5 * BUFFER_BYTES);
    pair.run(at(30_000));
    pair
}

#[test]
fn what_is_not_read_closes_the_window() {
    for mode in MODES {
        let pair = stopped(mode);
        let unread = pair.client.delivered_bytes() - FIRST;
        assert!(unread <= BUFFER_BYTES, "{mode:?}: {unread}");
        assert!(unread > BUFFER_BYTES - 2 * 1500, "{mode:?}: {unread}");
    }
}

/// A closed window is probed until it opens, at growing intervals (RFC 9293 §3.8.6.1).
#[test]
fn a_closed_window_is_probed_ever_more_slowly() {
    for mode in MODES {
        let mut pair = stopped(mode);
        let mut waits = Vec::new();
        while waits.len() < 4 {
            let next = pair.server.poll_timeout().expect("a probe");
            let before = pair.now;
            pair.run(next);
            waits.push(next - before);
        }
        assert!(waits.windows(2).all(|two| two[1] <= Duration::from_secs(120)), "{waits:?}");
        assert!(waits[1] > waits[0] && waits[3] > waits[2], "{mode:?}: {waits:?}");
    }
}

#[test]
fn a_reader_that_starts_again_gets_everything_at_once() {
    for mode in MODES {
        let mut pair = stopped(mode);
        let before = pair.client.delivered_bytes();
        pair.reads = true;
        let now = pair.now;
        pair.client.read(now, u64::MAX);
        pair.run(now + ms(70)); // the announcement and the answer on the slower path
        assert!(pair.client.delivered_bytes() > before, "{mode:?}");
        pair.run(now + Duration::from_secs(30));
        assert_eq!(pair.client.delivered_bytes(), FIRST + 5 * BUFFER_BYTES, "{mode:?}");
        assert_eq!(pair.client.duplicate_bytes(), 0, "{mode:?}: nothing came twice");
    }
}

/// The probe that is on its way finds the window open.
#[test]
fn a_lost_announcement_costs_at_most_the_time_to_the_next_probe() {
    for mode in MODES {
        let mut pair = stopped(mode);
        let before = pair.client.delivered_bytes();
        let probe_at = pair.server.poll_timeout().expect("a probe");
        pair.reads = true;
        pair.dark = PathSet::EMPTY.with(PathId(0)).with(PathId(1));
        let now = pair.now;
        pair.client.read(now, u64::MAX);
        pair.run(now + ms(50));
        assert_eq!(pair.client.delivered_bytes(), before, "{mode:?}: it was lost");
        pair.dark = PathSet::EMPTY;
        pair.run(probe_at + ms(150)); // there, back, and the data
        assert!(pair.client.delivered_bytes() > before, "{mode:?}");
        pair.run(probe_at + Duration::from_secs(30));
        assert_eq!(pair.client.delivered_bytes(), FIRST + 5 * BUFFER_BYTES, "{mode:?}");
    }
}

/// The last byte fills the window: nothing is left to probe for.
#[test]
fn a_window_that_closes_with_the_last_byte_is_not_probed() {
    for mode in MODES {
        let mut pair = Pair::new(mode, vec![], minrtt);
        pair.reads = false;
        pair.server.offer(BUFFER_BYTES);
        pair.run(at(60_000));
        assert_eq!(pair.client.delivered_bytes(), FIRST + BUFFER_BYTES, "{mode:?}");
        assert_eq!(pair.server.poll_timeout(), None, "{mode:?}");
        let now = pair.now;
        pair.client.read(now, u64::MAX);
        pair.server.offer(1);
        pair.run(now + ms(500));
        assert_eq!(pair.client.delivered_bytes(), FIRST + BUFFER_BYTES + 1, "{mode:?}");
    }
}

/// Little by little is not announced: the window opens by whole segments (RFC 9293 §3.8.6.2.2).
#[test]
fn a_reader_of_single_bytes_opens_no_silly_window() {
    for mode in MODES {
        let mut pair = stopped(mode);
        let sent = pair.sent;
        let now = pair.now;
        for _ in 0..100 {
            pair.client.read(now, 1);
        }
        pair.run(now + Duration::from_secs(300));
        assert_eq!(pair.sent, sent, "{mode:?}");
    }
}
