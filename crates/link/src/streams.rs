//! Seeds of the random streams: each source its own, from (seed, name, purpose), so that two
//! algorithms, and a path alone or beside others, meet the same losses (paired runs).

/// The seed of the stream that `name` uses for `purpose` in the run with `seed`.
pub fn stream_seed(seed: u64, name: &str, purpose: &str) -> u64 {
    let bytes = name.bytes().chain([0xff]).chain(purpose.bytes());
    // FNV-1a (offset basis and prime of the 64-bit variant), then the finaliser of SplitMix64.
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325 ^ mix(seed), |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    mix(hash)
}

fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
