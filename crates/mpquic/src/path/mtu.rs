//! How long the datagrams of a path may be: DPLPMTUD (RFC 9000 §14.3, RFC 8899), one search for each path.
//!
//! A probe is a packet of its own, PING and PADDING, so that nothing is lost with it. What it finds is
//! searched by halves between the longest size that came through and the shortest that did not.

use crate::space::SentPacket;
use units::{Duration, Instant};

/// A size is given up when this number of its probes was lost (RFC 8899 §5.1.2, MAX_PROBES).
const MAX_PROBES: u32 = 3;
/// A search ends where the next step would gain less.
const LEAST_GAIN_BYTES: usize = 20;
/// How long after a search the next one begins (RFC 8899 §5.1.1, PMTU_RAISE_TIMER).
const RAISE: Duration = Duration::from_secs(600);
/// Long packets were lost so often, and none acknowledged between: a black hole (RFC 8899 §4.3).
const BLACK_HOLE_LOSSES: u32 = 3;
/// How long after a black hole was found the next search begins.
const AFTER_BLACK_HOLE: Duration = Duration::from_secs(60);

/// The search of one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mtu {
    /// Passes every path, or is believed to (RFC 8899 §5.1.2, BASE_PLPMTU).
    base: usize,
    /// Longest that is tried.
    most: usize,
    /// Came through.
    current: usize,
    /// Did not, or one more than the longest.
    too_long: usize,
    lost_probes: u32,
    /// A probe is under way.
    waits: bool,
    /// The next one leaves then.
    due: Instant,
    /// How often long packets were found lost since one was acknowledged.
    lost: u32,
    /// Packets that left before say nothing.
    since: Instant,
}

impl Mtu {
    /// Searches between both; `most` no longer than `base`: there is nothing to search for.
    pub fn new(base: usize, most: usize) -> Self {
        Self {
            base,
            most,
            current: base,
            too_long: most.max(base) + 1,
            lost_probes: 0,
            waits: false,
            due: Instant::ZERO,
            lost: 0,
            since: Instant::ZERO,
        }
    }

    /// Longest datagram that passes, as far as that is known.
    pub fn current(&self) -> usize {
        self.current
    }

    /// One that passes for certain.
    pub fn base(&self) -> usize {
        self.base
    }

    /// Longest that is tried.
    pub fn most(&self) -> usize {
        self.most
    }

    /// The peer takes none that is longer.
    pub fn bound(&mut self, most: usize) {
        if most < self.most {
            self.most = most.max(self.base);
            self.too_long = self.too_long.min(self.most + 1);
        }
    }

    /// Nothing is known any more, as after a move (RFC 9000 §14.3): it is searched anew.
    pub fn restart(&mut self, now: Instant) {
        *self = Self { due: now, since: now, ..Self::new(self.base, self.most) };
    }

    /// When a probe wants to leave; `None`: one is under way, or nothing is to be found.
    pub fn due(&self) -> Option<Instant> {
        (!self.waits && self.most > self.base).then_some(self.due)
    }

    /// The size of the probe that leaves now, if one does.
    pub fn probe(&mut self, now: Instant) -> Option<usize> {
        self.due().filter(|due| *due <= now)?;
        if self.is_done() {
            // The timer went off: the path may have become wider (RFC 8899 §5.2).
            (self.too_long, self.lost_probes) = (self.most + 1, 0);
            if self.is_done() {
                self.due = now + RAISE;
                return None;
            }
        }
        self.waits = true;
        Some(self.candidate())
    }

    fn is_done(&self) -> bool {
        self.too_long <= self.current + LEAST_GAIN_BYTES.min(self.most - self.current + 1)
    }

    /// First the longest, which most paths pass; then halves.
    fn candidate(&self) -> usize {
        if self.too_long > self.most {
            return self.most;
        }
        self.current + (self.too_long - self.current) / 2
    }

    /// A probe of this size came through.
    pub fn on_acked(&mut self, now: Instant, size: usize) {
        self.waits = false;
        self.lost_probes = 0;
        self.current = self.current.max(size.min(self.most));
        self.too_long = self.too_long.max(self.current + 1);
        self.settle(now);
    }

    /// A probe of this size was lost, which says nothing of congestion (RFC 9000 §14.4).
    pub fn on_lost(&mut self, now: Instant, size: usize) {
        self.waits = false;
        self.lost_probes += 1;
        if self.lost_probes >= MAX_PROBES && size > self.current {
            self.lost_probes = 0;
            self.too_long = size;
        }
        self.settle(now);
    }

    fn settle(&mut self, now: Instant) {
        self.due = if self.is_done() { now + RAISE } else { now };
    }

    /// Packets were acknowledged.
    pub fn on_acked_packets(&mut self, now: Instant, acked: &[(u64, SentPacket)]) {
        for (_, packet) in acked {
            if packet.sent_at < self.since {
                continue;
            }
            match packet.probed() {
                Some(size) => self.on_acked(now, size),
                None if packet.bytes as usize > self.base => self.lost = 0,
                None => {}
            }
        }
    }

    /// Packets were found to be lost, all at once.
    pub fn on_lost_packets(&mut self, now: Instant, lost: &[(u64, SentPacket)]) {
        let since = self.since;
        let here = lost.iter().map(|(_, packet)| packet).filter(|packet| packet.sent_at >= since);
        let (probes, data): (Vec<_>, Vec<_>) = here.partition(|packet| packet.probed().is_some());
        for size in probes.into_iter().filter_map(SentPacket::probed) {
            self.on_lost(now, size);
        }
        if data.iter().any(|packet| packet.bytes as usize > self.base) {
            self.on_long_lost(now);
        }
    }

    /// Long packets were lost: when that is all they are, the path is back at its base.
    fn on_long_lost(&mut self, now: Instant) {
        self.lost += 1;
        if self.lost >= BLACK_HOLE_LOSSES {
            self.restart(now);
            self.due = now + AFTER_BLACK_HOLE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Probes a path that passes `passes` bytes until the search is over: what it found, with how many.
    fn search(mtu: &mut Mtu, now: Instant, passes: usize) -> (usize, u32) {
        let mut probes = 0;
        while let Some(size) = mtu.probe(now) {
            assert!(size > mtu.current() && size <= mtu.most());
            assert_eq!(mtu.probe(now), None, "one at a time");
            probes += 1;
            if size <= passes {
                mtu.on_acked(now, size)
            } else {
                mtu.on_lost(now, size)
            }
            assert!(probes < 100);
        }
        (mtu.current(), probes)
    }

    #[test]
    fn an_ordinary_path_costs_one_probe() {
        let mut mtu = Mtu::new(1200, 1452);
        assert_eq!(search(&mut mtu, Instant::ZERO, 9000), (1452, 1));
        assert_eq!(mtu.due(), Some(Instant::ZERO + RAISE));
        assert_eq!(
            search(&mut mtu, Instant::ZERO + RAISE, 9000),
            (1452, 0),
            "nothing is left to find"
        );
    }

    #[test]
    fn nothing_is_asked_where_nothing_may_be_found() {
        for most in [0, 1200] {
            assert_eq!(Mtu::new(1200, most).due(), None);
        }
        let mut bound = Mtu::new(1200, 1452);
        bound.bound(1000);
        assert_eq!((bound.due(), bound.current()), (None, 1200));
    }

    #[test]
    fn a_path_that_became_wider_is_found_later() {
        let mut mtu = Mtu::new(1200, 1452);
        let (found, _) = search(&mut mtu, Instant::ZERO, 1300);
        assert!((1281..=1300).contains(&found), "{found}");
        let later = Instant::ZERO + RAISE;
        assert_eq!(search(&mut mtu, later, 1452).0, 1452);
    }

    #[test]
    fn long_packets_that_are_only_lost_are_a_black_hole() {
        let mut mtu = Mtu::new(1200, 1452);
        let now = Instant::from_millis(5);
        search(&mut mtu, now, 1452);
        for _ in 1..BLACK_HOLE_LOSSES {
            mtu.on_long_lost(now);
            assert_eq!(mtu.current(), 1452);
        }
        mtu.on_long_lost(now);
        assert_eq!((mtu.current(), mtu.due()), (1200, Some(now + AFTER_BLACK_HOLE)));
    }

    proptest! {
        #![proptest_config(cases::at_least(512))]

        /// Whatever passes, the search ends, finds no more than that, and not much less.
        #[test]
        fn what_is_found_passes(base in 1200..1300_usize, room in 0..9000_usize, passes in 1200..10_000_usize) {
            let mut mtu = Mtu::new(base, base + room);
            let passes = passes.max(base);
            let (found, probes) = search(&mut mtu, Instant::ZERO, passes);
            prop_assert!(found <= passes.min(base + room));
            prop_assert!(passes.min(base + room) - found <= LEAST_GAIN_BYTES, "{found} of {passes}");
            prop_assert!(probes <= 14 * MAX_PROBES);
        }

        /// Losses by chance never make it longer than what passes, nor shorter than the base.
        #[test]
        fn chance_makes_nothing_too_long(
            passes in 1200..1500_usize,
            fates in prop::collection::vec((0..10_u8, 0..700_u64), 1..200),
        ) {
            let mut mtu = Mtu::new(1200, 1452);
            let mut now = Instant::ZERO;
            for (fate, seconds) in fates {
                now += Duration::from_secs(seconds);
                if fate == 9 {
                    mtu.restart(now);
                }
                if fate == 8 {
                    mtu.on_long_lost(now);
                }
                if let Some(size) = mtu.probe(now) {
                    if size <= passes && fate < 5 { mtu.on_acked(now, size) } else { mtu.on_lost(now, size) }
                }
                prop_assert!((1200..=passes.clamp(1200, 1452)).contains(&mtu.current()));
            }
        }
    }
}
