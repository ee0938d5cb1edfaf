use super::*;
use crate::capture::{Capture, Sink};
use crate::frame::{Frame, Pool};
use crate::pcapng::End;
use std::io::Write;
use std::sync::{Arc, Mutex};

/// A file in memory with room for this many bytes.
#[derive(Clone)]
struct Memory {
    bytes: Arc<Mutex<Vec<u8>>>,
    room: usize,
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut held = self.bytes.lock().unwrap();
        if held.len() + bytes.len() > self.room {
            return Err(io::ErrorKind::StorageFull.into());
        }
        held.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn memory(room: usize) -> (Memory, Capture) {
    let memory = Memory { bytes: Arc::default(), room };
    let file: Sink = Box::new(memory.clone());
    (memory, Capture::new(vec![file], EPOCH_NS).unwrap())
}

/// 2026, in nanoseconds since 1970: more than 32 bits of them.
const EPOCH_NS: u64 = 1_780_000_000_123_456_789;

fn frame(bytes: &[u8]) -> Frame {
    let pool = Pool::default();
    let mut read = pool.largest();
    read[..bytes.len()].copy_from_slice(bytes);
    pool.packet(&mut read, bytes.len(), Offload::None).frames().next().unwrap()
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Kind and body of each block, whose two lengths agree.
fn blocks(mut bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let mut blocks = Vec::new();
    while !bytes.is_empty() {
        let length = word(bytes, 4) as usize;
        assert_eq!((length % 4, word(bytes, length - 4) as usize), (0, length));
        blocks.push((word(bytes, 0), bytes[8..length - 4].to_vec()));
        bytes = &bytes[length..];
    }
    blocks
}

#[test]
fn a_capture_has_what_enters_and_leaves_with_nanoseconds() {
    let (memory, mut capture) = memory(usize::MAX);
    capture.record(UP, End::In, ms(1), &frame(&[0x45; 41]));
    capture.record(UP, End::Out, ms(12), &frame(&[0x45; 41]));
    capture.record(DOWN, End::Out, ms(13), &frame(&[0x46; 40]));
    assert_eq!(capture.finish(), None);
    let blocks = blocks(&memory.bytes.lock().unwrap());
    let kinds: Vec<u32> = blocks.iter().map(|block| block.0).collect();
    assert_eq!(kinds, [0x0A0D_0D0A, 1, 1, 1, 1, 6, 6, 6]);
    let name =
        |body: &[u8]| String::from_utf8(body[12..12 + usize::from(body[10])].to_vec()).unwrap();
    let names: Vec<_> = blocks[1..5].iter().map(|block| name(&block.1)).collect();
    assert_eq!(names, ["down-in", "down-out", "up-in", "up-out"]);
    let packet = |body: &[u8]| {
        let nanos = u64::from(word(body, 4)) << 32 | u64::from(word(body, 8));
        (word(body, 0), nanos - EPOCH_NS, body[20..20 + word(body, 12) as usize].to_vec())
    };
    let packets: Vec<_> = blocks[5..].iter().map(|block| packet(&block.1)).collect();
    let expected = [
        (2, 1_000_000, vec![0x45; 41]),
        (3, 12_000_000, vec![0x45; 41]),
        (1, 13_000_000, vec![0x46; 40]),
    ];
    assert_eq!(packets, expected);
}

#[test]
fn a_full_disk_ends_the_capture_and_says_so() {
    let (memory, mut capture) = memory(400);
    for number in 0..100 {
        capture.record(UP, End::In, ms(number), &frame(&[0x45; 100]));
        capture.flush();
    }
    let error = capture.finish().unwrap();
    assert!(error.starts_with("the capture stopped"), "{error}");
    assert!(memory.bytes.lock().unwrap().len() <= 400);
}
