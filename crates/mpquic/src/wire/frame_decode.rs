use super::frame::code;
use super::{
    AckFrame, ConnectionId, EcnCounts, Frame, MAX_VARINT, NewCid, Reader, ResetToken, WireError,
};

/// Streams of one kind that can ever be opened (RFC 9000 §4.6).
const MAX_STREAM_COUNT: u64 = 1 << 60;

impl<'a> Frame<'a> {
    /// Reads the next frame.
    pub fn decode(reader: &mut Reader<'a>) -> Result<Self, WireError> {
        let before = reader.left();
        let kind = reader.varint("frame type")?;
        if before - reader.left() != super::varint_len(kind) {
            return Err(WireError::Value("frame type")); // shortest encoding: RFC 9000 §12.4
        }
        match kind {
            code::PADDING => Ok(Self::Padding(1 + skip_zeroes(reader))),
            code::PING => Ok(Self::Ping),
            code::ACK | code::ACK_ECN => {
                Ok(Self::Ack { path: None, ack: ack(reader, kind == code::ACK_ECN)? })
            }
            code::CRYPTO => crypto(reader),
            code::NEW_TOKEN => match reader.prefixed("token")? {
                [] => Err(WireError::Value("token")), // RFC 9000 §19.7
                token => Ok(Self::NewToken { token }),
            },
            0x08..=0x0f => stream(reader, kind),
            0x04 | 0x05 | 0x10..=0x17 => flow(reader, kind),
            code::NEW_CONNECTION_ID => {
                Ok(Self::NewConnectionId { path: None, new: new_cid(reader)? })
            }
            code::RETIRE_CONNECTION_ID => {
                Ok(Self::RetireConnectionId { path: None, sequence: reader.varint("sequence")? })
            }
            code::PATH_CHALLENGE => Ok(Self::PathChallenge { data: reader.array("challenge")? }),
            code::PATH_RESPONSE => Ok(Self::PathResponse { data: reader.array("response")? }),
            code::CONNECTION_CLOSE | code::APPLICATION_CLOSE => close(reader, kind),
            code::HANDSHAKE_DONE => Ok(Self::HandshakeDone),
            code::DATAGRAM => Ok(Self::Datagram { data: reader.rest() }),
            code::DATAGRAM_LEN => Ok(Self::Datagram { data: reader.prefixed("datagram")? }),
            _ => multipath(reader, kind),
        }
    }
}

fn skip_zeroes(reader: &mut Reader<'_>) -> usize {
    let mut ahead = *reader;
    let count = ahead.rest().iter().take_while(|byte| **byte == 0).count();
    let skipped = reader.bytes(count, "padding");
    skipped.map_or(0, <[u8]>::len)
}

fn ack(reader: &mut Reader<'_>, with_ecn: bool) -> Result<AckFrame, WireError> {
    let bad = WireError::Value("acknowledged range"); // negative numbers: RFC 9000 §19.3.1
    let largest = reader.varint("largest acknowledged")?;
    let delay = reader.varint("ACK delay")?;
    let count = reader.varint("ACK range count")?;
    let first = reader.varint("first ACK range")?;
    let mut smallest = largest.checked_sub(first).ok_or(bad)?;
    // A range is two bytes at least: a count that claims more takes no memory.
    let mut ranges = Vec::with_capacity(1 + (count as usize).min(reader.left() / 2));
    ranges.push(smallest..=largest);
    for _ in 0..count {
        let [gap, len] = reader.two_varints(["gap", "ACK range length"])?;
        let end = smallest.checked_sub(gap + 2).ok_or(bad)?;
        smallest = end.checked_sub(len).ok_or(bad)?;
        ranges.push(smallest..=end);
    }
    let ecn = with_ecn.then(|| {
        let mut count = || reader.varint("ECN count");
        Ok(EcnCounts { ect0: count()?, ect1: count()?, ce: count()? })
    });
    Ok(AckFrame { delay, ranges, ecn: ecn.transpose()? })
}

fn crypto<'a>(reader: &mut Reader<'a>) -> Result<Frame<'a>, WireError> {
    let offset = reader.varint("CRYPTO offset")?;
    let data = reader.prefixed("CRYPTO data")?;
    ends_in_range(offset, data)?;
    Ok(Frame::Crypto { offset, data })
}

fn stream<'a>(reader: &mut Reader<'a>, kind: u64) -> Result<Frame<'a>, WireError> {
    let id = reader.varint("stream ID")?;
    let offset = if kind & 4 != 0 { reader.varint("stream offset")? } else { 0 };
    let data = if kind & 2 != 0 { reader.prefixed("stream data")? } else { reader.rest() };
    ends_in_range(offset, data)?;
    Ok(Frame::Stream { id, offset, data, fin: kind & 1 != 0 })
}

/// No byte lies beyond 2^62 - 1 (RFC 9000 §19.6, §19.8).
fn ends_in_range(offset: u64, data: &[u8]) -> Result<(), WireError> {
    let fits = offset + data.len() as u64 <= MAX_VARINT;
    fits.then_some(()).ok_or(WireError::Value("offset"))
}

fn flow<'a>(reader: &mut Reader<'a>, kind: u64) -> Result<Frame<'a>, WireError> {
    let mut next = |what| reader.varint(what);
    let streams = |count: u64| {
        (count <= MAX_STREAM_COUNT).then_some(count).ok_or(WireError::Value("stream count"))
    };
    Ok(match kind {
        code::RESET_STREAM => Frame::ResetStream {
            id: next("stream ID")?,
            error_code: next("error code")?,
            final_size: next("final size")?,
        },
        code::STOP_SENDING => {
            Frame::StopSending { id: next("stream ID")?, error_code: next("error code")? }
        }
        code::MAX_DATA => Frame::MaxData { maximum: next("maximum")? },
        code::MAX_STREAM_DATA => {
            Frame::MaxStreamData { id: next("stream ID")?, maximum: next("maximum")? }
        }
        code::MAX_STREAMS_BIDI | code::MAX_STREAMS_UNI => Frame::MaxStreams {
            bidi: kind == code::MAX_STREAMS_BIDI,
            maximum: streams(next("maximum")?)?,
        },
        code::DATA_BLOCKED => Frame::DataBlocked { limit: next("limit")? },
        code::STREAM_DATA_BLOCKED => {
            Frame::StreamDataBlocked { id: next("stream ID")?, limit: next("limit")? }
        }
        code::STREAMS_BLOCKED_BIDI | code::STREAMS_BLOCKED_UNI => Frame::StreamsBlocked {
            bidi: kind == code::STREAMS_BLOCKED_BIDI,
            limit: streams(next("limit")?)?,
        },
        _ => return Err(WireError::UnknownFrame(kind)),
    })
}

fn new_cid(reader: &mut Reader<'_>) -> Result<NewCid, WireError> {
    let sequence = reader.varint("sequence")?;
    let retire_prior_to = reader.varint("retire prior to")?;
    let len = usize::from(reader.u8("connection ID length")?);
    let cid = ConnectionId::new(reader.bytes(len, "connection ID")?)?;
    if len == 0 || retire_prior_to > sequence {
        return Err(WireError::Value("new connection ID")); // RFC 9000 §19.15
    }
    Ok(NewCid { sequence, retire_prior_to, cid, token: ResetToken(reader.array("reset token")?) })
}

fn close<'a>(reader: &mut Reader<'a>, kind: u64) -> Result<Frame<'a>, WireError> {
    let error_code = reader.varint("error code")?;
    let transport = kind == code::CONNECTION_CLOSE;
    let frame_type = transport.then(|| reader.varint("frame type")).transpose()?;
    Ok(Frame::ConnectionClose { error_code, frame_type, reason: reader.prefixed("reason")? })
}

fn path_id(reader: &mut Reader<'_>) -> Result<u32, WireError> {
    // Path IDs have 32 bits: draft-ietf-quic-multipath-21 §2.
    let id = reader.varint("path ID")?;
    u32::try_from(id).map_err(|_| WireError::PathId)
}

fn multipath<'a>(reader: &mut Reader<'a>, kind: u64) -> Result<Frame<'a>, WireError> {
    if !matches!(kind, code::PATH_ACK | code::PATH_ACK_ECN | 0x3e75..=0x3e7c) {
        return Err(WireError::UnknownFrame(kind));
    }
    let path = path_id(reader)?;
    Ok(match kind {
        code::PATH_ACK | code::PATH_ACK_ECN => {
            Frame::Ack { path: Some(path), ack: ack(reader, kind == code::PATH_ACK_ECN)? }
        }
        code::PATH_ABANDON => Frame::PathAbandon { path, error_code: reader.varint("error code")? },
        code::PATH_STATUS_BACKUP | code::PATH_STATUS_AVAILABLE => Frame::PathStatus {
            path,
            sequence: reader.varint("status sequence")?,
            backup: kind == code::PATH_STATUS_BACKUP,
        },
        code::PATH_NEW_CONNECTION_ID => {
            Frame::NewConnectionId { path: Some(path), new: new_cid(reader)? }
        }
        code::PATH_RETIRE_CONNECTION_ID => {
            Frame::RetireConnectionId { path: Some(path), sequence: reader.varint("sequence")? }
        }
        code::MAX_PATH_ID => Frame::MaxPathId { maximum: path },
        code::PATHS_BLOCKED => Frame::PathsBlocked { maximum: path },
        _ => Frame::PathCidsBlocked { path, next_sequence: reader.varint("next sequence")? },
    })
}
