//! Clients that make a server of files hold descriptors, and a server without any left. Alone in its
//! process, for it lowers the limit of that.

mod raw_client;

use mpquic::{Config, Event, Read};
use raw_client::{FileServer, Folder, RawClient, role, run};
use rustix::process::{Resource, Rlimit, setrlimit};
use sockets::{Limits, Served};

fn descriptors() -> u64 {
    std::fs::read_dir("/proc/self/fd").unwrap().count() as u64
}

#[test]
fn descriptors_are_few_and_their_end_is_no_missing_file() {
    let folder = Folder::new("descriptors");
    std::fs::File::create(folder.0.join("big")).unwrap().set_len(1 << 30).unwrap();
    let server = FileServer::start(&folder.0, Limits::of(200));
    let client = |seed| {
        let mut config = Config::new(role(&server.pin));
        config.stream_window_bytes = 0; // no byte of an answer is taken
        RawClient::new(server.address, server.address.ip(), config, seed)
    };
    let asked = |one: &Served| matches!(one, Served::Asked(_, _, Some(_)));
    let mut clients = vec![client(1)];
    run(&mut clients, |all| all[0].endpoint.is_connected());
    let before = descriptors();
    for _ in 0..100 {
        clients[0].say(true, b"GET /big\r\n", true);
    }
    run(&mut clients, |all| all[0].endpoint.buffered_bytes() == 0);
    run(&mut clients, |_| server.count(asked) == 8);
    assert!(descriptors() <= before + 8 + 1, "{} of {before} before", descriptors());

    clients.push(client(2));
    run(&mut clients, |all| all[1].endpoint.is_connected());
    let limit = Some(descriptors() + 2); // one of them is needed to count
    setrlimit(Resource::Nofile, Rlimit { current: limit, maximum: limit }).unwrap();
    let streams: Vec<u64> = (0..8).map(|_| clients[1].say(true, b"GET /big\r\n", true)).collect();
    let failed = |one: &Served| matches!(one, Served::Failed(_, _, why) if why.contains("Too many open files"));
    run(&mut clients, |_| server.count(asked) + server.count(failed) == 8 + 8);
    let failures = server.count(failed);
    assert!((4..8).contains(&failures), "{failures}");
    let readable = |event: &&Event| matches!(event, Event::Readable(_));
    run(&mut clients, |all| all[1].events.iter().filter(readable).count() == failures);
    let now = clients[1].now();
    let busy = Ok(Read::Reset(0x503));
    let told = streams.iter().filter(|id| clients[1].endpoint.read(now, **id, 1) == busy).count();
    assert_eq!(told, failures);
    assert_eq!(server.count(|one| matches!(one, Served::Asked(_, _, None))), 0);
}
