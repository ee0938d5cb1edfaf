//! DYNAMIC: the throughput rule while the buffer is short, BOLA when it is long (Spiteri et al. 2018, §5;
//! Sabre, `Dynamic`).

use super::bola::Bola;
use super::throughput::Throughput;
use super::{Abr, Download, View, Wanted};
use parameters::Info;

pub const INFO: Info = Info {
    name: "dynamic",
    title: "DYNAMIC",
    source: "Spiteri et al. 2018, §5; Sabre, Dynamic",
    parameters: &[],
};

/// BOLA may decide above this buffer.
const LONG_S: f64 = 10.0;
const GAMMA_P: f64 = 5.0;

#[derive(Debug)]
pub struct Dynamic {
    bola: Bola,
    throughput: Throughput,
    by_buffer: bool,
}

impl Dynamic {
    pub fn new() -> Self {
        Self {
            bola: Bola::with(GAMMA_P, false),
            throughput: Throughput::default(),
            by_buffer: false,
        }
    }
}

impl Abr for Dynamic {
    fn choose(&mut self, view: &View<'_>) -> Wanted {
        let (bola, rate) = (self.bola.choose(view), self.throughput.choose(view));
        if self.by_buffer {
            self.by_buffer = view.buffer_s >= LONG_S || bola.quality >= rate.quality;
        } else {
            self.by_buffer = view.buffer_s > LONG_S && bola.quality >= rate.quality;
        }
        if self.by_buffer { bola } else { rate }
    }

    fn give_up(&mut self, download: &Download, view: &View<'_>) -> Option<usize> {
        self.throughput.give_up(download, view)
    }
}
