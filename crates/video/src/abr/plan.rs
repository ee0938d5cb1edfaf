//! Model predictive control: of all plans for the next chunks the one with the best quality of experience
//! (Yin et al. 2015, §4; Pensieve, `mpc.py`).

use super::View;
use crate::qoe::Terms;

/// Most chunks that a plan looks ahead.
pub const MAX_HORIZON: usize = 5;

/// What the network will carry.
pub trait Outlook {
    /// Seconds that a number of megabits takes, when asked for a time from now.
    fn seconds_for(&self, from_s: f64, megabits: f64) -> f64;

    /// Whether a plan waits for room in the buffer. Where the rate is the same always, it makes no
    /// difference when a chunk is asked for, and Pensieve leaves the wait out.
    fn changes(&self) -> bool;
}

/// The same rate always.
pub struct Steady {
    /// Megabits per second.
    pub mbps: f64,
}

impl Outlook for Steady {
    fn seconds_for(&self, _from_s: f64, megabits: f64) -> f64 {
        megabits / self.mbps.max(1e-9)
    }

    fn changes(&self) -> bool {
        false
    }
}

/// Where a plan stands after some chunks.
#[derive(Clone, Copy)]
struct State {
    chunk: usize,
    elapsed_s: f64,
    buffer_s: f64,
    last: Option<usize>,
    terms: Terms,
}

struct Search<'a> {
    view: &'a View<'a>,
    outlook: &'a dyn Outlook,
    end: usize,
    best: f64,
    /// First quality of the best plan.
    found: usize,
}

/// The first quality of the best plan over `horizon` chunks. Of plans that are as good as each other the
/// one with the higher qualities first is taken, as in Pensieve.
pub fn best(view: &View<'_>, last: Option<usize>, horizon: usize, outlook: &dyn Outlook) -> usize {
    let end = view.ladder.chunks().min(view.chunk.saturating_add(horizon.min(MAX_HORIZON)));
    let mut search = Search { view, outlook, end, best: f64::NEG_INFINITY, found: 0 };
    let start = State {
        chunk: view.chunk,
        elapsed_s: 0.0,
        buffer_s: view.buffer_s,
        last,
        terms: Terms::default(),
    };
    search.visit(&start, None);
    search.found
}

impl Search<'_> {
    fn visit(&mut self, state: &State, first: Option<usize>) {
        let total = self.view.qoe.total(&state.terms);
        if state.chunk >= self.end {
            if total >= self.best {
                self.best = total;
                self.found = first.unwrap_or(0);
            }
            return;
        }
        // No plan can gain more than the best quality in each chunk that is left.
        let top = self.view.ladder.top();
        let left = (self.end - state.chunk) as f64;
        if total + left * self.view.qoe.value(top) < self.best {
            return;
        }
        for quality in 0..=top {
            let next = self.after(state, quality);
            self.visit(&next, first.or(Some(quality)));
        }
    }

    /// The state after one more chunk.
    fn after(&self, state: &State, quality: usize) -> State {
        let mut next = *state;
        let (ladder, most_s) = (self.view.ladder, self.view.most_buffer_s);
        if self.outlook.changes() {
            let full_s = (next.buffer_s + ladder.chunk_s() - most_s).clamp(0.0, next.buffer_s);
            next.elapsed_s += full_s;
            next.buffer_s -= full_s;
        }
        let took_s = self.outlook.seconds_for(next.elapsed_s, ladder.megabits(next.chunk, quality));
        next.terms.rebuffer_s += (took_s - next.buffer_s).max(0.0);
        next.buffer_s = (next.buffer_s - took_s).max(0.0) + ladder.chunk_s();
        next.elapsed_s += took_s;
        self.view.qoe.add(&mut next.terms, next.last, quality);
        next.last = Some(quality);
        next.chunk += 1;
        next
    }
}
