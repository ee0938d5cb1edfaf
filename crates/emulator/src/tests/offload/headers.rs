use super::*;
use crate::offload::Header;

fn plain() -> Made {
    Made {
        is_v4: true,
        is_tcp: true,
        options: Vec::new(),
        ip_options: false,
        traffic_class: 0,
        id: 7,
        port: 5001,
        sequence: 1,
        flags: 0x18,
        mss: 100,
        payload: vec![9; 250],
    }
}

/// The header and the packet of a super-packet, after a change.
fn changed(change: impl FnOnce(&mut Header, &mut Vec<u8>)) -> Vec<u8> {
    let bytes = plain().super_packet();
    let (header, packet) = bytes.split_first_chunk().unwrap();
    let (mut header, mut packet) = (Header::read(header), packet.to_vec());
    change(&mut header, &mut packet);
    [&header.bytes()[..], &packet].concat()
}

/// Frames of it and how often its header could not be followed, through the core.
fn seen(bytes: &[u8]) -> (u64, u64) {
    let mut core = core_with(&[path("a", LinkConfig::constant(1000.0, 0.0))], Offload::TcpUdp);
    arrive(&mut core, ms(0), CLIENT, bytes);
    let counts = core.statistics().counts;
    (counts.frames_read, counts.odd_headers)
}

#[test]
fn a_header_is_read_as_it_was_written() {
    let header = Header {
        flags: 1,
        gso_type: 0x81,
        header_bytes: 52,
        gso_size: 1448,
        csum_start: 20,
        csum_offset: 16,
    };
    assert_eq!(Header::read(&header.bytes()), header);
    assert_eq!((header.is_partial(), header.is_super(), header.csum_at()), (true, true, 36));
}

#[test]
fn what_cannot_be_split_is_one_frame_and_counted() {
    assert_eq!(seen(&changed(|_, _| ())), (3, 0));
    let hostile: [fn(&mut Header, &mut Vec<u8>); 12] = [
        |header, _| header.gso_size = 0,
        |header, _| header.gso_type = Header::GSO_UDP_L4,
        |header, _| header.gso_type = 77,
        |header, _| header.csum_start = 0xFFFF,
        |header, _| header.csum_offset = 0xFFFF,
        |header, _| header.flags = 0,
        |_, packet| packet[6] |= 0x20, // a fragment
        |_, packet| packet[9] = 47,
        |_, packet| packet[0] = 0x4F,
        |_, packet| packet[32] = 0x10, // a TCP header of 4 bytes
        |_, packet| packet.truncate(100),
        |_, packet| packet.clear(),
    ];
    for (place, change) in hostile.into_iter().enumerate() {
        assert_eq!(seen(&changed(change)), (1, 1), "{place}");
    }
    let one = changed(|header, _| (header.gso_type, header.csum_start) = (0, 0xFFFF));
    assert_eq!(seen(&one), (1, 1));
}

#[test]
fn how_long_a_header_says_that_it_is_does_not_matter() {
    assert_eq!(seen(&changed(|header, _| header.header_bytes = 0xFFFF)), (3, 0));
    assert_eq!(seen(&changed(|header, _| header.header_bytes = 0)), (3, 0));
}

#[test]
fn less_than_a_header_passes_as_it_is() {
    assert_eq!(seen(&[1, 1, 1]), (1, 0));
    assert_eq!(split(&[1, 1, 1]), [vec![1, 1, 1]]);
}

#[test]
fn packets_without_a_partial_checksum_stay_as_they_are() {
    let mut bytes = changed(|header, _| *header = Header::default());
    bytes.truncate(10 + 140);
    assert_eq!(split(&bytes), [bytes[10..].to_vec()]);
}
