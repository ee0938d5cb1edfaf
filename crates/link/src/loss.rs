use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use trace::Cursor;
use units::Instant;

/// ChaCha stream of the decisions "is this packet lost".
const LOSS_STREAM: u64 = 0;
/// ChaCha stream of the moves between the two states of Gilbert–Elliott.
const STATE_STREAM: u64 = 1;
/// A draw of 64 bits takes two words of 32 from its stream.
const WORDS_PER_DRAW: u128 = 2;

/// A probability as a threshold for 63 random bits, so that no float is compared per packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chance(u64);

impl Chance {
    /// `ratio` from 0 to 1; both ends are exact.
    pub(crate) fn new(ratio: f64) -> Self {
        Self((ratio * (1_u64 << 63) as f64) as u64)
    }

    /// Whether it happens, given a random number.
    fn happens(self, number: u64) -> bool {
        number >> 1 < self.0
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

/// A loss model with its random numbers: one draw per departed packet and stream, whatever the
/// outcome, so that the n-th packet meets the same fate under every algorithm.
#[derive(Debug)]
pub(crate) struct Loss {
    model: LossModel,
    fates: ChaCha8Rng,
    states: ChaCha8Rng,
    /// The number drawn for the next packet.
    fate: u64,
    /// Packets that have departed.
    departed: u64,
}

impl Loss {
    pub(crate) fn new(model: LossModel, seed: u64) -> Self {
        let mut fates = stream(seed, LOSS_STREAM);
        let fate = fates.next_u64();
        Self { model, fates, states: stream(seed, STATE_STREAM), fate, departed: 0 }
    }

    /// Another model from the next packet on, which meets the numbers that are its own by its place
    /// among all that have departed.
    pub(crate) fn change(&mut self, model: LossModel) {
        self.model = model;
        let place = u128::from(self.departed) * WORDS_PER_DRAW;
        self.fates.set_word_pos(place);
        self.states.set_word_pos(place);
        self.fate = self.fates.next_u64();
    }

    /// Whether the next packet is lost if it departs at `at`. May be asked again: only
    /// [`Loss::on_departure`] uses the draw up.
    pub(crate) fn will_lose(&mut self, at: Instant) -> bool {
        match &mut self.model {
            LossModel::None => false,
            LossModel::Bernoulli(chance) => chance.happens(self.fate),
            LossModel::Steps(cursor) => cursor.value_at(at).happens(self.fate),
            LossModel::GilbertElliott { loss_bad, bad: true, .. } => loss_bad.happens(self.fate),
            LossModel::GilbertElliott { loss_good, .. } => loss_good.happens(self.fate),
        }
    }

    /// The packet has departed, lost or not: the next one meets the next numbers.
    pub(crate) fn on_departure(&mut self) {
        self.departed += 1;
        match &mut self.model {
            LossModel::None => return,
            LossModel::GilbertElliott { to_bad, to_good, bad, .. } => {
                let leave = if *bad { to_good } else { to_bad };
                if leave.happens(self.states.next_u64()) {
                    *bad = !*bad;
                }
            }
            LossModel::Bernoulli(_) | LossModel::Steps(_) => {}
        }
        self.fate = self.fates.next_u64();
    }
}

fn stream(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}
