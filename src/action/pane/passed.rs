//! What of this machine's environment reaches a box: how its terminal shows things, and where its person lives. None of it
//! is a secret.

/// A longer value is a mistake, in bytes.
const LONGEST: usize = 200;

/// The variables that go on, as this process has them.
pub(crate) fn on() -> Vec<(String, String)> {
    let mut found: Vec<_> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, value)| goes_on(name) && is_plain(value))
        .collect();
    found.sort();
    found
}

/// Colours, locale, time zone.
fn goes_on(name: &str) -> bool {
    let is_category = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_uppercase());
    matches!(name, "COLORTERM" | "LANG" | "TZ") || name.strip_prefix("LC_").is_some_and(is_category)
}

fn is_plain(value: &str) -> bool {
    (1..=LONGEST).contains(&value.len()) && !value.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_shows_goes_on_and_nothing_else() {
        for name in ["COLORTERM", "LANG", "LC_ALL", "LC_TIME", "TZ"] {
            assert!(goes_on(name), "{name}");
        }
        for name in ["LC_", "LC_PWN-x", "LANGUAGE", "TERM", "PATH", "ANTHROPIC_API_KEY", "LD_PRELOAD"] {
            assert!(!goes_on(name), "{name}");
        }
        assert!(is_plain("de_DE.UTF-8") && !is_plain("") && !is_plain("a\nb") && !is_plain(&"x".repeat(201)));
    }
}
