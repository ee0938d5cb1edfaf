//! DYNAMIC as dash.js 2.6 had it: by the buffer alone, and with BOLA-E (Sabre, `DynamicDash`).

use super::bola_e::BolaE;
use super::throughput::Throughput;
use super::{Abr, Download, View, Wanted};
use parameters::{Info, Parameter, Values, number};

pub const INFO: Info = Info {
    name: "dynamic-dash",
    title: "DYNAMIC of dash.js",
    source: "Sabre, DynamicDash (Spiteri et al. 2018, §6)",
    parameters: &[
        Parameter {
            name: "short_s",
            unit: "s",
            kind: number(5.0, 0.0, 600.0),
            meaning: "buffer below which the throughput rule takes over",
            source: "Sabre, DynamicDash.low_threshold",
        },
        Parameter {
            name: "long_s",
            unit: "s",
            kind: number(10.0, 0.0, 600.0),
            meaning: "buffer above which BOLA-E takes over",
            source: "Sabre, DynamicDash.high_threshold",
        },
    ],
};

#[derive(Debug)]
pub struct DynamicDash {
    bola: BolaE,
    throughput: Throughput,
    short_s: f64,
    long_s: f64,
    by_buffer: bool,
}

impl DynamicDash {
    pub fn new(values: &Values) -> Self {
        Self {
            bola: BolaE::with(false),
            throughput: Throughput::default(),
            short_s: values.number("short_s"),
            long_s: values.number("long_s"),
            by_buffer: false,
        }
    }

    fn active(&mut self) -> &mut dyn Abr {
        if self.by_buffer { &mut self.bola } else { &mut self.throughput }
    }
}

impl Abr for DynamicDash {
    fn choose(&mut self, view: &View<'_>) -> Wanted {
        if self.by_buffer {
            self.by_buffer = view.buffer_s >= self.short_s;
        } else {
            self.by_buffer = view.buffer_s > self.long_s;
        }
        self.active().choose(view)
    }

    fn give_up(&mut self, download: &Download, view: &View<'_>) -> Option<usize> {
        self.active().give_up(download, view)
    }

    fn on_full(&mut self, waited_s: f64) {
        self.bola.on_full(waited_s);
    }

    fn on_chunk(&mut self, download: &Download, abandoned: Option<usize>, view: &View<'_>) {
        self.bola.on_chunk(download, abandoned, view);
    }
}
