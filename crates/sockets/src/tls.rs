//! Certificates: whom a client trusts, and what a server shows.

use crate::error::SocketError;
use mpquic::rustls;
use ring::digest::{SHA256, digest};
use ring::hmac;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, KeyLogFile, RootCertStore, SignatureScheme};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// HTTP/0.9 over QUIC, as the interoperability tests of QUIC name it; for these alone.
pub const HQ_INTEROP: &[u8] = b"hq-interop";

/// How a client knows the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// By the SHA-256 fingerprint of its certificate.
    Pin([u8; 32]),
    /// By the authorities of a PEM file.
    Authorities(PathBuf),
    /// By the authorities of this machine.
    System,
}

impl Anchor {
    /// A pin from its 64 hexadecimal digits, with or without colons.
    pub fn pin(text: &str) -> Result<Self, SocketError> {
        let digits: String = text.chars().filter(|c| *c != ':').collect();
        let byte = |at: usize| {
            digits.get(2 * at..2 * at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok())
        };
        let bytes: Option<Vec<u8>> = (0..32).map(byte).collect();
        let pin = bytes.filter(|_| digits.len() == 64).and_then(|bytes| bytes.try_into().ok());
        pin.map(Self::Pin).ok_or_else(|| {
            let say =
                "is no SHA-256 fingerprint; give the 64 hexadecimal digits that the server printed";
            SocketError::Config(format!("'{text}' {say}"))
        })
    }
}

/// The verifier of a client; it remembers why it refused.
#[derive(Clone, Debug)]
pub struct Trust {
    verifier: Arc<Verifier>,
}

#[derive(Debug)]
struct Verifier {
    by: By,
    provider: Arc<CryptoProvider>,
    refused: Mutex<Option<String>>,
}

#[derive(Debug)]
enum By {
    Pin([u8; 32]),
    Roots(Arc<WebPkiServerVerifier>),
}

impl Trust {
    /// A verifier.
    ///
    /// # Errors
    /// Authorities that cannot be read, or none.
    pub fn new(anchor: &Anchor) -> Result<Self, SocketError> {
        let provider = provider();
        let by = match anchor {
            Anchor::Pin(pin) => By::Pin(*pin),
            Anchor::Authorities(path) => By::Roots(verifier(certificates(path)?, &provider)?),
            Anchor::System => {
                let found = rustls_native_certs::load_native_certs();
                By::Roots(verifier(found.certs, &provider).map_err(|_| {
                    SocketError::Tls(
                        "this machine has no certificate authorities; give --ca or --pin".into(),
                    )
                })?)
            }
        };
        let refused = Mutex::new(None);
        Ok(Self { verifier: Arc::new(Verifier { by, provider, refused }) })
    }

    /// Why a certificate was refused, if one was.
    pub(crate) fn why(&self) -> Option<String> {
        self.verifier.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The role of a client that speaks `alpn` to `server_name`.
    ///
    /// # Errors
    /// A name that is none.
    pub fn role(&self, server_name: &str, alpn: &[u8]) -> Result<mpquic::Role, SocketError> {
        let name = ServerName::try_from(server_name.to_owned());
        let server_name = name.map_err(|_| {
            SocketError::Config(format!("'{server_name}' is neither a host name nor an address"))
        })?;
        let builder = rustls::ClientConfig::builder_with_provider(self.verifier.provider.clone());
        let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]);
        let builder = builder.map_err(|error| SocketError::Tls(error.to_string()))?;
        let custom = builder.dangerous().with_custom_certificate_verifier(self.verifier.clone());
        let mut tls = custom.with_no_client_auth();
        tls.alpn_protocols = vec![alpn.to_vec()];
        tls.key_log = Arc::new(KeyLogFile::new()); // as SSLKEYLOGFILE says, else nowhere
        Ok(mpquic::Role::Client { tls: Arc::new(tls), server_name })
    }
}

fn verifier(
    roots: Vec<CertificateDer<'static>>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, SocketError> {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(roots);
    WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider.clone())
        .build()
        .map_err(|error| SocketError::Tls(error.to_string()))
}

impl Verifier {
    fn judge(
        &self,
        end: &CertificateDer<'_>,
        rest: &[CertificateDer<'_>],
        (name, now): (&ServerName<'_>, UnixTime),
    ) -> Result<(), (rustls::Error, String)> {
        match &self.by {
            By::Pin(pin) => {
                let found: [u8; 32] = sha256(end);
                if found == *pin {
                    return Ok(());
                }
                let say = format!(
                    "its certificate has the SHA-256 fingerprint {}, not {}; is that the server that you mean?",
                    hex(&found),
                    hex(pin),
                );
                let error = CertificateError::ApplicationVerificationFailure;
                Err((rustls::Error::InvalidCertificate(error), say))
            }
            By::Roots(roots) => {
                let found = roots.verify_server_cert(end, rest, name, &[], now);
                found.map(drop).map_err(|error| {
                    let say = format!(
                        "its certificate is not trusted ({error}); give --ca or --pin {}, if that is the server that you mean",
                        hex(&sha256(end)),
                    );
                    (error, say)
                })
            }
        }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end: &CertificateDer<'_>,
        rest: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.judge(end, rest, (name, now)) {
            Ok(()) => Ok(ServerCertVerified::assertion()),
            Err((error, say)) => {
                *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(say);
                Err(error)
            }
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("QUIC has TLS 1.3 only".into())) // RFC 9001 §4.2
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// What a server shows to its clients.
#[derive(Debug)]
pub struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Identity {
    /// A new certificate, signed by itself.
    ///
    /// # Errors
    /// A name that cannot stand in a certificate.
    pub fn self_signed(names: &[String]) -> Result<Self, SocketError> {
        let made = rcgen::generate_simple_self_signed(names.to_vec())
            .map_err(|error| SocketError::Tls(error.to_string()))?;
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        Ok(Self { chain: vec![made.cert.der().clone()], key: key.into() })
    }

    /// From PEM files: the certificate with what leads to its authority, and its key.
    ///
    /// # Errors
    /// Files that are not there or hold something else.
    pub fn from_files(cert: &Path, key: &Path) -> Result<Self, SocketError> {
        let chain = certificates(cert)?;
        let key = PrivateKeyDer::from_pem_file(key).map_err(|error| pem(key, &error))?;
        Ok(Self { chain, key })
    }

    /// SHA-256 of the certificate, in hexadecimal digits: what a client pins.
    pub fn fingerprint(&self) -> String {
        self.chain.first().map(|cert| hex(&sha256(cert))).unwrap_or_default()
    }

    /// Key of the stateless resets: that of the certificate makes it, so that a server that was
    /// restarted with the same one can tell clients of the former that it knows them no longer
    /// (RFC 9000 §10.3.2).
    pub fn reset_key(&self) -> [u8; 32] {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.key.secret_der());
        let mut out = [0; 32];
        out.copy_from_slice(hmac::sign(&key, b"skyweave stateless reset").as_ref());
        out
    }

    /// The role of a server that speaks `alpn`.
    ///
    /// # Errors
    /// A key that does not fit the certificate.
    pub fn role(&self, alpn: &[u8]) -> Result<mpquic::Role, SocketError> {
        self.role_of(&[alpn])
    }

    /// The same of one that speaks several protocols, the preferred one first.
    ///
    /// # Errors
    /// A key that does not fit the certificate.
    pub fn role_of(&self, alpn: &[&[u8]]) -> Result<mpquic::Role, SocketError> {
        let refused = |error: rustls::Error| SocketError::Tls(error.to_string());
        let builder = rustls::ServerConfig::builder_with_provider(provider());
        let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]);
        let builder = builder.map_err(refused)?.with_no_client_auth();
        let tls = builder.with_single_cert(self.chain.clone(), self.key.clone_key());
        let mut tls = tls.map_err(refused)?;
        tls.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        tls.key_log = Arc::new(KeyLogFile::new()); // the same
        Ok(mpquic::Role::Server { tls: Arc::new(tls) })
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, SocketError> {
    let found = CertificateDer::pem_file_iter(path).map_err(|error| pem(path, &error))?;
    let all: Vec<_> = found.collect::<Result<_, _>>().map_err(|error| pem(path, &error))?;
    if all.is_empty() {
        let reason = "no certificate is in it".to_owned();
        return Err(SocketError::Pem { path: path.to_owned(), reason });
    }
    Ok(all)
}

fn pem(path: &Path, error: &rustls::pki_types::pem::Error) -> SocketError {
    use rustls::pki_types::pem::Error;
    let reason = match error {
        Error::Io(error) => error.to_string(),
        Error::NoItemsFound => "nothing of that kind is in it; it must be a PEM file".into(),
        error => error.to_string(),
    };
    SocketError::Pem { path: path.to_owned(), reason }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut out = [0; 32];
    out.copy_from_slice(digest(&SHA256, bytes).as_ref()); // SHA-256 has 32 bytes
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes that nobody can foresee.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut out = [0; N];
    let mut filled = 0;
    while filled < N {
        let flags = rustix::rand::GetRandomFlags::empty();
        // Without flags and below 256 bytes getrandom(2) fails on no Linux that runs this.
        filled += rustix::rand::getrandom(&mut out[filled..], flags).unwrap_or(0);
    }
    out
}

pub(crate) fn random_u64() -> u64 {
    u64::from_ne_bytes(random())
}
