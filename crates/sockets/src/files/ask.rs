//! What a client asks for, in whatever protocol.

use super::range::Asked;
use crate::digest;
use http3::{Fields, Request};

/// A digest that is wanted behind the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wants {
    Nothing,
    /// Of what is sent.
    Content,
    /// Of the whole file.
    Whole,
}

/// A request for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ask {
    pub path: String,
    /// The answer's beginning alone.
    pub head_alone: bool,
    pub range: Option<Asked>,
    /// The range counts for this version alone.
    pub if_range: Option<String>,
    /// Versions that the client has.
    pub known: Option<String>,
    pub wants: Wants,
}

impl Ask {
    /// The whole file.
    pub fn whole(path: String) -> Self {
        let (head_alone, range, if_range, known) = (false, None, None, None);
        Self { path, head_alone, range, if_range, known, wants: Wants::Nothing }
    }

    /// From a request; `None`: its method is neither GET nor HEAD.
    pub fn of(request: Request) -> Option<Self> {
        let head_alone = match &request.method[..] {
            "GET" => false,
            "HEAD" => true,
            _ => return None,
        };
        let fields = request.fields;
        // Ranges are GET's (RFC 9110 §14.2).
        let range = fields.only("range").filter(|_| !head_alone).and_then(Asked::read);
        let text = |name| fields.only(name).map(str::to_owned);
        Some(Self {
            path: request.path,
            head_alone,
            range,
            // Several cannot be heeded, and so no range is.
            if_range: text("if-range").or(fields.all("if-range").next().map(|_| String::new())),
            known: text("if-none-match"),
            wants: if head_alone { Wants::Nothing } else { wanted(&fields) },
        })
    }

    /// What of a file of `bytes`, in the version `tag`, it asks for; an error: nothing that is there.
    pub fn range_of(&self, bytes: u64, tag: &str) -> Result<Option<std::ops::Range<u64>>, ()> {
        // RFC 9110 §13.1.5: of another version the whole is sent.
        let asked = self.range.filter(|_| self.if_range.as_deref().is_none_or(|own| own == tag));
        asked.map(|asked| asked.of(bytes).ok_or(())).transpose()
    }

    /// Whether the client has the version `tag` (RFC 9110 §13.1.2).
    pub fn knows(&self, tag: &str) -> bool {
        let is = |one: &str| one.trim() == "*" || one.trim().trim_start_matches("W/") == tag;
        self.known.as_deref().is_some_and(|known| known.split(',').any(is))
    }
}

fn wanted(fields: &Fields) -> Wants {
    let wants = |name| fields.only(name).is_some_and(digest::wants);
    if wants(digest::WANT_WHOLE) {
        Wants::Whole
    } else if wants(digest::WANT_CONTENT) {
        Wants::Content
    } else {
        Wants::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(method: &str, fields: Fields) -> Option<Ask> {
        let authority = Some("a".into());
        let (method, scheme, path) = (method.into(), "https".into(), "/f".into());
        Ask::of(Request { method, scheme, authority, path, fields })
    }

    #[test]
    fn a_range_counts_for_its_version_alone() {
        let ranged = Fields::default().with("range", "bytes=5-");
        let plain = ask("GET", ranged.clone()).unwrap();
        assert_eq!(plain.range_of(9, "\"a\""), Ok(Some(5..9)));
        assert_eq!(plain.range_of(5, "\"a\""), Err(()));
        let same = ask("GET", ranged.clone().with("if-range", "\"a\"")).unwrap();
        assert_eq!(same.range_of(9, "\"a\""), Ok(Some(5..9)));
        assert_eq!(same.range_of(9, "\"b\""), Ok(None));
        let twice = ranged.clone().with("if-range", "\"a\"").with("if-range", "\"b\"");
        assert_eq!(ask("GET", twice).unwrap().range_of(9, "\"a\""), Ok(None));
        assert_eq!(ask("HEAD", ranged).unwrap().range_of(9, "\"a\""), Ok(None));
    }

    #[test]
    fn methods_and_wishes_are_heard() {
        assert_eq!(ask("POST", Fields::default()), None);
        assert_eq!(ask("get", Fields::default()), None);
        let wants = |name| ask("GET", Fields::default().with(name, "sha-256=1")).unwrap().wants;
        assert_eq!(wants("want-repr-digest"), Wants::Whole);
        assert_eq!(wants("want-content-digest"), Wants::Content);
        assert_eq!(wants("other"), Wants::Nothing);
        let knows = |tags: &str| {
            let fields = Fields::default().with("if-none-match", tags);
            ask("GET", fields).unwrap().knows("\"a\"")
        };
        assert!(knows("\"b\", W/\"a\"") && knows("*") && !knows("\"b\""));
    }
}
