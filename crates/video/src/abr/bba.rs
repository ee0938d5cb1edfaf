//! BBA-0: the quality is a function of the buffer (Huang et al. 2014, §4.1, algorithm 1).

use super::{Abr, View, Wanted};
use parameters::{Info, Parameter, Values, number};

pub const INFO: Info = Info {
    name: "bba",
    title: "Buffer-based adaptation, BBA-0",
    source: "Huang et al. 2014, algorithm 1",
    parameters: &[
        Parameter {
            name: "reservoir_share",
            unit: "",
            kind: number(0.375, 0.0, 0.9),
            meaning: "share of the buffer up to which the lowest quality is taken",
            source: "Huang et al. 2014, §4.1: 90 of 240 s",
        },
        Parameter {
            name: "cushion_share",
            unit: "",
            kind: number(0.525, 0.01, 1.0),
            meaning: "share of the buffer above the reservoir over which the quality rises to the best",
            source: "Huang et al. 2014, §4.1: 126 of 240 s",
        },
    ],
};

#[derive(Debug)]
pub struct Bba {
    reservoir_share: f64,
    cushion_share: f64,
    quality: usize,
}

impl Bba {
    pub fn new(values: &Values) -> Self {
        Self {
            reservoir_share: values.number("reservoir_share"),
            cushion_share: values.number("cushion_share"),
            quality: 0,
        }
    }
}

impl Abr for Bba {
    fn choose(&mut self, view: &View<'_>) -> Wanted {
        let (ladder, last) = (view.ladder, self.quality);
        let reservoir_s = self.reservoir_share * view.most_buffer_s;
        let share = (view.buffer_s - reservoir_s) / (self.cushion_share * view.most_buffer_s);
        let (least, most) = (ladder.mbps(0), ladder.mbps(ladder.top()));
        let rate = least + share.clamp(0.0, 1.0) * (most - least);
        self.quality = if share <= 0.0 {
            0
        } else if share >= 1.0 {
            ladder.top()
        } else if rate >= ladder.mbps((last + 1).min(ladder.top())) {
            (0..=ladder.top()).rev().find(|one| ladder.mbps(*one) < rate).unwrap_or(0)
        } else if rate <= ladder.mbps(last.saturating_sub(1)) {
            (0..=ladder.top()).find(|one| ladder.mbps(*one) > rate).unwrap_or(ladder.top())
        } else {
            last
        };
        Wanted::now(self.quality)
    }
}
