use super::*;
use crate::{Change, EmulatorError, Relay, RelayConfig};
use link::{CapacityConfig, Direction};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;

/// A relay of one path without delay, and the far ends of its two devices.
fn started(name: &str) -> (Relay, UnixDatagram, UnixDatagram) {
    let (client, client_device) = UnixDatagram::pair().unwrap();
    let (server, server_device) = UnixDatagram::pair().unwrap();
    let devices = vec![(OwnedFd::from(client_device), OwnedFd::from(server_device))];
    (Relay::start(&config(name), devices).unwrap(), client, server)
}

fn config(name: &str) -> RelayConfig {
    let paths = vec![path(name, LinkConfig::constant(1000.0, 0.0))];
    RelayConfig {
        paths,
        seed: 1,
        epoch_ns: 0,
        sample_interval_ms: 100,
        offload: Offload::None,
        capture: None,
    }
}

/// Waits for the next frame.
fn next(socket: &UnixDatagram) -> Vec<u8> {
    let mut buffer = [0; 2000];
    let length = socket.recv(&mut buffer).unwrap();
    buffer[..length].to_vec()
}

#[test]
fn frames_cross_both_ways_in_order() {
    let (relay, client, server) = started("a");
    for number in 0..50 {
        client.send(&[number; 100]).unwrap();
        assert_eq!(next(&server), [number; 100]);
        server.send(&[number; 60]).unwrap();
        assert_eq!(next(&client), [number; 60]);
    }
    relay.stop();
    let statistics = relay.statistics();
    assert_eq!(statistics.links["a.up"].delivered_bytes, 5000);
    assert_eq!(statistics.links["a.down"].delivered_packets, 50);
    assert_eq!(statistics.lateness_us.count, 100);
    assert!(statistics.cpu_s > 0.0);
    assert_eq!(relay.failure(), None);
}

#[test]
fn changes_reach_the_links_until_the_relay_stops() {
    let (relay, client, server) = started("a");
    relay.close("a").unwrap();
    client.send(&[1; 100]).unwrap();
    while relay.statistics().links["a.up"].dropped_outage == 0 {}
    relay.open("a").unwrap();
    client.send(&[2; 100]).unwrap();
    assert_eq!(next(&server), [2; 100]);
    let capacity = |mbps| Change::Capacity(CapacityConfig::Constant { mbps });
    relay.change("a", Direction::Up, capacity(10.0)).unwrap();
    let wrong = relay.change("a", Direction::Up, capacity(-1.0));
    assert!(matches!(wrong, Err(EmulatorError::Link(_))));
    assert!(matches!(relay.close("b"), Err(EmulatorError::UnknownPath(_))));
    relay.stop();
    relay.stop();
    assert!(matches!(relay.open("a"), Err(EmulatorError::Ended)));
}

#[test]
fn a_device_that_goes_away_ends_the_relay_with_its_name() {
    let (relay, client, server) = started("a");
    drop(server);
    client.send(&[1; 100]).unwrap();
    let failure = loop {
        if let Some(failure) = relay.failure() {
            break failure;
        }
    };
    assert!(failure.starts_with("path 'a', direction"), "{failure}");
    assert!(failure.contains("the device of the server"), "{failure}");
    assert_eq!(relay.statistics().links["a.up"].in_packets, 1);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refusal = |config: RelayConfig| Relay::start(&config, Vec::new()).unwrap_err().to_string();
    assert_eq!(refusal(config("a")), "1 paths and 0 pairs of devices: give each path its pair");
    let none = RelayConfig { paths: Vec::new(), ..config("a") };
    assert_eq!(refusal(none), "the relay has no paths: add at least one");
}

#[test]
fn a_capture_stays_in_its_folder() {
    let (_client, client_device) = UnixDatagram::pair().unwrap();
    let (_server, server_device) = UnixDatagram::pair().unwrap();
    let config = RelayConfig { capture: Some(std::env::temp_dir()), ..config("../a") };
    let started = Relay::start(&config, vec![(client_device.into(), server_device.into())]);
    assert!(matches!(started, Err(EmulatorError::Capture { .. })));
}
