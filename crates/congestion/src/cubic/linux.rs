//! CUBIC as Linux has it (`net/ipv4/tcp_cubic.c`, 6.18): whole packets, time in jiffies, growth as
//! a number of acknowledged packets for each packet more.

use super::curve::cbrt;
use super::linux_hystart::LinuxHyStart;
use crate::loss_based::Window;
use crate::{AckSample, Config, Controller, LossSample, Phase};
use parameters::Info;
use units::{Duration, Instant};

pub(crate) const INFO: Info = Info {
    name: "cubic-linux",
    title: "CUBIC as Linux has it",
    source: "Linux net/ipv4/tcp_cubic.c (6.18, HZ = 250)",
    parameters: &[],
};

const JIFFY: Duration = Duration::from_millis(4); // HZ = 250, as distributions build it
const BETA: u64 = 717; // beta: 717/1024
const CUBE_RTT_SCALE: u64 = 410; // bic_scale * 10: C = 410/1024
const BETA_SCALE: u64 = 15; // 8 * (1024 + 717) / 3 / (1024 - 717)
/// Growth at least this fast while no maximum is known: 5 % per round trip.
const FIRST_COUNT: u64 = 20;
/// Growth at most this fast: 1.5 times per round trip.
const LEAST_COUNT: u64 = 2;
/// The count is renewed at most every 31 ms while the window stays (`HZ / 32`, in whole jiffies).
const RENEWAL_JIFFIES: u64 = 250 / 32;
/// RTT samples of the first second of an epoch are those of a queue that is being drained.
const SETTLING_JIFFIES: u64 = 250;

/// `struct bictcp`, but for HyStart.
#[derive(Clone, Copy, Debug, Default)]
struct Bic {
    /// Acknowledged packets for each packet that the window grows by.
    count: u64,
    last_max: u64,
    last_window: u64,
    last_jiffy: u64,
    origin: u64,
    /// From the beginning of the epoch to the origin, in 1/1024 s.
    k: u64,
    delay_min: Option<Duration>,
    epoch_jiffy: Option<u64>,
    acked: u64,
    reno: u64,
}

/// Linux's CUBIC. The sender finds the loss episodes and spreads the reduction by PRR.
#[derive(Debug)]
pub(crate) struct LinuxCubic {
    window: Window,
    bic: Bic,
    hystart: LinuxHyStart,
    found: bool,
    /// Acknowledged packets that have not made the window grow yet: `snd_cwnd_cnt`.
    credit: u64,
}

impl LinuxCubic {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            window: Window::new(config),
            bic: Bic::default(),
            hystart: LinuxHyStart::default(),
            found: false,
            credit: 0,
        }
    }

    /// `cubictcp_acked`.
    fn sample(&mut self, now: Instant, ack: &AckSample) {
        let Some(rtt) = ack.rtt else { return };
        let settling = |epoch: u64| jiffies(now) - epoch < SETTLING_JIFFIES;
        if self.bic.epoch_jiffy.is_some_and(settling) {
            return;
        }
        let delay_min = self.bic.delay_min.map_or(rtt, |min| min.min(rtt));
        self.bic.delay_min = Some(delay_min);
        if !self.found
            && self.window.in_slow_start()
            && self.hystart.on_ack(now, ack, self.window.packets(), delay_min)
        {
            self.found = true;
            self.window.leave_slow_start();
        }
    }

    /// `tcp_cong_avoid_ai`.
    fn grow(&mut self, acked: u64) {
        if self.credit >= self.bic.count {
            self.credit = 0;
            self.window.move_by(1.0);
        }
        self.credit += acked;
        if self.credit >= self.bic.count {
            let packets = self.credit / self.bic.count;
            self.credit -= packets * self.bic.count;
            self.window.move_by(packets as f64);
        }
    }

    /// `cubictcp_recalc_ssthresh`: the threshold after a loss, in whole packets.
    fn reduced(&mut self) -> f64 {
        let packets = self.window.packets() as u64;
        let shrinking = packets < self.bic.last_max;
        self.bic.last_max = if shrinking { packets * (1024 + BETA) / 2048 } else { packets };
        self.bic.epoch_jiffy = None;
        ((packets * BETA / 1024).max(2)) as f64
    }
}

impl Bic {
    /// `bictcp_update`: how many acknowledged packets the next packet of the window takes.
    fn update(&mut self, now: Instant, packets: u64, acked: u64) {
        let jiffy = jiffies(now);
        self.acked += acked;
        if self.last_window == packets && jiffy - self.last_jiffy <= RENEWAL_JIFFIES {
            return;
        }
        if self.epoch_jiffy.is_none() || jiffy != self.last_jiffy {
            self.last_window = packets;
            self.last_jiffy = jiffy;
            self.count = self.cubic_count(jiffy, packets, acked);
        }
        self.befriend_reno(packets);
        self.count = self.count.max(LEAST_COUNT);
    }

    fn cubic_count(&mut self, jiffy: u64, packets: u64, acked: u64) -> u64 {
        let epoch = *self.epoch_jiffy.get_or_insert_with(|| {
            (self.acked, self.reno) = (acked, packets);
            self.origin = self.last_max.max(packets);
            let missing = self.origin - packets;
            self.k = cbrt((missing << 40) as f64 / CUBE_RTT_SCALE as f64) as u64;
            jiffy
        });
        let delay = jiffies(Instant::ZERO + self.delay_min.unwrap_or_default());
        let t = (jiffy - epoch + delay) * 1024 / 250;
        let target = self.at(t);
        let mut count = if target > packets { packets / (target - packets) } else { 100 * packets };
        if self.last_max == 0 {
            count = count.min(FIRST_COUNT);
        }
        count
    }

    /// The cubic, `t` in 1/1024 s.
    fn at(&self, t: u64) -> u64 {
        let offset = u128::from(t.abs_diff(self.k));
        let delta = (u128::from(CUBE_RTT_SCALE) * offset * offset * offset) >> 40;
        let delta = u64::try_from(delta).unwrap_or(u64::MAX);
        if t < self.k {
            self.origin.saturating_sub(delta)
        } else {
            self.origin.saturating_add(delta)
        }
    }

    /// Never slower than a Reno that began with this epoch.
    fn befriend_reno(&mut self, packets: u64) {
        let each = ((packets * BETA_SCALE) >> 3).max(1);
        if self.acked > each {
            let steps = (self.acked - 1) / each;
            self.acked -= steps * each;
            self.reno += steps;
        }
        if self.reno > packets {
            self.count = self.count.min(packets / (self.reno - packets));
        }
    }
}

impl Controller for LinuxCubic {
    fn window_bytes(&self) -> u64 {
        self.window.bytes()
    }

    fn phase(&self) -> Phase {
        self.window.phase()
    }

    fn ssthresh_bytes(&self) -> u64 {
        self.window.ssthresh_bytes()
    }

    fn on_acked(&mut self, now: Instant, ack: &AckSample) {
        // tcp_ack: samples first (tcp_clean_rtx_queue), the window afterwards (tcp_cong_control).
        self.sample(now, ack);
        if !self.window.may_grow(ack) {
            return;
        }
        let mut acked = self.window.acked_packets(ack);
        if self.window.in_slow_start() {
            acked = self.window.grow_in_slow_start(acked);
        }
        let acked = acked.round() as u64;
        if acked > 0 {
            self.bic.update(now, self.window.packets() as u64, acked);
            self.grow(acked);
        }
    }

    fn on_lost(&mut self, _now: Instant, loss: &LossSample) {
        if loss.new_episode {
            let threshold = self.reduced();
            self.window.reduce_to(threshold);
        }
    }

    fn on_recovered(&mut self, _now: Instant) {
        self.window.recovered();
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight_bytes: u64, repeated: bool) {
        let factor = BETA as f64 / 1024.0;
        self.window.collapse(factor, repeated);
        // cubictcp_state: everything is forgotten, the maximum too.
        self.bic = Bic::default();
        self.hystart = LinuxHyStart::default();
        self.found = false;
    }

    fn on_spurious(&mut self, _now: Instant) {
        self.window.undo();
    }

    fn on_idle_restart(&mut self, _now: Instant, idle: Duration, rto: Duration) {
        self.window.restart_after_idle(idle, rto);
    }

    /// `cubictcp_cwnd_event`, `CA_EVENT_TX_START`: a pause is left out of the epoch.
    fn on_app_limited(&mut self, now: Instant, span: Duration) {
        let pause = jiffies(Instant::ZERO + span);
        if let Some(epoch) = &mut self.bic.epoch_jiffy {
            *epoch = (*epoch + pause).min(jiffies(now));
        }
    }

    fn penalise(&mut self) {
        self.window.penalise();
    }
}

/// Ticks of the kernel's clock up to `at`.
fn jiffies(at: Instant) -> u64 {
    at.as_nanos() / JIFFY.as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bic(last_max: u64) -> Bic {
        Bic { last_max, delay_min: Some(Duration::from_millis(60)), ..Bic::default() }
    }

    /// docs/model.md §4.2: W_max 200, window 140: K is 5.313 s, in 1/1024 s; the curve is flat there.
    #[test]
    fn the_curve_of_the_published_vector() {
        let mut bic = bic(200);
        bic.update(Instant::from_millis(4000), 140, 1);
        assert_eq!((bic.k, bic.origin), (5439, 200)); // 5.312 s: C is 410/1024
        assert_eq!((bic.at(0), bic.at(bic.k)), (141, 200)); // whole packets, rounded down
        assert_eq!(bic.at(2 * bic.k), 259);
    }

    /// Without a maximum the window grows by 5 % a round trip at least, and by a half at most.
    #[test]
    fn growth_keeps_within_its_bounds() {
        let mut first = bic(0);
        first.update(Instant::from_millis(4000), 100, 1);
        assert_eq!(first.count, FIRST_COUNT);
        let mut far_behind = bic(10_000);
        far_behind.update(Instant::from_millis(4000), 10, 1);
        far_behind.update(Instant::from_millis(60_000), 10, 1);
        assert_eq!(far_behind.count, LEAST_COUNT);
    }

    /// Every 15/8 of a window acknowledged, the Reno beside it has grown by one packet.
    #[test]
    fn reno_beside_it_decides_where_the_cubic_is_flat() {
        let mut bic = bic(100);
        bic.update(Instant::from_millis(4000), 100, 1); // at its maximum: flat
        bic.update(Instant::from_millis(4040), 100, 375);
        assert_eq!(bic.reno, 102); // 376 packets are two times 187
        assert_eq!(bic.count, 50);
    }

    #[test]
    fn a_loss_leaves_717_of_1024_and_a_smaller_one_gives_ground() {
        let mut cubic = LinuxCubic::new(Config::new(1448, 1));
        cubic.window.start_with(100.0);
        assert_eq!((cubic.reduced(), cubic.bic.last_max), (70.0, 100));
        cubic.window.start_with(80.0);
        assert_eq!((cubic.reduced(), cubic.bic.last_max), (56.0, 68)); // 80 * 1741 / 2048
        cubic.on_timeout(Instant::ZERO, 0, false);
        assert_eq!(cubic.bic.last_max, 0);
    }
}
