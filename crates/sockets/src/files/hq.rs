//! Requests over HTTP/0.9: `GET /path`.

use super::ask::Ask;
use mpquic::{Endpoint, Read};
use units::Instant;

pub(super) const BAD_REQUEST: u64 = 0x400;
const MAX_REQUEST_BYTES: usize = 4096;

/// What a request asks for as soon as it is complete; the code of a bad one.
pub(super) fn read(
    now: Instant,
    endpoint: &mut Endpoint,
    id: u64,
    request: &mut Vec<u8>,
) -> Option<Result<Ask, u64>> {
    let mut ended = false;
    while !ended && request.len() <= MAX_REQUEST_BYTES {
        match endpoint.read(now, id, MAX_REQUEST_BYTES) {
            Ok(Read::Data(data)) => request.extend(data),
            Ok(Read::Finished) => ended = true,
            Ok(Read::Blocked) => break,
            Ok(Read::Reset(_)) | Err(_) => return Some(Err(BAD_REQUEST)),
        }
    }
    let line = request.iter().position(|byte| *byte == b'\n');
    if request.len() > MAX_REQUEST_BYTES {
        return Some(Err(BAD_REQUEST));
    }
    let line = match line {
        Some(end) => &request[..end],
        None if ended => &request[..],
        None => return None,
    };
    let path = std::str::from_utf8(line).ok().and_then(|line| line.trim_end().strip_prefix("GET "));
    Some(path.map(|path| Ask::whole(path.to_owned())).ok_or(BAD_REQUEST))
}
