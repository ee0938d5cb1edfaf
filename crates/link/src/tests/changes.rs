use super::properties::{capacity, config, delay, loss, pushes, queue};
use super::*;
use crate::{CapacityConfig, DelayConfig, Dropped, InFlight, LinkError, LossConfig};
use proptest::prelude::*;

fn mbps(mbps: f64) -> CapacityConfig {
    CapacityConfig::Constant { mbps }
}

fn opportunities(times_ms: &[u64]) -> CapacityConfig {
    CapacityConfig::Opportunities { times_ms: times_ms.to_vec() }
}

/// Full packets at time 0 on a link of 12 Mbit/s (one a millisecond) without delay.
fn backlog(packets: u64) -> Link<Packet> {
    let mut link = built(&unbounded(12.0, 0.0));
    for number in 0..packets {
        link.push(Instant::ZERO, full(number)).unwrap();
    }
    link
}

#[test]
fn the_packet_in_service_keeps_the_work_it_has_had() {
    let mut link = backlog(2);
    link.set_capacity(us(500), &mbps(6.0)).unwrap();
    assert_eq!(drain(&mut link), [(us(1500), 0), (us(3500), 1)]);
}

#[test]
fn at_capacity_0_it_waits_and_then_goes_on() {
    let mut link = backlog(2);
    link.set_capacity(us(250), &mbps(0.0)).unwrap();
    assert_eq!(link.next_at(), None);
    link.set_capacity(ms(7), &mbps(0.0)).unwrap();
    assert_eq!(link.next_at(), None);
    link.set_capacity(ms(10), &mbps(12.0)).unwrap();
    assert_eq!(drain(&mut link), [(us(10_750), 0), (us(11_750), 1)]);
}

#[test]
fn work_crosses_between_rates_and_opportunities() {
    let mut link = backlog(2);
    link.set_capacity(us(500), &opportunities(&[1, 2, 3, 4])).unwrap();
    // 750 bytes are missing: half of the opportunity at 1 ms; the next packet takes the rest of it.
    link.set_capacity(us(1500), &mbps(12.0)).unwrap();
    assert_eq!(drain(&mut link), [(ms(1), 0), (us(2000), 1)]);
}

#[test]
fn opportunities_up_to_the_change_are_the_old_ones() {
    let mut link =
        built(&LinkConfig { capacity: opportunities(&[1, 1, 5]), ..unbounded(0.0, 0.0) });
    link.push(Instant::ZERO, Packet { number: 0, bytes: 6000 }).unwrap();
    link.set_capacity(ms(1), &opportunities(&[1, 3, 4])).unwrap();
    // Two of four have been had at 1 ms; the others come at 3 and 4 ms.
    assert_eq!(drain(&mut link), [(ms(4), 0)]);
}

#[test]
fn a_change_in_a_holding_outage_waits_for_its_end() {
    let held = [OutageConfig { start_s: 0.001, end_s: 0.005, in_flight: InFlight::Hold }];
    let mut link = built(&with_outages(unbounded(6.0, 0.0), &held));
    link.push(Instant::ZERO, full(0)).unwrap();
    link.set_capacity(ms(3), &mbps(12.0)).unwrap();
    assert_eq!(drain(&mut link), [(us(5500), 0)]);
}

#[test]
fn a_changed_delay_holds_for_departures_and_lets_nothing_overtake() {
    let mut link = built(&unbounded(12.0, 10.0));
    for number in 0..3 {
        link.push(Instant::ZERO, full(number)).unwrap();
    }
    link.set_delay(us(1500), &DelayConfig::Constant { ms: 2.0 }).unwrap();
    assert_eq!(drain(&mut link), [(ms(11), 0), (ms(11), 1), (ms(11), 2)]);
}

#[test]
fn a_smaller_queue_keeps_what_waits() {
    let mut link = backlog(3);
    link.set_queue(us(1), &QueueConfig::DropTail { bytes: None, packets: Some(2) }).unwrap();
    assert_eq!(link.push(us(2), full(3)), Err(Dropped::QueueFull));
    assert_eq!(link.push(us(2001), full(4)), Ok(()));
    assert_eq!(drain(&mut link).len(), 4);
}

#[test]
fn a_closed_link_loses_what_it_holds_and_what_arrives() {
    let mut link = built(&unbounded(12.0, 10.0));
    for number in 0..5 {
        link.push(Instant::ZERO, full(number)).unwrap();
    }
    link.close(us(2500));
    assert_eq!(link.push(ms(3), full(5)), Err(Dropped::Outage));
    assert_eq!((link.queued_packets(), link.flying_packets()), (0, 0));
    link.open(ms(4));
    link.push(ms(4), full(6)).unwrap();
    assert_eq!(drain(&mut link), [(ms(15), 6)]);
    assert_eq!(link.counters().dropped_outage_packets, 6);
}

#[test]
fn a_refused_change_changes_nothing() {
    let mut link = backlog(1);
    let refused = link.set_capacity(us(500), &mbps(-1.0));
    assert!(matches!(refused, Err(LinkError::OutOfRange { field: "capacity.mbps", .. })));
    assert!(link.set_loss(us(500), &LossConfig::Bernoulli { ratio: 2.0 }).is_err());
    assert!(link.set_delay(us(500), &DelayConfig::Constant { ms: -2.0 }).is_err());
    assert_eq!(drain(&mut link), [(ms(1), 0)]);
}

#[test]
fn the_nth_packet_meets_its_number_whatever_held_before() {
    let coin = LossConfig::Bernoulli { ratio: 0.5 };
    let survivors = |first: &LossConfig| {
        let mut link = built(&LinkConfig { loss: first.clone(), ..unbounded(12.0, 0.0) });
        for number in 0..200 {
            link.push(Instant::ZERO, full(number)).unwrap();
        }
        let before = drain_until(&mut link, us(77_500));
        link.set_loss(us(77_500), &coin).unwrap();
        (before.len(), drain(&mut link))
    };
    let (_, expected) = survivors(&coin);
    let elliott = LossConfig::GilbertElliott { p: 0.1, r: 0.3, loss_good: 0.0, loss_bad: 1.0 };
    for first in [LossConfig::None, elliott] {
        assert_eq!(survivors(&first).1, expected);
    }
    assert_eq!(survivors(&LossConfig::None).0, 77);
}

/// What is done to a link, after a gap in µs.
#[derive(Clone, Debug)]
enum Step {
    Push { bytes: u64 },
    Capacity(CapacityConfig),
    Delay(DelayConfig),
    Loss(LossConfig),
    Queue(QueueConfig),
    Close,
    Open,
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let step = prop_oneof![
        12 => (40_u64..3100).prop_map(|bytes| Step::Push { bytes }),
        2 => capacity().prop_map(Step::Capacity),
        1 => delay().prop_map(Step::Delay),
        1 => loss().prop_map(Step::Loss),
        1 => queue().prop_map(Step::Queue),
        1 => Just(Step::Close),
        1 => Just(Step::Open),
    ];
    prop::collection::vec((prop_oneof![Just(0), 0_u64..5000], step), 1..120)
}

fn act(link: &mut Link<Packet>, now: Instant, number: u64, step: &Step) {
    match step {
        Step::Push { bytes } => drop(link.push(now, Packet { number, bytes: *bytes })),
        Step::Capacity(to) => link.set_capacity(now, to).unwrap(),
        Step::Delay(to) => link.set_delay(now, to).unwrap(),
        Step::Loss(to) => link.set_loss(now, to).unwrap(),
        Step::Queue(to) => link.set_queue(now, to).unwrap(),
        Step::Close => link.close(now),
        Step::Open => link.open(now),
    }
}

/// Deliveries and counters; `eager` pops at every `next_at`, otherwise only at the end.
fn run(config: &LinkConfig, steps: &[(u64, Step)], eager: bool) -> (Vec<(Instant, u64)>, Counters) {
    let (mut link, mut now) = (built(config), Instant::ZERO);
    let mut deliveries = Vec::new();
    for (number, (gap_us, step)) in (0..).zip(steps) {
        now += Duration::from_micros(*gap_us);
        if eager && now > Instant::ZERO {
            let before = now.saturating_sub(Duration::from_nanos(1));
            deliveries.extend(drain_until(&mut link, before));
        }
        act(&mut link, now, number, step);
    }
    let end = now + Duration::from_millis(500);
    while let Some((at, packet)) = link.pop_timed(end) {
        deliveries.push((at, packet.number));
    }
    let counters = link.counters();
    let held = link.queued_packets() + link.flying_packets();
    assert_eq!(
        counters.offered_packets,
        counters.delivered_packets + counters.dropped_packets() + held
    );
    assert!(link.next_at().is_none_or(|next| next > end));
    (deliveries, counters)
}

proptest! {
    #![proptest_config(cases::at_least(600))]

    #[test]
    fn a_late_call_changes_nothing_under_changes(config in config(), steps in steps()) {
        prop_assert_eq!(run(&config, &steps, true), run(&config, &steps, false));
    }

    #[test]
    fn the_same_again_is_no_change(
        config in config(),
        pushes in pushes(),
        again in prop::collection::vec((0_usize..120, 1_u64..1000), 0..20),
    ) {
        let same_loss = !matches!(config.loss, LossConfig::GilbertElliott { .. }); // begins anew
        let (mut plain, mut changed) = (built(&config), built(&config));
        let mut now = Instant::ZERO;
        for (number, (gap_us, bytes)) in (0..).zip(pushes) {
            now += Duration::from_micros(gap_us);
            let packet = Packet { number, bytes };
            prop_assert_eq!(plain.push(now, packet), changed.push(now, packet));
            for (_, nanos) in again.iter().filter(|(place, _)| *place as u64 == number) {
                now += Duration::from_nanos(*nanos); // never at an opportunity
                changed.set_capacity(now, &config.capacity).unwrap();
                changed.set_delay(now, &config.delay).unwrap();
                if same_loss {
                    changed.set_loss(now, &config.loss).unwrap();
                }
                changed.open(now);
            }
            now = Instant::from_nanos(now.as_nanos().next_multiple_of(1000));
        }
        prop_assert_eq!(drain_until(&mut changed, ms(3000)), drain_until(&mut plain, ms(3000)));
        prop_assert_eq!(changed.counters(), plain.counters());
    }

    #[test]
    fn changes_of_the_rate_are_a_series(
        rates in prop::collection::vec((1_u64..40_000, 0_u32..3000), 1..10),
        pushes in pushes(),
    ) {
        let (mut times_s, mut values, mut at_us) = (vec![0.0], vec![5.0], 0);
        let mut changes = Vec::new();
        for (gap_us, kbps) in rates {
            at_us += gap_us;
            let rate = f64::from(kbps) * 0.007_777;
            times_s.push(at_us as f64 / 1e6);
            values.push(rate);
            changes.push((us(at_us), rate));
        }
        let series = CapacityConfig::Steps { times_s, mbps: values, repeat_s: None };
        let mut series = built(&LinkConfig { capacity: series, ..unbounded(0.0, 3.0) });
        let mut live = built(&unbounded(5.0, 3.0));
        let (mut now, mut changes) = (Instant::ZERO, changes.into_iter().peekable());
        for (number, (gap_us, bytes)) in (0..).zip(pushes) {
            now += Duration::from_micros(gap_us);
            while let Some((at, rate)) = changes.next_if(|(at, _)| *at <= now) {
                live.set_capacity(at, &mbps(rate)).unwrap();
            }
            series.push(now, Packet { number, bytes }).unwrap();
            live.push(now, Packet { number, bytes }).unwrap();
        }
        for (at, rate) in changes {
            live.set_capacity(at, &mbps(rate)).unwrap();
        }
        let end = ms(5000);
        let timed = |mut link: Link<Packet>| {
            std::iter::from_fn(|| link.pop_timed(end)).map(|(at, p)| (at, p.number)).collect::<Vec<_>>()
        };
        prop_assert_eq!(timed(live), timed(series));
    }

    #[test]
    fn closing_and_opening_is_an_outage(
        config in config(),
        pushes in pushes(),
        start_us in 0_u64..60_000,
        length_us in 1_u64..60_000,
    ) {
        let plain = LinkConfig { outages: Vec::new(), ..config };
        let (start, end) = (us(start_us), us(start_us + length_us));
        let seconds = |at: Instant| at.as_nanos() as f64 / 1e9;
        let window =
            OutageConfig { start_s: seconds(start), end_s: seconds(end), in_flight: InFlight::Drop };
        let mut planned = built(&with_outages(plain.clone(), &[window]));
        let mut live = built(&plain);
        let mut now = Instant::ZERO;
        let (mut closes, mut opens) = (Some(start), Some(end));
        for (number, (gap_us, bytes)) in (0..).zip(pushes) {
            now += Duration::from_micros(gap_us);
            if let Some(at) = closes.take_if(|at| *at <= now) {
                live.close(at);
            }
            if let Some(at) = opens.take_if(|at| *at <= now) {
                live.open(at);
            }
            let packet = Packet { number, bytes };
            prop_assert_eq!(live.push(now, packet), planned.push(now, packet));
        }
        if let Some(at) = closes {
            live.close(at);
        }
        prop_assert_eq!(drain_until(&mut live, ms(3000)), drain_until(&mut planned, ms(3000)));
        live.advance(ms(3000));
        planned.advance(ms(3000));
        prop_assert_eq!(live.counters(), planned.counters());
    }
}
