//! What a file can hold although its name is one of secrets.

use super::words::WORDS;
use serde::Deserialize;

/// Contents that a name of the deny-list can stand for, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Harmless {
    /// PEM with certificates, requests, revocation lists and public keys, and nothing else (RFC 7468).
    PublicPem,
    /// A zip archive, which Keynote's documents are.
    Zip,
}

impl Harmless {
    /// Whether these are such contents. Of a large file its beginning is given.
    pub(super) fn is(self, contents: &[u8]) -> bool {
        match self {
            Self::PublicPem => public_pem(contents),
            Self::Zip => contents.starts_with(b"PK\x03\x04"),
        }
    }
}

/// Lines of a key without its label have about this many digits of base64.
const LINE: usize = 40;

/// Blocks that begin and end with one public label each. Between them may stand what programs write about them,
/// but no word of something private and nothing that could be a key.
fn public_pem(contents: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(contents) else { return false };
    let (mut inside, mut blocks): (Option<&str>, u32) = (None, 0);
    for line in text.lines().map(str::trim) {
        let label = |edge: &str| line.strip_prefix(edge)?.strip_suffix("-----");
        match (inside, label("-----BEGIN "), label("-----END ")) {
            (None, Some(begun), None) if WORDS.public.iter().any(|label| label == begun) => {
                inside = Some(begun)
            }
            (Some(begun), None, Some(ended)) if begun == ended => {
                inside = None;
                blocks += 1;
            }
            (Some(_), None, None) if !line.contains("-----") => {}
            (None, None, None) if is_remark(line) => {}
            _ => return false,
        }
    }
    blocks > 0 && inside.is_none()
}

fn is_remark(line: &str) -> bool {
    let base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    !line.contains("-----")
        && !line.to_ascii_lowercase().contains("private")
        && !line.split(|c| !base64(c)).any(|run| run.len() >= LINE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(label: &str) -> String {
        format!("-----BEGIN {label}-----\nMIIBszCCAVmgAwIBAgIUfoo=\n-----END {label}-----\n")
    }

    #[test]
    fn blocks_for_everybody_and_remarks_about_them_are_public() {
        let bundle =
            format!("# GTS Root R1\nsubject=CN = a, O = b\n{}{}", block("CERTIFICATE"), block("X509 CRL"));
        for text in [
            block("CERTIFICATE"),
            block("PUBLIC KEY"),
            block("CERTIFICATE REQUEST"),
            bundle.replace('\n', "\r\n"),
        ] {
            assert!(Harmless::PublicPem.is(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn anything_else_is_not() {
        let key = block(&["PRIV", "ATE KEY"].concat());
        let naked = format!("{}{}\n", block("CERTIFICATE"), "QUJD".repeat(16));
        let open = "-----BEGIN CERTIFICATE-----\nMIIB\n";
        let crossed = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END PUBLIC KEY-----\n";
        let both = format!("{}{key}", block("CERTIFICATE"));
        let remark = format!("privateExponent: 12\n{}", block("PUBLIC KEY"));
        for text in ["", "text", &key, &naked, open, crossed, &both, &remark] {
            assert!(!Harmless::PublicPem.is(text.as_bytes()), "{text}");
        }
        assert!(!Harmless::PublicPem.is(&[b"\xff".as_slice(), block("PUBLIC KEY").as_bytes()].concat()));
    }

    #[test]
    fn an_archive_is_known_by_its_beginning() {
        assert!(
            Harmless::Zip.is(b"PK\x03\x04rest") && !Harmless::Zip.is(b"PK") && !Harmless::Zip.is(b"-----")
        );
    }
}
