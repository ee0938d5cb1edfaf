//! Do the connection's own RTTs shift at the foreseen boundaries, more than elsewhere in a slot?
//!
//! A test martingale (Shafer et al. 2011): a gambler with a capital of 1 bets at each boundary. The 15 s
//! around it are divided into 15 cells; if boundaries say nothing of RTTs, the rank of the shift in the
//! middle cell is uniform, and so the odds 15 / (rank · H₁₅) have a mean of 1, whatever RTTs are like.
//! A capital of 1000 then comes up in one connection of a thousand at most, however long it lasts
//! (Ville's inequality): p < 0.001 at whatever moment it is looked at. Ties get the mean of their ranks and
//! cells without samples the worst odds, both of which lower the mean.
//!
//! An RTT level is the mean of two minima of half a second: minima see little of queues. It needs 36
//! minima, looks at none that is not over, and costs a comparison an acknowledgement.

use units::{Duration, Instant};

/// Length of a slot: boundaries that follow each other sooner are not independent bets.
const SLOT: Duration = Duration::from_secs(15);
/// How much sooner than a slot after the last one a boundary may be bet on: hints are not exact.
const EARLY: Duration = Duration::from_secs(1);
const BIN: Duration = Duration::from_millis(500);
/// Bins kept: a slot around a boundary, and a second more at either end.
const BINS: usize = 36;
/// Cells of a second on either side of the middle one.
const SIDE: i64 = 7;
const CELLS: f64 = 15.0;
/// H₁₅ = 1 + 1/2 + … + 1/15.
const HARMONIC: f64 = 1_195_757.0 / 360_360.0;
/// Cells that must have been measured.
const LEAST_CELLS: usize = 12;
/// p < 0.001.
const CONVINCING: f64 = 1000.0;

/// The gambler.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    capital: f64,
    convincing: bool,
    /// Minima of the bins up to `newest`, each at its number modulo [`BINS`].
    minima: [Option<Duration>; BINS],
    newest: i64,
    /// The boundary that is bet on, and the last one that was.
    expected: Option<Instant>,
    last: Option<Instant>,
}

impl Default for Evidence {
    fn default() -> Self {
        Self {
            capital: 1.0,
            convincing: false,
            minima: [None; BINS],
            newest: 0,
            expected: None,
            last: None,
        }
    }
}

impl Evidence {
    /// Believed from a capital of 1000 on, until it is lost again: capital above 1000 is not kept, so
    /// that evidence against the boundaries takes no longer than that for them.
    pub(super) fn is_convincing(&self) -> bool {
        self.convincing
    }

    /// A boundary is foreseen for `at`, now or soon.
    pub(super) fn expect(&mut self, at: Instant) {
        if self.last.is_none_or(|last| at >= last + (SLOT - EARLY)) {
            self.expected = Some(at);
            self.last = Some(at);
        }
    }

    pub(super) fn on_rtt(&mut self, now: Instant, rtt: Option<Duration>) {
        let bin = number(now);
        let fresh = (bin - self.newest).min(BINS as i64);
        for step in 1..=fresh {
            self.minima[slot_of(bin - fresh + step)] = None;
        }
        if fresh > 0 {
            self.newest = bin;
            self.bet();
        }
        let minimum = &mut self.minima[slot_of(bin)];
        *minimum = (*minimum).into_iter().chain(rtt).min();
    }

    /// Settles the bet when all of its cells are over.
    fn bet(&mut self) {
        let Some(middle) = self.expected.map(number) else { return };
        let last_bin = middle + 2 * SIDE + 2;
        if self.newest <= last_bin {
            return;
        }
        self.expected = None;
        if self.newest - (middle - 2 * SIDE - 2) >= BINS as i64 {
            return; // a silence: the first bins are gone
        }
        if let Some(rank) = self.rank(middle) {
            self.capital *= CELLS / (rank * HARMONIC);
            if self.capital >= CONVINCING {
                (self.capital, self.convincing) = (CONVINCING, true);
            } else if self.capital < 1.0 {
                self.convincing = false;
            }
        }
    }

    /// Rank of the middle cell's shift among those that were measured, 1 the largest.
    fn rank(&self, middle: i64) -> Option<f64> {
        let own = self.shift(middle)?;
        let others = (-SIDE..=SIDE).filter(|cell| *cell != 0);
        let others: Vec<f64> = others.filter_map(|cell| self.shift(middle + 2 * cell)).collect();
        let larger = others.iter().filter(|shift| **shift > own).count();
        let equal = others.iter().filter(|shift| **shift == own).count();
        let missing = CELLS - 1.0 - others.len() as f64;
        let rank = 1.0 + larger as f64 + equal as f64 / 2.0 + missing;
        (others.len() + 1 >= LEAST_CELLS).then_some(rank)
    }

    /// The larger change of level at the two steps that an edge in `bin` may show at.
    fn shift(&self, bin: i64) -> Option<f64> {
        let at = |step: i64| Some((self.level(step)? - self.level(step - 2)?).abs());
        Some(at(bin)?.max(at(bin + 1)?))
    }

    /// Mean of the minima of this bin and the next.
    fn level(&self, bin: i64) -> Option<f64> {
        let minimum = |bin: i64| self.minima[slot_of(bin)];
        Some((minimum(bin)?.as_secs_f64() + minimum(bin + 1)?.as_secs_f64()) / 2.0)
    }
}

/// The bin of a moment.
fn number(at: Instant) -> i64 {
    (at.as_nanos() / BIN.as_nanos()) as i64
}

/// Where a bin is kept.
fn slot_of(bin: i64) -> usize {
    bin.rem_euclid(BINS as i64) as usize
}
