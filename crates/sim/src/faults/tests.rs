use super::Verdict;
use super::content::{Contents, Transfer};
use application::{Pipe, Read, Signal, StreamId, Streams, deliver};
use units::{Direction, Instant};

/// One stream into memory.
#[derive(Default)]
struct Memory(Pipe);

impl Streams for Memory {
    fn has_one_stream(&self) -> bool {
        true
    }
    fn open(&mut self, _both_ways: bool) -> Option<StreamId> {
        Some(StreamId(0))
    }
    fn write(&mut self, _stream: StreamId, data: &[u8]) -> usize {
        self.0.write(data);
        data.len()
    }
    fn write_filler(&mut self, _stream: StreamId, bytes: u64) -> u64 {
        self.0.write_zeros(bytes)
    }
    fn finish(&mut self, _stream: StreamId) {
        self.0.finish();
    }
    fn read(&mut self, _stream: StreamId, most_bytes: usize) -> Read {
        match self.0.read(most_bytes) {
            data if !data.is_empty() => Read::Data(data),
            _ if self.0.is_drained() => Read::Finished,
            _ => Read::Blocked,
        }
    }
    fn paths(&self) -> Vec<application::PathStatus> {
        Vec::new()
    }
}

/// What 1,000 bytes from server to client are judged to be after `spoil` had its way with them.
fn judged(spoil: impl FnOnce(Vec<u8>) -> Vec<u8>) -> Verdict {
    let transfer = Transfer { down_bytes: vec![1000], up_bytes: Vec::new(), pause_ms: 0 };
    let contents = Contents::new(&transfer);
    let (mut server, mut client) = (contents.end(Direction::Down), contents.end(Direction::Up));
    let mut sent = Memory::default();
    deliver(&mut *server, Instant::ZERO, Signal::Open, &mut sent);
    deliver(&mut *server, Instant::ZERO, Signal::Timer, &mut sent);
    let mut came = Memory::default();
    came.0.write(&spoil(sent.0.read(usize::MAX)));
    came.0.finish();
    deliver(&mut *client, Instant::ZERO, Signal::Readable(StreamId(0)), &mut came);
    contents.verdict()
}

#[test]
fn bytes_that_are_not_those_that_were_sent_are_noticed() {
    let is_lost = |verdict: &Verdict| matches!(verdict, Verdict::Lost(_));
    assert_eq!(judged(|data| data), Verdict::Finished);
    let spoilt: [fn(Vec<u8>) -> Vec<u8>; 5] = [
        |data| data[..999].to_vec(),
        |mut data| {
            data[500] ^= 1;
            data
        },
        |mut data| {
            data.swap(200, 201);
            data
        },
        |data| [&data[..], &[0]].concat(),
        |data| [&data[..500], &data[499..]].concat(),
    ];
    for (index, spoil) in spoilt.into_iter().enumerate() {
        let verdict = judged(spoil);
        assert!(is_lost(&verdict), "{index}: {verdict:?}");
    }
}
