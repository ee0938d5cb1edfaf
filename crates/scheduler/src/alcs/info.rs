//! The parameters of ALCS, most of them points that the paper leaves open (docs/model.md §5.3).

use parameters::{Info, Parameter, flag, number, option};

pub(crate) const INFO: Info = Info {
    name: "alcs",
    title: "ALCS (open points of the paper are parameters)",
    source: "arXiv 2503.07973, sections II to VI",
    parameters: &[
        Parameter {
            name: "update_interval_ms",
            unit: "ms",
            kind: number(100.0, 0.0, 60_000.0),
            meaning: "T_u: how often sigma moves; 0: once per largest smoothed RTT.",
            source: "ours: the paper leaves T_u open",
        },
        Parameter {
            name: "alpha",
            unit: "",
            kind: number(0.99, 0.5, 1.0),
            meaning: "Factor by which sigma moves.",
            source: "arXiv 2503.07973, alpha = 0.99",
        },
        Parameter {
            name: "sigma_min",
            unit: "",
            kind: number(0.5, 0.01, 1.0),
            meaning: "Smallest sigma.",
            source: "ours: the paper leaves the limits open",
        },
        Parameter {
            name: "sigma_max",
            unit: "",
            kind: number(2.0, 1.0, 100.0),
            meaning: "Largest sigma.",
            source: "ours: the paper leaves the limits open",
        },
        Parameter {
            name: "delta",
            unit: "",
            kind: option(&["kernel", "mdev", "none"]),
            meaning: "RTT variation of each path: half of Linux rttvar_us (never below 100 ms), the \
                      mean deviation as it is, or 0.",
            source: "ours: the paper says 'variation of rtt'; ECF's kernel code has rttvar_us >> 1",
        },
        Parameter {
            name: "k",
            unit: "",
            kind: option(&["all", "one", "burst"]),
            meaning: "Segments that the estimate counts: all unsent ones, one, or what the slow \
                      path's free window takes.",
            source: "ours: the paper leaves k open",
        },
        Parameter {
            name: "rounds",
            unit: "",
            kind: option(&["fractions", "whole"]),
            meaning: "How the equations count round trips: k and what is in flight over the window as it \
                      is, or rounded up, since a segment never arrives before the end of one.",
            source: "arXiv 2503.07973, equations 3 and 4: no rounding; whole ones are ours",
        },
        Parameter {
            name: "etp",
            unit: "",
            kind: option(&["window", "dispatched"]),
            meaning: "What an interval expects to be delivered: what the window carries in that time by \
                      the estimate, or what was dispatched in it.",
            source: "arXiv 2503.07973: packets dispatched in the interval; the window is ours",
        },
        Parameter {
            name: "idle_guard",
            unit: "",
            kind: flag(true),
            meaning: "Leave sigma of a path alone in an interval in which the path was hardly used (etp = \
                      window; with dispatched an idle path expects nothing).",
            source: "ours: without it, waiting leads to more waiting",
        },
        Parameter {
            name: "candidates",
            unit: "",
            kind: option(&["all", "second"]),
            meaning: "Which paths are compared with the fast one: all with room, the fastest first, until \
                      one is worth it, or the second fastest alone (with more than two paths the others \
                      then starve behind it).",
            source: "ours: the paper has two paths in its equations",
        },
        Parameter {
            name: "waits",
            unit: "",
            kind: flag(true),
            meaning: "Compare transfer times and wait for the fast path; without it, lowest RTT first and \
                      nothing but the deactivation is left.",
            source: "ours: sets the two ideas of the paper apart",
        },
        Parameter {
            name: "deactivate",
            unit: "",
            kind: option(&["all", "new", "none"]),
            meaning: "What a path no longer carries from shortly before its known outage to its end: \
                      anything, new data only, or it goes on.",
            source: "arXiv 2503.07973, V-B: the link is deactivated",
        },
        Parameter {
            name: "margin_rtts",
            unit: "RTTs",
            kind: number(1.0, 0.0, 100.0),
            meaning: "How long before its outage a path is left.",
            source: "arXiv 2503.07973, V-B: one RTT",
        },
        Parameter {
            name: "margin_rtt",
            unit: "",
            kind: option(&["expected", "smoothed"]),
            meaning: "Which RTT that is: what a packet may meet that is sent now (the largest of \
                      the smoothed one and those of the last second or two, twice that in slow \
                      start and half as much again later, and 40 ms for a delayed \
                      acknowledgement), or the smoothed one, which lags behind a queue that grows.",
            source: "ours: the paper says one RTT",
        },
        Parameter {
            name: "outage_probability",
            unit: "",
            kind: number(0.5, 0.0, 1.0),
            meaning: "How likely a foreseen outage must be for a path to be left.",
            source: "ours: the outages of the paper are certain",
        },
    ],
};
