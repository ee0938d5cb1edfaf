//! When each of many wants attention, and who does first.

use units::Instant;

/// A tournament over due times: a change costs log n, the first one nothing. Of those due at the same
/// moment the lowest number is first.
#[derive(Debug)]
pub(crate) struct Agenda {
    /// The winner below each inner node; the root is 1, the players of node n are 2n and 2n + 1.
    winners: Vec<u32>,
    /// Due times, up to a power of two: those beyond never are.
    due: Vec<Instant>,
}

impl Agenda {
    /// Nobody of `count` is due, ever.
    pub fn new(count: usize) -> Self {
        let size = count.next_power_of_two().max(2);
        let mut agenda = Self { winners: vec![0; size], due: vec![Instant::FAR_FUTURE; size] };
        (1..size).rev().for_each(|node| agenda.winners[node] = agenda.winner(node));
        agenda
    }

    /// Who is first, and when.
    pub fn first(&self) -> (usize, Instant) {
        let first = self.winners[1] as usize;
        (first, self.due[first])
    }

    /// From now on somebody is due then; `None`: never.
    pub fn set(&mut self, place: usize, at: Option<Instant>) {
        let at = at.unwrap_or(Instant::FAR_FUTURE);
        if std::mem::replace(&mut self.due[place], at) == at {
            return;
        }
        let mut node = (place + self.due.len()) / 2;
        while node > 0 {
            let (before, winner) = (self.winners[node], self.winner(node));
            self.winners[node] = winner;
            if before == winner && winner as usize != place {
                return; // lost here before, and does again
            }
            node /= 2;
        }
    }

    fn winner(&self, node: usize) -> u32 {
        let player = |at: usize| match at.checked_sub(self.due.len()) {
            Some(place) => place as u32,
            None => self.winners[at],
        };
        let (left, right) = (player(2 * node), player(2 * node + 1));
        if self.due[right as usize] < self.due[left as usize] { right } else { left }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_the_lowest_of_the_earliest(
            count in 1_usize..40,
            changes in proptest::collection::vec((0_usize..40, proptest::option::of(0_u64..6)), 0..80),
        ) {
            let (mut agenda, mut due) = (Agenda::new(count), vec![Instant::FAR_FUTURE; count]);
            for (place, at) in changes {
                let at = at.map(Instant::from_millis);
                agenda.set(place % count, at);
                due[place % count] = at.unwrap_or(Instant::FAR_FUTURE);
                let first = (0..count).min_by_key(|place| due[*place]).unwrap();
                prop_assert_eq!(agenda.first(), (first, due[first]));
            }
        }
    }
}
