//! An answer under way: words, a file or a part of it, and what its bytes sum up to.

use super::ask::Wants;
use crate::digest::{CONTENT, Sum, WHOLE};
use http3::Fields;
use mpquic::Endpoint;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// A file is read in pieces of this size, and only when so much can be sent, or a quarter of what
/// may wait: small reads cost more than they bring.
const PIECE_BYTES: usize = 32 << 10;
/// What is summed up of a file beside what is sent, before other clients have their turn.
const TURN_BYTES: u64 = 1 << 20;

/// How far an answer is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Poured {
    Everything,
    Part,
}

/// The sum of a part of the file, from its beginning on.
struct Summing {
    name: &'static str,
    sum: Sum,
    at: u64,
    end: u64,
}

/// An answer.
pub(super) struct Answer {
    /// What comes before the content, or behind it, and how much of that was given.
    words: Vec<u8>,
    said: usize,
    file: Option<File>,
    at: u64,
    end: u64,
    sum: Option<Summing>,
}

impl Answer {
    /// Words alone.
    pub fn words(words: Vec<u8>) -> Self {
        Self { words, said: 0, file: None, at: 0, end: 0, sum: None }
    }

    /// A part of a file of `bytes` behind words.
    pub fn part(
        words: Vec<u8>,
        file: File,
        (part, bytes): (Range<u64>, u64),
        wants: Wants,
    ) -> Self {
        let summing = |name, range: Range<u64>| Summing {
            name,
            sum: Sum::default(),
            at: range.start,
            end: range.end,
        };
        let sum = match wants {
            Wants::Nothing => None,
            Wants::Content => Some(summing(CONTENT, part.clone())),
            Wants::Whole => Some(summing(WHOLE, 0..bytes)),
        };
        let (at, end) = (part.start, part.end);
        Self { words, said: 0, file: Some(file), at, end, sum }
    }

    /// It holds a file open.
    pub fn is_file(&self) -> bool {
        self.file.is_some()
    }

    /// There is a sum to go on with, whether or not there is room to send.
    pub fn is_summing(&self) -> bool {
        self.sum.as_ref().is_some_and(|sum| sum.at < self.summable(sum))
    }

    /// Bytes that were given or summed up.
    pub fn done(&self) -> u64 {
        self.said as u64 + self.at + self.sum.as_ref().map_or(0, |sum| sum.at)
    }

    /// Gives the transport what it may take, with `most` bytes of its connection in its hands. An error:
    /// the file became shorter, or the stream is no more.
    pub fn pour(&mut self, endpoint: &mut Endpoint, id: u64, most: u64) -> Result<Poured, ()> {
        loop {
            if !self.say(endpoint, id)? || !self.give(endpoint, id, most)? {
                self.sum_up()?;
                return Ok(Poured::Part);
            }
            self.sum_up()?;
            match self.sum.take_if(|sum| sum.at == sum.end) {
                Some(summed) => {
                    let trailers = Fields::default().with(summed.name, summed.sum.value());
                    (self.words, self.said) = (http3::head(&trailers), 0);
                }
                None if self.sum.is_some() => return Ok(Poured::Part),
                None => return Ok(Poured::Everything),
            }
        }
    }

    /// The words: true when all were given.
    fn say(&mut self, endpoint: &mut Endpoint, id: u64) -> Result<bool, ()> {
        let left = &self.words[self.said..];
        if !left.is_empty() {
            self.said += endpoint.write(id, left).map_err(drop)?;
        }
        Ok(self.said == self.words.len())
    }

    /// The content: true when all was given.
    fn give(&mut self, endpoint: &mut Endpoint, id: u64, most: u64) -> Result<bool, ()> {
        let Some(file) = &self.file else { return Ok(true) };
        let worth = (most / 4).min(PIECE_BYTES as u64);
        let mut piece = [0; PIECE_BYTES];
        while self.at < self.end {
            let room = most.saturating_sub(endpoint.buffered_bytes()).min(PIECE_BYTES as u64);
            if room < worth {
                return Ok(false);
            }
            let piece = &mut piece[..room.min(self.end - self.at) as usize];
            file.read_exact_at(piece, self.at).map_err(drop)?; // a file that became shorter
            let taken = endpoint.write(id, piece).map_err(drop)?;
            if let Some(sum) = self.sum.as_mut().filter(|sum| sum.at == self.at) {
                sum.take(&piece[..taken]);
            }
            self.at += taken as u64;
            if taken == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// How far the sum may go: no further than what is sent, which is read but once.
    fn summable(&self, sum: &Summing) -> u64 {
        if self.at == self.end { sum.end } else { self.at }
    }

    /// Goes on with the sum where it is not at what is sent.
    fn sum_up(&mut self) -> Result<(), ()> {
        let (Some(file), Some(sum)) = (&self.file, &self.sum) else { return Ok(()) };
        let until = self.summable(sum).min(sum.at + TURN_BYTES);
        let mut piece = [0; PIECE_BYTES];
        while let Some(sum) = self.sum.as_mut().filter(|sum| sum.at < until) {
            let piece = &mut piece[..(until - sum.at).min(PIECE_BYTES as u64) as usize];
            file.read_exact_at(piece, sum.at).map_err(drop)?;
            sum.take(piece);
        }
        Ok(())
    }
}

impl Summing {
    fn take(&mut self, bytes: &[u8]) {
        self.sum.take(bytes);
        self.at += bytes.len() as u64;
    }
}
