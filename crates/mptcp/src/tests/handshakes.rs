//! Opening subflows (RFC 8684 §3.1, §3.2), and repeating what is lost (RFC 6298 §5).

use super::{at, ms};
use crate::subflow::{Handshake, State};
use units::Instant;

#[test]
fn the_first_subflow_stands_after_a_syn_ack_and_a_third_ack() {
    let (mut client, mut server) = (Handshake::client(false), Handshake::server(false));
    assert!(client.has_to_send());
    client.on_sent(at(0));
    server.on_sent(at(30));
    assert_eq!(client.on_syn_ack(at(60)), Some(ms(60)));
    assert_eq!(client.state(), State::Established);
    assert_eq!(server.on_confirmed(at(90)), Some(Some(ms(60))));
    assert_eq!(server.state(), State::Established);
    assert_eq!((client.deadline(), server.deadline()), (Instant::FAR_FUTURE, Instant::FAR_FUTURE));
    assert_eq!(server.on_confirmed(at(95)), None, "once");
}

#[test]
fn a_join_waits_for_a_fourth_ack() {
    let mut client = Handshake::client(true);
    client.on_sent(at(0));
    assert_eq!(client.on_syn_ack(at(60)), Some(ms(60)));
    assert_eq!(client.state(), State::PreEstablished);
    assert!(client.has_to_send(), "the third ACK");
    client.on_sent(at(60));
    assert_eq!(client.on_syn_ack(at(70)), None, "a repeated SYN/ACK changes nothing");
    assert_eq!(client.deadline(), at(1060), "the third ACK is repeated, too");
    assert_eq!(client.on_confirmed(at(120)), Some(Some(ms(60))));
}

#[test]
fn a_lost_syn_leaves_again_after_1_3_7_s_and_gives_no_rtt() {
    let mut client = Handshake::client(false);
    let mut now = at(0);
    for wait_s in [1, 2, 4, 8, 16, 32, 64, 120, 120] {
        client.on_sent(now);
        assert_eq!(client.deadline(), now + ms(1000 * wait_s));
        client.on_timer(now + ms(1000 * wait_s - 1));
        assert!(!client.has_to_send(), "not before its time");
        now += ms(1000 * wait_s);
        client.on_timer(now);
        assert!(client.has_to_send());
    }
    client.on_sent(now);
    assert_eq!(client.on_syn_ack(now + ms(60)), None, "Karn: which SYN it answers is not known");
    assert_eq!(client.state(), State::Established);
}

#[test]
fn a_repeated_syn_is_answered_again_until_the_subflow_stands() {
    let mut server = Handshake::server(true);
    server.on_sent(at(0));
    server.resend();
    assert!(server.has_to_send());
    server.on_sent(at(10));
    server.on_confirmed(at(50));
    server.resend();
    assert!(!server.has_to_send());
}
