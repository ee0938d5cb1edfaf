use mpquic::Closed;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a client or a server could not do what it was asked to. Each says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// There is no such interface.
    #[error("there is no network interface '{0}'; 'ip link' lists those that there are")]
    NoInterface(String),
    /// The interface is there, but has no address to send from.
    #[error(
        "the interface '{name}' has no {family} address, which {remote} needs; give it one, or take another"
    )]
    NoAddress {
        /// The interface.
        name: String,
        /// "IPv4" or "IPv6".
        family: &'static str,
        /// Whom it was to reach.
        remote: SocketAddr,
    },
    /// The socket cannot be opened.
    #[error("{address} cannot be used: {reason}")]
    Bind {
        /// What was to be bound.
        address: String,
        /// Why not, and what to do.
        reason: String,
    },
    /// Waiting for sockets failed.
    #[error("waiting for sockets failed: {0}")]
    Wait(io::Error),
    /// No path reached the server.
    #[error(
        "no answer from {remote} within {seconds} s over {paths}; is the server running there, and does UDP get through?"
    )]
    NoAnswer {
        /// Address and port.
        remote: String,
        /// How long was waited.
        seconds: u64,
        /// The paths that were tried.
        paths: String,
    },
    /// The certificate of the server was refused.
    #[error("{0}")]
    Certificate(String),
    /// The other end does not speak our application's protocol.
    #[error("{0} serves something else; get asks 'quic serve', and connect asks 'quic gateway'")]
    Protocol(String),
    /// A file with certificates or a key cannot be used.
    #[error("{path}: {reason}")]
    Pem {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
    /// The server has no such file.
    #[error("the server has no file '{0}'")]
    NoFile(String),
    /// The server wants a token, or another one.
    #[error("the server gives '{0}' to those alone who bear its token; give it by --token-file")]
    Unauthorized(String),
    /// The server must not give it.
    #[error("the server does not give '{0}'; it is a folder, or not readable there")]
    Forbidden(String),
    /// Another status of HTTP.
    #[error("the server answered '{path}' with status {status}")]
    Status {
        /// What was asked for.
        path: String,
        /// As 500.
        status: u16,
    },
    /// What came is not what the server has.
    #[error(
        "what came of '{0}' is not what the server has: its SHA-256 is another one; fetch it again"
    )]
    Digest(String),
    /// The server broke the rules of HTTP.
    #[error("the server does not keep to HTTP/3: {0}")]
    Http(String),
    /// The server has no room for the connection or the request.
    #[error("the server is busy; try again later")]
    Busy,
    /// The server gave up in the middle of a file.
    #[error("the server gave '{path}' up with code {code:#x} after {bytes} bytes")]
    GivenUp {
        /// What was asked for.
        path: String,
        /// The application's error code.
        code: u64,
        /// What had come.
        bytes: u64,
    },
    /// Another fetch writes the same file.
    #[error("another fetch is writing {out}; wait for it, or give another place")]
    Taken {
        /// The file.
        out: PathBuf,
    },
    /// Writing failed.
    #[error("{path} cannot be written: {source}; {kept} bytes are kept in it")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
        /// What it holds.
        kept: u64,
    },
    /// A folder or file cannot be read.
    #[error("{path} cannot be read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The connection ended before its work was done.
    #[error("the connection ended: {0}")]
    Lost(String),
    /// A description that makes no sense.
    #[error("{0}")]
    Config(String),
    /// The caller wanted it to stop.
    #[error("stopped")]
    Stopped,
}

/// A sentence for the end of a connection.
pub(crate) fn words(closed: &Closed) -> String {
    match closed {
        Closed::Local => "by this end".into(),
        Closed::Error(error) => error.to_string(),
        Closed::PeerTransport(code, reason) => {
            format!("the other end closed it with error {code:#x}{}", said(reason))
        }
        Closed::PeerApplication(code, reason) => {
            format!("the other end closed it with code {code:#x}{}", said(reason))
        }
        Closed::IdleTimeout => "nothing was heard on any path for too long".into(),
        Closed::StatelessReset => "the other end was restarted and knows it no longer".into(),
        Closed::VersionMismatch => "the other end does not speak QUIC version 1".into(),
    }
}

fn said(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(" ({reason})") }
}
