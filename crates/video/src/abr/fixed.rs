//! One quality throughout: what an adaptive algorithm is measured against.

use super::{Abr, View, Wanted};
use parameters::{Info, Parameter, Values, integer};

pub const INFO: Info = Info {
    name: "fixed",
    title: "Fixed quality",
    source: "ours",
    parameters: &[Parameter {
        name: "quality",
        unit: "",
        kind: integer(0.0, 0.0, 19.0),
        meaning: "which quality, from 0; beyond the ladder its best one",
        source: "ours",
    }],
};

#[derive(Debug)]
pub struct Fixed {
    quality: usize,
}

impl Fixed {
    pub fn new(values: &Values) -> Self {
        Self { quality: values.whole("quality") as usize }
    }
}

impl Abr for Fixed {
    fn first(&mut self, _view: &View<'_>) -> usize {
        self.quality
    }

    fn choose(&mut self, _view: &View<'_>) -> Wanted {
        Wanted::now(self.quality)
    }
}
