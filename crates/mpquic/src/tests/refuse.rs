//! A server that refuses a connection without keeping anything for it.

use super::tls;
use crate::{Closed, Config, Endpoint, Event, LOCAL_CID_BYTES, refuse};
use units::{Instant, PathId};

#[test]
fn a_refused_client_gives_up_at_once() {
    let now = Instant::ZERO;
    let scheduler = scheduler::build(&scheduler::Algorithm::MinRtt.into());
    let config = Config::new(tls::client_role());
    let mut client = Endpoint::new(config, scheduler, (now, PathId(0)), 1).unwrap();
    let (net, first) = client.poll_transmit(now).unwrap();
    let answer = refuse(&first, [7; LOCAL_CID_BYTES]).unwrap();
    assert!(answer.len() * 20 < first.len(), "{} for {}", answer.len(), first.len());
    client.handle(now, net, answer, None);
    let closed = Event::Closed(Closed::PeerTransport(2, String::new()));
    assert!(client.take_events().contains(&closed));
    assert_eq!(refuse(&first[..1199], [7; LOCAL_CID_BYTES]), None);
    assert_eq!(refuse(&[0x40; 1200], [7; LOCAL_CID_BYTES]), None);
}
