//! A fluid network by the rules of Sabre: a latency for each request, then the rate of the period.

use crate::abr::{Choice, build};
use crate::{Adaptive, Film};
use units::Instant;

/// How far a download goes before the player hears of it again.
const LEAST_MS: f64 = 50.0;
const LEAST_KBIT: f64 = 12.0;

/// How long, at which rate, with which latency.
#[derive(Clone, Copy, Debug)]
pub struct Period {
    pub ms: f64,
    pub kbps: f64,
    pub latency_ms: f64,
}

/// Periods, over and over.
pub struct Network {
    periods: Vec<Period>,
    place: usize,
    left_ms: f64,
    pub now_ms: f64,
}

impl Network {
    pub fn new(periods: Vec<Period>) -> Self {
        let left_ms = periods[0].ms;
        Self { periods, place: 0, left_ms, now_ms: 0.0 }
    }

    fn period(&self) -> Period {
        self.periods[self.place]
    }

    fn advance(&mut self, ms: f64) {
        self.now_ms += ms;
        self.left_ms -= ms;
    }

    fn next(&mut self) {
        self.advance(self.left_ms);
        self.place = (self.place + 1) % self.periods.len();
        self.left_ms = self.period().ms;
    }

    pub fn wait(&mut self, mut ms: f64) {
        while ms > self.left_ms {
            ms -= self.left_ms;
            self.next();
        }
        self.advance(ms);
    }

    /// One latency, of which each period takes its share.
    pub fn latency(&mut self) {
        let mut share = 1.0;
        while share > 0.0 {
            let latency_ms = self.period().latency_ms;
            if share * latency_ms <= self.left_ms {
                self.advance(share * latency_ms);
                return;
            }
            share -= self.left_ms / latency_ms;
            self.next();
        }
    }

    /// Carries at least so much for at least so long, and at most what is left: kilobits.
    pub fn carry(&mut self, left_kbit: f64, least_ms: f64) -> f64 {
        let (mut carried, mut least_kbit, mut least_ms) = (0.0, LEAST_KBIT, least_ms);
        while carried < left_kbit && (least_kbit > 0.0 || least_ms > 0.0) {
            let rate = self.period().kbps / 1e3;
            let (left, here) = (left_kbit - carried, self.left_ms * rate);
            let wanted = (least_ms * rate).max(least_kbit);
            let (kbit, ms) = if rate > 0.0 && left <= wanted.min(here) {
                (left, left / rate)
            } else if rate > 0.0 && wanted <= here {
                (least_kbit, least_ms) = (0.0, 0.0);
                (wanted, wanted / rate)
            } else if rate == 0.0 && least_kbit <= 0.0 && least_ms <= self.left_ms {
                (0.0, least_ms)
            } else {
                (here, self.left_ms)
            };
            if ms == self.left_ms {
                self.next()
            } else {
                self.advance(ms)
            }
            (carried, least_kbit, least_ms) = (carried + kbit, least_kbit - kbit, least_ms - ms);
        }
        carried
    }
}

/// Milliseconds as an instant, rounded up so that 50 of them are never less.
fn at(ms: f64) -> Instant {
    Instant::from_nanos((ms * 1e6).ceil() as u64)
}

/// Plays a film to its end.
pub fn play(film: Film, abr: &str, network: &mut Network) -> Adaptive {
    let choice: Choice = serde_json::from_str(abr).expect("an algorithm");
    let mut player = Adaptive::new(film, build(&choice), Instant::ZERO).expect("a film");
    while let Some(due) = player.poll_at() {
        let ms = due.as_nanos() as f64 / 1e6;
        network.wait((ms - network.now_ms).max(0.0));
        let Some(request) = player.poll(at(network.now_ms).max(due)) else { continue };
        let asked_ms = network.now_ms;
        network.latency();
        player.on_first_byte(at(network.now_ms));
        let size = request.bytes as f64 * 8e-3;
        let (mut kbit, mut least_ms) = (0.0, LEAST_MS - (network.now_ms - asked_ms));
        let mut over = false;
        while !over {
            kbit += network.carry(size - kbit, least_ms);
            least_ms = LEAST_MS;
            let received = ((kbit * 125.0 - 1e-6).ceil() as u64).min(request.bytes);
            let received = if size - kbit < 1e-9 { request.bytes } else { received };
            over = player.on_bytes(at(network.now_ms), received) || received == request.bytes;
        }
    }
    player
}
