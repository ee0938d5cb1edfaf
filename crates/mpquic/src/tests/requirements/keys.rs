//! Key updates (RFC 9001 §6).

use super::*;
use units::Duration;

/// RFC 9001 §6.1: once the handshake is confirmed, and once a packet with the present keys was
/// acknowledged.
#[test]
fn an_update_waits_for_confirmation_and_for_an_acknowledgement() {
    let links = vec![Link::new(10.0, 20)];
    let mut world = World::new(Own::client(0, |_| {}), Own::server(0, |_| {}), links, 1);
    assert!(world.run(ms(1000), |world| world.client.endpoint.is_connected()));
    assert!(!world.client.has(&Event::Confirmed));
    assert_eq!(world.client.endpoint.update_keys(world.now), Err(Error::NotOpen));
    let until = world.now + Duration::from_millis(500);
    world.run(until, |_| false);
    assert_eq!(world.client.endpoint.update_keys(world.now), Ok(()));
    assert_eq!(world.client.endpoint.update_keys(world.now), Err(Error::NotOpen));
    let until = world.now + Duration::from_millis(1);
    world.run(until, |_| false);
    let stream = world.client.endpoint.open_stream(false).unwrap();
    world.client.endpoint.write(stream, pattern(0, 100)).unwrap();
    let until = world.now + Duration::from_millis(10);
    world.run(until, |_| false);
    assert_eq!(world.client.endpoint.update_keys(world.now), Err(Error::NotOpen), "on its way");
    // RFC 9001 §6.2: the peer follows.
    let until = world.now + Duration::from_millis(200);
    world.run(until, |_| false);
    assert_eq!(world.server.endpoint.totals().key_updates, 1);
    assert_eq!(world.client.endpoint.totals().key_updates, 1);
    assert_eq!(world.client.endpoint.update_keys(world.now), Ok(()));
}
