//! Keys without packets.

use super::tls::{client, server};
use crate::keys::OneRtt;
use rustls::pki_types::ServerName;
use rustls::quic::{ClientConnection, Connection, KeyChange, ServerConnection, Version};
use std::sync::Arc;

/// 1-RTT keys of a client and of its server, by a handshake without packets.
pub fn keys() -> [OneRtt; 2] {
    let name = ServerName::try_from("server.test").unwrap();
    let ours = ClientConnection::new(Arc::new(client()), Version::V1, name, Vec::new()).unwrap();
    let theirs = ServerConnection::new(Arc::new(server()), Version::V1, Vec::new()).unwrap();
    let mut ends: [Connection; 2] = [ours.into(), theirs.into()];
    let mut keys = [None, None];
    while keys.iter().any(Option::is_none) {
        for from in 0..2 {
            let mut data = Vec::new();
            if let Some(KeyChange::OneRtt { keys: made, next }) = ends[from].write_hs(&mut data) {
                keys[from] = Some(OneRtt::new(made, next));
            }
            ends[1 - from].read_hs(&data).unwrap();
        }
    }
    keys.map(Option::unwrap)
}
