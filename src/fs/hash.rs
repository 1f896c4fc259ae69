//! SHA-256 of contents, the hash of receipts and base lists.

use sha2::Digest as _;
use std::fmt;
use std::str::FromStr;

/// A SHA-256 digest; displayed and parsed as 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Digest([u8; 32]);

/// The digest of `bytes`.
pub(crate) fn digest(bytes: &[u8]) -> Digest {
    Digest(sha2::Sha256::digest(bytes).into())
}

impl From<[u8; 32]> for Digest {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

impl TryFrom<String> for Digest {
    type Error = NotADigest;

    fn try_from(text: String) -> Result<Self, NotADigest> {
        text.parse()
    }
}

/// The text is not 64 hex digits.
#[derive(Debug, thiserror::Error)]
#[error("not a SHA-256 digest of 64 hex digits")]
pub(crate) struct NotADigest;

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        if text.len() != 64 || !text.is_ascii() {
            return Err(NotADigest);
        }
        let mut bytes = [0; 32];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * i..2 * i + 2], 16).map_err(|_| NotADigest)?;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_reads_back_what_it_shows() {
        let shown = digest(b"").to_string();
        assert!(shown.starts_with("e3b0c44298fc1c14"));
        assert_eq!(shown.parse::<Digest>().unwrap(), digest(b""));
        assert!("ff".parse::<Digest>().is_err());
    }
}
