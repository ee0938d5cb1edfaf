//! Loss detection and congestion control of one path, step by step after RFC 9002.

use crate::path::Path;
use crate::space::{SentFrames, SentPacket};
use crate::wire::AckFrame;
use congestion::{Algorithm, Config, Group, build};
use forecast::{Feed, Probability};
use recovery::DeliverySampler;
use units::{Duration, Instant, PathId};

const PACKET: u64 = 1200;

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn span(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A path with NewReno, whose steps RFC 9002 §7 describes.
pub fn path() -> Path {
    let cc = build(&Algorithm::NewReno.into(), Config::new(PACKET, 1), &Group::new());
    let mut path = Path::new(0, PathId(0), cc, Feed::new(Probability::EVEN));
    path.validated = true;
    path.peer_ack_delay = span(25);
    path
}

pub fn packet(now: Instant) -> SentPacket {
    SentPacket {
        sent_at: now,
        bytes: PACKET,
        order: 0,
        place: 0,
        eliciting: true,
        frames: SentFrames::new(),
        snapshot: DeliverySampler::default().on_sent(now, PACKET, 0),
        given_up: false,
        copied: false,
        requeued: false,
    }
}

pub fn send(path: &mut Path, now: Instant) -> u64 {
    let number = path.space.sent.next();
    let snapshot = path.sampler.on_sent(now, PACKET, path.in_flight);
    path.space.sent.push(SentPacket { snapshot, ..packet(now) });
    path.space.last_eliciting_at = now;
    path.in_flight += PACKET;
    number
}

/// An acknowledgement of some packets, newest first: the numbers of those found lost.
pub fn ack(path: &mut Path, now: Instant, numbers: &[u64], delay: Duration) -> Vec<u64> {
    let ranges = numbers.iter().map(|number| *number..=*number).collect();
    let ack = AckFrame { delay: 0, ranges, ecn: None };
    let acked = path.space.take_acked(&ack).unwrap().packets;
    let lost = path.settle(now, None, &ack, (delay, &acked));
    lost.into_iter().map(|(number, _)| number).collect()
}

/// §5.2, §5.3: the first sample, and one with an ACK delay.
#[test]
fn rtt_is_estimated_as_in_section_5() {
    let mut path = path();
    send(&mut path, ms(0));
    ack(&mut path, ms(100), &[0], Duration::ZERO);
    assert_eq!((path.rtt.smoothed(), path.rtt.var()), (span(100), span(50)));
    send(&mut path, ms(200));
    ack(&mut path, ms(350), &[1], span(10));
    // adjusted = 150 - 10; rttvar = 3/4 * 50 + 1/4 * |100 - 140|; smoothed = 7/8 * 100 + 1/8 * 140
    assert_eq!(path.rtt.var(), Duration::from_micros(47_500));
    assert_eq!(path.rtt.smoothed(), span(105));
    assert_eq!(path.rtt.min(), span(100));
    // A delay that would bring the sample below the minimum is not believed.
    send(&mut path, ms(400));
    ack(&mut path, ms(505), &[2], span(20));
    assert_eq!(path.rtt.latest(), span(105));
    assert_eq!(path.rtt.smoothed(), span(105));
    // §6.2.1: smoothed + max(4 * rttvar, 1 ms) + max_ack_delay.
    assert_eq!(path.pto(), span(105) + path.rtt.var() * 4 + span(25));
}

/// §6.1.1: three packets later; §6.1.2: 9/8 of the RTT later.
#[test]
fn packets_are_lost_by_threshold_and_by_time() {
    let mut path = path();
    (0..6).for_each(|_| {
        send(&mut path, ms(0));
    });
    // 0 and 1 are three or more below 4; 2 and 3 may still come.
    assert_eq!(ack(&mut path, ms(80), &[4], Duration::ZERO), [0, 1]);
    assert_eq!(path.space.loss_at, Some(ms(90)), "9/8 of 80 ms after they left");
    assert!(path.space.take_lost(ms(89), &path.rtt).is_empty());
    let lost = path.space.take_lost(ms(90), &path.rtt);
    assert_eq!(lost.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(path.space.sent.in_flight_packets(), 1, "5 is newer than what was acknowledged");
}

/// §7.3: slow start doubles, a loss halves once, and losses of the same flight no further.
#[test]
fn the_window_grows_and_is_halved_once_per_round_trip() {
    let mut path = path();
    let initial = path.cc.window_bytes();
    assert_eq!(initial, 10 * PACKET); // §7.2
    let first: Vec<u64> = (0..10).map(|_| send(&mut path, ms(0))).collect();
    ack(&mut path, ms(100), &first.into_iter().rev().collect::<Vec<_>>(), Duration::ZERO);
    assert_eq!(path.cc.window_bytes(), 2 * initial); // §7.3.1
    let second: Vec<u64> = (0..20).map(|_| send(&mut path, ms(100))).collect();
    assert_eq!(ack(&mut path, ms(200), &[second[5]], Duration::ZERO).len(), 3);
    let halved = path.cc.window_bytes();
    assert!((initial..=initial + PACKET).contains(&halved), "{halved}"); // §7.3.2
    assert!(path.in_recovery);
    assert_eq!(ack(&mut path, ms(205), &[second[12]], Duration::ZERO).len(), 6);
    assert_eq!(path.cc.window_bytes(), halved, "the same episode");
    let after = send(&mut path, ms(206));
    ack(&mut path, ms(306), &[after], Duration::ZERO);
    assert!(!path.in_recovery, "what was sent after the loss arrived");
    // Congestion avoidance: about a packet per round trip.
    assert!(path.cc.window_bytes() < halved + PACKET);
    assert_eq!(path.stats.lost_packets, 20 - 2, "all but those that arrived");
}

/// §6.2.1: the probe timer doubles, and starts again with an acknowledgement.
#[test]
fn the_probe_timer_backs_off() {
    let mut path = path();
    send(&mut path, ms(0));
    let pto = path.pto();
    assert_eq!(pto, span(333 + 4 * 166) + Duration::from_micros(2000) + span(25), "§6.2.2: 333 ms");
    assert_eq!(path.pto_at(|| false), Some(ms(0) + pto));
    path.pto_count = 3;
    assert_eq!(path.pto_at(|| false), Some(ms(0) + pto * 8));
    ack(&mut path, ms(50), &[0], Duration::ZERO);
    assert_eq!(path.pto_at(|| false), None, "nothing is in flight");
}

/// Two lost packets this far apart, in one RTT of 100 ms, and whether the window collapsed.
fn collapses(apart: Duration, between: impl FnOnce(&mut Path, Instant)) -> bool {
    let mut path = path();
    let first: Vec<u64> = (0..10).map(|_| send(&mut path, ms(0))).collect();
    ack(&mut path, ms(100), &first.into_iter().rev().collect::<Vec<_>>(), Duration::ZERO);
    let start = ms(200);
    send(&mut path, start);
    between(&mut path, start + apart / 2);
    send(&mut path, start + apart);
    let newest = send(&mut path, start + apart + span(1000));
    let lost = ack(&mut path, start + apart + span(1100), &[newest], Duration::ZERO);
    assert!(!lost.is_empty());
    path.cc.window_bytes() <= 2 * PACKET // one, and the packet that was acknowledged
}

/// §7.6: 3 * (100 + 4 * 50 + 25) ms without anything arriving is persistent congestion.
#[test]
fn persistent_congestion_collapses_the_window() {
    // The sample of the newest packet comes first: 100 ms again, so rttvar is 37.5 ms.
    let duration = (span(100) + Duration::from_micros(37_500) * 4 + span(25)) * 3;
    assert!(collapses(duration + span(1), |_, _| {}));
    assert!(!collapses(duration, |_, _| {}));
    // Acknowledgements of ours that need none leave no gap in it,
    assert!(collapses(duration + span(1), |path, _| path.space.sent.push_settled()));
    // but a packet that arrived in between does.
    assert!(!collapses(duration + span(1), |path, at| {
        let number = send(path, at);
        ack(path, at + span(100), &[number], Duration::ZERO);
    }));
}

/// §7.6.2: what left before the first RTT sample does not count.
#[test]
fn losses_before_the_first_sample_are_not_persistent_congestion() {
    let mut path = path();
    send(&mut path, ms(0));
    send(&mut path, ms(9000));
    let newest = send(&mut path, ms(10_000));
    assert_eq!(ack(&mut path, ms(10_100), &[newest], Duration::ZERO), [0, 1]);
    assert!(path.cc.window_bytes() > 2 * PACKET);
}

/// RFC 9000 §9.4: what was sent before the path moved is delivered, and says nothing of where it is now.
#[test]
fn packets_of_the_old_way_open_no_window_on_the_new_one() {
    let mut path = path();
    let initial = path.cc.window_bytes();
    let old: Vec<u64> = (0..8).map(|_| send(&mut path, ms(0))).collect();
    path.space.sent.give_up();
    path.in_flight = 0;
    (path.moved_at, path.rtt_from) = (ms(50), ms(50));
    ack(&mut path, ms(100), &old.into_iter().rev().collect::<Vec<_>>(), Duration::ZERO);
    assert_eq!((path.cc.window_bytes(), path.stats.delivered_bytes), (initial, 8 * PACKET));
    assert_eq!(path.sampler.delivered_bytes(), 0);
    let new: Vec<u64> = (0..10).map(|_| send(&mut path, ms(100))).collect();
    ack(&mut path, ms(150), &new.into_iter().rev().collect::<Vec<_>>(), Duration::ZERO);
    assert_eq!(path.cc.window_bytes(), 2 * initial);
}
