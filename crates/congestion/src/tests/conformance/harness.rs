//! Drives the controllers of one connection through any events, and checks the rules that each must
//! keep: for each path of the connection, with others that open and close beside it. Used by the property test here, and by the fuzzer in `crates/congestion/fuzz`.

use congestion::{AckSample, Algorithm, Config, Controller, Group, LossSample, RateSample};
use forecast::{Boundary, BoundaryKind, Probability};
use units::{Bitrate, Duration, Instant};

const MSS: u64 = 1428;
/// Paths of the connection.
pub(crate) const PATHS: usize = 3;

/// One event of a path. The smallest values are the quietest, so that failures shrink to them.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Sent {
        packets: u64,
    },
    Acked {
        packets: u64,
        lost: u64,
        rtt_us: u64,
        limited: bool,
        flags: Flags,
    },
    Recovered,
    Timeout {
        repeated: bool,
    },
    Spurious,
    Idle {
        ms: u64,
    },
    AppLimited {
        ms: u64,
    },
    Penalise,
    /// A forecast of boundaries: the first one, the interval and the uncertainty, in milliseconds.
    Forecast {
        from_ms: u64,
        every_ms: u64,
        uncertainty_ms: u64,
    },
    Wait {
        us: u64,
    },
    /// Another path of the connection carries what follows.
    Turn {
        path: usize,
    },
    /// The path closes; its controller is dropped.
    Down,
    /// A closed path comes back, with a controller of its own.
    Up {
        rtt_us: u64,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Flags {
    pub(crate) has_rate: bool,
    pub(crate) app_limited: bool,
    pub(crate) delayed: bool,
    pub(crate) new_episode: bool,
}

/// The little that a sender must know to call the hooks in a possible order.
struct Sender {
    controller: Box<dyn Controller>,
    in_flight_packets: u64,
    delivered_packets: u64,
    repairing: bool,
    timed_out: bool,
}

impl Sender {
    fn new(algorithm: Algorithm, group: &Group, seed: u64) -> Self {
        Self {
            controller: congestion::build(&algorithm.into(), Config::new(MSS, seed), group),
            in_flight_packets: 0,
            delivered_packets: 0,
            repairing: false,
            timed_out: false,
        }
    }

    fn apply(&mut self, now: Instant, operation: &Operation) {
        match *operation {
            Operation::Sent { packets } => self.send(now, packets),
            Operation::Acked { packets, lost, rtt_us, limited, flags } => {
                let lost = lost.min(self.in_flight_packets);
                self.lose(now, lost, flags.new_episode);
                let rtt = Duration::from_micros(rtt_us);
                let sample = self.acknowledge(packets, lost, rtt, (limited, flags));
                self.controller.on_acked(now, &sample);
            }
            Operation::Recovered => self.recover(now),
            Operation::Timeout { repeated } => self.time_out(now, repeated),
            Operation::Spurious => self.controller.on_spurious(now),
            Operation::Idle { ms } => {
                let rto = Duration::from_millis(260);
                self.controller.on_idle_restart(now, Duration::from_millis(ms), rto);
            }
            Operation::AppLimited { ms } => {
                self.controller.on_app_limited(now, Duration::from_millis(ms));
            }
            Operation::Penalise => self.controller.penalise(),
            Operation::Forecast { from_ms, every_ms, uncertainty_ms } => {
                self.controller.on_forecast(&forecast(from_ms, every_ms, uncertainty_ms));
            }
            _ => {}
        }
    }

    fn send(&mut self, now: Instant, packets: u64) {
        let was_idle = self.in_flight_packets == 0;
        self.in_flight_packets += packets;
        let in_flight = self.in_flight_packets * MSS;
        self.controller.on_sent(now, packets * MSS, in_flight, was_idle);
    }

    fn lose(&mut self, now: Instant, packets: u64, new_episode: bool) {
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
        self.controller.on_lost(now, &loss);
    }

    /// What the sender would say of an acknowledgement of `packets` packets.
    fn acknowledge(
        &mut self,
        packets: u64,
        lost: u64,
        rtt: Duration,
        how: (bool, Flags),
    ) -> AckSample {
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
        AckSample {
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
        }
    }

    fn recover(&mut self, now: Instant) {
        if self.repairing {
            self.repairing = false;
            self.timed_out = false;
            self.controller.on_recovered(now);
        }
    }

    fn time_out(&mut self, now: Instant, repeated: bool) {
        let repeated = repeated && self.timed_out;
        self.repairing = true;
        self.timed_out = true;
        self.controller.on_timeout(now, self.in_flight_packets * MSS, repeated);
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

/// Boundaries that may be past, too close and too vague.
fn forecast(from_ms: u64, every_ms: u64, uncertainty_ms: u64) -> Vec<Boundary> {
    let boundary = |number| Boundary {
        at: Instant::from_millis(from_ms + number * every_ms),
        uncertainty: Duration::from_millis(uncertainty_ms),
        kind: BoundaryKind::Slot,
        probability: Probability::CERTAIN,
    };
    (0..50).map(boundary).collect()
}

/// The paths of one connection, and the one whose turn it is.
struct Connection {
    algorithm: Algorithm,
    group: Group,
    paths: [Option<Sender>; PATHS],
    turn: usize,
    now: Instant,
}

impl Connection {
    fn new(algorithm: Algorithm) -> Self {
        let group = Group::new();
        let paths = std::array::from_fn(|path| Some(Sender::new(algorithm, &group, path as u64)));
        Self { algorithm, group, paths, turn: 0, now: Instant::ZERO }
    }

    /// Applies an operation; checks the path that it changed.
    fn apply(&mut self, operation: &Operation) -> Result<(), String> {
        match *operation {
            Operation::Wait { us } => self.now += Duration::from_micros(us),
            Operation::Idle { ms } | Operation::AppLimited { ms } => {
                self.now += Duration::from_millis(ms);
            }
            Operation::Turn { path } => self.turn = path % PATHS,
            Operation::Down => self.paths[self.turn] = None,
            Operation::Up { rtt_us } if self.paths[self.turn].is_none() => {
                let mut sender = Sender::new(self.algorithm, &self.group, self.turn as u64);
                sender.controller.on_handshake(Duration::from_micros(rtt_us));
                self.paths[self.turn] = Some(sender);
            }
            _ => {}
        }
        let Some(sender) = &mut self.paths[self.turn] else { return Ok(()) };
        let before = sender.controller.window_bytes();
        let forbidden = sender.forbids_growth(operation);
        sender.apply(self.now, operation);
        let limit = if forbidden { before } else { u64::MAX };
        check(&*sender.controller, limit, least_ssthresh(self.algorithm))
            .map_err(|rule| format!("{}: {rule} after {operation:?}", self.algorithm))
    }
}

/// RFC 5681 §3.1 eq. 4; with more than one path, RFC 6356 §3.
fn least_ssthresh(algorithm: Algorithm) -> u64 {
    match algorithm {
        Algorithm::Lia | Algorithm::Olia | Algorithm::Balia => MSS,
        _ => 2 * MSS,
    }
}

/// The rules. `limit`: a window that the sender reduces may not be larger.
fn check(controller: &dyn Controller, limit: u64, least_ssthresh: u64) -> Result<(), String> {
    let window = controller.window_bytes();
    let ensure = |holds: bool, rule: &str| holds.then_some(()).ok_or_else(|| rule.to_owned());
    ensure(window >= MSS, "a window below one packet")?;
    ensure(controller.ssthresh_bytes() >= least_ssthresh, "too small a threshold")?;
    ensure(controller.send_quantum_bytes() >= MSS, "a burst below one packet")?;
    ensure(!controller.phase().name().is_empty(), "a phase without a name")?;
    if let Some(rate) = controller.pacing_rate() {
        let a_second = rate.time_for(MSS).is_some_and(|span| span <= Duration::from_secs(1));
        ensure(rate > Bitrate::ZERO && a_second, "a pace of less than one packet per second")?;
    }
    ensure(window <= limit || !controller.reduces_by_prr(), "growth where none may be")
}

/// Runs all operations; the final state of the controllers, to be compared with another run's.
pub(crate) fn run(algorithm: Algorithm, operations: &[Operation]) -> Result<String, String> {
    let mut connection = Connection::new(algorithm);
    for operation in operations {
        connection.apply(operation)?;
    }
    Ok(format!("{:?}", connection.paths.map(|sender| sender.map(|sender| sender.controller))))
}
