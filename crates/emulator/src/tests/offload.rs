//! Super-packets: what they are split into, and what becomes one again.

use super::*;
use crate::frame::{Frame, Pool};
use crate::offload::Run;
use made::{Made, made};
use proptest::prelude::*;

mod headers;
mod made;
mod merge;
mod split;
mod verdicts;

/// The frames of what a device gave.
fn frames(bytes: &[u8]) -> Vec<Frame> {
    let pool = Pool::default();
    let mut read = pool.largest();
    read[..bytes.len()].copy_from_slice(bytes);
    pool.packet(&mut read, bytes.len(), Offload::TcpUdp).frames().collect()
}

/// A frame as a capture has it.
fn complete(frame: &Frame) -> Vec<u8> {
    let mut out = Vec::new();
    frame.write_complete(&mut out);
    out
}

/// The frames of what a device gave, as a capture has them.
fn split(bytes: &[u8]) -> Vec<Vec<u8>> {
    frames(bytes).iter().map(complete).collect()
}

/// What is written for frames that are due together.
fn merged(frames: Vec<Frame>, offload: Offload) -> Vec<Vec<u8>> {
    let mut written = Vec::new();
    let mut run = Run::default();
    let mut flush = |run: &mut Run| {
        let parts =
            run.write(offload, |parts| parts.iter().flat_map(|part| part.to_vec()).collect());
        written.extend(parts);
        run.clear();
    };
    for frame in frames {
        if !run.admits(&frame, offload) {
            flush(&mut run);
        }
        run.push(frame);
    }
    flush(&mut run);
    written
}
