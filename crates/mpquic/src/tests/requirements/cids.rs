//! Connection IDs (RFC 9000 §5.1, §19.15, §19.16).

use super::*;
use crate::cids::PeerCids;
use crate::wire::{ConnectionId, NewCid, ResetToken, parse};

fn new(sequence: u64, retire_prior_to: u64) -> NewCid {
    let cid = ConnectionId::new(&[sequence as u8; 8]).unwrap();
    NewCid { sequence, retire_prior_to, cid, token: ResetToken([sequence as u8; 16]) }
}

fn frame(sequence: u64, retire_prior_to: u64) -> Frame<'static> {
    Frame::NewConnectionId { path: None, new: new(sequence, retire_prior_to) }
}

/// Both ends have given two by now, which is the limit.
#[test]
fn more_ids_than_the_limit_end_the_connection() {
    let error = Some(Code::ConnectionIdLimit);
    assert_eq!(error_of(Victim::client(), &[frame(2, 0)]), error);
    assert_eq!(error_of(Victim::client(), &[frame(2, 1)]), None);
    assert_eq!(error_of(Victim::client(), &[frame(2, 1), frame(3, 1)]), error);
}

#[test]
fn ids_below_retire_prior_to_are_retired_and_not_used() {
    let mut victim = Victim::client();
    let log = victim.log();
    victim.hears(&[frame(2, 2)]);
    let said = victim.says();
    assert!(!said.is_empty());
    for datagram in said {
        assert_eq!(parse(&datagram, LOCAL_CID_BYTES).unwrap().dcid, new(2, 2).cid);
    }
    let retired = || -> Vec<u64> {
        let frames = log.frames("retire_connection_id");
        frames.iter().map(|frame| frame["sequence_number"].as_u64().unwrap()).collect()
    };
    assert_eq!(retired(), [0, 1]);
    // One that was overtaken is retired at once, and an older limit does not count.
    victim.hears(&[frame(5, 5)]).hears(&[frame(4, 0)]);
    victim.says();
    assert_eq!(retired(), [0, 1, 2, 4]);
    assert_eq!(victim.error(), None);
}

#[test]
fn an_id_may_be_told_twice_but_not_differently() {
    let mut victim = Victim::client();
    assert_eq!(victim.hears(&[frame(2, 1), frame(2, 1)]).hears(&[frame(2, 1)]).error(), None);
    let other = NewCid { cid: new(9, 0).cid, ..new(2, 1) };
    let other = Frame::NewConnectionId { path: None, new: other };
    assert_eq!(victim.hears(&[other]).error(), Some(Code::ProtocolViolation));
}

#[test]
fn retiring_an_id_that_was_never_given_ends_the_connection() {
    let retire = |sequence| [Frame::RetireConnectionId { path: None, sequence }];
    assert_eq!(error_of(Victim::client(), &retire(2)), Some(Code::ProtocolViolation));
    assert_eq!(error_of(Victim::server(), &retire(99)), Some(Code::ProtocolViolation));
}

/// RFC 9000 §5.1.1: what is retired is replaced, by the next number, within the peer's limit of two.
#[test]
fn an_id_that_the_peer_retires_is_replaced_by_the_next_one() {
    let mut victim = Victim::client();
    let log = victim.log();
    let before: Vec<_> = victim.own.endpoint.take_cid_changes();
    victim.hears(&[Frame::RetireConnectionId { path: None, sequence: 1 }]);
    victim.says();
    let frames = log.frames("new_connection_id");
    let numbers: Vec<_> = frames.iter().map(|frame| frame["sequence_number"].as_u64()).collect();
    assert_eq!(numbers, [Some(2)]);
    let changes = victim.own.endpoint.take_cid_changes();
    assert_eq!(changes.iter().filter(|(_, came)| !came).count(), 1);
    let came: Vec<_> = changes.iter().filter(|(_, came)| *came).collect();
    assert!(came.len() == 1 && !before.contains(came[0]), "{changes:?}");
}

/// RFC 9000 §19.15: who has none can give none.
#[test]
fn a_peer_with_an_empty_id_gives_no_others() {
    let mut cids = PeerCids::default();
    cids.set_first(ConnectionId::default(), None);
    assert_eq!(cids.add(0, &new(1, 0)).unwrap_err().code, Code::ProtocolViolation);
    cids.set_first(new(0, 0).cid, None);
    assert_eq!(cids.add(0, &new(1, 0)), Ok(vec![]));
}
