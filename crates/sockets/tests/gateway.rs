//! TCP through a gateway: origins and players on loopback, and clients that break its rules. In a
//! process of its own, for it has many descriptors.

mod raw_client;

use mpquic::{Event, Read as Came};
use raw_client::{RawClient, role_for, run};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sockets::{
    Anchor, Clock, Connect, Door, Doors, GATEWAY, Gateway, Hints, Identity, Limits, Local, Options,
    Origin, Origins, Passed, Passing, RetryPolicy, Server, ServerConfig, SocketError,
    bound_for_gateway,
};
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use units::Duration;

fn local(last: u8) -> IpAddr {
    Ipv4Addr::new(127, 0, 0, last).into()
}

/// Bytes that repeat nowhere within a packet's length.
fn content(bytes: usize) -> Vec<u8> {
    (0..bytes as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

// ---- origins ------------------------------------------------------------------------------------

/// An origin that hands each connection to `serve`, in a thread of its own. It ends with the process.
fn origin(name: &str, serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Origin {
    let listener = TcpListener::bind((local(1), 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let serve = serve.clone();
            std::thread::spawn(move || serve(socket.unwrap()));
        }
    });
    Origin { name: name.into(), addresses: vec![address] }
}

fn echo(mut socket: TcpStream) {
    let mut space = vec![0; 1 << 16];
    while let Ok(count @ 1..) = socket.read(&mut space) {
        if socket.write_all(&space[..count]).is_err() {
            return;
        }
    }
    socket.shutdown(Shutdown::Write).ok(); // it may be broken
}

/// Answers when it has heard everything.
fn count(mut socket: TcpStream) {
    let mut heard = Vec::new();
    socket.read_to_end(&mut heard).unwrap();
    write!(socket, "{} bytes", heard.len()).unwrap();
}

// ---- both sides ---------------------------------------------------------------------------------

/// What a side said, for those who wait for it.
#[derive(Default)]
struct Said {
    all: Mutex<Vec<Passed>>,
    more: Condvar,
}

impl Said {
    fn hear(&self, news: &[Passed]) {
        self.all.lock().unwrap().extend_from_slice(news);
        self.more.notify_all();
    }

    /// Waits until `which` was said `count` times.
    fn wait(&self, times: usize, which: impl Fn(&Passed) -> bool) -> Vec<Passed> {
        let mut all = self.all.lock().unwrap();
        loop {
            let found: Vec<Passed> = all.iter().filter(|one| which(one)).cloned().collect();
            if found.len() >= times {
                return found;
            }
            all = self.more.wait(all).unwrap();
        }
    }
}

struct Side<T> {
    said: Arc<Said>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<T>>,
}

impl<T: Send + 'static> Side<T> {
    fn start(run: impl FnOnce(Arc<Said>, Arc<AtomicBool>) -> T + Send + 'static) -> Self {
        let (said, over) = (Arc::<Said>::default(), Arc::<AtomicBool>::default());
        let (hears, stop) = (said.clone(), over.clone());
        let thread = Some(std::thread::spawn(move || run(hears, stop)));
        Self { said, over, thread }
    }

    fn end(mut self) -> T {
        self.over.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

impl<T> Drop for Side<T> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

fn gateway(
    identity: &Identity,
    listen: SocketAddr,
    origins: Vec<Origin>,
    hangs: Arc<AtomicBool>,
) -> (Side<()>, SocketAddr) {
    let options = Options::default();
    let mut endpoint = options.config(identity.role(GATEWAY).unwrap()).unwrap();
    bound_for_gateway(&mut endpoint);
    let config = ServerConfig {
        endpoint,
        scheduler: options.scheduler.clone().into(),
        qlog: None,
        limits: Limits::of(16),
        retry: RetryPolicy::default(),
        clock: Clock::start(),
    };
    let mut server = Server::bind(listen, config).unwrap();
    let address = SocketAddr::new(listen.ip(), server.port());
    let side = Side::start(move |said, over| {
        let mut gateway = Gateway::new(Origins::new(origins).unwrap(), |news: &[Passed], _| {
            said.hear(news);
            while hangs.load(Ordering::Relaxed) && !over.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            !over.load(Ordering::Relaxed)
        });
        server.run(&mut gateway).unwrap();
    });
    (side, address)
}

/// A gateway, a client of it, and the doors to the origins of these names.
struct Passage {
    gateway: Side<()>,
    doors: Side<Result<(), SocketError>>,
    at: Vec<SocketAddr>,
    address: SocketAddr,
    identity: Identity,
    /// The gateway does nothing as long as this is true.
    hangs: Arc<AtomicBool>,
}

impl Passage {
    fn new(origins: Vec<Origin>, names: &[&str]) -> Self {
        Self::with(origins, names, &Options::default())
    }

    fn with(origins: Vec<Origin>, names: &[&str], options: &Options) -> Self {
        let identity = Identity::self_signed(&["localhost".into()]).unwrap();
        let hangs = Arc::<AtomicBool>::default();
        let anywhere = SocketAddr::new(local(1), 0);
        let (gateway, address) = gateway(&identity, anywhere, origins, hangs.clone());
        let connect = Connect {
            host: address.ip().to_string(),
            port: address.port(),
            locals: vec![Local::Address(local(1)), Local::Address(local(2))],
            anchor: Anchor::pin(&identity.fingerprint()).unwrap(),
            patience: Duration::from_secs(120), // fails by then
            options: options.clone(),
            hints: Hints::default(),
        };
        let door = |name: &&str| Door { listen: anywhere, origin: (*name).into() };
        let all = Doors::bind(&names.iter().map(door).collect::<Vec<_>>()).unwrap();
        let at = all.addresses();
        let doors = Side::start(move |said, over| {
            all.run(&connect, |passing: &Passing<'_>| {
                said.hear(&passing.news);
                !over.load(Ordering::Relaxed)
            })
        });
        Self { gateway, doors, at, address, identity, hangs }
    }

    fn player(&self, door: usize) -> TcpStream {
        TcpStream::connect(self.at[door]).unwrap()
    }
}

fn is_ended(one: &Passed) -> bool {
    matches!(one, Passed::Ended(..))
}

/// Says so much that it comes back whole, once.
fn talk(player: &mut TcpStream, data: &[u8]) {
    let mut writer = player.try_clone().unwrap();
    let mut back = vec![0; data.len()];
    std::thread::scope(|scope| {
        scope.spawn(|| writer.write_all(data).unwrap());
        player.read_exact(&mut back).unwrap();
    });
    assert!(back == data, "what came back is not what was said");
}

fn read_to_reset(player: &mut TcpStream) -> ErrorKind {
    let mut space = vec![0; 1 << 16];
    loop {
        match player.read(&mut space) {
            Ok(0) => panic!("an orderly end"),
            Ok(_) => {}
            Err(error) => return error.kind(),
        }
    }
}

// ---- tests --------------------------------------------------------------------------------------

#[test]
fn bytes_pass_both_ways_over_two_paths_to_their_ends() {
    let turns = scheduler::Algorithm::RoundRobin.into();
    let options = Options { scheduler: turns, ..Options::default() };
    let passage = Passage::with(vec![origin("echo", echo)], &[""], &options);
    let data = content(8_000_000);
    let mut player = passage.player(0);
    talk(&mut player, &data);
    player.shutdown(Shutdown::Write).unwrap();
    assert_eq!(player.read(&mut [0]).unwrap(), 0);
    let both = [data.len() as u64; 2];
    let ended = passage.gateway.said.wait(1, is_ended);
    let Passed::Ended(_, name, bytes, None) = &ended[0] else { panic!("{ended:?}") };
    assert_eq!((name.as_str(), *bytes), ("echo", both));
    let ended = passage.doors.said.wait(1, is_ended);
    assert!(matches!(ended[0], Passed::Ended(_, _, bytes, None) if bytes == both), "{ended:?}");
    passage.gateway.said.wait(1, |one| matches!(one, Passed::Path(_, ip) if *ip == local(2)));
}

#[test]
fn either_end_may_stop_talking_and_go_on_listening() {
    let patient = |mut socket: TcpStream| {
        socket.write_all(b"that is all").unwrap();
        socket.shutdown(Shutdown::Write).unwrap();
        let mut heard = Vec::new();
        socket.read_to_end(&mut heard).unwrap();
        assert!(heard == content(3_000_000));
    };
    let passage = Passage::new(
        vec![origin("count", count), origin("patient", patient)],
        &["count", "patient"],
    );
    let mut player = passage.player(0);
    player.write_all(&content(3_000_000)).unwrap();
    player.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    player.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "3000000 bytes");

    let mut player = passage.player(1);
    let mut answer = String::new();
    player.read_to_string(&mut answer).unwrap(); // to its end
    assert_eq!(answer, "that is all");
    player.write_all(&content(3_000_000)).unwrap();
    drop(player);
    let ended = passage.gateway.said.wait(2, is_ended);
    assert!(ended.iter().all(|one| matches!(one, Passed::Ended(.., None))), "{ended:?}");
}

#[test]
fn who_breaks_off_is_broken_off_at_the_other_end() {
    let breaks = |socket: TcpStream| {
        (&socket).write_all(b"begun").unwrap();
        (&socket).read_exact(&mut [0; 3]).unwrap();
        socket2::SockRef::from(&socket).set_linger(Some(Duration::ZERO.into())).unwrap();
    };
    let (heard, hears) = std::sync::mpsc::channel();
    let listens = move |mut socket: TcpStream| {
        socket.write_all(b"begun").unwrap();
        heard.send(read_to_reset(&mut socket)).unwrap();
    };
    let passage = Passage::new(
        vec![origin("breaks", breaks), origin("listens", listens)],
        &["breaks", "listens"],
    );
    let mut player = passage.player(0);
    player.read_exact(&mut [0; 5]).unwrap();
    player.write_all(b"now").unwrap();
    assert_eq!(read_to_reset(&mut player), ErrorKind::ConnectionReset);

    let mut player = passage.player(1);
    player.read_exact(&mut [0; 5]).unwrap();
    socket2::SockRef::from(&player).set_linger(Some(Duration::ZERO.into())).unwrap();
    drop(player);
    assert_eq!(hears.recv().unwrap(), ErrorKind::ConnectionReset);
}

#[test]
fn a_player_that_stops_holds_up_no_other_one_and_little_memory() {
    let given = Arc::<AtomicU64>::default();
    let gives = given.clone();
    let endless = move |mut socket: TcpStream| {
        let data = content(1 << 20);
        while socket.write_all(&data).is_ok() {
            gives.fetch_add(data.len() as u64, Ordering::Relaxed);
        }
    };
    let passage =
        Passage::new(vec![origin("endless", endless), origin("echo", echo)], &["endless", "echo"]);
    let mut stopped = passage.player(0);
    stopped.read_exact(&mut [0; 1]).unwrap();
    let mut flowing = passage.player(1);
    for _ in 0..10 {
        talk(&mut flowing, &content(10_000_000));
    }
    // A window of at most 8 MiB, what is under way, and what four sockets of the kernel hold.
    let held = given.load(Ordering::Relaxed);
    assert!(held < 50 << 20, "{held} bytes");
    let mut more = vec![0; 60 << 20];
    stopped.read_exact(&mut more).unwrap(); // it goes on where it stopped
    let expected = content(1 << 20);
    assert!((0..more.len()).all(|at| more[at] == expected[(at + 1) & ((1 << 20) - 1)]));
}

#[test]
fn more_than_256_are_refused_until_one_ends() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).unwrap();
    let passage = Passage::new(vec![origin("echo", echo)], &[""]);
    let mut players: Vec<TcpStream> = (0..256).map(|_| passage.player(0)).collect();
    for (place, player) in players.iter_mut().enumerate() {
        talk(player, &content(1000 + place));
    }
    assert_eq!(read_to_reset(&mut passage.player(0)), ErrorKind::ConnectionReset);
    let is_refused =
        |one: &Passed| matches!(one, Passed::Refused(_, _, why) if why.contains("256"));
    passage.doors.said.wait(1, is_refused);
    players.pop();
    passage.doors.said.wait(1, is_ended);
    talk(&mut passage.player(0), b"there is room");
}

#[test]
fn only_origins_on_the_list_are_connected() {
    let listener = TcpListener::bind((local(1), 0)).unwrap();
    let secret = listener.local_addr().unwrap();
    let closed = {
        let gone = TcpListener::bind((local(1), 0)).unwrap();
        gone.local_addr().unwrap()
    };
    let origins = vec![
        origin("echo", echo),
        Origin { name: "gone".into(), addresses: vec![closed] },
        // The second address serves where the first does not.
        Origin { name: "second".into(), addresses: vec![closed, origin("", echo).addresses[0]] },
    ];
    let names = [&secret.to_string(), "gone", "second"];
    let passage = Passage::new(origins, &names);
    let why_of = |door: usize, times: usize| {
        assert_eq!(read_to_reset(&mut passage.player(door)), ErrorKind::ConnectionReset);
        let refused = |one: &Passed| matches!(one, Passed::Refused(..));
        let why = |side: &Said| match side.wait(times, refused).pop() {
            Some(Passed::Refused(_, name, why)) => (name, why),
            other => panic!("{other:?}"),
        };
        (why(&passage.gateway.said), why(&passage.doors.said))
    };
    let (told, heard) = why_of(0, 1);
    assert_eq!(told, (secret.to_string(), "it is not on the list of origins".into()));
    assert_eq!(heard, (secret.to_string(), "the gateway has no such origin".into()));
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    let (told, heard) = why_of(1, 2);
    assert!(told.1.contains("refused"), "{told:?}");
    assert_eq!(heard.1, "the gateway cannot reach the origin");
    talk(&mut passage.player(2), b"here");
}

#[test]
fn a_gateway_that_ends_ends_its_connections_and_is_found_again() {
    let passage = Passage::new(vec![origin("echo", echo)], &[""]);
    let mut player = passage.player(0);
    talk(&mut player, b"here");
    let Passage { gateway: side, doors, at, address, identity, hangs } = passage;
    side.end();
    assert_eq!(read_to_reset(&mut player), ErrorKind::ConnectionReset);
    doors.said.wait(1, |one| matches!(one, Passed::Closed(..)));
    // Who comes while nobody is there waits until somebody is.
    let mut early = TcpStream::connect(at[0]).unwrap();
    let (_side, _) = gateway(&identity, address, vec![origin("echo", echo)], hangs);
    talk(&mut early, b"here again");
    doors.end().unwrap();
}

#[test]
fn a_gateway_that_vanishes_ends_its_connections() {
    let options = Options { idle_timeout_s: 2.0, ..Options::default() };
    let passage = Passage::with(vec![origin("echo", echo)], &[""], &options);
    let mut player = passage.player(0);
    talk(&mut player, b"here");
    passage.hangs.store(true, Ordering::Relaxed);
    assert_eq!(read_to_reset(&mut player), ErrorKind::ConnectionReset);
    let closed =
        |one: &Passed| matches!(one, Passed::Closed(_, why) if why.contains("nothing was heard"));
    passage.doors.said.wait(1, closed);
}

#[test]
fn streams_that_begin_wrongly_are_given_up_alone() {
    let identity = Identity::self_signed(&["localhost".into()]).unwrap();
    let listen = SocketAddr::new(local(1), 0);
    let (side, address) = gateway(&identity, listen, vec![origin("echo", echo)], Arc::default());
    let config = Options::default().config(role_for(&identity.fingerprint(), GATEWAY)).unwrap();
    let mut clients = [RawClient::new(address, local(1), config, 1)];
    run(&mut clients, |all| all[0].endpoint.is_connected());
    let client = &mut clients[0];
    let wrong = [
        (client.say(true, b"", true), 0x400),        // no name
        (client.say(true, b"\x04ech", true), 0x400), // half a name
        (client.say(true, b"\x04nope-and-more", false), 0x404), // no origin of ours
        (client.say(true, &[&[255][..], &[0xff; 255]].concat(), false), 0x404), // no text
    ];
    client.say(true, b"\xffabc", false); // it never goes on
    let nobody = client.say(false, &[7; 9000], false); // nobody listens to those
    let honest = [
        client.say(true, b"\x04echohello", true),
        client.say(true, b"\x00hello", true), // the first origin
    ];
    for (stream, code) in wrong {
        assert_eq!(hear(client, stream), (Vec::new(), Came::Reset(code)));
    }
    for stream in honest {
        assert_eq!(hear(client, stream), (b"hello".to_vec(), Came::Finished));
    }
    run(&mut clients, |all| all[0].events.contains(&Event::Stopped(nobody, 0x400)));
    side.said.wait(2, |one| matches!(one, Passed::Refused(..)));
    side.said.wait(2, is_ended);
}

/// What comes of a stream, and how it ends.
fn hear(client: &mut RawClient, stream: u64) -> (Vec<u8>, Came) {
    let mut heard = Vec::new();
    loop {
        client.turn();
        match client.endpoint.read(client.now(), stream, usize::MAX).unwrap() {
            Came::Data(data) => heard.extend(data),
            Came::Blocked => std::thread::yield_now(),
            end => return (heard, end),
        }
    }
}
