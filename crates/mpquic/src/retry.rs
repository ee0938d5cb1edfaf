//! Retry by a server: no state for a client whose address is not proven (RFC 9000 §8.1.2).

use crate::cids::LOCAL_LEN;
use crate::crypto;
use crate::wire::{ConnectionId, Header, Kind, MIN_INITIAL_BYTES, begin_retry, parse};
use ring::hmac;
use units::{Duration, Instant};

/// Bytes of a token's authentication (HMAC-SHA-256).
const TAG_BYTES: usize = 32;
/// What the key is used for, so that no other use of it makes tokens.
const LABEL: &[u8] = b"skyweave retry token 1";

/// What a valid token says, for [`crate::Config::retried`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retried {
    /// Destination of the client's very first packet.
    pub original_dcid: ConnectionId,
    /// What we called ourselves in the Retry: the destination of the packet with the token.
    pub retry_scid: ConnectionId,
}

/// What the token of a first packet is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// There is none: [`Retry::issue`] asks for one.
    Absent,
    /// The client receives at its address.
    Valid(Retried),
    /// Not ours, of another address, or too old. A client that was asked once does not let itself
    /// be asked again (RFC 9000 §17.2.5.2).
    Invalid,
}

/// Issues and checks tokens. It keeps nothing: whoever has the key can check what another issued.
#[derive(Clone, Debug)]
pub struct Retry {
    key: hmac::Key,
    lifetime: Duration,
}

impl Retry {
    /// From a secret key that is used for nothing else. A token is good for `lifetime`; a few round
    /// trips are enough (RFC 9000 §8.1.3).
    pub fn new(key: &[u8; 32], lifetime: Duration) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, key), lifetime }
    }

    /// The Retry that answers a client's first datagram; `None` when it deserves none. `address` is
    /// the client's, in any form that is always the same; `random` is fresh for every call.
    pub fn issue(
        &self,
        now: Instant,
        address: &[u8],
        datagram: &[u8],
        random: [u8; LOCAL_LEN + 1],
    ) -> Option<Vec<u8>> {
        let header = first_initial(datagram)?;
        let retry_scid = ConnectionId::new(&random[..LOCAL_LEN]).ok()?;
        if retry_scid == header.dcid {
            return None; // RFC 9000 §17.2.5.1
        }
        let mut out = Vec::new();
        begin_retry(&mut out, (&header.scid, &retry_scid), random[LOCAL_LEN]);
        let expires = (now + self.lifetime).as_nanos().to_be_bytes();
        let tag = self.tag(address, &retry_scid, &expires, header.dcid.as_slice());
        out.extend(expires);
        out.extend(header.dcid.as_slice());
        out.extend(tag.as_ref());
        let tag = crypto::retry_tag(&out, &header.dcid)?;
        out.extend(tag);
        Some(out)
    }

    /// What the token of a client's first datagram says, at the client's `address`.
    pub fn check(&self, now: Instant, address: &[u8], datagram: &[u8]) -> Token {
        let Some(header) = first_initial(datagram) else { return Token::Invalid };
        if header.token.is_empty() {
            return Token::Absent;
        }
        self.read(now, address, &header).map_or(Token::Invalid, Token::Valid)
    }

    fn read(&self, now: Instant, address: &[u8], header: &Header) -> Option<Retried> {
        let (body, tag) = header.token.split_last_chunk::<TAG_BYTES>()?;
        let (expires, original) = body.split_first_chunk::<8>()?;
        let message = message(address, &header.dcid, expires, original);
        hmac::verify(&self.key, &message, tag).ok()?;
        let fresh = now < Instant::from_nanos(u64::from_be_bytes(*expires));
        let original_dcid = ConnectionId::new(original).ok()?;
        fresh.then_some(Retried { original_dcid, retry_scid: header.dcid })
    }

    fn tag(
        &self,
        address: &[u8],
        retry_scid: &ConnectionId,
        expires: &[u8; 8],
        original: &[u8],
    ) -> hmac::Tag {
        hmac::sign(&self.key, &message(address, retry_scid, expires, original))
    }
}

/// What the tag covers, with the length of each part, so that none can end in another.
fn message(
    address: &[u8],
    retry_scid: &ConnectionId,
    expires: &[u8; 8],
    original: &[u8],
) -> Vec<u8> {
    let mut out = LABEL.to_vec();
    for part in [address, retry_scid.as_slice(), expires, original] {
        out.extend((part.len() as u64).to_be_bytes());
        out.extend(part);
    }
    out
}

/// The header of a datagram that may begin a connection (RFC 9000 §7.2, §14.1).
pub(crate) fn first_initial(datagram: &[u8]) -> Option<Header> {
    let header = parse(datagram, LOCAL_LEN).ok()?;
    let begins = header.kind == Kind::Initial
        && header.dcid.as_slice().len() >= 8
        && datagram.len() >= MIN_INITIAL_BYTES;
    begins.then_some(header)
}
