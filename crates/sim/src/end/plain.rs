//! Packet protection of simulated QUIC: same lengths, same limits, no cryptography.
//!
//! Nobody listens on a simulated link, and AES took a fifth of what a packet costs. A tag is a hash of a
//! packet's keys, path, number, header and length: a packet sealed with other keys, or under another number, is
//! refused as ever. Only packets of the handshake have their payload hashed. The others, with short headers, are
//! each the last of their datagram, and the fault that damages a datagram always corrupts its last byte, a byte of
//! the tag (`faults/channel.rs`): an AEAD refuses every damaged packet, while a hash of the payload missed
//! some, and cost more than the rest of sealing. The handshake is TLS as it is.

use mpquic::rustls;
use rustc_hash::FxHasher;
use rustls::crypto::CryptoProvider;
use rustls::crypto::cipher::{AeadKey, Iv};
use rustls::crypto::ring::{cipher_suite::TLS13_AES_256_GCM_SHA384, default_provider};
use rustls::quic::{Algorithm, HeaderProtectionKey, PacketKey, Tag};
use rustls::{CipherSuite, CipherSuiteCommon, Error, SupportedCipherSuite, Tls13CipherSuite};
use std::hash::Hasher;

const TAG_LEN: usize = 16;
/// The header form of packets of the handshake (RFC 9000 §17.2).
const LONG_HEADER: u8 = 0x80;
const KEY_LEN: usize = 32;
/// Of AES-256-GCM (RFC 9001 §6.6): keys are updated when they would be.
const CONFIDENTIALITY_LIMIT: u64 = 1 << 23;
const INTEGRITY_LIMIT: u64 = 1 << 52;

/// TLS 1.3 with the suite that real ends agree on (its messages have that length): AES-256-GCM for
/// what TLS itself says, checksums for QUIC's packets. `None`: the provider lacks it.
pub(super) fn provider() -> Option<CryptoProvider> {
    let real = match TLS13_AES_256_GCM_SHA384 {
        SupportedCipherSuite::Tls13(suite) => suite,
        #[allow(unreachable_patterns)] // without TLS 1.2 there is no other
        _ => return None,
    };
    let common = CipherSuiteCommon {
        suite: CipherSuite::TLS13_AES_256_GCM_SHA384,
        hash_provider: real.common.hash_provider,
        confidentiality_limit: real.common.confidentiality_limit,
    };
    let (hkdf_provider, aead_alg) = (real.hkdf_provider, real.aead_alg);
    let suite = Tls13CipherSuite { common, hkdf_provider, aead_alg, quic: Some(&Plain) };
    // Made once in a process, and needed to its end.
    let suite = SupportedCipherSuite::Tls13(Box::leak(Box::new(suite)));
    Some(CryptoProvider { cipher_suites: vec![suite], ..default_provider() })
}

#[derive(Debug)]
struct Plain;

impl Algorithm for Plain {
    fn packet_key(&self, key: AeadKey, _iv: Iv) -> Box<dyn PacketKey> {
        let mut hasher = FxHasher::default();
        hasher.write(key.as_ref());
        Box::new(Checksum { key: hasher.finish() })
    }

    fn header_protection_key(&self, _key: AeadKey) -> Box<dyn HeaderProtectionKey> {
        Box::new(Bare)
    }

    fn aead_key_len(&self) -> usize {
        KEY_LEN
    }
}

/// Headers as they are.
struct Bare;

impl HeaderProtectionKey for Bare {
    fn encrypt_in_place(&self, _: &[u8], _: &mut u8, _: &mut [u8]) -> Result<(), Error> {
        Ok(())
    }

    fn decrypt_in_place(&self, _: &[u8], _: &mut u8, _: &mut [u8]) -> Result<(), Error> {
        Ok(())
    }

    fn sample_len(&self) -> usize {
        16
    }
}

/// The key of one direction and phase.
struct Checksum {
    key: u64,
}

impl Checksum {
    fn tag(&self, (path, number): (u32, u64), header: &[u8], payload: &[u8]) -> [u8; TAG_LEN] {
        let mut hasher = FxHasher::default();
        hasher.write_u64(self.key);
        hasher.write_u32(path);
        hasher.write_u64(number);
        hasher.write(header);
        hasher.write_usize(payload.len());
        if header.first().is_some_and(|first| first & LONG_HEADER != 0) {
            hasher.write(payload);
        }
        let mut tag = [0; TAG_LEN];
        tag[..8].copy_from_slice(&hasher.finish().to_be_bytes());
        tag
    }
}

impl PacketKey for Checksum {
    fn encrypt_in_place(
        &self,
        number: u64,
        header: &[u8],
        payload: &mut [u8],
    ) -> Result<Tag, Error> {
        self.encrypt_in_place_for_path(0, number, header, payload)
    }

    fn encrypt_in_place_for_path(
        &self,
        path: u32,
        number: u64,
        header: &[u8],
        payload: &mut [u8],
    ) -> Result<Tag, Error> {
        Ok(Tag::from(self.tag((path, number), header, payload).as_slice()))
    }

    fn decrypt_in_place<'a>(
        &self,
        number: u64,
        header: &[u8],
        payload: &'a mut [u8],
    ) -> Result<&'a [u8], Error> {
        self.decrypt_in_place_for_path(0, number, header, payload)
    }

    fn decrypt_in_place_for_path<'a>(
        &self,
        path: u32,
        number: u64,
        header: &[u8],
        payload: &'a mut [u8],
    ) -> Result<&'a [u8], Error> {
        let (plain, tag) = payload.split_last_chunk::<TAG_LEN>().ok_or(Error::DecryptError)?;
        let right = self.tag((path, number), header, plain) == *tag;
        if right { Ok(plain) } else { Err(Error::DecryptError) }
    }

    fn tag_len(&self) -> usize {
        TAG_LEN
    }

    fn confidentiality_limit(&self) -> u64 {
        CONFIDENTIALITY_LIMIT
    }

    fn integrity_limit(&self) -> u64 {
        INTEGRITY_LIMIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(byte: u8) -> Box<dyn PacketKey> {
        Plain.packet_key(AeadKey::from([byte; 32]), Iv::from([0; 12]))
    }

    proptest! {
        /// What was sealed opens, unless its place, its key or a bit of it is another; with a short header
        /// a bit of its header or tag.
        #[test]
        fn what_was_corrupted_is_refused(
            packet in proptest::collection::vec(any::<u8>(), 25..1500),
            is_long in any::<bool>(),
            bit in any::<usize>(),
            place in (0_u32..8, 0_u64..1 << 40),
        ) {
            let mut packet = packet;
            packet[0] = packet[0] & !LONG_HEADER | if is_long { LONG_HEADER } else { 0 };
            let (header, payload) = packet.split_at(20);
            let seal = |payload: &mut Vec<u8>| {
                let tag = key(1).encrypt_in_place_for_path(place.0, place.1, header, payload);
                payload.extend(tag.unwrap().as_ref());
            };
            let mut sealed = payload.to_vec();
            seal(&mut sealed);
            let open = |key: Box<dyn PacketKey>, (path, number): (u32, u64), header: &[u8], sealed: &[u8]| {
                let mut sealed = sealed.to_vec();
                key.decrypt_in_place_for_path(path, number, header, &mut sealed).map(<[u8]>::to_vec)
            };
            prop_assert_eq!(open(key(1), place, header, &sealed).unwrap(), payload);
            prop_assert!(open(key(2), place, header, &sealed).is_err());
            prop_assert!(open(key(1), (place.0 + 1, place.1), header, &sealed).is_err());
            prop_assert!(open(key(1), (place.0, place.1 + 1), header, &sealed).is_err());
            let mut torn = [header, &sealed].concat();
            let plain = if is_long { 0 } else { payload.len() };
            let at = bit % (8 * (torn.len() - plain));
            let byte = if at / 8 < 20 { at / 8 } else { at / 8 + plain };
            torn[byte] ^= 1 << (at % 8);
            prop_assert!(open(key(1), place, &torn[..20], &torn[20..]).is_err());
        }
    }
}
