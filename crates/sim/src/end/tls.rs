//! The identity of every simulated server.
//!
//! Keys are drawn anew in each process. No length depends on them: the key is Ed25519 and the serial
//! number is set. So the same run puts packets of the same size on the links at the same times.

use super::plain;
use mpquic::rustls;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use std::sync::{Arc, OnceLock};

const NAME: &str = "server.sim";
const ALPN: &[u8] = b"skyweave-sim";

/// Both configurations, made once.
static ROLES: OnceLock<Option<(mpquic::Role, mpquic::Role)>> = OnceLock::new();

/// The roles of client and server; `None` if the provider of TLS refuses its own certificate.
pub(super) fn roles() -> Option<(mpquic::Role, mpquic::Role)> {
    ROLES.get_or_init(make).clone()
}

fn make() -> Option<(mpquic::Role, mpquic::Role)> {
    let (certificate, key) = identity()?;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone()).ok()?;
    let versions = [&rustls::version::TLS13];
    let provider = Arc::new(plain::provider()?);
    let client = rustls::ClientConfig::builder_with_provider(provider.clone());
    let client = client.with_protocol_versions(&versions).ok()?;
    let mut client = client.with_root_certificates(roots).with_no_client_auth();
    client.alpn_protocols = vec![ALPN.to_vec()];
    let server = rustls::ServerConfig::builder_with_provider(provider);
    let server = server.with_protocol_versions(&versions).ok()?.with_no_client_auth();
    let mut server = server.with_single_cert(vec![certificate], key).ok()?;
    server.alpn_protocols = vec![ALPN.to_vec()];
    server.send_tls13_tickets = 0; // nobody resumes
    let server_name = ServerName::try_from(NAME).ok()?;
    Some((
        mpquic::Role::Client { tls: Arc::new(client), server_name },
        mpquic::Role::Server { tls: Arc::new(server) },
    ))
}

fn identity() -> Option<(CertificateDer<'static>, PrivateKeyDer<'static>)> {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).ok()?;
    let mut params = rcgen::CertificateParams::new(vec![NAME.into()]).ok()?;
    params.serial_number = Some(vec![1].into());
    let certificate = params.self_signed(&key).ok()?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    Some((certificate.der().clone(), key))
}
