//! How LeoCC describes itself.

use parameters::{Info, Parameter, integer};

pub(crate) const INFO: Info = Info {
    name: "leocc",
    title: "LeoCC (simulation version)",
    source: "LeoCC, SIGCOMM 2025; SpaceNetLab/LeoCC leocc/simulation/leocc.c",
    parameters: &[
        Parameter {
            name: "rtt_fluctuation_ms",
            unit: "ms",
            kind: integer(10.0, 0.0, 1000.0),
            meaning: "How far the smoothed RTT may rise above the minimum before the Kalman rate \
                      replaces the largest one; 5 to 20 are recommended.",
            source: "leocc.c min_rtt_fluctuation",
        },
        Parameter {
            name: "ahead_ms",
            unit: "ms",
            kind: integer(100.0, 0.0, 5000.0),
            meaning: "How long before a foreseen boundary an acknowledgement arms the reconfiguration.",
            source: "leocc.c magic_offet",
        },
        Parameter {
            name: "delta_thresh_ms",
            unit: "ms",
            kind: integer(45.0, 0.0, 1000.0),
            meaning: "How far below the smoothed RTT a sample must fall while the pipe is emptied for \
                      the rate then seen to be kept.",
            source: "leocc.c delta_thresh",
        },
    ],
};
