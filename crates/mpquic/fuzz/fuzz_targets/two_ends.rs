#![no_main]

#[allow(dead_code, unused_imports)]
#[path = "../../src/tests/fuzzing/mod.rs"]
mod fuzzing;
#[allow(dead_code)]
#[path = "../../src/tests/tls.rs"]
mod tls;

#[allow(unused_imports)]
use mpquic::*;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzing::two_ends(bytes));
