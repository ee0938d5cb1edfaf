use super::*;
use crate::Change;
use link::{CapacityConfig, Direction};

/// 12 Mbit/s, a frame of 1500 bytes a millisecond, 10 ms long.
fn steady() -> Core<Fake> {
    core_of(&[path("a", LinkConfig::constant(12.0, 10.0))])
}

#[test]
fn frames_cross_in_both_directions() {
    let mut core = steady();
    arrive(&mut core, ms(0), CLIENT, &[1; 1500]);
    arrive(&mut core, ms(0), SERVER, &[2; 1500]);
    assert_eq!(core.next_at(), ms(11));
    for link in [DOWN, UP] {
        assert_eq!(core.deliver(ms(10), link).unwrap(), 0);
        assert_eq!(core.deliver(ms(11), link).unwrap(), 1);
    }
    assert_eq!(core.devices()[SERVER].written, [vec![1; 1500]]);
    assert_eq!(core.devices()[CLIENT].written, [vec![2; 1500]]);
    assert_eq!(core.receive(ms(11), CLIENT).unwrap(), 0, "nothing more waits");
}

#[test]
fn lateness_is_the_time_since_the_delivery_of_the_link() {
    let mut core = steady();
    arrive(&mut core, ms(0), CLIENT, &[1; 1500]);
    deliver_all(&mut core, ms(14), UP);
    let late = core.statistics().lateness_us;
    assert_eq!(late.count, 1);
    assert!((late.max - 3000.0).abs() < 5.0, "{late:?}");
}

#[test]
fn a_device_that_takes_nothing_costs_its_frames_only() {
    let mut core = steady();
    core.devices_mut()[SERVER].mood = Mood::Refuses;
    arrive(&mut core, ms(0), CLIENT, &[1; 1500]);
    deliver_all(&mut core, ms(20), UP);
    let statistics = core.statistics();
    assert_eq!((statistics.counts.device_drops, statistics.lateness_us.count), (1, 0));
    assert_eq!(statistics.links["a.up"].delivered_packets, 1);
}

#[test]
fn a_device_that_is_gone_is_named() {
    let mut core = steady();
    arrive(&mut core, ms(0), CLIENT, &[1; 1500]);
    core.devices_mut()[SERVER].mood = Mood::Gone;
    let written = core.deliver(ms(11), UP).unwrap_err().to_string();
    assert!(
        written.starts_with("path 'a', direction up: the device of the server cannot be written")
    );
    let read = core.receive(ms(11), SERVER).unwrap_err().to_string();
    assert!(read.starts_with("path 'a', direction down: the device of the server cannot be read"));
}

#[test]
fn samples_are_exact_however_late_they_are_taken() {
    let mut core = steady();
    for _ in 0..250 {
        arrive(&mut core, ms(0), CLIENT, &[1; 1500]);
    }
    deliver_all(&mut core, ms(310), UP);
    let up: Vec<_> = core.samples().iter().filter(|row| row.link == UP).collect();
    let queued: Vec<_> = up.iter().map(|row| (row.time, row.queued_bytes / 1500)).collect();
    assert_eq!(queued, [(ms(100), 150), (ms(200), 50), (ms(300), 0)]);
}

#[test]
fn a_relay_that_begins_late_leaves_the_samples_before_out() {
    let mut core = steady();
    core.begin(ms(10_050));
    assert_eq!(core.next_at(), ms(10_100));
}

#[test]
fn a_change_holds_for_its_link() {
    let mut core = steady();
    for device in [CLIENT, SERVER] {
        arrive(&mut core, ms(0), device, &[1; 1500]);
    }
    let slower = Change::Capacity(CapacityConfig::Constant { mbps: 6.0 });
    core.change(ms(0), Direction::Down.link_index(0), &slower).unwrap();
    deliver_all(&mut core, ms(11), UP);
    assert_eq!(core.deliver(ms(11), DOWN).unwrap(), 0);
    assert_eq!(core.deliver(ms(12), DOWN).unwrap(), 1);
}

#[test]
fn a_closed_path_loses_everything_until_it_is_open() {
    let mut core = core_of(&["a", "b"].map(|name| path(name, LinkConfig::constant(12.0, 10.0))));
    for device in 0..4 {
        arrive(&mut core, ms(0), device, &[1; 100]);
    }
    core.close(ms(1), 0);
    arrive(&mut core, ms(2), CLIENT, &[2; 100]);
    core.open(ms(3), 0);
    arrive(&mut core, ms(3), CLIENT, &[3; 100]);
    (0..4).for_each(|link| deliver_all(&mut core, ms(50), link));
    let written: Vec<_> = core.devices().iter().map(|device| device.written.len()).collect();
    assert_eq!(written, [0, 1, 1, 1]);
    assert_eq!(core.devices()[SERVER].written, [vec![3; 100]]);
    assert_eq!(core.statistics().links["a.up"].dropped_outage, 2);
}

#[test]
fn changes_are_read_as_the_parts_of_a_link() {
    let read = |text| serde_json::from_str::<Change>(text);
    assert!(matches!(
        read(r#"{"capacity": {"kind": "constant", "mbps": 3}}"#),
        Ok(Change::Capacity(CapacityConfig::Constant { mbps: 3.0 }))
    ));
    assert!(matches!(
        read(r#"{"loss": {"kind": "bernoulli", "ratio": 0.1}}"#),
        Ok(Change::Loss(_))
    ));
    assert!(read(r#"{"colour": 1}"#).is_err());
}
