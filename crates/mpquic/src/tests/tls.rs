//! Certificates of the tests.

use crate::Role;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use std::sync::{Arc, LazyLock};

pub const ALPN: &[u8] = b"skyweave-test";

static PAIR: LazyLock<(CertificateDer<'static>, Vec<u8>)> = LazyLock::new(|| {
    let made = rcgen::generate_simple_self_signed(vec!["server.test".into()]).unwrap();
    (made.cert.der().clone(), made.signing_key.serialize_der())
});

pub fn client() -> rustls::ClientConfig {
    trusting(PAIR.0.clone())
}

pub fn trusting(cert: CertificateDer<'static>) -> rustls::ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(cert).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider);
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).unwrap();
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![ALPN.to_vec()];
    config
}

pub fn server() -> rustls::ServerConfig {
    let (cert, key) = PAIR.clone();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider);
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key));
    let mut config = builder.with_no_client_auth().with_single_cert(vec![cert], key).unwrap();
    config.alpn_protocols = vec![ALPN.to_vec()];
    config
}

pub fn client_role() -> Role {
    let server_name = ServerName::try_from("server.test").unwrap();
    Role::Client { tls: Arc::new(client()), server_name }
}

pub fn server_role() -> Role {
    Role::Server { tls: Arc::new(server()) }
}
