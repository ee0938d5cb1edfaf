use super::huffman;
use super::integer::{put, take};
use super::*;
use crate::MAX_FIELD_SECTION_BYTES;
use proptest::prelude::*;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn all(fields: &Fields) -> Vec<(String, String)> {
    let text = |value: &[u8]| String::from_utf8(value.to_owned()).unwrap();
    fields.iter().map(|(name, value)| (name.to_owned(), text(value))).collect()
}

/// RFC 7541 Appendix C.4 and C.6.
#[test]
fn huffmans_code_is_that_of_the_rfc() {
    for (text, hex) in [
        ("www.example.com", "f1e3 c2e5 f23a 6ba0 ab90 f4ff"),
        ("no-cache", "a8eb 1064 9cbf"),
        ("custom-value", "25a8 49e9 5bb8 e8b4 bf"),
        ("302", "6402"),
        ("private", "aec3 771a 4b"),
        ("Mon, 21 Oct 2013 20:13:21 GMT", "d07a be94 1054 d444 a820 0595 040b 8166 e082 a62d 1bff"),
    ] {
        assert_eq!(huffman::decode(&bytes(hex)).as_deref(), Some(text.as_bytes()), "{text}");
        assert_eq!(huffman::encode(text.as_bytes()), bytes(hex), "{text}");
    }
}

#[test]
fn what_fills_the_last_byte_is_checked() {
    assert_eq!(huffman::decode(&[0b0001_1111]), Some(b"a".to_vec()));
    assert_eq!(huffman::decode(&[0b0001_1110]), None, "not the beginning of the end");
    assert_eq!(huffman::decode(&[0b0001_1111, 0xff]), None, "a byte too long");
    assert_eq!(huffman::decode(&[0xff, 0xff, 0xff, 0xff]), None, "the end itself");
    assert_eq!(huffman::decode(&[]), Some(Vec::new()));
}

/// RFC 9204 Appendix B.1, and an authority that an encoder writes in Huffman's code.
#[test]
fn sections_of_others_are_read() {
    let section = bytes("0000 510b 2f69 6e64 6578 2e68 746d 6c");
    assert_eq!(all(&decode(&section).unwrap()), [(":path".into(), "/index.html".into())]);
    let section = bytes("0000 508c f1e3 c2e5 f23a 6ba0 ab90 f4ff d1 d7");
    let expected = [(":authority", "www.example.com"), (":method", "GET"), (":scheme", "https")];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(all(&decode(&section).unwrap()), expected);
}

#[test]
fn what_needs_a_dynamic_table_is_refused() {
    for (hex, what) in [
        ("0100", "an insert count"),
        ("0080", "a negative base"),
        ("0000 80", "an entry of it"),
        ("0000 10", "an entry after the base"),
        ("0000 4001 61", "its name"),
        ("0000 0001 61", "a name after the base"),
        ("0000 ff24", "entry 99, the first that is not there"),
        ("0000 510b 2f", "a string that breaks off"),
        ("00", "half a head"),
        ("", "nothing"),
        ("0000 ffff ffff ffff ffff ffff 7f", "an integer of 64 bits"),
        ("0000 51 82 ffff", "a string that is the end"),
    ] {
        let error = decode(&bytes(hex)).unwrap_err();
        assert_eq!(error.code, Code::QpackDecompression, "{what}");
        assert!(error.ends_connection());
    }
}

#[test]
fn fields_come_to_no_more_than_is_allowed() {
    // 32 + 10 bytes each, of two on the wire: what is small may be much.
    let most = MAX_FIELD_SECTION_BYTES as usize / 42;
    let section = |fields: usize| [vec![0, 0], vec![0xd1; fields]].concat();
    assert_eq!(decode(&section(most)).unwrap().iter().count(), most);
    assert_eq!(decode(&section(most + 1)).unwrap_err().code, Code::ExcessiveLoad);
}

#[test]
fn secrets_are_never_to_be_put_into_a_table() {
    let section = encode(&Fields::default().with("authorization", "Bearer x"));
    assert_eq!(section[2] & 0b1111_0000, 0b0111_0000);
    assert_eq!(decode(&section).unwrap().only("authorization"), Some("Bearer x"));
}

#[test]
fn the_static_table_is_used() {
    let fields = Fields::default().with(":status", "200").with("accept-ranges", "bytes");
    assert_eq!(encode(&fields), [0, 0, 0b1100_0000 | 25, 0b1100_0000 | 32]);
}

proptest! {
    #![proptest_config(cases::at_least(512))]

    #[test]
    fn integers_come_back(value in 0..=(1_u64 << 62) - 1, bits in 3..=8_u8, rest: Vec<u8>) {
        let mut out = Vec::new();
        put(&mut out, 0, bits, value);
        let len = out.len();
        out.extend(&rest);
        let mut input = &out[..];
        prop_assert_eq!(take(&mut input, bits).unwrap(), (0, value));
        prop_assert_eq!(input.len(), out.len() - len);
    }

    #[test]
    fn strings_come_back_from_huffmans_code(text: Vec<u8>) {
        prop_assert_eq!(huffman::decode(&huffman::encode(&text)), Some(text));
    }

    /// There is one way to write a string: what is read is written again as it was.
    #[test]
    fn whatever_huffmans_code_is_read_is_the_only_one(input: Vec<u8>) {
        if let Some(text) = huffman::decode(&input) {
            prop_assert_eq!(huffman::encode(&text), input);
        }
    }

    #[test]
    fn fields_come_back(list in prop::collection::vec(("[a-z:-]{1,20}", any::<Vec<u8>>()), 0..20)) {
        let mut fields = Fields::default();
        list.into_iter().for_each(|(name, value)| fields.push(name, value));
        prop_assert_eq!(decode(&encode(&fields)).unwrap(), fields);
    }

    #[test]
    fn nothing_that_comes_panics_or_grows(input: Vec<u8>) {
        let section = [&[0, 0][..], &input].concat();
        for section in [&input, &section] {
            if let Ok(fields) = decode(section) {
                let bytes: usize = fields.iter().map(|(name, value)| name.len() + value.len()).sum();
                prop_assert!(bytes as u64 <= MAX_FIELD_SECTION_BYTES);
                prop_assert_eq!(decode(&encode(&fields)).unwrap(), fields);
            }
        }
    }
}
