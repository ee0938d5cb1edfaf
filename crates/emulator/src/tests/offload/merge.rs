use super::*;

const ALONE: u8 = 0x26;

/// What a description makes, in what is merged again.
fn again(made: &Made, offload: Offload) -> Vec<Vec<u8>> {
    merged(frames(&made.super_packet()), offload)
}

/// Two super-packets that follow each other.
fn halves(made: &Made, first: usize) -> [Made; 2] {
    let cut = first * made.mss;
    let mut before = Made { payload: made.payload[..cut].to_vec(), ..made.clone() };
    let after = Made {
        payload: made.payload[cut..].to_vec(),
        sequence: made.sequence.wrapping_add(cut as u32),
        id: made.id.wrapping_add(first as u16),
        flags: made.flags & !0x80,
        ..made.clone()
    };
    before.flags &= !0x09;
    [before, after]
}

proptest! {
    #![proptest_config(cases::at_least(400))]

    #[test]
    fn what_was_split_becomes_what_it_was(mut made in made(64)) {
        made.flags &= !ALONE;
        prop_assume!(made.payload.len() > made.mss);
        prop_assert_eq!(again(&made, Offload::TcpUdp), [made.super_packet()]);
    }

    #[test]
    fn neighbours_of_different_reads_become_one(mut made in made(40), first in any::<prop::sample::Index>()) {
        made.flags &= !ALONE;
        let segments = made.segments().len();
        prop_assume!(segments > 1);
        let halves = halves(&made, 1 + first.index(segments - 1));
        let frames = halves.iter().flat_map(|half| frames(&half.super_packet())).collect();
        prop_assert_eq!(merged(frames, Offload::TcpUdp), [made.super_packet()]);
    }

    /// Whatever is lost in between and whatever stands beside it: the kernel would split what is
    /// written into the segments that were delivered.
    #[test]
    fn what_is_written_splits_into_what_was_delivered(
        made in prop::collection::vec(made(12), 1..5),
        repeated in any::<bool>(),
        lost in prop::collection::vec(any::<bool>(), 200),
        offload in prop_oneof![Just(Offload::Tcp), Just(Offload::TcpUdp)],
    ) {
        let mut made = made;
        if repeated {
            // Neighbours that nearly fit together.
            let next = halves(&made[0], 1.min(made[0].segments().len() - 1));
            made.extend(next.into_iter().filter(|half| !half.payload.is_empty()));
        }
        let all = made.iter().flat_map(|made| frames(&made.super_packet()));
        let kept: Vec<_> =
            all.enumerate().filter(|(at, _)| !lost[at % 200]).map(|(_, frame)| frame).collect();
        let expected: Vec<_> = kept.iter().map(complete).collect();
        let written = merged(kept, offload);
        let seen: Vec<_> = written.iter().flat_map(|packet| split(packet)).collect();
        prop_assert_eq!(seen, expected);
    }
}

/// A flow of 4 full segments of 100 bytes.
fn flow(is_tcp: bool) -> Made {
    Made {
        is_v4: true,
        is_tcp,
        options: vec![1; 12],
        ip_options: false,
        traffic_class: 0,
        id: 65_534,
        port: 5001,
        sequence: u32::MAX - 150,
        flags: 0x10,
        mss: 100,
        payload: vec![5; 400],
    }
}

/// How many packets are written for the halves of a flow, the second after a change.
fn written(is_tcp: bool, change: impl FnOnce(&mut Made)) -> usize {
    let [before, mut after] = halves(&flow(is_tcp), 2);
    change(&mut after);
    let frames = [before, after].iter().flat_map(|half| frames(&half.super_packet())).collect();
    merged(frames, Offload::TcpUdp).len()
}

#[test]
fn only_what_the_kernel_would_split_alike_is_merged() {
    assert_eq!(written(true, |_| ()), 1);
    assert_eq!(written(true, |after| after.sequence += 1), 2);
    assert_eq!(written(true, |after| after.id = 9), 2);
    assert_eq!(written(true, |after| after.port = 9), 2);
    assert_eq!(written(true, |after| after.traffic_class = 3), 2, "a mark of congestion");
    assert_eq!(written(true, |after| after.options[0] = 0), 2);
    assert_eq!(written(true, |after| after.flags = 0x50), 2, "an echo of congestion");
    assert_eq!(written(true, |after| after.flags = 0x90), 2, "a reduced window");
    assert_eq!(written(true, |after| after.flags = 0x19), 1, "the end of the flow");
    assert_eq!(written(true, |after| after.is_v4 = false), 2);
    assert_eq!(written(true, |after| after.mss = 90), 2);
    assert_eq!(written(false, |_| ()), 1);
    assert_eq!(written(false, |after| after.port = 9), 2);
}

#[test]
fn nothing_follows_a_push_or_a_short_segment() {
    let [mut before, after] = halves(&flow(true), 2);
    before.flags |= 8;
    let both = |before: &Made| {
        let halves = [before, &after];
        merged(halves.iter().flat_map(|half| frames(&half.super_packet())).collect(), Offload::Tcp)
    };
    assert_eq!(both(&before).len(), 2);
    before.flags &= !8;
    before.payload.truncate(150);
    assert_eq!(both(&before).len(), 2);
}

#[test]
fn segments_with_syn_rst_or_urg_stay_alone() {
    for flag in [0x02, 0x04, 0x20] {
        let made = Made { flags: 0x10 | flag, ..flow(true) };
        assert_eq!(again(&made, Offload::TcpUdp).len(), 4);
    }
}

#[test]
fn datagrams_are_merged_only_for_a_kernel_that_takes_them() {
    assert_eq!(again(&flow(false), Offload::Tcp).len(), 4);
    assert_eq!(again(&flow(false), Offload::TcpUdp).len(), 1);
}

#[test]
fn a_run_is_no_longer_than_kernels_and_lengths_allow() {
    let many = Made { mss: 10, payload: vec![5; 1000], ..flow(false) };
    assert_eq!(again(&many, Offload::TcpUdp).len(), 2);
    let long = Made { mss: 1400, payload: vec![5; 44 * 1400], ..flow(true) };
    let next = Made {
        sequence: long.sequence.wrapping_add(44 * 1400),
        id: long.id.wrapping_add(44),
        ..long.clone()
    };
    let frames = [long, next].iter().flat_map(|made| frames(&made.super_packet())).collect();
    let lengths: Vec<_> = merged(frames, Offload::Tcp).iter().map(Vec::len).collect();
    assert_eq!(lengths, [10 + 52 + 46 * 1400, 10 + 52 + 42 * 1400]);
}
