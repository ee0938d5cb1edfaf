//! Packet protection (RFC 9001 §5): the order of its steps. The cryptography is rustls' and ring's.

use crate::wire::{ConnectionId, ResetToken};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use ring::{aead, hmac};
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::quic::{HeaderProtectionKey, Keys, PacketKey, Version};
use rustls::{Side, SupportedCipherSuite};

/// Keys of Initial packets (RFC 9001 §5.2).
pub(crate) fn initial_keys(dcid: &ConnectionId, side: Side) -> Keys {
    // RFC 9001 §5.2: AES-128-GCM. The enum has one variant when rustls is built without TLS 1.2.
    #[allow(irrefutable_let_patterns)]
    let SupportedCipherSuite::Tls13(suite) = TLS13_AES_128_GCM_SHA256 else {
        unreachable!("the suite's own name says TLS 1.3");
    };
    let quic = suite.quic_suite().expect("ring implements QUIC for AES-128-GCM");
    quic.keys(dcid.as_slice(), side, Version::V1)
}

/// Removes header protection from a packet whose number begins at `number_at` (RFC 9001 §5.4):
/// the length of the packet number and its truncated value.
pub(crate) fn unprotect(
    packet: &mut [u8],
    number_at: usize,
    key: &dyn HeaderProtectionKey,
) -> Option<(usize, u64)> {
    let (head, rest) = packet.split_at_mut_checked(number_at)?;
    let (number, sampled) = rest.split_at_mut_checked(4)?; // the sample assumes a number of 4 bytes
    let sample = sampled.get(..key.sample_len())?;
    key.decrypt_in_place(sample, head.first_mut()?, number).ok()?;
    let len = usize::from(head[0] & 3) + 1;
    let value = number[..len].iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
    Some((len, value))
}

/// Decrypts the payload behind a header of `header_len` bytes: its length.
pub(crate) fn open(
    packet: &mut [u8],
    header_len: usize,
    key: &dyn PacketKey,
    (path, number): (u32, u64),
) -> Option<usize> {
    let (header, payload) = packet.split_at_mut_checked(header_len)?;
    key.decrypt_in_place_for_path(path, number, header, payload).ok().map(<[u8]>::len)
}

/// Encrypts the packet that begins at `start` of `out` and has its number at `number_at`, then
/// protects its header. False when the AEAD refuses.
pub(crate) fn seal(
    out: &mut Vec<u8>,
    (start, number_at, number_len): (usize, usize, usize),
    (packet_key, header_key): (&dyn PacketKey, &dyn HeaderProtectionKey),
    (path, number): (u32, u64),
) -> bool {
    let (header, payload) = out[start..].split_at_mut(number_at - start + number_len);
    let Ok(tag) = packet_key.encrypt_in_place_for_path(path, number, header, payload) else {
        return false;
    };
    out.extend(tag.as_ref());
    let (head, rest) = out[start..].split_at_mut(number_at - start);
    let (number, sampled) = rest.split_at_mut(4);
    let sample = &sampled[..header_key.sample_len()];
    header_key.encrypt_in_place(sample, &mut head[0], &mut number[..number_len]).is_ok()
}

/// The tag of a Retry packet, of which `body` is the rest (RFC 9001 §5.8).
pub(crate) fn retry_tag(body: &[u8], original_dcid: &ConnectionId) -> Option<[u8; 16]> {
    // RFC 9001 §5.8: fixed key and nonce of version 1.
    const KEY: [u8; 16] = [
        0xbe, 0x0c, 0x69, 0x0b, 0x9f, 0x66, 0x57, 0x5a, 0x1d, 0x76, 0x6b, 0x54, 0xe3, 0x68, 0xc8,
        0x4e,
    ];
    const NONCE: [u8; 12] =
        [0x46, 0x15, 0x99, 0xd3, 0x5d, 0x63, 0x2b, 0xf2, 0x23, 0x98, 0x25, 0xbb];
    let key = aead::LessSafeKey::new(aead::UnboundKey::new(&aead::AES_128_GCM, &KEY).ok()?);
    let mut pseudo = vec![original_dcid.as_slice().len() as u8];
    pseudo.extend(original_dcid.as_slice());
    pseudo.extend(body);
    let nonce = aead::Nonce::assume_unique_for_key(NONCE);
    let tag = key.seal_in_place_separate_tag(nonce, aead::Aad::from(&pseudo), &mut []).ok()?;
    tag.as_ref().try_into().ok()
}

/// Whether a Retry packet ends with the right tag. (The key is public: nothing leaks by comparing.)
pub(crate) fn retry_is_authentic(packet: &[u8], original_dcid: &ConnectionId) -> bool {
    let Some((body, tag)) = packet.split_last_chunk::<16>() else { return false };
    retry_tag(body, original_dcid).is_some_and(|expected| expected == *tag)
}

/// A key of reset tokens that nobody else has (RFC 9000 §10.3.2); whatever else is drawn from the
/// seed stays as it is.
pub(crate) fn own_reset_key(seed: u64) -> [u8; 32] {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    rng.set_stream(1);
    let mut key = [0; 32];
    rng.fill_bytes(&mut key);
    key
}

/// The reset token of a connection ID (RFC 9000 §10.3.2).
pub(crate) fn reset_token(key: &[u8; 32], cid: &ConnectionId) -> ResetToken {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    let tag = hmac::sign(&key, cid.as_slice());
    let mut token = [0; 16];
    token.copy_from_slice(&tag.as_ref()[..16]);
    ResetToken(token)
}
