//! How the control describes itself.

use parameters::{Info, Parameter, flag, number, option};

pub(crate) const INFO: Info = Info {
    name: "boundary",
    title: "BBRv3 or CUBIC that knows slot boundaries",
    source: "ours; draft-lai-ccwg-lsncc (path phase boundaries)",
    parameters: &[
        Parameter {
            name: "over",
            unit: "",
            kind: option(&["bbr3", "cubic"]),
            meaning: "The congestion control underneath, with its own defaults.",
            source: "ours",
        },
        Parameter {
            name: "evidence",
            unit: "",
            kind: flag(true),
            meaning: "Believe a forecast only once the connection's own RTTs shift at its boundaries \
                      (p < 0.001), which takes four slots and more.",
            source: "ours",
        },
        Parameter {
            name: "probability",
            unit: "",
            kind: number(0.5, 0.0, 1.0),
            meaning: "How likely a boundary must be.",
            source: "ours: as likely as not",
        },
        Parameter {
            name: "uncertainty_ms",
            unit: "ms",
            kind: number(1000.0, 0.0, 5000.0),
            meaning: "How far off a boundary may be; vaguer ones are not heeded.",
            source: "ours: 2 of 15 s, and a round trip, without an answer to loss at most",
        },
        Parameter {
            name: "agreement",
            unit: "",
            kind: number(0.1, 0.0, 1.0),
            meaning: "The model is kept if rate and RTT after a boundary differ by no more than this \
                      share from before.",
            source: "ours",
        },
    ],
};
