//! The values of `environment`, as this machine has them at a start. They are in no message.

use crate::config::{Environment, LONGEST_VALUE, Source};
use crate::error::{Error, Result};
use crate::exec::Run;
use crate::fs::read_regular;
use crate::paths::Paths;
use std::path::PathBuf;
use std::time::Duration;

/// How long a command may take: it may ask its person.
const COMMAND: Duration = Duration::from_secs(30);

/// Every value; without those that are to be taken away.
///
/// # Errors
/// One cannot be had; its name and its source are told.
pub(crate) fn of(environment: &Environment, paths: &Paths) -> Result<Vec<(String, String)>> {
    let mut values = Vec::new();
    for (name, source) in environment.entries() {
        let refused = |why: String| {
            Error::failed(format!("the value of {name} in \"environment\" cannot be had: {why}"))
                .help("mend it in config.json, or take it out there")
        };
        let value = match source {
            Source::Nothing => continue,
            Source::Text(text) => text.clone(),
            Source::From(from) => {
                std::env::var(from).map_err(|_| refused(format!("{from} is not set here")))?
            }
            Source::File(path) => from_file(path, paths).map_err(refused)?,
            Source::Command(words) => from_command(words).map_err(refused)?,
        };
        if value.len() > LONGEST_VALUE || value.contains('\0') {
            return Err(refused("it is too long, or has a zero byte".into()));
        }
        values.push((name.to_owned(), value));
    }
    Ok(values)
}

fn from_file(path: &str, paths: &Paths) -> Result<String, String> {
    let place = path.strip_prefix("~/").map_or_else(|| PathBuf::from(path), |below| paths.home().join(below));
    let bytes = read_regular(&place).map_err(|error| format!("{path}: {error}"))?;
    text(bytes).ok_or_else(|| format!("{path} is no text"))
}

/// What it prints; its errors stay untold, since they may repeat what it knows.
fn from_command(words: &[String]) -> Result<String, String> {
    let ended = Run::new(&words[0]).args(&words[1..]).limit(COMMAND).run();
    let ended = ended.map_err(|error| error.to_string())?;
    if !ended.success() {
        return Err(format!("{} ended with {}", words[0], ended.code()));
    }
    text(ended.stdout).ok_or_else(|| format!("what {} printed is no text", words[0]))
}

/// Without the line end that files and programs end with.
fn text(bytes: Vec<u8>) -> Option<String> {
    let mut text = String::from_utf8(bytes).ok()?;
    if text.ends_with('\n') {
        text.pop();
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    fn values(json: &str) -> Result<Vec<(String, String)>> {
        let settings = Settings::parse(format!("{{\"environment\":{json}}}").as_bytes()).unwrap();
        of(&settings.resolve().environment, &Paths::from_env().unwrap())
    }

    #[test]
    fn each_source_gives_its_value_without_a_last_line_end() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "of a file\n").unwrap();
        let json = format!(
            r#"{{"A":"it's","B":null,"C":{{"file":"{}"}},"D":{{"command":["printf","two\\nlines\\n"]}}}}"#,
            file.path().display()
        );
        let expected = [("A", "it's"), ("C", "of a file"), ("D", "two\nlines")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(values(&json).unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_had_is_told_by_its_name_and_never_by_its_words() {
        for (json, words) in [
            (r#"{"KEY":{"from":"NOT_SET_AT_ALL"}}"#, "NOT_SET_AT_ALL is not set here"),
            (r#"{"KEY":{"file":"/nowhere/key"}}"#, "/nowhere/key"),
            (r#"{"KEY":{"command":["sh","-c","echo s3cret >&2; exit 7"]}}"#, "sh ended with 7"),
            (r#"{"KEY":{"command":["/nowhere/pass"]}}"#, "could not start pass"),
        ] {
            let error = values(json).unwrap_err();
            assert!(error.message().contains("KEY") && error.message().contains(words), "{error}");
            assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
        }
    }
}
