//! Transport parameters that a peer must not send (RFC 9000 §7.3, §7.4, §18.2).

use super::*;
use crate::wire::{ConnectionId, Params, put_varint};

type Change = fn(&mut Params);

/// What a server makes of a client with these parameters, further bytes and this ID.
fn server_and(
    change: impl FnOnce(&mut Params),
    extra: &[u8],
    cid: ConnectionId,
) -> World<Own, Own> {
    let mut client = Own::client(0, |_| {});
    let mut params = client.endpoint.offered();
    params.initial_source_connection_id = Some(cid);
    change(&mut params);
    client.endpoint.offer(&params, extra, cid);
    let mut world = World::new(client, Own::server(0, |_| {}), vec![Link::new(10.0, 10)], 1);
    world.run(ms(2000), |world| world.server.closed().is_some());
    world
}

fn id() -> ConnectionId {
    ConnectionId::new(&[1, 2, 3, 4, 5, 6, 7, 8]).unwrap()
}

/// The error that such a client ends a server's connection with.
fn error(change: impl FnOnce(&mut Params), extra: &[u8]) -> Option<Code> {
    match server_and(change, extra, id()).server.closed() {
        Some(Closed::Error(error)) => Some(error.code),
        None => None,
        other => panic!("{other:?}"),
    }
}

fn parameter(id: u64, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, id);
    put_varint(&mut out, value.len() as u64);
    out.extend(value);
    out
}

/// RFC 9000 §7.4.2, §18.1.
#[test]
fn parameters_that_nobody_knows_are_ignored() {
    assert_eq!(error(|_| {}, &parameter(31 * 7 + 27, b"grease")), None);
    assert_eq!(error(|_| {}, &parameter(0x7fff_ffff, b"")), None);
}

#[test]
fn values_that_are_not_allowed_end_the_connection() {
    let cases: [(&str, Change); 6] = [
        ("max_udp_payload_size", |params| params.max_udp_payload_size = 1199),
        ("ack_delay_exponent", |params| params.ack_delay_exponent = 21),
        ("max_ack_delay", |params| params.max_ack_delay_ms = 1 << 14),
        ("active_connection_id_limit", |params| params.active_connection_id_limit = 1),
        ("RFC 9000 §4.6: bidirectional", |params| params.initial_max_streams_bidi = (1 << 60) + 1),
        ("RFC 9000 §4.6: unidirectional", |params| params.initial_max_streams_uni = (1 << 60) + 1),
    ];
    for (name, change) in cases {
        assert_eq!(error(change, &[]), Some(Code::TransportParameter), "{name}");
    }
    let cut = parameter(0x3d, b"").into_iter().chain([0x3c, 9]).collect::<Vec<_>>();
    assert_eq!(error(|_| {}, &cut), Some(Code::TransportParameter), "it ends too early");
    let twice = parameter(0x04, &[9]);
    assert_eq!(error(|_| {}, &twice), Some(Code::TransportParameter), "twice");
}

#[test]
fn a_client_does_not_send_what_only_servers_send() {
    let own = [(0x00, vec![1; 8]), (0x02, vec![1; 16]), (0x0d, vec![1; 61]), (0x10, vec![1; 8])];
    for (id, value) in own {
        let error = error(|_| {}, &parameter(id, &value));
        assert_eq!(error, Some(Code::TransportParameter), "{id:#x}");
    }
}

/// RFC 9000 §7.3.
#[test]
fn the_ids_in_parameters_are_those_of_the_packets() {
    let other = || ConnectionId::new(&[9; 8]).ok();
    let wrong = Some(Code::TransportParameter);
    assert_eq!(error(|params| params.initial_source_connection_id = other(), &[]), wrong);
    assert_eq!(error(|params| params.initial_source_connection_id = None, &[]), wrong);
    assert_eq!(error(|_| {}, &[]), None);
}

/// draft-ietf-quic-multipath-21 §2.1: path IDs have 32 bits.
#[test]
fn path_ids_of_more_than_32_bits_end_the_connection() {
    let without = |params: &mut Params| params.initial_max_path_id = None;
    let maximum = |value: u64| {
        let mut bytes = Vec::new();
        put_varint(&mut bytes, value);
        parameter(0x3e, &bytes)
    };
    let all = |params: &mut Params| params.initial_max_path_id = Some(u32::MAX);
    assert_eq!(error(all, &[]), None);
    assert_eq!(error(without, &maximum(1 << 32)), Some(Code::TransportParameter));
}

/// draft-ietf-quic-multipath-21 §2.1.
#[test]
fn multipath_needs_connection_ids() {
    let empty = ConnectionId::default();
    let world = server_and(|_| {}, &[], empty);
    let Some(Closed::Error(error)) = world.server.closed() else { panic!() };
    assert_eq!(error.code, Code::ProtocolViolation);
    let world = server_and(|params| params.initial_max_path_id = None, &[], empty);
    assert_eq!(world.server.closed(), None);
    assert!(world.server.endpoint.is_connected());
}

/// RFC 9000 §9, draft-ietf-quic-multipath-21 §2.2: such a peer gets no further paths. Whoever offers
/// multipath does not ask for that.
#[test]
fn a_server_that_takes_one_address_gets_no_further_paths() {
    let links = || vec![Link::new(10.0, 10), Link::new(10.0, 10)];
    let mut world = World::new(Own::client(0, |_| {}), Own::server(0, |_| {}), links(), 1);
    assert!(!world.client.endpoint.offered().disable_active_migration);
    world.run(ms(500), |_| false);
    assert_eq!(world.client.endpoint.add_path(ms(500), PathId(1)), Ok(()));
    let one = Own::client(0, |config| config.max_paths = 1);
    assert!(one.endpoint.offered().disable_active_migration);

    let mut world = World::new(Own::client(0, |_| {}), Own::server(0, |_| {}), links(), 1);
    world.run(ms(500), |_| false);
    world.client.endpoint.hear_that_migration_is_refused();
    assert!(world.client.endpoint.is_multipath());
    assert_eq!(world.client.endpoint.add_path(ms(500), PathId(1)), Err(Error::NoMigration));
}

/// RFC 9000 §18.2: nobody moves there, but its connection ID must not be empty.
#[test]
fn a_preferred_address_has_a_connection_id() {
    let decodes = |cid: &[u8], more: &[u8]| {
        let value = [&[0; 24][..], &[cid.len() as u8], cid, &[9; 16], more].concat();
        Params::decode(&parameter(0x0d, &value), true).is_ok()
    };
    assert!(decodes(&[1; 8], &[]) && decodes(&[1; 20], &[]));
    assert!(!decodes(&[], &[]) && !decodes(&[1; 21], &[]) && !decodes(&[1; 8], &[0]));
}
