//! How the two versions describe themselves.

use parameters::{Info, Kind, Parameter, integer, number, option};

pub(crate) const V2: Info = Info {
    name: "bbr2",
    title: "BBR version 2 (v2alpha)",
    source: "google/bbr tcp_bbr2.c (v2alpha); without ECN",
    parameters: &[
        Parameter {
            name: "probe_rtt_win_ms",
            unit: "ms",
            kind: integer(5000.0, 1000.0, 10_000.0),
            meaning: "Time without a smaller RTT after which the pipe is emptied to see it.",
            source: "tcp_bbr2.c bbr_probe_rtt_win_ms",
        },
        LOSS_THRESH,
        PROBE_RTT_MODE_MS,
        PROBE_RTT_CWND_GAIN,
        BETA,
        HEADROOM,
        PROBE_WAIT_BASE_MS,
        PROBE_WAIT_RANDOM_MS,
        PROBE_MAX_ROUNDS,
        Parameter { kind: integer(8.0, 0.0, 15.0), ..FULL_LOSS_CNT },
    ],
};

pub(crate) const V3: Info = Info {
    name: "bbr3",
    title: "BBR version 3",
    source: "google/bbr tcp_bbr.c (version 3), draft-ietf-ccwg-bbr; without ECN",
    parameters: &[
        Parameter {
            name: "constants",
            unit: "",
            kind: option(&["kernel", "draft"]),
            meaning: "Whose gains and intervals: the Linux patch's, or the IETF draft's.",
            source: "google/bbr tcp_bbr.c (version 3); draft-ietf-ccwg-bbr",
        },
        Parameter {
            name: "probe_rtt_win_ms",
            unit: "ms",
            kind: integer(0.0, 0.0, 10_000.0),
            meaning: "Time without a smaller RTT after which the pipe is emptied to see it; \
                      0: by the constants, 5000 (kernel) or 10000 (draft).",
            source: "tcp_bbr.c v3 bbr_probe_rtt_win_ms; draft-ietf-ccwg-bbr",
        },
        LOSS_THRESH,
        PROBE_RTT_MODE_MS,
        PROBE_RTT_CWND_GAIN,
        BETA,
        HEADROOM,
        PROBE_WAIT_BASE_MS,
        PROBE_WAIT_RANDOM_MS,
        PROBE_MAX_ROUNDS,
        FULL_LOSS_CNT,
    ],
};

/// The table of a parameter that both versions have.
const fn both(name: &'static str, kind: Kind, meaning: &'static str) -> Parameter {
    Parameter { name, unit: "", kind, meaning, source: "" }
}

const LOSS_THRESH: Parameter = Parameter {
    source: "tcp_bbr2.c bbr_loss_thresh, in 256ths rounded down",
    ..both(
        "loss_thresh",
        number(0.02, 0.0, 0.99),
        "Share of a flight that may be lost before that much in flight is too much.",
    )
};
const PROBE_RTT_MODE_MS: Parameter = Parameter {
    unit: "ms",
    source: "tcp_bbr2.c bbr_probe_rtt_mode_ms",
    ..both(
        "probe_rtt_mode_ms",
        integer(200.0, 0.0, 511.0), // 9 bits
        "Time for which the pipe stays emptied, and at least a round trip; 0: never emptied.",
    )
};
const PROBE_RTT_CWND_GAIN: Parameter = Parameter {
    unit: "BDP",
    source: "tcp_bbr2.c bbr_probe_rtt_cwnd_gain",
    ..both(
        "probe_rtt_cwnd_gain",
        number(0.5, 0.0, 0.99), // 8 bits
        "Window while the pipe is emptied; 0: four packets.",
    )
};
const BETA: Parameter = Parameter {
    source: "tcp_bbr2.c bbr_beta, in 256ths rounded down",
    ..both("beta", number(0.3, 0.0, 0.99), "Share by which a round with loss cuts the bounds.")
};
const HEADROOM: Parameter = Parameter {
    source: "tcp_bbr2.c bbr_inflight_headroom, in 256ths rounded down",
    ..both(
        "headroom",
        number(0.15, 0.0, 0.99),
        "Share of the upper bound that is left to other flows while not probing.",
    )
};
const PROBE_WAIT_BASE_MS: Parameter = Parameter {
    unit: "ms",
    source: "tcp_bbr2.c bbr_bw_probe_base_us",
    ..both(
        "probe_wait_base_ms",
        integer(2000.0, 0.0, 60_000.0),
        "Shortest time between two probes for bandwidth.",
    )
};
const PROBE_WAIT_RANDOM_MS: Parameter = Parameter {
    unit: "ms",
    source: "tcp_bbr2.c bbr_bw_probe_rand_us",
    ..both(
        "probe_wait_random_ms",
        integer(1000.0, 0.0, 60_000.0),
        "Largest random time on top of it.",
    )
};
const PROBE_MAX_ROUNDS: Parameter = Parameter {
    unit: "rounds",
    source: "tcp_bbr2.c bbr_bw_probe_max_rounds",
    ..both(
        "probe_max_rounds",
        integer(63.0, 1.0, 255.0),
        "Largest number of round trips between two probes for bandwidth.",
    )
};
const FULL_LOSS_CNT: Parameter = Parameter {
    unit: "losses",
    source: "tcp_bbr2.c, tcp_bbr.c v3: bbr_full_loss_cnt",
    ..both(
        "full_loss_cnt",
        integer(6.0, 0.0, 15.0),
        "Acknowledgements with loss in a round of STARTUP that end it, if the loss is above the \
         threshold; 0: loss never ends it.",
    )
};
