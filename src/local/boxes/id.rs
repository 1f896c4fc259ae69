//! Ids and names of boxes and processes.

use crate::error::Error;
use crate::text_type::text_type;
use std::time::{SystemTime, UNIX_EPOCH};

/// Crockford's base 32, the alphabet of ULIDs.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// The longest name of a box (docs/measured/createos-cli.md 4.1).
const LONGEST_NAME: usize = 22;

text_type! {
    /// `sb-` and a ULID: sortable by the time at which the box was made.
    pub(crate) LocalId: |text| match text.strip_prefix("sb-") {
        Some(rest) if is_ulid(rest) => Ok(text),
        _ => Err(Error::usage(format!("\"{text}\" is not the id of a local box"))),
    } => Error
}

text_type! {
    /// `proc_` and a ULID.
    pub(crate) LocalProcessId: |text| match text.strip_prefix("proc_") {
        Some(rest) if is_ulid(rest) => Ok(text),
        _ => Err(Error::usage(format!("\"{text}\" is not a process id"))),
    } => Error
}

text_type! {
    /// A box's name: 1 to 22 lower-case letters, digits and inner dashes.
    pub(crate) LocalName: |text| {
        let letters = text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        let edges = !text.starts_with('-') && !text.ends_with('-') && !text.starts_with("sb-");
        if text.is_empty() || text.len() > LONGEST_NAME || !letters || !edges {
            return Err(Error::usage(format!("\"{text}\" cannot be the name of a box"))
                .help("use 1 to 22 of a-z, 0-9 and -, such as hd-webshop-k3x9q2"));
        }
        Ok(text)
    } => Error
}

impl LocalId {
    pub(crate) fn fresh() -> Self {
        Self(format!("sb-{}", ulid()))
    }
}

impl LocalProcessId {
    pub(crate) fn fresh() -> Self {
        Self(format!("proc_{}", ulid()))
    }
}

impl LocalName {
    /// A name for a box whose maker did not care.
    pub(crate) fn fresh() -> Self {
        let tail: String = ulid().chars().rev().take(6).collect();
        Self(format!("box-{}", tail.to_ascii_lowercase()))
    }
}

fn is_ulid(text: &str) -> bool {
    text.len() == 26 && text.bytes().all(|byte| ALPHABET.contains(&byte))
}

/// 48 bits of milliseconds and 80 random bits, as 26 letters.
fn ulid() -> String {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis());
    let value = (millis << 80) | (u128::from_le_bytes(crate::random::bytes()) >> 48);
    (0..26).rev().map(|digit| char::from(ALPHABET[(value >> (5 * digit)) as usize & 31])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_ids_read_back_and_differ() {
        let (a, b) = (LocalId::fresh(), LocalId::fresh());
        assert_ne!(a, b);
        assert_eq!(a.as_str().parse::<LocalId>().unwrap(), a);
        assert!(LocalProcessId::fresh().as_str().parse::<LocalProcessId>().is_ok());
        assert!(LocalName::fresh().as_str().parse::<LocalName>().is_ok());
    }

    #[test]
    fn what_could_be_a_path_or_an_option_is_no_id_and_no_name() {
        for bad in
            ["", "sb-", "sb-../../etc", "sb-01J", "-x", "a/b", "A", "ä", "a b", "a\n", "x-", "\u{202e}a"]
        {
            assert!(bad.parse::<LocalId>().is_err(), "{bad}");
            assert!(bad.parse::<LocalName>().is_err(), "{bad}");
        }
        assert!("a".repeat(22).parse::<LocalName>().is_ok());
        assert!("a".repeat(23).parse::<LocalName>().is_err());
    }
}
