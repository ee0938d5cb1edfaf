use super::{ConnectionId, Reader, ResetToken, WireError, put_varint, varint_len};

/// Transport parameters (RFC 9000 §18.2, RFC 9221 §3, draft-ietf-quic-multipath-21 §3).
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "fields have the names of RFC 9000 §18.2")]
pub struct Params {
    pub original_destination_connection_id: Option<ConnectionId>,
    pub max_idle_timeout_ms: u64,
    pub stateless_reset_token: Option<ResetToken>,
    pub max_udp_payload_size: u64,
    pub initial_max_data: u64,
    pub initial_max_stream_data_bidi_local: u64,
    pub initial_max_stream_data_bidi_remote: u64,
    pub initial_max_stream_data_uni: u64,
    pub initial_max_streams_bidi: u64,
    pub initial_max_streams_uni: u64,
    pub ack_delay_exponent: u64,
    pub max_ack_delay_ms: u64,
    pub disable_active_migration: bool,
    pub active_connection_id_limit: u64,
    pub initial_source_connection_id: Option<ConnectionId>,
    pub retry_source_connection_id: Option<ConnectionId>,
    pub max_datagram_frame_size: u64,
    /// Present when multipath is offered.
    pub initial_max_path_id: Option<u32>,
}

impl Default for Params {
    /// What holds for absent parameters (RFC 9000 §18.2).
    fn default() -> Self {
        Self {
            original_destination_connection_id: None,
            max_idle_timeout_ms: 0,
            stateless_reset_token: None,
            max_udp_payload_size: 65527,
            initial_max_data: 0,
            initial_max_stream_data_bidi_local: 0,
            initial_max_stream_data_bidi_remote: 0,
            initial_max_stream_data_uni: 0,
            initial_max_streams_bidi: 0,
            initial_max_streams_uni: 0,
            ack_delay_exponent: 3,
            max_ack_delay_ms: 25,
            disable_active_migration: false,
            active_connection_id_limit: 2,
            initial_source_connection_id: None,
            retry_source_connection_id: None,
            max_datagram_frame_size: 0,
            initial_max_path_id: None,
        }
    }
}

/// Identifiers: RFC 9000 §18.2, RFC 9221 §3, draft-ietf-quic-multipath-21 §3.
mod id {
    pub const ORIGINAL_DESTINATION: u64 = 0x00;
    pub const RESET_TOKEN: u64 = 0x02;
    pub const PREFERRED_ADDRESS: u64 = 0x0d;
    pub const DISABLE_MIGRATION: u64 = 0x0c;
    pub const INITIAL_SOURCE: u64 = 0x0f;
    pub const RETRY_SOURCE: u64 = 0x10;
    pub const MAX_PATH_ID: u64 = 0x3e;
}

impl Params {
    /// The integers with their identifiers and what they are when absent.
    fn numbers(&self) -> [(u64, u64, u64); 12] {
        let absent = Self::default();
        [
            (0x01, self.max_idle_timeout_ms, 0),
            (0x03, self.max_udp_payload_size, absent.max_udp_payload_size),
            (0x04, self.initial_max_data, 0),
            (0x05, self.initial_max_stream_data_bidi_local, 0),
            (0x06, self.initial_max_stream_data_bidi_remote, 0),
            (0x07, self.initial_max_stream_data_uni, 0),
            (0x08, self.initial_max_streams_bidi, 0),
            (0x09, self.initial_max_streams_uni, 0),
            (0x0a, self.ack_delay_exponent, absent.ack_delay_exponent),
            (0x0b, self.max_ack_delay_ms, absent.max_ack_delay_ms),
            (0x0e, self.active_connection_id_limit, absent.active_connection_id_limit),
            (0x20, self.max_datagram_frame_size, 0),
        ]
    }

    fn number_mut(&mut self, id: u64) -> Option<&mut u64> {
        Some(match id {
            0x01 => &mut self.max_idle_timeout_ms,
            0x03 => &mut self.max_udp_payload_size,
            0x04 => &mut self.initial_max_data,
            0x05 => &mut self.initial_max_stream_data_bidi_local,
            0x06 => &mut self.initial_max_stream_data_bidi_remote,
            0x07 => &mut self.initial_max_stream_data_uni,
            0x08 => &mut self.initial_max_streams_bidi,
            0x09 => &mut self.initial_max_streams_uni,
            0x0a => &mut self.ack_delay_exponent,
            0x0b => &mut self.max_ack_delay_ms,
            0x0e => &mut self.active_connection_id_limit,
            0x20 => &mut self.max_datagram_frame_size,
            _ => return None,
        })
    }

    /// Writes them, absent values left out.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (id, value, absent) in self.numbers() {
            if value != absent {
                put_number(&mut out, id, value);
            }
        }
        if let Some(maximum) = self.initial_max_path_id {
            put_number(&mut out, id::MAX_PATH_ID, maximum.into());
        }
        if self.disable_active_migration {
            put_bytes(&mut out, id::DISABLE_MIGRATION, &[]);
        }
        if let Some(token) = self.stateless_reset_token {
            put_bytes(&mut out, id::RESET_TOKEN, &token.0);
        }
        let cids = [
            (id::ORIGINAL_DESTINATION, &self.original_destination_connection_id),
            (id::INITIAL_SOURCE, &self.initial_source_connection_id),
            (id::RETRY_SOURCE, &self.retry_source_connection_id),
        ];
        for (id, cid) in cids {
            if let Some(cid) = cid {
                put_bytes(&mut out, id, cid.as_slice());
            }
        }
        out
    }

    /// Reads those that a peer sent; `from_server` says which ones it may send.
    pub fn decode(bytes: &[u8], from_server: bool) -> Result<Self, WireError> {
        let mut reader = Reader::new(bytes);
        let mut params = Self::default();
        let mut seen = Vec::new();
        while !reader.is_empty() {
            let id = reader.varint("parameter ID")?;
            let value = reader.prefixed("parameter")?;
            if seen.contains(&id) {
                return Err(WireError::Value("a parameter that came twice")); // RFC 9000 §7.4
            }
            if params.take(id, value, from_server)? {
                seen.push(id);
            }
        }
        params.check()
    }

    /// Takes one parameter; false for one that is not known.
    fn take(&mut self, id: u64, value: &[u8], from_server: bool) -> Result<bool, WireError> {
        let servers_own =
            [id::ORIGINAL_DESTINATION, id::RESET_TOKEN, id::PREFERRED_ADDRESS, id::RETRY_SOURCE];
        if servers_own.contains(&id) && !from_server {
            return Err(WireError::Value("a parameter that only servers send")); // RFC 9000 §18.2
        }
        let mut reader = Reader::new(value);
        if let Some(number) = self.number_mut(id) {
            *number = reader.varint("parameter")?;
            return reader.is_empty().then_some(true).ok_or(WireError::Value("parameter length"));
        }
        match id {
            id::ORIGINAL_DESTINATION => {
                self.original_destination_connection_id = Some(ConnectionId::new(value)?);
            }
            id::INITIAL_SOURCE => {
                self.initial_source_connection_id = Some(ConnectionId::new(value)?)
            }
            id::RETRY_SOURCE => self.retry_source_connection_id = Some(ConnectionId::new(value)?),
            id::RESET_TOKEN => {
                let token = value.try_into().map_err(|_| WireError::Value("reset token"))?;
                self.stateless_reset_token = Some(ResetToken(token));
            }
            id::DISABLE_MIGRATION => self.disable_active_migration = true,
            id::MAX_PATH_ID => {
                let maximum = reader.varint("maximum path ID")?;
                let maximum = u32::try_from(maximum).map_err(|_| WireError::Value("path ID"))?;
                self.initial_max_path_id = Some(maximum);
            }
            id::PREFERRED_ADDRESS => check_preferred_address(value)?, // nobody moves there
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The limits of RFC 9000 §18.2.
    fn check(self) -> Result<Self, WireError> {
        let allowed = self.max_udp_payload_size >= 1200
            && self.ack_delay_exponent <= 20
            && self.max_ack_delay_ms < 1 << 14
            && self.active_connection_id_limit >= 2
            && self.initial_max_streams_bidi <= 1 << 60
            && self.initial_max_streams_uni <= 1 << 60;
        allowed.then_some(self).ok_or(WireError::Value("a transport parameter"))
    }
}

/// Addresses and ports of both families, a connection ID that is not empty, and its reset token
/// (RFC 9000 §18.2).
fn check_preferred_address(value: &[u8]) -> Result<(), WireError> {
    let mut reader = Reader::new(value);
    reader.bytes(4 + 2 + 16 + 2, "preferred address")?;
    let len = usize::from(reader.u8("connection ID length")?);
    let cid = ConnectionId::new(reader.bytes(len, "connection ID")?)?;
    reader.array::<16>("reset token")?;
    let fits = reader.is_empty() && !cid.as_slice().is_empty();
    fits.then_some(()).ok_or(WireError::Value("preferred address"))
}

fn put_number(out: &mut Vec<u8>, id: u64, value: u64) {
    put_varint(out, id);
    put_varint(out, varint_len(value) as u64);
    put_varint(out, value);
}

fn put_bytes(out: &mut Vec<u8>, id: u64, value: &[u8]) {
    put_varint(out, id);
    put_varint(out, value.len() as u64);
    out.extend(value);
}
