//! Digests of contents and files in fields of HTTP (RFC 9530): SHA-256 alone.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{Context, SHA256};

/// The digest of a message's content (RFC 9530 §2).
pub(crate) const CONTENT: &str = "content-digest";
/// The digest of the whole of what a message is a part of (RFC 9530 §3).
pub(crate) const WHOLE: &str = "repr-digest";
/// Asks for one of them (RFC 9530 §4).
pub(crate) const WANT_CONTENT: &str = "want-content-digest";
/// See there.
pub(crate) const WANT_WHOLE: &str = "want-repr-digest";
/// What a field says that asks for SHA-256.
pub(crate) const WANTED: &str = "sha-256=10";

/// A sum under way.
#[derive(Clone)]
pub(crate) struct Sum(Context);

impl Default for Sum {
    fn default() -> Self {
        Self(Context::new(&SHA256))
    }
}

impl Sum {
    pub fn take(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The value of a digest field.
    pub fn value(&self) -> String {
        let digest = self.0.clone().finish();
        format!("sha-256=:{}:", STANDARD.encode(digest))
    }
}

/// Whether what a digest field says of SHA-256 is `sum`; `None`: it says nothing of it.
pub(crate) fn agrees(field: &str, sum: &Sum) -> Option<bool> {
    let said = member(field, "sha-256")?;
    Some(format!("sha-256={said}") == sum.value())
}

/// Whether a field asks for SHA-256: a weight of 0 says that it is not wanted.
pub(crate) fn wants(field: &str) -> bool {
    member(field, "sha-256").is_some_and(|weight| weight.parse().is_ok_and(|weight: u8| weight > 0))
}

/// The value of a member of a dictionary (RFC 9651 §3.2), the last one if there are several.
fn member<'a>(field: &'a str, name: &str) -> Option<&'a str> {
    let mut members = field.split(',').filter_map(|member| member.trim().split_once('='));
    let value = members.rfind(|(key, _)| *key == name)?.1;
    Some(value.split(';').next().unwrap_or(value).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(text: &str) -> Sum {
        let mut sum = Sum::default();
        sum.take(text.as_bytes());
        sum
    }

    /// RFC 9530 Appendix D: the digest of `{"hello": "world"}` and a new line.
    #[test]
    fn digests_are_those_of_the_rfc() {
        let value = sum("{\"hello\": \"world\"}\n").value();
        assert_eq!(value, "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:");
    }

    #[test]
    fn only_what_is_said_of_sha_256_counts() {
        let (right, other) = (sum("a"), sum("b").value());
        let said = format!("sha-512=:eA==:, {}", right.value());
        assert_eq!(agrees(&said, &right), Some(true));
        assert_eq!(agrees(&other, &right), Some(false));
        assert_eq!(agrees("sha-512=:eA==:", &right), None);
        assert_eq!(agrees("sha-256", &right), None);
        assert_eq!(agrees("sha-256=:broken", &right), Some(false));
    }

    #[test]
    fn weights_say_what_is_wanted() {
        assert!(wants("sha-256=10") && wants("sha-512=3, sha-256=1"));
        assert!(!wants("sha-256=0") && !wants("sha-512=3") && !wants("") && !wants("sha-256=x"));
    }
}
