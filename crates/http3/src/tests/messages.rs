//! Messages whole, broken, and in pieces.

use crate::message::{data_head, head};
use crate::*;
use proptest::prelude::*;

fn request() -> Request {
    Request {
        method: "GET".into(),
        scheme: "https".into(),
        authority: Some("example.org:4433".into()),
        path: "/a%20b?c".into(),
        fields: Fields::default().with("range", "bytes=5-").with("cookie", "x"),
    }
}

fn data(content: &[u8]) -> Vec<u8> {
    [data_head(content.len() as u64), content.to_vec()].concat()
}

/// A head, content and trailers.
type Whole<H> = (Option<H>, Vec<u8>, Option<Fields>);

/// Reads a message in pieces of `size` bytes: its head, its content and its trailers.
fn read<H: Head>(mut message: Message<H>, stream: &[u8], size: usize) -> Result<Whole<H>, Error> {
    let (mut begun, mut content, mut trailers) = (None, Vec::new(), None);
    for mut piece in stream.chunks(size.max(1)) {
        while let Some(item) = message.next(&mut piece)? {
            match item {
                Item::Head(head) => begun = Some(head),
                Item::Content(bytes) => content.extend(bytes),
                Item::Trailers(fields) => trailers = Some(fields),
            }
        }
        assert!(piece.is_empty(), "everything is taken");
    }
    message.end()?;
    Ok((begun, content, trailers))
}

fn code_of<H: Head>(stream: &[u8]) -> Option<Code> {
    read(Message::<H>::default(), stream, 7).err().map(|error| error.code)
}

fn plain(fields: &[(&'static str, &str)]) -> Vec<u8> {
    let mut all = Fields::default();
    fields.iter().for_each(|(name, value)| all.add(name, *value));
    head(&all)
}

const GET: [(&str, &str); 4] =
    [(":method", "GET"), (":scheme", "https"), (":authority", "a"), (":path", "/")];
const GREASE: [u8; 5] = [0x21, 3, 1, 2, 3];

#[test]
fn a_request_comes_as_it_was() {
    let stream = [head(&request().write()), GREASE.to_vec()].concat();
    for size in [1, 3, 1000] {
        let (begun, content, trailers) = read(Message::default(), &stream, size).unwrap();
        assert_eq!((begun, content.len(), trailers), (Some(request()), 0, None));
    }
}

#[test]
fn a_response_comes_with_content_and_trailers() {
    let early = head(&Fields::default().with(":status", "103").with("link", "x"));
    let begin = head(&Fields::default().with(":status", "206").with("content-length", "7"));
    let end = head(&Fields::default().with("content-digest", "sha-256=:x:"));
    let stream =
        [early, begin, data(b"abc"), GREASE.to_vec(), data(b""), data(b"defg"), end].concat();
    for size in [1, 4, 1000] {
        let message = Message::<Response>::default();
        let (begun, content, trailers) = read(message, &stream, size).unwrap();
        assert_eq!((begun.unwrap().status, &content[..]), (206, &b"abcdefg"[..]));
        assert_eq!(trailers.unwrap().only("content-digest"), Some("sha-256=:x:"));
    }
}

#[test]
fn requests_of_another_form_are_malformed() {
    let with = |field: (&'static str, &'static str)| plain(&[&GET[..], &[field]].concat());
    let without = |place: usize| {
        let mut all = GET.to_vec();
        all.remove(place);
        plain(&all)
    };
    for (what, stream) in [
        ("no method", without(0)),
        ("no scheme", without(1)),
        ("no authority", without(2)),
        ("no path", without(3)),
        ("two methods", with((":method", "GET"))),
        ("unknown", with((":protocol", "websocket"))),
        ("status", with((":status", "200"))),
        ("upper case", with(("Range", "x"))),
        ("a blank", with(("a b", "x"))),
        ("connection", with(("connection", "close"))),
        ("te", with(("te", "gzip"))),
        ("host", with(("host", "b"))),
        ("new line", with(("x", "a\r\nb"))),
        ("zero", with(("x", "a\0b"))),
        ("blank at the end", with(("x", "a "))),
        ("length", with(("content-length", "-1"))),
        ("content that is missing", with(("content-length", "1"))),
        ("pseudo behind", plain(&[GET[0], ("x", "y"), GET[1], GET[2], GET[3]])),
        ("no slash", plain(&[GET[0], GET[1], GET[2], (":path", "a")])),
        ("user", plain(&[GET[0], GET[1], (":authority", "me@a"), GET[3]])),
        ("empty", plain(&[GET[0], GET[1], (":authority", ""), GET[3]])),
        ("connect", plain(&[(":method", "CONNECT"), (":authority", "a")])),
    ] {
        assert_eq!(code_of::<Request>(&stream), Some(Code::Message), "{what}");
    }
    for (what, stream) in [
        ("host alone", plain(&[GET[0], GET[1], GET[3], ("host", "a")])),
        ("both", with(("host", "a"))),
        ("trailers", with(("te", "trailers"))),
        ("options", plain(&[(":method", "OPTIONS"), GET[1], GET[2], (":path", "*")])),
        ("content", [with(("content-length", "1")), data(b"x")].concat()),
    ] {
        assert_eq!(code_of::<Request>(&stream), None, "{what}");
    }
}

#[test]
fn responses_of_another_form_are_malformed() {
    for status in ["", "20", "2000", "099", "20x", "101", "+20"] {
        let stream = plain(&[(":status", status)]);
        assert_eq!(code_of::<Response>(&stream), Some(Code::Message), "{status}");
    }
    let promised = plain(&[(":status", "200"), ("content-length", "3")]);
    let too_much = [promised.clone(), data(b"abcd")].concat();
    assert_eq!(code_of::<Response>(&too_much), Some(Code::Message));
    let too_little = [promised.clone(), data(b"ab")].concat();
    assert_eq!(code_of::<Response>(&too_little), Some(Code::Message));
    assert!(read(Message::<Response>::without_content(), &promised, 9).is_ok());
    let none = plain(&[(":status", "304"), ("content-length", "3")]);
    assert_eq!(code_of::<Response>(&none), None);
    let bad_trailers = [plain(&[(":status", "200")]), plain(&[(":status", "200")])].concat();
    assert_eq!(code_of::<Response>(&bad_trailers), Some(Code::Message));
}

#[test]
fn frames_that_must_not_be_there_end_the_connection() {
    let begin = plain(&GET);
    let after = [begin.clone(), plain(&[("x", "y")])].concat();
    for (what, stream, code) in [
        ("data first", data(b"x"), Code::FrameUnexpected),
        ("settings", [begin.clone(), vec![4, 0]].concat(), Code::FrameUnexpected),
        ("goaway", [begin.clone(), vec![7, 1, 0]].concat(), Code::FrameUnexpected),
        ("push", [begin.clone(), vec![5, 1, 0]].concat(), Code::FrameUnexpected),
        ("HTTP/2", [begin.clone(), vec![6, 0]].concat(), Code::FrameUnexpected),
        ("data last", [after.clone(), data(b"x")].concat(), Code::FrameUnexpected),
        ("a third", [after.clone(), plain(&[("x", "y")])].concat(), Code::FrameUnexpected),
        ("half", begin[..begin.len() - 1].to_vec(), Code::Frame),
        ("half a head", [begin.clone(), vec![0x40]].concat(), Code::Frame),
        ("half of what is left out", [begin.clone(), vec![0x21, 3, 1]].concat(), Code::Frame),
        ("nothing", Vec::new(), Code::RequestIncomplete),
        ("long", vec![1, 0x80, 1, 0, 1], Code::ExcessiveLoad),
    ] {
        assert_eq!(code_of::<Request>(&stream), Some(code), "{what}");
    }
    let pushed = [plain(&[(":status", "200")]), vec![5, 1, 0]].concat();
    assert_eq!(code_of::<Response>(&pushed), Some(Code::Id));
}

proptest! {
    #![proptest_config(cases::at_least(512))]

    #[test]
    fn nothing_that_comes_panics(input: Vec<u8>, size in 1..9_usize) {
        let begun = [plain(&GET), input.clone()].concat();
        let answered = [plain(&[(":status", "200")]), input.clone()].concat();
        for stream in [&input, &begun, &answered] {
            let _any = read(Message::<Request>::default(), stream, size);
            let _any = read(Message::<Response>::default(), stream, size);
        }
    }

    /// What comes of a stream does not depend on the pieces in which it comes.
    #[test]
    fn pieces_change_nothing(
        frames in prop::collection::vec((0..12_u8, prop::collection::vec(any::<u8>(), 0..9)), 0..6),
        size in 1..20_usize,
    ) {
        let mut stream = plain(&GET);
        for (kind, payload) in frames {
            stream.extend([kind, payload.len() as u8]);
            stream.extend(payload);
        }
        let whole = read(Message::<Request>::default(), &stream, stream.len());
        prop_assert_eq!(read(Message::<Request>::default(), &stream, size), whole);
    }
}
