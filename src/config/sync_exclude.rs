//! What file sync leaves alone.

use super::names::asks_for_help;
use crate::error::Error;
use crate::text_type::text_type;

text_type! {
    /// A pattern that is handed to the provider's `sync --exclude` as one argument.
    pub(crate) SyncExclude: judge => Error
}

fn judge(text: &str) -> Result<&str, Error> {
    let reason = if text.trim().is_empty() {
        "is empty"
    } else if asks_for_help(text) {
        "would make the provider print its help; write help/ or **/help"
    } else if text.starts_with('-') {
        "would be taken for a flag"
    } else if text.starts_with('!') {
        "would take other excludes back"
    } else if text.contains(',') || text.chars().any(char::is_control) {
        // The provider's flag parser splits a value at commas.
        "has a character that is not accepted"
    } else {
        return Ok(text);
    };
    Err(Error::usage(format!("sync exclude \"{text}\" {reason}"))
        .help("use a name or a pattern, such as node_modules or *.log"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_pass_and_what_the_command_line_would_misread_does_not() {
        for good in [".git", "node_modules", "target/", "*.log", "a b", "help/", "**/help"] {
            assert_eq!(good.parse::<SyncExclude>().unwrap().as_str(), good);
        }
        for bad in ["", " ", "-x", "--mode", "!keep", "a,b", "a\nb", "help", "-h", "--help"] {
            assert!(bad.parse::<SyncExclude>().is_err(), "{bad}");
        }
    }
}
