//! The bytes of one direction of a stream, in memory.

use std::collections::VecDeque;

/// Bytes that were written and not read yet. Runs of zeros cost nothing, however long: a transport
/// that carries byte counts alone (the model of TCP) keeps the content in one of these.
#[derive(Debug, Default)]
pub struct Pipe {
    runs: VecDeque<Run>,
    written_bytes: u64,
    read_bytes: u64,
    finished: bool,
}

#[derive(Debug)]
enum Run {
    Bytes(VecDeque<u8>),
    Zeros(u64),
}

impl Pipe {
    /// Adds bytes.
    pub fn write(&mut self, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        self.written_bytes += data.len() as u64;
        match self.runs.back_mut() {
            Some(Run::Bytes(bytes)) => bytes.extend(data),
            _ => self.runs.push_back(Run::Bytes(data.iter().copied().collect())),
        }
    }

    /// Adds zeros, as far as they can be counted: how many.
    pub fn write_zeros(&mut self, count: u64) -> u64 {
        let count = count.min(u64::MAX - self.written_bytes);
        if count == 0 {
            return 0;
        }
        self.written_bytes += count;
        match self.runs.back_mut() {
            Some(Run::Zeros(zeros)) => *zeros += count,
            _ => self.runs.push_back(Run::Zeros(count)),
        }
        count
    }

    /// Nothing more is written.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// Bytes read since the beginning.
    pub fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    /// Everything was written and read.
    pub fn is_drained(&self) -> bool {
        self.is_finished_at(self.read_bytes)
    }

    /// Everything was written, and that was this many bytes.
    pub fn is_finished_at(&self, bytes: u64) -> bool {
        self.finished && bytes == self.written_bytes
    }

    /// Takes at most this many bytes.
    pub fn read(&mut self, most_bytes: usize) -> Vec<u8> {
        let mut data = Vec::new();
        while data.len() < most_bytes {
            let left = most_bytes - data.len();
            match self.runs.front_mut() {
                None => break,
                Some(Run::Bytes(bytes)) => {
                    let count = left.min(bytes.len());
                    data.extend(bytes.drain(..count));
                }
                Some(Run::Zeros(zeros)) => {
                    let count = usize::try_from(*zeros).unwrap_or(usize::MAX).min(left);
                    data.resize(data.len() + count, 0);
                    *zeros -= count as u64;
                }
            }
            self.drop_empty();
        }
        self.read_bytes += data.len() as u64;
        data
    }

    /// Drops at most this many bytes: how many there were.
    pub fn skip(&mut self, most_bytes: u64) -> u64 {
        let mut left = most_bytes;
        while left > 0 {
            match self.runs.front_mut() {
                None => break,
                Some(Run::Bytes(bytes)) => {
                    let count = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                    bytes.drain(..count);
                    left -= count as u64;
                }
                Some(Run::Zeros(zeros)) => {
                    let count = left.min(*zeros);
                    *zeros -= count;
                    left -= count;
                }
            }
            self.drop_empty();
        }
        self.read_bytes += most_bytes - left;
        most_bytes - left
    }

    fn drop_empty(&mut self) {
        let empty = match self.runs.front() {
            Some(Run::Bytes(bytes)) => bytes.is_empty(),
            Some(Run::Zeros(zeros)) => *zeros == 0,
            None => false,
        };
        if empty {
            self.runs.pop_front();
        }
    }
}
