//! The priority that a request asks for (RFC 9218 §5).

use http3::Fields;

/// Of an answer to a request that asks for nothing (RFC 9218 §4).
const DEFAULT: (u8, bool) = (3, false);

/// Urgency, and whether the answer is of use in pieces. What cannot be understood, and the second of two
/// fields, counts for nothing.
pub(super) fn asked(fields: &Fields) -> (u8, bool) {
    let mut asked = DEFAULT;
    for member in fields.only("priority").unwrap_or_default().split(',') {
        // Parameters of a member mean nothing here (RFC 8941 §3.1.2).
        let member = member.split(';').next().unwrap_or_default();
        match member.trim_matches([' ', '\t']) {
            "i" | "i=?1" => asked.1 = true,
            "i=?0" => asked.1 = false,
            other => {
                // Anything else is ignored (RFC 9218 §4).
                if let Some([digit @ b'0'..=b'7']) = other.strip_prefix("u=").map(str::as_bytes) {
                    asked.0 = digit - b'0';
                }
            }
        }
    }
    asked
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(value: &str) -> (u8, bool) {
        asked(&Fields::default().with("priority", value))
    }

    #[test]
    fn a_priority_is_read_as_a_dictionary() {
        assert_eq!(asked(&Fields::default()), (3, false));
        assert_eq!(of("u=5, i"), (5, true)); // the example of RFC 9218 §5
        assert_eq!(of("i=?1,u=0"), (0, true));
        assert_eq!(of("u=1, i, u=2, i=?0"), (2, false)); // the last one counts (RFC 8941 §3.2)
        assert_eq!(of("u=0;a=1, x=9"), (0, false));
        for odd in ["u=8", "u=-1", "u=33", "u=", "u", "i=1", "I", ""] {
            assert_eq!(of(odd), (3, false), "{odd}");
        }
        let twice = Fields::default().with("priority", "u=1").with("priority", "u=2");
        assert_eq!(asked(&twice), (3, false));
    }

    proptest! {
        #[test]
        fn any_value_is_some_priority(value in "[ui=?0-9,; a-z]{0,40}") {
            prop_assert!(of(&value).0 <= 7);
        }
    }
}
