//! A peer that has the keys and says whatever it likes.

use super::{Input, client, drain, exchange, server};
use crate::wire::{AckFrame, ConnectionId, Frame, NewCid, ResetToken, put_varint};
use crate::*;
use forecast::Forecast;
use units::{Duration, Instant, PathId, Window};

/// Payloads in authentic packets on any path, and an application that uses the endpoint meanwhile:
/// errors close the connection, nothing panics, memory is bounded, time goes on.
pub fn peer(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut now = Instant::ZERO;
    let mut ends = [client(), server()];
    exchange(&mut now, &mut ends, &mut Vec::new(), Duration::from_millis(300));
    let [client, server] = ends;
    let mut victim = if input.u8() & 1 == 1 { server } else { client };
    assert!(victim.is_connected());
    let mut numbers = [100_u64; 8];
    while !input.is_empty() && !victim.is_over() {
        match input.u8() % 8 {
            0 => application(now, &mut victim, &mut input),
            1 => {
                let steps = [1, 30, 400, 5000];
                now += Duration::from_millis(steps[input.below(4)]);
            }
            2 => {
                if let Some(at) = victim.poll_timeout() {
                    now = now.max(at);
                }
            }
            choice => {
                let path = usize::from(input.u8() % 8);
                let far = if input.u8() == 0 { u64::from(input.u16()) << 40 } else { 1 };
                numbers[path] = (numbers[path] + far).min((1 << 62) - 1);
                let payload = payload(&mut input, choice > 4);
                let net = PathId(input.u8() % 5);
                victim.handle_payload(now, net, (path as u32, numbers[path]), &payload);
            }
        }
        drain(now, &mut victim);
        victim.take_events();
    }
}

/// The application does something that it may do.
fn application(now: Instant, end: &mut Endpoint, input: &mut Input<'_>) {
    let (stream, net) = (u64::from(input.u8() % 16), PathId(input.u8() % 5));
    let length = input.below(20_000);
    let soon = now + Duration::from_millis(length as u64);
    match input.u8() % 12 {
        0 => drop(end.open_stream(length.is_multiple_of(2))),
        1 => drop(end.write(stream, &vec![1; length])),
        2 => drop(end.finish(stream)),
        3 => drop(end.reset(stream, 1)),
        4 => drop(end.stop(stream, 2)),
        5 => drop(end.read(now, stream, length)),
        6 => drop(end.add_path(now, net)),
        7 => drop(end.abandon_path(now, net)),
        8 => drop(end.send_datagram(&vec![3; length % 1200])),
        9 => drop(end.set_path_status(net, length.is_multiple_of(2))),
        10 => end.set_forecast(
            net,
            Forecast::certain([Window { start: soon, end: soon + Duration::from_millis(300) }]),
        ),
        _ => drop((end.update_keys(now), end.recv_datagram())),
    }
}

/// Either frames of any fields, or any bytes.
fn payload(input: &mut Input<'_>, raw: bool) -> Vec<u8> {
    let len = input.below(if raw { 1200 } else { 12 });
    if raw {
        return input.bytes(len).to_vec();
    }
    let mut out = Vec::new();
    for _ in 0..=len {
        if out.len() < 1000 {
            put_frame(input, &mut out);
        }
    }
    out
}

/// A varint of any size, mostly small.
fn number(input: &mut Input<'_>) -> u64 {
    match input.u8() {
        value @ 0..=199 => value.into(),
        200..=239 => u64::from(input.u16()),
        240..=249 => u64::from(input.u16()) << 16,
        _ => (1 << 62) - 1 - u64::from(input.u8()),
    }
}

fn put_frame(input: &mut Input<'_>, out: &mut Vec<u8>) {
    let (a, b, c) = (number(input), number(input), number(input));
    let path = (a % 9) as u32;
    let named = (b % 4 > 0).then_some(path);
    let frame = match input.u8() % 20 {
        0 | 1 => {
            let mut ranges = vec![a.saturating_sub(b)..=a];
            let next = a.saturating_sub(b).saturating_sub(2 + c % 5);
            if a.saturating_sub(b) > 2 + c % 5 {
                ranges.push(next.saturating_sub(c)..=next);
            }
            Frame::Ack {
                path: Some(u32::from(input.u8() % 6)),
                ack: AckFrame { delay: c, ranges, ecn: None },
            }
        }
        2 => Frame::ResetStream { id: a, error_code: b, final_size: c },
        3 => Frame::StopSending { id: a, error_code: b },
        4 => Frame::Crypto { offset: a, data: &[1, 0, 0, 4, 9, 9, 9, 9] },
        5 | 6 => {
            let offset = b.min((1 << 62) - 1 - 600);
            let data = vec![5; (c % 500) as usize];
            Frame::Stream { id: a % 40, offset, data: &data, fin: c % 7 == 0 }.encode(out);
            return;
        }
        7 => Frame::MaxData { maximum: a },
        8 => Frame::MaxStreamData { id: a, maximum: b },
        9 => Frame::MaxStreams { bidi: b & 1 == 1, maximum: a.min(1 << 60) },
        10 => {
            let new = NewCid {
                sequence: b,
                retire_prior_to: c.min(b),
                cid: ConnectionId::new(&a.to_be_bytes()).unwrap(),
                token: ResetToken([c as u8; 16]),
            };
            Frame::NewConnectionId { path: named, new }
        }
        11 => Frame::RetireConnectionId { path: named, sequence: c },
        12 => Frame::PathChallenge { data: a.to_be_bytes() },
        13 => Frame::PathResponse { data: a.to_be_bytes() },
        14 => Frame::PathAbandon { path, error_code: b },
        15 => Frame::PathStatus { path, sequence: b, backup: c & 1 == 1 },
        16 => Frame::MaxPathId { maximum: a.min(u64::from(u32::MAX)) as u32 },
        17 => Frame::PathCidsBlocked { path, next_sequence: b },
        18 => Frame::Datagram { data: &[1; 60] },
        _ => {
            put_varint(out, a % 0x60);
            return out.extend(input.bytes(8));
        }
    };
    frame.encode(out);
}
