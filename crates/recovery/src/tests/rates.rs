//! Delivery-rate samples (draft-ietf-ccwg-bbr §4.1).

use super::{at, ms};
use crate::{DeliverySampler, SendSnapshot};
use units::Duration;

const BYTES: u64 = 1000;

/// One packet that arrives after 100 ms, then eleven more until 110 ms: what the draft calls
/// `C.delivered` is 1000 when the last of them leaves.
fn twelve() -> (DeliverySampler, Vec<SendSnapshot>) {
    let mut sampler = DeliverySampler::default();
    let mut sent = vec![sampler.on_sent(at(0), BYTES, 0)];
    sampler.on_delivered(at(100), BYTES, &sent[0]);
    let first = sampler.take_sample(Duration::ZERO).unwrap();
    assert_eq!((first.delivered_bytes, first.interval), (BYTES, ms(100)));
    sent.extend((0..11).map(|k| sampler.on_sent(at(100 + k), BYTES, BYTES * (k + 1))));
    (sampler, sent)
}

#[test]
fn the_longer_of_both_intervals_counts_however_acknowledgements_bunch() {
    // Bunched: all within the time in which they left. The send interval is the longer one.
    let (mut sampler, sent) = twelve();
    sent[1..].iter().for_each(|one| sampler.on_delivered(at(105), BYTES, one));
    let sample = sampler.take_sample(Duration::ZERO).unwrap();
    assert_eq!((sample.delivered_bytes, sample.interval), (11 * BYTES, ms(110)));
    // Stretched: the interval of the acknowledgements is.
    let (mut sampler, sent) = twelve();
    sent[1..].iter().for_each(|one| sampler.on_delivered(at(300), BYTES, one));
    let sample = sampler.take_sample(Duration::ZERO).unwrap();
    assert_eq!((sample.delivered_bytes, sample.interval), (11 * BYTES, ms(200)));
    assert_eq!((sample.prior_delivered_bytes, sample.tx_in_flight_bytes), (BYTES, 12 * BYTES));
}

#[test]
fn a_sample_shorter_than_the_least_rtt_is_none() {
    let (mut sampler, sent) = twelve();
    sent[1..].iter().for_each(|one| sampler.on_delivered(at(105), BYTES, one));
    assert!(sampler.take_sample(ms(111)).is_none());
    assert!(sampler.take_sample(Duration::ZERO).is_none(), "an acknowledgement has one sample");
    assert_eq!(sampler.delivered_bytes(), 12 * BYTES);
}

#[test]
fn samples_are_lower_bounds_until_what_was_in_flight_at_the_pause_is_delivered() {
    let (mut sampler, sent) = twelve();
    sampler.set_app_limited(11 * BYTES);
    let during = sampler.on_sent(at(120), BYTES, 11 * BYTES);
    sent[1..].iter().for_each(|one| sampler.on_delivered(at(220), BYTES, one));
    let before = sampler.take_sample(Duration::ZERO).unwrap();
    assert!(!before.app_limited, "it left before the pause");
    sampler.on_delivered(at(230), BYTES, &during);
    assert!(sampler.take_sample(Duration::ZERO).unwrap().app_limited);
    let after = sampler.on_sent(at(240), BYTES, 0);
    sampler.on_delivered(at(340), BYTES, &after);
    assert!(!sampler.take_sample(Duration::ZERO).unwrap().app_limited);
}

#[test]
fn losses_since_the_sampled_packet_left_are_counted() {
    let (mut sampler, sent) = twelve();
    sampler.on_lost(2 * BYTES);
    let later = sampler.on_sent(at(150), BYTES, 0);
    assert_eq!(later.prior_lost_bytes(), 2 * BYTES);
    sampler.on_lost(BYTES);
    sampler.on_delivered(at(200), BYTES, &sent[11]);
    assert_eq!(sampler.take_sample(Duration::ZERO).unwrap().lost_bytes, 3 * BYTES);
    sampler.on_delivered(at(250), BYTES, &later);
    assert_eq!(sampler.take_sample(Duration::ZERO).unwrap().lost_bytes, BYTES);
}
