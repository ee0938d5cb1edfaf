use super::*;

/// `HEX` lines of a file into bytes.
fn bytes(line: &str) -> Vec<u8> {
    let pairs = (0..line.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(&line[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn segments_are_those_of_the_kernel() {
    let mut cases = 0;
    for case in include_str!("kernel.txt").split("\n\n").filter(|case| case.starts_with("super")) {
        let mut lines = case.lines();
        let name = lines.next().unwrap();
        let made = bytes(lines.next().unwrap());
        let expected: Vec<_> = lines.map(bytes).collect();
        assert_eq!(split(&made), expected, "{name}");
        cases += 1;
    }
    assert_eq!(cases, 9);
}

proptest! {
    #![proptest_config(cases::at_least(400))]

    #[test]
    fn a_super_packet_is_split_into_what_a_plain_device_gives(made in made(50)) {
        prop_assert_eq!(split(&made.super_packet()), made.segments());
    }

    #[test]
    fn a_segment_counts_as_its_packet(made in made(20)) {
        use link::WireSize;
        let counted: Vec<_> = frames(&made.super_packet()).iter().map(WireSize::wire_bytes).collect();
        let expected: Vec<_> = made.segments().iter().map(|packet| packet.len() as u64).collect();
        prop_assert_eq!(counted, expected);
    }

    #[test]
    fn anything_is_one_frame_or_more_and_none_panics(
        made in made(5),
        changes in prop::collection::vec((0_usize..120, any::<u8>()), 0..8),
        cut in prop::option::of(0_usize..200),
    ) {
        let mut bytes = made.super_packet();
        for (at, value) in changes {
            let length = bytes.len();
            bytes[at % length] = value;
        }
        bytes.truncate(cut.unwrap_or(usize::MAX));
        let frames = frames(&bytes);
        prop_assert!(!frames.is_empty());
        let alone = frames.len() == 1;
        let seen: Vec<_> = frames.iter().map(complete).collect();
        let body = bytes.get(10..).unwrap_or(&bytes);
        prop_assert!(!alone || seen[0].len() == body.len());
        for offload in [Offload::Tcp, Offload::TcpUdp] {
            let _written = merged(super::frames(&bytes), offload);
        }
    }
}
