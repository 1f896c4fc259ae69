//! Documents of ours that a newer program may have written.

use crate::error::{Error, Kind, Result};
use serde::Deserialize;
use std::path::Path;

/// All that is read of a document of another version.
#[derive(Deserialize)]
struct Head {
    #[serde(alias = "schemaVersion")]
    version: u64,
}

/// Refuses a document of a version above `known`, whatever else it holds: it may well look damaged to us.
///
/// # Errors
/// It is newer; `kind` and `help` are those of the error.
pub(crate) fn refuse_newer(
    path: &Path,
    bytes: &[u8],
    known: u32,
    kind: Kind,
    help: impl Into<String>,
) -> Result<()> {
    match serde_json::from_slice::<Head>(bytes) {
        Ok(head) if head.version > u64::from(known) => {
            let words = format!("{} was written by a newer createos-sandbox", path.display());
            Err(Error::new(kind, words).help(help))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_newer_document_is_refused_in_either_spelling() {
        let refused =
            |text: &str| refuse_newer(Path::new("/x"), text.as_bytes(), 1, Kind::Failed, "update").is_err();
        assert!(refused(r#"{"version":2,"odd":[]}"#) && refused(r#"{"schemaVersion":7}"#));
        for fine in ["", "[]", "{}", r#"{"version":1}"#, r#"{"schemaVersion":"2"}"#, r#"{"version":2"#] {
            assert!(!refused(fine), "{fine}");
        }
    }
}
