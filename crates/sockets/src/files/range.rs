//! Ranges of bytes (RFC 9110 §14).

use std::ops::Range;

/// One range as a client asks for it: from one byte to another, or a number of bytes at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    From(u64, Option<u64>),
    Last(u64),
}

impl Asked {
    /// Reads `bytes=1-2`. `None`: several ranges, other units, or no range at all, which a server may leave
    /// unheard (RFC 9110 §14.2).
    pub fn read(field: &str) -> Option<Self> {
        let (unit, range) = field.split_once('=')?;
        let (first, last) = range.trim().split_once('-')?;
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse().unwrap_or(u64::MAX))
        };
        if !unit.eq_ignore_ascii_case("bytes") {
            return None;
        }
        if first.is_empty() {
            return number(last).map(Self::Last);
        }
        let first = number(first)?;
        match last {
            "" => Some(Self::From(first, None)),
            last => {
                let last = number(last)?;
                (last >= first).then_some(Self::From(first, Some(last)))
            }
        }
    }

    /// What it is of a file of `bytes`; `None`: nothing of it is there.
    pub fn of(self, bytes: u64) -> Option<Range<u64>> {
        let range = match self {
            Self::From(first, last) => first..last.unwrap_or(u64::MAX).saturating_add(1).min(bytes),
            Self::Last(count) => bytes.saturating_sub(count)..bytes,
        };
        (range.start < range.end).then_some(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges_are_those_of_the_rfc() {
        let of = |field, bytes| Asked::read(field).map(|asked| asked.of(bytes));
        assert_eq!(of("bytes=0-499", 1000), Some(Some(0..500)));
        assert_eq!(of("bytes=500-", 1000), Some(Some(500..1000)));
        assert_eq!(of("bytes=-1", 1000), Some(Some(999..1000)));
        assert_eq!(of("Bytes=-2000", 1000), Some(Some(0..1000)));
        assert_eq!(of("bytes=999-5000", 1000), Some(Some(999..1000)));
        assert_eq!(of("bytes=0-99999999999999999999999", 10), Some(Some(0..10)));
        for nothing in ["bytes=1000-", "bytes=-0", "bytes=1000-2000"] {
            assert_eq!(of(nothing, 1000), Some(None), "{nothing}");
        }
        for unheard in
            ["bytes=2-1", "bytes=0-1,3-4", "lines=1-2", "bytes", "bytes=", "bytes=-", "bytes=+1-"]
        {
            assert_eq!(of(unheard, 1000), None, "{unheard}");
        }
    }

    proptest! {
        #[test]
        fn what_is_given_is_there(first: u64, last: Option<u64>, count: u64, bytes: u64) {
            for asked in [Asked::From(first, last), Asked::Last(count)] {
                if let Some(range) = asked.of(bytes) {
                    prop_assert!(range.start < range.end && range.end <= bytes);
                }
            }
        }

        #[test]
        fn no_field_panics(field: String) {
            let _any = Asked::read(&field).and_then(|asked| asked.of(7));
        }
    }
}
