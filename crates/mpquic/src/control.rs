//! Control frames that are owed to the peer.

use crate::draft::Draft;
use crate::space::SentFrame;
use crate::streams::Streams;
use crate::upkeep::Upkeep;
use crate::wire::Frame;
use std::collections::VecDeque;

/// Answers that wait to be sent: a peer that asks for more faster than it lets us answer is
/// stopped (RFC 9000 §21.9).
const MAX_FRAMES: usize = 10_000;
/// How many waiting control frames are searched for one that waits already.
const FRAMES_COMPARED: usize = 256;

/// Control frames that wait. Those of the windows follow from the streams, when there is room.
#[derive(Debug, Default)]
pub(crate) struct Control {
    frames: VecDeque<Frame<'static>>,
    /// `DATA_BLOCKED` was sent for this limit.
    blocked_at: Option<u64>,
    /// What was asked of the peer last.
    asked: Option<Frame<'static>>,
    /// What the peer sends of paths, most of which wants an answer.
    pub upkeep: Upkeep,
}

impl Control {
    pub fn push(&mut self, frame: Frame<'static>) {
        self.frames.push_back(frame);
    }

    pub fn extend(&mut self, frames: impl IntoIterator<Item = Frame<'static>>) {
        self.frames.extend(frames);
    }

    /// Asks the peer for something, however often the application does: one frame, which is
    /// retransmitted when it is lost, until something else is asked.
    pub fn ask(&mut self, frame: Frame<'static>) {
        if self.asked.as_ref() != Some(&frame) {
            self.asked = Some(frame.clone());
            self.frames.push_back(frame);
        }
    }

    /// Several packets in flight may carry the same frame (probes of a path that is silent for
    /// long): once in the queue is enough.
    pub fn push_again(&mut self, frame: Frame<'static>) {
        let waits = self.frames.iter().rev().take(FRAMES_COMPARED).any(|other| *other == frame);
        if !waits {
            self.frames.push_back(frame);
        }
    }

    /// More wait than an honest peer makes.
    pub fn is_flooded(&self) -> bool {
        self.frames.len() > MAX_FRAMES
    }

    /// Memory that what waits takes, about.
    pub fn held_bytes(&self) -> u64 {
        (self.frames.len() * size_of::<Frame<'static>>()) as u64
    }

    pub fn clear(&mut self) {
        self.frames.clear();
    }

    /// There is something to write.
    pub fn has_any(&self, streams: &Streams) -> bool {
        !self.frames.is_empty()
            || streams.window.changed
            || !streams.raised.is_empty()
            || streams.counts.iter().any(|count| count.changed)
            || streams.blocked().is_some_and(|limit| self.blocked_at != Some(limit))
    }

    /// Writes the control frames that fit.
    pub fn write(&mut self, draft: &mut Draft, streams: &mut Streams) {
        while let Some(frame) = self.frames.pop_front() {
            if !draft.put(&frame) {
                self.frames.push_front(frame);
                return;
            }
            draft.frames.push(SentFrame::Control(Box::new(frame)));
        }
        self.write_windows(draft, streams);
    }

    fn write_windows(&mut self, draft: &mut Draft, streams: &mut Streams) {
        let window = &mut streams.window;
        if window.changed && draft.put(&Frame::MaxData { maximum: window.max_data }) {
            window.changed = false;
            draft.frames.push(SentFrame::MaxData);
        }
        while let Some(id) = streams.raised.first().copied() {
            if let Some(half) = streams.recv.get(&id) {
                if !draft.put(&Frame::MaxStreamData { id, maximum: half.window.max_data }) {
                    return;
                }
                draft.frames.push(SentFrame::MaxStreamData(id));
            }
            streams.raised.remove(&id);
        }
        for (index, count) in streams.counts.iter_mut().enumerate() {
            let bidi = index == 0;
            if count.changed && draft.put(&Frame::MaxStreams { bidi, maximum: count.granted }) {
                count.changed = false;
                draft.frames.push(SentFrame::MaxStreams(bidi));
            }
        }
        if let Some(limit) = streams.blocked().filter(|limit| self.blocked_at != Some(*limit))
            && draft.put(&Frame::DataBlocked { limit })
        {
            self.blocked_at = Some(limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    fn streams() -> Streams {
        Streams::new(true, &Config::new(crate::tests::tls::client_role()))
    }

    #[test]
    fn what_does_not_fit_waits_in_its_place() {
        let (mut control, mut streams) = (Control::default(), streams());
        (1..=200).for_each(|maximum| control.push(Frame::MaxPathId { maximum }));
        let mut sent = Vec::new();
        let mut packets = 0;
        while control.has_any(&streams) {
            let mut draft = Draft::new(vec![0x40; 9], 0, (packets, 2), 200);
            control.write(&mut draft, &mut streams);
            sent.extend(draft.frames);
            packets += 1;
        }
        let maximum = |frame: &SentFrame| match frame {
            SentFrame::Control(frame) => match **frame {
                Frame::MaxPathId { maximum } => maximum,
                _ => 0,
            },
            _ => 0,
        };
        assert_eq!(sent.iter().map(maximum).collect::<Vec<_>>(), (1..=200).collect::<Vec<_>>());
        assert!(packets > 1);
    }

    #[test]
    fn the_peer_is_asked_once_for_each_thing() {
        let (mut control, mut streams) = (Control::default(), streams());
        let mut sent = 0;
        for maximum in [3, 3, 3, 4, 4] {
            control.ask(Frame::PathsBlocked { maximum });
            let mut draft = Draft::new(vec![0x40; 9], 0, (sent, 2), 1200);
            control.write(&mut draft, &mut streams);
            sent += draft.frames.len() as u64;
        }
        assert_eq!(sent, 2);
    }

    #[test]
    fn a_frame_that_waits_is_not_queued_again_and_a_flood_shows() {
        let mut control = Control::default();
        control.push_again(Frame::Ping);
        control.push_again(Frame::Ping);
        assert_eq!(control.frames.len(), 1);
        control.extend((0..MAX_FRAMES).map(|_| Frame::Ping));
        assert!(control.is_flooded());
        control.clear();
        assert!(!control.is_flooded() && !control.has_any(&streams()));
    }
}
