//! Rules that every controller keeps, whatever happens to its path.

use super::{MSS, config};
use crate::{AckSample, Algorithm, Controller, LossSample, RateSample};
use proptest::prelude::*;
use units::{Bitrate, Duration, Instant};

/// One event of a path. The smallest values are the quietest, so that failures shrink to them.
#[derive(Clone, Debug)]
enum Operation {
    Sent { packets: u64 },
    Acked { packets: u64, lost: u64, rtt_us: u64, limited: bool, flags: Flags },
    Recovered,
    Timeout { repeated: bool },
    Spurious,
    Idle { ms: u64 },
    AppLimited { ms: u64 },
    Penalise,
    Wait { us: u64 },
}

#[derive(Clone, Copy, Debug)]
struct Flags {
    has_rate: bool,
    app_limited: bool,
    delayed: bool,
    new_episode: bool,
}

fn flags() -> impl Strategy<Value = Flags> {
    any::<[bool; 4]>().prop_map(|[has_rate, app_limited, delayed, new_episode]| Flags {
        has_rate,
        app_limited,
        delayed,
        new_episode,
    })
}

fn operation() -> impl Strategy<Value = Operation> {
    let rtt = prop_oneof![0..200_000_u64, 0..20_000_000_u64];
    let acked = (0..200_u64, prop_oneof![4 => Just(0_u64), 1 => 0..50_u64], rtt, any::<bool>());
    prop_oneof![
        4 => (1..100_u64).prop_map(|packets| Operation::Sent { packets }),
        8 => (acked, flags()).prop_map(|((packets, lost, rtt_us, limited), flags)| {
            Operation::Acked { packets, lost, rtt_us, limited, flags }
        }),
        1 => Just(Operation::Recovered),
        1 => any::<bool>().prop_map(|repeated| Operation::Timeout { repeated }),
        1 => Just(Operation::Spurious),
        1 => (0..100_000_u64).prop_map(|ms| Operation::Idle { ms }),
        1 => (0..100_000_u64).prop_map(|ms| Operation::AppLimited { ms }),
        1 => Just(Operation::Penalise),
        4 => (0..500_000_u64).prop_map(|us| Operation::Wait { us }),
    ]
}

/// The little that a sender must know to call the hooks in a possible order.
struct Sender {
    controller: Box<dyn Controller>,
    now: Instant,
    in_flight_packets: u64,
    delivered_packets: u64,
    repairing: bool,
    timed_out: bool,
}

impl Sender {
    fn new(algorithm: Algorithm) -> Self {
        Self {
            controller: algorithm.build(config()),
            now: Instant::ZERO,
            in_flight_packets: 0,
            delivered_packets: 0,
            repairing: false,
            timed_out: false,
        }
    }

    fn apply(&mut self, operation: &Operation) {
        match *operation {
            Operation::Sent { packets } => self.send(packets),
            Operation::Acked { packets, lost, rtt_us, limited, flags } => {
                let lost = lost.min(self.in_flight_packets);
                self.lose(lost, flags.new_episode);
                let rtt = Duration::from_micros(rtt_us);
                self.acknowledge(packets, lost, rtt, (limited, flags));
            }
            Operation::Recovered => self.recover(),
            Operation::Timeout { repeated } => self.time_out(repeated),
            Operation::Spurious => self.controller.on_spurious(self.now),
            Operation::Idle { ms } => {
                let idle = Duration::from_millis(ms);
                self.now += idle;
                self.controller.on_idle_restart(self.now, idle, Duration::from_millis(260));
            }
            Operation::AppLimited { ms } => {
                let span = Duration::from_millis(ms);
                self.now += span;
                self.controller.on_app_limited(self.now, span);
            }
            Operation::Penalise => self.controller.penalise(),
            Operation::Wait { us } => self.now += Duration::from_micros(us),
        }
    }

    fn send(&mut self, packets: u64) {
        let was_idle = self.in_flight_packets == 0;
        self.in_flight_packets += packets;
        let in_flight = self.in_flight_packets * MSS;
        self.controller.on_sent(self.now, packets * MSS, in_flight, was_idle);
    }

    fn lose(&mut self, packets: u64, new_episode: bool) {
        if packets == 0 {
            return;
        }
        self.in_flight_packets -= packets;
        let new_episode = new_episode || !self.repairing;
        if new_episode {
            self.repairing = true;
            self.timed_out = false;
        }
        let loss = LossSample {
            lost_bytes: packets * MSS,
            in_flight_bytes: self.in_flight_packets * MSS,
            tx_in_flight_bytes: (self.in_flight_packets + packets) * MSS,
            lost_since_sent_bytes: packets * MSS,
            delivered_bytes: self.delivered_packets * MSS,
            new_episode,
        };
        self.controller.on_lost(self.now, &loss);
    }

    fn acknowledge(&mut self, packets: u64, lost: u64, rtt: Duration, how: (bool, Flags)) {
        let (window_limited, flags) = how;
        let prior = self.in_flight_packets + lost;
        let packets = packets.min(self.in_flight_packets);
        let prior_delivered = self.delivered_packets.saturating_sub(self.in_flight_packets);
        self.in_flight_packets -= packets;
        self.delivered_packets += packets;
        let interval = rtt.max(Duration::from_nanos(1));
        let rate = RateSample {
            rate: Bitrate::from_bytes_per(packets * MSS, interval),
            delivered_bytes: packets * MSS,
            interval,
            app_limited: flags.app_limited,
            tx_in_flight_bytes: prior * MSS,
            lost_bytes: lost * MSS,
        };
        let sample = AckSample {
            acked_bytes: packets * MSS,
            lost_bytes: lost * MSS,
            rtt: (packets > 0).then_some(rtt),
            ack_delayed: flags.delayed,
            srtt: rtt,
            min_rtt: rtt,
            prior_in_flight_bytes: prior * MSS,
            in_flight_bytes: self.in_flight_packets * MSS,
            delivered_bytes: self.delivered_packets * MSS,
            prior_delivered_bytes: prior_delivered * MSS,
            rate: flags.has_rate.then_some(rate),
            window_limited,
            in_recovery: self.repairing,
        };
        self.controller.on_acked(self.now, &sample);
    }

    fn recover(&mut self) {
        if self.repairing {
            self.repairing = false;
            self.timed_out = false;
            self.controller.on_recovered(self.now);
        }
    }

    fn time_out(&mut self, repeated: bool) {
        let repeated = repeated && self.timed_out;
        self.repairing = true;
        self.timed_out = true;
        self.controller.on_timeout(self.now, self.in_flight_packets * MSS, repeated);
        self.in_flight_packets = 0;
    }

    /// Must the window of a loss-based controller not grow by this operation?
    fn forbids_growth(&self, operation: &Operation) -> bool {
        match operation {
            Operation::Acked { limited, .. } => !limited || (self.repairing && !self.timed_out),
            Operation::Spurious => false,
            _ => true,
        }
    }
}

fn check(algorithm: Algorithm, operations: &[Operation]) -> Result<String, TestCaseError> {
    let mut sender = Sender::new(algorithm);
    for operation in operations {
        let before = sender.controller.window_bytes();
        let forbidden = sender.forbids_growth(operation);
        sender.apply(operation);
        let controller = &sender.controller;
        let window = controller.window_bytes();
        prop_assert!(window >= MSS, "{algorithm}: window of {window} bytes after {operation:?}");
        prop_assert!(controller.ssthresh_bytes() >= 2 * MSS);
        prop_assert!(controller.send_quantum_bytes() >= MSS);
        if let Some(rate) = controller.pacing_rate() {
            prop_assert!(rate > Bitrate::ZERO, "{algorithm} stands still after {operation:?}");
            prop_assert!(rate.time_for(MSS).is_some_and(|span| span <= Duration::from_secs(1)));
        }
        if forbidden && controller.reduces_by_prr() {
            prop_assert!(window <= before, "{algorithm} grew by {operation:?}");
        }
    }
    Ok(format!("{:?}", sender.controller))
}

proptest! {
    #[test]
    fn every_controller_keeps_the_rules(
        operations in proptest::collection::vec(operation(), 1..200),
    ) {
        for algorithm in Algorithm::ALL {
            let once = check(algorithm, &operations)?;
            let again = check(algorithm, &operations)?;
            prop_assert_eq!(once, again, "{} is not deterministic", algorithm);
        }
    }
}
