use super::frame::code;
use super::{AckFrame, Frame, NewCid, put_two_varints, put_varint, varint_len};

impl Frame<'_> {
    /// Appends the frame. STREAM and DATAGRAM frames carry their length.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Padding(count) => out.resize(out.len() + count, 0),
            Self::Ping => put(out, &[code::PING]),
            Self::Ack { path, ack } => encode_ack(out, *path, ack),
            Self::ResetStream { id, error_code, final_size } => {
                put(out, &[code::RESET_STREAM, *id, *error_code, *final_size]);
            }
            Self::StopSending { id, error_code } => {
                put(out, &[code::STOP_SENDING, *id, *error_code])
            }
            Self::Crypto { offset, data } => {
                put(out, &[code::CRYPTO, *offset, data.len() as u64]);
                out.extend(*data);
            }
            Self::NewToken { token } => {
                put(out, &[code::NEW_TOKEN, token.len() as u64]);
                out.extend(*token);
            }
            Self::Stream { id, offset, data, fin } => {
                begin_stream(out, *id, *offset, data.len(), *fin);
                out.extend(*data);
            }
            Self::ConnectionClose { error_code, frame_type, reason } => {
                match frame_type {
                    Some(kind) => put(out, &[code::CONNECTION_CLOSE, *error_code, *kind]),
                    None => put(out, &[code::APPLICATION_CLOSE, *error_code]),
                }
                put_varint(out, reason.len() as u64);
                out.extend(*reason);
            }
            Self::Datagram { data } => {
                put(out, &[code::DATAGRAM_LEN, data.len() as u64]);
                out.extend(*data);
            }
            Self::PathChallenge { data } => {
                put(out, &[code::PATH_CHALLENGE]);
                out.extend(data);
            }
            Self::PathResponse { data } => {
                put(out, &[code::PATH_RESPONSE]);
                out.extend(data);
            }
            Self::NewConnectionId { path, new } => encode_new_cid(out, *path, new),
            _ => self.encode_numbers(out),
        }
    }

    /// Frames of nothing but integers.
    fn encode_numbers(&self, out: &mut Vec<u8>) {
        match *self {
            Self::MaxData { maximum } => put(out, &[code::MAX_DATA, maximum]),
            Self::MaxStreamData { id, maximum } => put(out, &[code::MAX_STREAM_DATA, id, maximum]),
            Self::MaxStreams { bidi: true, maximum } => {
                put(out, &[code::MAX_STREAMS_BIDI, maximum])
            }
            Self::MaxStreams { maximum, .. } => put(out, &[code::MAX_STREAMS_UNI, maximum]),
            Self::DataBlocked { limit } => put(out, &[code::DATA_BLOCKED, limit]),
            Self::StreamDataBlocked { id, limit } => {
                put(out, &[code::STREAM_DATA_BLOCKED, id, limit])
            }
            Self::StreamsBlocked { bidi: true, limit } => {
                put(out, &[code::STREAMS_BLOCKED_BIDI, limit])
            }
            Self::StreamsBlocked { limit, .. } => put(out, &[code::STREAMS_BLOCKED_UNI, limit]),
            Self::RetireConnectionId { path: None, sequence } => {
                put(out, &[code::RETIRE_CONNECTION_ID, sequence]);
            }
            Self::RetireConnectionId { path: Some(path), sequence } => {
                put(out, &[code::PATH_RETIRE_CONNECTION_ID, path.into(), sequence]);
            }
            Self::PathAbandon { path, error_code } => {
                put(out, &[code::PATH_ABANDON, path.into(), error_code]);
            }
            Self::PathStatus { path, sequence, backup } => {
                let kind =
                    if backup { code::PATH_STATUS_BACKUP } else { code::PATH_STATUS_AVAILABLE };
                put(out, &[kind, path.into(), sequence]);
            }
            Self::MaxPathId { maximum } => put(out, &[code::MAX_PATH_ID, maximum.into()]),
            Self::PathsBlocked { maximum } => put(out, &[code::PATHS_BLOCKED, maximum.into()]),
            Self::PathCidsBlocked { path, next_sequence } => {
                put(out, &[code::PATH_CIDS_BLOCKED, path.into(), next_sequence]);
            }
            _ => put(out, &[code::HANDSHAKE_DONE]),
        }
    }

    /// Appends the head of a STREAM frame whose `len` bytes the caller appends.
    pub fn begin_stream(out: &mut Vec<u8>, id: u64, offset: u64, len: usize, fin: bool) {
        begin_stream(out, id, offset, len, fin);
    }

    /// Bytes of the head of a STREAM frame with less than 2^14 bytes of data.
    pub fn stream_head_len(id: u64, offset: u64) -> usize {
        1 + varint_len(id) + varint_len(offset) + 2
    }
}

fn put(out: &mut Vec<u8>, numbers: &[u64]) {
    numbers.iter().for_each(|number| put_varint(out, *number));
}

fn begin_stream(out: &mut Vec<u8>, id: u64, offset: u64, len: usize, fin: bool) {
    // RFC 9000 §19.8: OFF 0x04, LEN 0x02, FIN 0x01.
    let off = if offset > 0 { 4 } else { 0 };
    put(out, &[code::STREAM | off | 2 | u64::from(fin), id]);
    if offset > 0 {
        put_varint(out, offset);
    }
    put_varint(out, len as u64);
}

fn encode_ack(out: &mut Vec<u8>, path: Option<u32>, ack: &AckFrame) {
    let Some(first) = ack.ranges.first() else { return };
    let ecn = u64::from(ack.ecn.is_some());
    match path {
        Some(path) => put(out, &[code::PATH_ACK + ecn, path.into()]),
        None => put(out, &[code::ACK + ecn]),
    }
    let count = ack.ranges.len() as u64 - 1;
    put(out, &[*first.end(), ack.delay, count, first.end() - first.start()]);
    let mut smallest = *first.start();
    for range in &ack.ranges[1..] {
        let (gap, len) = (smallest - range.end() - 2, range.end() - range.start());
        put_two_varints(out, [gap, len]); // RFC 9000 §19.3.1
        smallest = *range.start();
    }
    if let Some(ecn) = ack.ecn {
        put(out, &[ecn.ect0, ecn.ect1, ecn.ce]);
    }
}

fn encode_new_cid(out: &mut Vec<u8>, path: Option<u32>, new: &NewCid) {
    match path {
        Some(path) => put(out, &[code::PATH_NEW_CONNECTION_ID, path.into()]),
        None => put(out, &[code::NEW_CONNECTION_ID]),
    }
    put(out, &[new.sequence, new.retire_prior_to]);
    out.push(new.cid.as_slice().len() as u8);
    out.extend(new.cid.as_slice());
    out.extend(new.token.0);
}
