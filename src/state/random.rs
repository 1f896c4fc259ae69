//! Short random words for ids and names.

use std::hash::{BuildHasher, Hasher, RandomState};

/// `count` characters of `alphabet`. The standard hasher's keys come from the system; that is enough for
/// names that must not collide, and nothing here is a secret.
fn word(alphabet: &[u8], count: usize) -> String {
    let mut bits = 0;
    (0..count)
        .map(|at| {
            if at % 8 == 0 {
                let mut hasher = RandomState::new().build_hasher();
                hasher.write_usize(at);
                bits = hasher.finish();
            }
            let pick = (bits % 251) as usize % alphabet.len();
            bits >>= 8;
            char::from(alphabet[pick])
        })
        .collect()
}

/// Lower-case hex digits.
pub(crate) fn hex(count: usize) -> String {
    word(b"0123456789abcdef", count)
}

/// Lower-case letters and digits that are not mistaken for each other.
pub(crate) fn letters(count: usize) -> String {
    word(b"abcdefghjkmnpqrstuvwxyz23456789", count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn words_have_their_length_and_differ() {
        let words: HashSet<_> = (0..500).map(|_| letters(9)).collect();
        assert_eq!(words.len(), 500);
        assert!(words.iter().all(|word| word.len() == 9));
        assert!(hex(8).bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
}
