//! TLS of noq's ends: the same certificates and pins as ours, from the roles of our own.

use mpquic::{Role, rustls};
use sockets::{Anchor, HQ_INTEROP, Identity, Trust};

/// A server's, and the fingerprint of its certificate.
pub fn server() -> (rustls::ServerConfig, [u8; 32]) {
    let identity = Identity::self_signed(&["localhost".into()]).unwrap();
    let Ok(Anchor::Pin(pin)) = Anchor::pin(&identity.fingerprint()) else { unreachable!() };
    let Ok(Role::Server { tls }) = identity.role(HQ_INTEROP) else { unreachable!() };
    ((*tls).clone(), pin)
}

pub fn client(pin: &str) -> rustls::ClientConfig {
    let trust = Trust::new(&Anchor::pin(pin).unwrap()).unwrap();
    let Ok(Role::Client { tls, .. }) = trust.role("localhost", HQ_INTEROP) else { unreachable!() };
    (*tls).clone()
}
