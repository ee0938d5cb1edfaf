//! In what BBR version 2 and the two forms of version 3 differ: as data.

use crate::bbr::gain::Gain;
use parameters::Values;
use units::Duration;

/// What ends a probe for more bandwidth, besides loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plateau {
    /// Version 2: a pipe is full when the largest bandwidth has stood for three rounds; a probe
    /// ends when 1.25 BDP are in flight.
    OfTheMaximum,
    /// Version 3: both end when three rounds bring no sample that is larger by a quarter.
    OfTheSamples,
}

/// Constants and logic of one version.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version {
    pub(super) startup_pacing: Gain,
    /// Window in STARTUP and DRAIN.
    pub(super) startup_window: Gain,
    pub(super) drain_pacing: Gain,
    pub(super) down_pacing: Gain,
    /// Window while probing up.
    pub(super) up_window: Gain,
    pub(super) plateau: Plateau,
    /// Time between two PROBE_RTT when the parameter does not say.
    pub(super) probe_rtt_window: Duration,
}

/// tcp_bbr2.c (google/bbr, v2alpha); docs/model.md §4.5.
const V2: Version = Version {
    startup_pacing: Gain::HIGH,  // tcp_bbr2.c bbr_high_gain: 2885/1000 + 1/256
    startup_window: Gain::HIGH,  // tcp_bbr2.c bbr_startup_cwnd_gain
    drain_pacing: Gain::DRAIN,   // tcp_bbr2.c bbr_drain_gain: 1000/2885
    down_pacing: Gain::CYCLE[1], // tcp_bbr2.c bbr_pacing_gain[BBR_BW_PROBE_DOWN]: 3/4
    up_window: Gain::WINDOW,     // tcp_bbr2.c bbr_cwnd_gain: 2
    plateau: Plateau::OfTheMaximum,
    probe_rtt_window: Duration::from_secs(5), // tcp_bbr2.c bbr_probe_rtt_win_ms
};

/// tcp_bbr.c (google/bbr, version 3); docs/model.md §4.6.
const V3_KERNEL: Version = Version {
    startup_pacing: Gain::of_256ths(256 * 277 / 100 + 1), // tcp_bbr.c v3: 4 ln 2
    startup_window: Gain::of_256ths(256 * 2),             // tcp_bbr.c v3 bbr_startup_cwnd_gain
    drain_pacing: Gain::DRAIN,                            // tcp_bbr.c v3: 1000/2885
    down_pacing: Gain::of_256ths(256 * 91 / 100),         // tcp_bbr.c v3 bbr_pacing_gain
    up_window: Gain::of_256ths(256 * 2 + 256 / 4),        // tcp_bbr.c v3 bw_probe_cwnd_gain: +1/4
    plateau: Plateau::OfTheSamples,
    probe_rtt_window: Duration::from_secs(5), // tcp_bbr.c v3 bbr_probe_rtt_win_ms
};

/// draft-ietf-ccwg-bbr; docs/model.md §4.6.
const V3_DRAFT: Version = Version {
    drain_pacing: Gain::of_256ths(256 / 2), // draft-ietf-ccwg-bbr: 0.5
    down_pacing: Gain::of_256ths(256 * 90 / 100), // draft-ietf-ccwg-bbr: 0.90
    probe_rtt_window: Duration::from_secs(10), // draft-ietf-ccwg-bbr: the filter of the min RTT
    ..V3_KERNEL
};

impl Version {
    pub(super) fn v2() -> Self {
        V2
    }

    /// `constants` is a word of the parameter of that name.
    pub(super) fn v3(constants: &str) -> Self {
        if constants == "draft" { V3_DRAFT } else { V3_KERNEL }
    }
}

/// What a study file may set, in the units of the code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) probe_rtt_window: Duration,
    pub(super) probe_rtt_time: Duration,
    /// BDP in flight during PROBE_RTT; zero: the smallest window.
    pub(super) probe_rtt_gain: Gain,
    pub(super) loss_threshold: Gain,
    pub(super) beta: Gain,
    pub(super) headroom: Gain,
    pub(super) probe_wait: Duration,
    pub(super) probe_wait_random: Duration,
    pub(super) probe_max_rounds: u64,
    /// Loss events in one round of STARTUP that end it, if the loss is too high; zero: never.
    pub(super) full_loss_count: u64,
}

impl Settings {
    pub(super) fn new(version: &Version, values: &Values) -> Self {
        let ms = |name: &str| Duration::from_millis(values.whole(name));
        let window = ms("probe_rtt_win_ms");
        Self {
            probe_rtt_window: if window.is_zero() { version.probe_rtt_window } else { window },
            probe_rtt_time: ms("probe_rtt_mode_ms"),
            probe_rtt_gain: Gain::floor_of(values.number("probe_rtt_cwnd_gain")),
            loss_threshold: Gain::floor_of(values.number("loss_thresh")),
            beta: Gain::floor_of(values.number("beta")),
            headroom: Gain::floor_of(values.number("headroom")),
            probe_wait: ms("probe_wait_base_ms"),
            probe_wait_random: ms("probe_wait_random_ms"),
            probe_max_rounds: values.whole("probe_max_rounds"),
            full_loss_count: values.whole("full_loss_cnt"),
        }
    }
}
