//! Whom a server asks for a proof of its address before it keeps anything for it.

use crate::socket::Route;
use crate::tls::random;
use mpquic::{Retried, Retry, Token};
use serde::Deserialize;
use std::net::{IpAddr, SocketAddr};
use units::{Duration, Instant};

/// How long a token is good for; a few round trips are enough (RFC 9000 §8.1.3).
const TOKEN_LIFETIME: Duration = Duration::from_secs(10);
/// A server is busy when more than this part of its half-open connections is taken. What is left is
/// for clients whose address is proven.
const BUSY_PART: usize = 4;

/// When a server asks for a proof of the client's address, which costs the client a round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryPolicy {
    /// For every connection.
    Always,
    /// When more than a quarter of [`crate::Limits::half_open`] handshakes are under way, or the
    /// client's address or network has all its places.
    #[default]
    Busy,
    /// Never.
    Never,
}

/// What becomes of a client's first packet.
pub(crate) enum Entry {
    /// It may begin a connection; with the token's content, its address is proven.
    Open(Option<Retried>),
    /// This Retry answers it, if anything does.
    Ask(Option<Vec<u8>>),
}

/// The entrance of a server.
pub(crate) struct Gate {
    policy: RetryPolicy,
    retry: Retry,
}

impl Gate {
    pub fn new(policy: RetryPolicy) -> Self {
        Self { policy, retry: Retry::new(&random(), TOKEN_LIFETIME) }
    }

    /// Judges a first packet, with `half_open` handshakes of `most` under way; `crowded`: its address
    /// or network has all its places.
    pub fn judge(
        &self,
        now: Instant,
        route: Route,
        data: &[u8],
        (half_open, most, crowded): (usize, usize, bool),
    ) -> Entry {
        let address = bytes_of(route.remote);
        // A token is looked at even by a server that would not ask: it may have asked before. One
        // that is not ours is as good as none (RFC 9000 §8.1.3); a client that was asked before
        // does not hear a second Retry.
        if let Token::Valid(retried) = self.retry.check(now, &address, data) {
            return Entry::Open(Some(retried));
        }
        let asks = match self.policy {
            RetryPolicy::Always => true,
            RetryPolicy::Busy => crowded || half_open > most / BUSY_PART,
            RetryPolicy::Never => false,
        };
        if asks {
            Entry::Ask(self.retry.issue(now, &address, data, random()))
        } else {
            Entry::Open(None)
        }
    }
}

/// An address in a form that is always the same.
fn bytes_of(remote: SocketAddr) -> Vec<u8> {
    let ip = match remote.ip().to_canonical() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    [&ip.octets()[..], &remote.port().to_be_bytes()].concat()
}
