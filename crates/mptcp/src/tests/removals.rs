//! Interfaces that go, and the peer that has to hear of it.

use super::pairs::Pair;
use super::{at, ms};
use crate::Mode;
use scheduler::PathSet;
use units::PathId;

/// What waits behind a hole of a subflow fills the window that all share. When its interface is gone, and
/// the announcement was lost, the probes of the window repeat it.
#[test]
fn a_removal_that_was_lost_is_announced_until_the_window_opens() {
    const OFFERED: u64 = 300_000;
    let redundant = || scheduler::Algorithm::Redundant.build();
    for mode in [Mode::V096, Mode::Upstream] {
        let window = 4 * mode.mss_bytes() + 300;
        let mut pair = Pair::opening_with(window, mode, vec![], redundant);
        pair.run(at(500));
        pair.client.offer(OFFERED);
        pair.run(at(501));
        let second = PathId(1);
        let first = pair.wire.iter().position(|(_, to_client, path, segment)| {
            !*to_client && *path == second && segment.payload.is_some()
        });
        pair.wire.remove(first.expect("data on their way"));
        pair.run(at(575)); // three arrived behind the hole and a fourth later; it is not yet filled
        assert!(pair.server.delivered_bytes() < OFFERED, "{mode:?}: the window is full");
        pair.dark = PathSet::EMPTY.with(PathId(0)).with(second);
        let now = pair.now;
        pair.client.path_down(now, second);
        pair.run(now + ms(50));
        pair.dark = PathSet::EMPTY.with(second);
        pair.run(at(60_000));
        assert_eq!(pair.server.delivered_bytes(), OFFERED, "{mode:?}");
    }
}
