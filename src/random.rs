//! Randomness of the system: for ids, for names that must not collide, for words that a box must not guess.

pub(crate) fn bytes<const COUNT: usize>() -> [u8; COUNT] {
    let mut bytes = [0; COUNT];
    getrandom::fill(&mut bytes).expect("every system that this runs on gives random bytes");
    bytes
}

/// Lower-case hex digits.
pub(crate) fn hex(count: usize) -> String {
    word(b"0123456789abcdef", count)
}

/// Lower-case letters and digits that are not mistaken for each other.
pub(crate) fn letters(count: usize) -> String {
    word(b"abcdefghjkmnpqrstuvwxyz23456789", count)
}

/// `count` characters of `alphabet`, each as likely as the others.
fn word(alphabet: &[u8], count: usize) -> String {
    let even = 256 / alphabet.len() * alphabet.len();
    let fair = std::iter::repeat_with(bytes::<32>).flatten().map(usize::from).filter(|byte| *byte < even);
    fair.take(count).map(|byte| char::from(alphabet[byte % alphabet.len()])).collect()
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
        assert_eq!(hex(100).len(), 100);
        assert_ne!(bytes::<16>(), bytes::<16>());
    }

    #[test]
    fn every_character_of_the_alphabet_comes() {
        let seen: HashSet<_> = letters(20_000).chars().collect();
        assert_eq!(seen.len(), 31);
    }
}
