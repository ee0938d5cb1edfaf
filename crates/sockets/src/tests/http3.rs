//! HTTP/3: what a client gets to hear, digests, and fetches that go on.

use super::ends::{Folder, Running, content, local, serve, serve_as, server_config};
use crate::*;
use http3::{Code, Fields, Head, Item, Link, Message, Request, Response, Side};
use mpquic::{Closed, Endpoint, Event, Read};
use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use units::{Duration, Instant};

/// What came of one request.
#[derive(Default)]
struct Answer {
    message: Message<Response>,
    status: u16,
    fields: Fields,
    content: Vec<u8>,
    trailers: Option<Fields>,
    over: bool,
    reset: Option<u64>,
}

/// Sends streams as they are, and reads what comes on them.
struct Asking {
    link: Option<Link>,
    requests: Vec<Vec<u8>>,
    answers: BTreeMap<u64, Answer>,
    gives_up_at: Instant,
}

impl Session for Asking {
    fn work(&mut self, now: Instant, endpoint: &mut Endpoint, events: &[Event]) -> Status {
        if let Some(link) = &mut self.link {
            link.work(now, endpoint, events).unwrap();
        }
        for request in std::mem::take(&mut self.requests) {
            let stream = endpoint.open_stream(true).unwrap();
            endpoint.write(stream, &request).unwrap();
            endpoint.finish(stream).unwrap();
            self.answers.insert(stream, Answer::default());
        }
        for (stream, answer) in &mut self.answers {
            while !answer.over {
                match endpoint.read(now, *stream, 1 << 16) {
                    Ok(Read::Data(data)) => answer.take(&data),
                    Ok(Read::Finished) => answer.over = true,
                    Ok(Read::Reset(code)) => (answer.over, answer.reset) = (true, Some(code)),
                    _ => break,
                }
            }
        }
        let over = self.answers.values().all(|answer| answer.over);
        if over { Status::Done(0) } else { Status::Working }
    }

    fn due(&self) -> Instant {
        self.gives_up_at
    }

    fn look(&mut self, _now: Instant, _paths: &[PathReport]) -> Status {
        Status::Done(1)
    }
}

impl Answer {
    fn take(&mut self, mut data: &[u8]) {
        while let Some(item) = self.message.next(&mut data).unwrap() {
            match item {
                Item::Head(head) => (self.status, self.fields) = (head.status, head.fields),
                Item::Content(bytes) => self.content.extend(bytes),
                Item::Trailers(fields) => self.trailers = Some(fields),
            }
        }
    }

    fn said(&self, name: &str) -> Option<&str> {
        self.fields.only(name)
    }
}

fn client(server: &Running, alpn: &[u8], asking: &mut Asking) -> Closed {
    let trust = Trust::new(&Anchor::pin(&server.pin).unwrap()).unwrap();
    let options = Options::default();
    let config = ClientConfig {
        servers: vec![server.address],
        name: "server".into(),
        paths: vec![Local::Any],
        backups: Vec::new(),
        endpoint: options.config(trust.role("localhost", alpn).unwrap()).unwrap(),
        trust,
        scheduler: options.scheduler.clone().into(),
        qlog: None,
        patience: Duration::from_secs(120),
        clock: Clock::start(),
    };
    asking.gives_up_at = Instant::from_millis(120_000);
    Client::connect(config, asking).unwrap().run(asking).unwrap()
}

/// Streams on one connection, and what came on each.
fn ask_raw(server: &Running, requests: Vec<Vec<u8>>) -> (Vec<Answer>, Closed) {
    let link = Some(Link::new(Side::Client));
    let mut asking =
        Asking { link, requests, answers: BTreeMap::new(), gives_up_at: Instant::FAR_FUTURE };
    let closed = client(server, H3, &mut asking);
    (asking.answers.into_values().collect(), closed)
}

fn request(method: &str, path: &str, fields: &[(&'static str, &str)]) -> Vec<u8> {
    let mut all = Fields::default();
    fields.iter().for_each(|(name, value)| all.add(name, *value));
    let authority = Some("localhost".into());
    let (method, scheme, path) = (method.into(), "https".into(), path.into());
    http3::head(&Request { method, scheme, authority, path, fields: all }.write())
}

#[test]
fn every_request_has_its_status() {
    let folder = Folder::new("statuses");
    let data = content(100_000);
    fs::write(folder.0.join("file"), &data).unwrap();
    fs::write(folder.0.join(".dot"), b"x").unwrap();
    fs::create_dir(folder.0.join("folder")).unwrap();
    let server = serve(&folder.0, &Options::default());
    let range = |range: &'static str| request("GET", "/file", &[("range", range)]);
    let (answers, _) = ask_raw(
        &server,
        vec![
            request("GET", "/file", &[]),
            request("HEAD", "/file", &[("range", "bytes=1-2")]),
            range("bytes=99990-"),
            range("bytes=-3"),
            range("bytes=100000-"),
            range("bytes=1-2,4-5"),
            request("GET", "/nothing", &[]),
            request("GET", "/.dot", &[]),
            request("GET", "/folder", &[]),
            request("POST", "/file", &[]),
            request("GET", "/file", &[("x", &"y".repeat(20_000))]),
        ],
    );
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [200, 200, 206, 206, 416, 200, 404, 404, 403, 405, 431]);
    assert!(answers[0].content == data && answers[5].content == data);
    assert_eq!(answers[0].said("accept-ranges"), Some("bytes"));
    assert_eq!((answers[1].said("content-length"), answers[1].content.len()), (Some("100000"), 0));
    assert_eq!(answers[2].content, data[99_990..]);
    assert_eq!(answers[2].said("content-range"), Some("bytes 99990-99999/100000"));
    assert_eq!(answers[3].content, data[99_997..]);
    assert_eq!(answers[4].said("content-range"), Some("bytes */100000"));
    assert_eq!(answers[9].said("allow"), Some("GET, HEAD"));
    assert!(answers.iter().all(|answer| answer.said("date").is_some()));

    let tag = answers[0].said("etag").unwrap();
    let other = "\"other\"";
    let (answers, _) = ask_raw(
        &server,
        vec![
            request("GET", "/file", &[("if-none-match", tag)]),
            request("GET", "/file", &[("range", "bytes=5-"), ("if-range", tag)]),
            request("GET", "/file", &[("range", "bytes=5-"), ("if-range", other)]),
        ],
    );
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [304, 206, 200]);
    let seen = server.end();
    let refused = seen.iter().filter(|one| matches!(one, Served::Refused(..))).count();
    assert_eq!(refused, 2, "{seen:?}");
}

#[test]
fn digests_are_given_to_who_wants_them() {
    let folder = Folder::new("digests");
    let data = content(3_000_000);
    fs::write(folder.0.join("file"), &data).unwrap();
    let server = serve(&folder.0, &Options::default());
    let part = ("range", "bytes=1000000-1999999");
    let (answers, _) = ask_raw(
        &server,
        vec![
            request("GET", "/file", &[("want-content-digest", "sha-256=1")]),
            request("GET", "/file", &[part, ("want-content-digest", "sha-256=1")]),
            request("GET", "/file", &[part, ("want-repr-digest", "sha-256=1")]),
            request("GET", "/file", &[("want-repr-digest", "sha-512=1")]),
        ],
    );
    let sum = |bytes: &[u8]| {
        let mut sum = crate::digest::Sum::default();
        sum.take(bytes);
        sum.value()
    };
    let said = |place: usize, name| answers[place].trailers.as_ref().and_then(|t| t.only(name));
    let (whole, part) = (sum(&data), sum(&data[1_000_000..2_000_000]));
    assert_eq!(said(0, "content-digest"), Some(&whole[..]));
    assert_eq!(said(1, "content-digest"), Some(&part[..]));
    assert_eq!(said(2, "repr-digest"), Some(&whole[..]), "of all, though a part was sent");
    assert!(answers[2].content == data[1_000_000..2_000_000]);
    assert!(answers[3].trailers.is_none());
}

#[test]
fn requests_that_break_the_rules_end_alone_or_with_their_connection() {
    let folder = Folder::new("rules");
    fs::write(folder.0.join("file"), b"x").unwrap();
    let server = serve(&folder.0, &Options::default());
    let upper = request("GET", "/file", &[("Range", "bytes=0-")]);
    let (answers, _) = ask_raw(&server, vec![upper, Vec::new(), request("GET", "/file", &[])]);
    assert_eq!(answers[0].reset, Some(Code::Message as u64));
    assert_eq!(answers[1].reset, Some(Code::RequestIncomplete as u64));
    assert_eq!(answers[2].content, b"x");
    let (_, closed) = ask_raw(&server, vec![vec![0, 1, b'x']]);
    let code = Code::FrameUnexpected as u64;
    assert!(matches!(closed, Closed::PeerApplication(found, _) if found == code), "{closed:?}");
}

#[test]
fn a_token_is_asked_for() {
    let folder = Folder::new("token");
    fs::write(folder.0.join("file"), content(10)).unwrap();
    let (identity, options) =
        (Identity::self_signed(&["localhost".into()]).unwrap(), Options::default());
    let (listen, files) = (SocketAddr::new(local(1), 0), (folder.0.as_path(), Some("secret")));
    let server = serve_as(&identity, listen, files, |role| server_config(role, &options));
    let bearer = |value: &'static str| request("GET", "/file", &[("authorization", value)]);
    let requests = ["Bearer secret", "bearer secret", "Bearer secre", "Bearer", "secret", ""];
    let requests: Vec<_> = requests.into_iter().map(bearer).collect();
    let (answers, _) = ask_raw(&server, requests);
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [200, 200, 401, 401, 401, 401]);
    assert_eq!(answers[2].said("www-authenticate"), Some("Bearer"));
    let line = vec![b"GET /file\r\n".to_vec()];
    let mut hq = Asking {
        link: None,
        requests: line,
        answers: BTreeMap::new(),
        gives_up_at: Instant::FAR_FUTURE,
    };
    client(&server, HQ_INTEROP, &mut hq);
    assert_eq!(hq.answers[&0].reset, Some(0x401));

    let out = folder.0.join("out");
    let mut fetch = server.fetch("/file", &out);
    let error = crate::fetch(&fetch, |_| true).unwrap_err();
    assert!(matches!(error, SocketError::Unauthorized(_)), "{error}");
    fetch.more.token = Some("secret".into());
    assert!(crate::fetch(&fetch, |_| true).unwrap().verified);
    fetch.more.token = Some("a b".into());
    let error = crate::fetch(&fetch, |_| true).unwrap_err();
    assert!(matches!(error, SocketError::Config(_)), "{error}");
}

#[test]
fn what_was_kept_is_gone_on_with() {
    let folder = Folder::new("resume");
    let data = content(2_000_000);
    fs::write(folder.0.join("file"), &data).unwrap();
    let server = serve(&folder.0, &Options::default());
    let (out, part) = (folder.0.join("out"), folder.0.join("out.part"));
    let mut fetch = server.fetch("/file", &out);
    fetch.more.resume = true;
    let asked = |seen: &[Served]| -> Vec<u64> {
        seen.iter()
            .filter_map(|one| if let Served::Asked(_, _, given) = one { *given } else { None })
            .collect()
    };
    // A beginning, a beginning that differs early, and one that differs in what is fetched again.
    let mut early = data[..1_500_000].to_vec();
    early[7] ^= 1;
    let mut late = data[..1_500_000].to_vec();
    late[1_499_000] ^= 1;
    let longer = [&data[..], b"more"].concat();
    for kept in [&data[..1_500_000], &early, &late, &longer, &data, &data[..10], b""] {
        fs::write(&part, kept).unwrap();
        let found = crate::fetch(&fetch, |_| true).unwrap();
        assert!(found.verified);
        assert_eq!(found.bytes, data.len() as u64);
        assert!(fs::read(&out).unwrap() == data);
    }
    let rest = 500_000 + (64 << 10);
    let tail = 64 << 10;
    let whole = 2_000_000;
    let expected = [rest, rest, whole, rest, whole, tail - 4, tail, whole, whole];
    assert_eq!(asked(&server.end()), expected);
}

#[test]
fn a_rate_is_kept_to() {
    let folder = Folder::new("rate");
    fs::write(folder.0.join("file"), content(400_000)).unwrap();
    let server = serve(&folder.0, &Options::default());
    let mut fetch = server.fetch("/file", &folder.0.join("out"));
    fetch.more.most_bytes_per_second = Some(800_000);
    let found = crate::fetch(&fetch, |_| true).unwrap();
    // 400,000 bytes less what a burst brings; nothing bounds how long it may take.
    assert!(found.seconds > 0.4, "{}", found.seconds);
}

#[test]
fn a_fetch_goes_on_when_the_server_was_started_anew() {
    let folder = Folder::new("restart");
    let data = content(60_000_000);
    fs::write(folder.0.join("file"), &data).unwrap();
    let (identity, options) =
        (Identity::self_signed(&["localhost".into()]).unwrap(), Options::default());
    let begin = |listen: SocketAddr| {
        serve_as(&identity, listen, (folder.0.as_path(), None), |role| {
            server_config(role, &options)
        })
    };
    let first = begin(SocketAddr::new(local(1), 0));
    let address = first.address;
    let out = folder.0.join("out");
    let mut fetch = first.fetch("/file", &out);
    fetch.persistence = Duration::from_secs(120);
    fetch.more.most_bytes_per_second = Some(40_000_000);
    let (mut first, mut second, mut again) = (Some(first), None, 0);
    let found = crate::fetch(&fetch, |progress| {
        let lost = |notice: &&Notice| matches!(notice, Notice::Again(_));
        again += progress.notices.iter().filter(lost).count();
        if progress.bytes > 1_000_000 && first.take().is_some() {
            second = Some(begin(address)); // the first one ended when it was dropped
        }
        true
    })
    .unwrap();
    assert!(found.verified && again > 0 && found.connections == 2, "{found:?}");
    assert!(fs::read(&out).unwrap() == data);
    let seen = second.unwrap().end();
    let rest = seen.iter().find_map(|one| match one {
        Served::Asked(_, _, Some(given)) => Some(*given),
        _ => None,
    });
    assert!(rest.unwrap() < data.len() as u64, "what had come was not sent again: {seen:?}");
}
