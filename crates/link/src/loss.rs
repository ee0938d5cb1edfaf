use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use trace::Cursor;
use units::Instant;

/// ChaCha stream of the decisions "is this packet lost".
const LOSS_STREAM: u64 = 0;
/// ChaCha stream of the moves between the two states of Gilbert–Elliott.
const STATE_STREAM: u64 = 1;

/// A probability as a threshold for 63 random bits, so that no float is compared per packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chance(u64);

impl Chance {
    /// `ratio` from 0 to 1; both ends are exact.
    pub(crate) fn new(ratio: f64) -> Self {
        Self((ratio * (1_u64 << 63) as f64) as u64)
    }

    /// Takes exactly one number from `rng`.
    fn happens(self, rng: &mut ChaCha8Rng) -> bool {
        rng.next_u64() >> 1 < self.0
    }
}

/// Which packets are lost in the air.
#[derive(Debug)]
pub(crate) enum LossModel {
    None,
    Bernoulli(Chance),
    GilbertElliott {
        to_bad: Chance,
        to_good: Chance,
        loss_good: Chance,
        loss_bad: Chance,
        bad: bool,
    },
    Steps(Cursor<Chance>),
}

/// A loss model with its random numbers: one draw per packet and stream, whatever the outcome, so
/// that the n-th packet meets the same fate under every algorithm.
#[derive(Debug)]
pub(crate) struct Loss {
    model: LossModel,
    fates: ChaCha8Rng,
    states: ChaCha8Rng,
}

impl Loss {
    pub(crate) fn new(model: LossModel, seed: u64) -> Self {
        Self { model, fates: stream(seed, LOSS_STREAM), states: stream(seed, STATE_STREAM) }
    }

    /// Whether the next packet, departing at `at`, is lost.
    pub(crate) fn is_lost(&mut self, at: Instant) -> bool {
        match &mut self.model {
            LossModel::None => false,
            LossModel::Bernoulli(chance) => chance.happens(&mut self.fates),
            LossModel::Steps(cursor) => cursor.value_at(at).happens(&mut self.fates),
            LossModel::GilbertElliott { to_bad, to_good, loss_good, loss_bad, bad } => {
                let (loss, leave) = if *bad { (loss_bad, to_good) } else { (loss_good, to_bad) };
                let lost = loss.happens(&mut self.fates);
                if leave.happens(&mut self.states) {
                    *bad = !*bad;
                }
                lost
            }
        }
    }
}

fn stream(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}
