//! How many cases a property of the tests is tried on.
//!
//! An expensive property says how many are usual; `PROPTEST_CASES` in the environment asks for more
//! (`make fuzz`), and never for fewer than are usual.

use proptest::test_runner::Config;

/// A configuration with `usual` cases, or as many as the environment asks for if these are more.
#[must_use]
pub fn at_least(usual: u32) -> Config {
    let asked = std::env::var("PROPTEST_CASES").ok();
    Config { cases: larger(usual, asked.as_deref()), ..Config::default() }
}

/// The larger of both numbers; what is no number asks for nothing.
fn larger(usual: u32, asked: Option<&str>) -> u32 {
    asked.and_then(|cases| cases.parse().ok()).map_or(usual, |cases: u32| cases.max(usual))
}

#[cfg(test)]
mod tests {
    use super::larger;

    #[test]
    fn the_environment_rules_where_it_is_larger() {
        assert_eq!(larger(300, None), 300);
        assert_eq!(larger(300, Some("5000")), 5000);
        assert_eq!(larger(300, Some("5")), 300);
        assert_eq!(larger(300, Some("many")), 300);
    }
}
