//! Variables for a box: only what is named goes.

use super::variable::variable;
use crate::error::{Error, Result};

/// How many the service takes, and how many bytes for one value and for all (docs/measured/createos-cli.md 4.4).
const MOST: usize = 64;
const VALUE: usize = 4 * 1024;
const TOGETHER: usize = 64 * 1024;

/// Reads `KEY=VALUE`, and `KEY` for the value that it has here. Values are never shown.
///
/// # Errors
/// A name is none, a variable is not set here, a value has a comma, at which the official program would split it, or
/// there is too much.
pub(super) fn read(entries: &[String]) -> Result<Vec<(String, String)>> {
    if entries.len() > MOST {
        return Err(Error::usage(format!("{} variables are too many: a box takes {MOST}", entries.len())));
    }
    let mut read: Vec<(String, String)> = Vec::new();
    for entry in entries {
        let (name, value) = match entry.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            None => {
                let value = std::env::var_os(entry).is_some_and(|value| value.is_empty()).then(String::new);
                let value = value.or_else(|| variable(entry)).ok_or_else(|| {
                    Error::usage(format!("-v {}: it is not set here", shown(entry)))
                        .help("export it, or say its value: -v KEY=VALUE")
                })?;
                (entry.as_str(), value)
            }
        };
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && name.starts_with(|c: char| !c.is_ascii_digit());
        if !is_name {
            return Err(Error::usage(format!("-v {}: that is no name of a variable", shown(name))));
        }
        if value.contains(',') {
            return Err(Error::usage(format!(
                "-v {name}: its value has a comma, at which createos would split it"
            ))
            .help("put the value into a file of DIR, and read it there"));
        }
        if value.contains(['\0', '\n', '\r']) {
            return Err(Error::usage(format!("-v {name}: its value has more than one line"))
                .help("put the value into a file of DIR, and read it there"));
        }
        if value.len() > VALUE {
            return Err(Error::usage(format!(
                "-v {name}: its value has {} bytes, a box takes {VALUE}",
                value.len()
            )));
        }
        read.retain(|(known, _)| known != name);
        read.push((name.to_owned(), value));
    }
    let together: usize = read.iter().map(|(name, value)| name.len() + value.len() + 1).sum();
    if together > TOGETHER {
        return Err(Error::usage(format!("the variables have {together} bytes, a box takes {TOGETHER}")));
    }
    Ok(read)
}

/// What may be a value that was mistyped is not shown whole.
fn shown(text: &str) -> String {
    text.chars().take(12).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_and_what_a_box_does_not_take_is_refused() {
        let read_all =
            |entries: &[&str]| read(&entries.iter().map(|entry| (*entry).to_owned()).collect::<Vec<_>>());
        let pairs = read_all(&["A=b=c", "_X=", "A=2"]).unwrap();
        assert_eq!(pairs, [("_X".into(), String::new()), ("A".into(), "2".into())]);
        let long = format!("A={}", "x".repeat(VALUE + 1));
        for bad in ["=b", "1A=b", "A B=c", "A=b,c", "A=b\nc", "NOT_SET_HERE_AT_ALL", &long] {
            let error = read_all(&[bad]).unwrap_err();
            assert_eq!(error.exit().code(), 2, "{bad}");
        }
        assert!(!read_all(&["SECRET=a,b"]).unwrap_err().message().contains("a,b"), "no value is shown");
        let many: Vec<String> = (0..65).map(|at| format!("V{at}=x")).collect();
        assert!(read(&many).is_err() && read(&many[..64]).is_ok());
        let large: Vec<String> = (0..17).map(|at| format!("V{at}={}", "x".repeat(VALUE))).collect();
        assert!(read(&large).is_err());
    }
}
