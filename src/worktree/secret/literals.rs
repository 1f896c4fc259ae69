//! Where any of many literals stands, at two or more bytes a nanosecond: the scan may not cost more
//! than the hashing beside it. (An automaton over the same literals takes a byte a nanosecond.)
//!
//! Every literal has at least three bytes, so of any two neighbouring positions one begins a
//! triple that is the literal's first or second. Only every other triple is looked up, in a bit
//! set that fits the first-level cache.

use std::collections::HashMap;

/// Bits of a triple's hash; the sets take 16 KiB each.
const BITS: u32 = 17;

/// A set of literals. At the same byte the first one given wins.
#[derive(Debug)]
pub(super) struct Literals {
    /// Triples that are a literal's first or second.
    near: TripleSet,
    /// Triples that are a literal's first.
    first: TripleSet,
    /// The literals by their first triple, with their numbers.
    by_first: HashMap<[u8; 3], Vec<Literal>>,
}

#[derive(Debug)]
struct Literal {
    bytes: Box<[u8]>,
    number: usize,
}

impl Literals {
    /// # Panics
    /// A literal is shorter than three bytes.
    pub(super) fn new(literals: &[String]) -> Self {
        let (mut near, mut first) = (TripleSet::new(), TripleSet::new());
        let mut by_first: HashMap<[u8; 3], Vec<Literal>> = HashMap::new();
        for (number, literal) in literals.iter().enumerate() {
            let bytes = literal.as_bytes();
            let triple = *bytes.first_chunk::<3>().expect("a literal has three bytes");
            near.add(triple);
            first.add(triple);
            match bytes[1..].first_chunk::<3>() {
                Some(second) => near.add(*second),
                // What follows is unknown, but every format goes on with a token's characters.
                None => (0..=u8::MAX)
                    .filter(|byte| goes_on(*byte))
                    .for_each(|byte| near.add([bytes[1], bytes[2], byte])),
            }
            by_first.entry(triple).or_default().push(Literal { bytes: bytes.into(), number });
        }
        Self { near, first, by_first }
    }

    /// The first literal that begins in `from..to`: where, and its number.
    pub(super) fn find(&self, contents: &[u8], from: usize, to: usize) -> Option<(usize, usize)> {
        let mut at = from;
        // Three samples, at 0, 2 and 4, from eight bytes in one piece.
        while let Some(eight) = contents.get(at..).and_then(<[u8]>::first_chunk::<8>) {
            if at > to {
                return None;
            }
            let word = u64::from_le_bytes(*eight);
            let hit = self.near.has(word) | self.near.has(word >> 16) | self.near.has(word >> 32);
            if hit
                && let Some(found) =
                    (at.saturating_sub(1).max(from)..(at + 5).min(to)).find_map(|at| self.at(contents, at))
            {
                return Some(found);
            }
            at += 6;
        }
        (at.saturating_sub(1).max(from)..to).find_map(|at| self.at(contents, at))
    }

    fn at(&self, contents: &[u8], at: usize) -> Option<(usize, usize)> {
        let rest = &contents[at..];
        let triple = rest.first_chunk::<3>()?;
        if !self.first.has(word(*triple)) {
            return None;
        }
        let literals = self.by_first.get(triple)?;
        literals.iter().find(|literal| rest.starts_with(&literal.bytes)).map(|literal| (at, literal.number))
    }
}

/// Every literal that a written one stands for: `[a-c9]` in it is one character of these.
pub(super) fn spellings(written: &str) -> Vec<String> {
    let Some((before, rest)) = written.split_once('[') else { return vec![written.into()] };
    let Some((class, after)) = rest.split_once(']') else { return vec![written.into()] };
    let class = class.as_bytes();
    let mut characters = Vec::new();
    let mut at = 0;
    while let Some(&first) = class.get(at) {
        match class.get(at + 1..at + 3) {
            Some(&[b'-', last]) => {
                characters.extend(first..=last);
                at += 3;
            }
            _ => {
                characters.push(first);
                at += 1;
            }
        }
    }
    let ends = spellings(after);
    let one = |byte: u8| ends.iter().map(move |end| format!("{before}{}{end}", char::from(byte)));
    characters.into_iter().flat_map(one).collect()
}

/// A character that any of the short literals is followed by in its format.
fn goes_on(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'~' | b':' | b'%')
}

fn word(triple: [u8; 3]) -> u64 {
    u64::from_le_bytes([triple[0], triple[1], triple[2], 0, 0, 0, 0, 0])
}

/// A set of three-byte groups by their hash: it may say yes for one that was never added.
#[derive(Debug)]
struct TripleSet(Box<[u64; 1 << (BITS - 6)]>);

impl TripleSet {
    fn new() -> Self {
        Self(Box::new([0; 1 << (BITS - 6)]))
    }

    fn add(&mut self, triple: [u8; 3]) {
        let (index, bit) = place(word(triple));
        self.0[index] |= 1 << bit;
    }

    /// Whether the group in the word's lowest three bytes may be in the set.
    fn has(&self, word: u64) -> bool {
        let (index, bit) = place(word);
        self.0[index] >> bit & 1 == 1
    }
}

fn place(word: u64) -> (usize, u32) {
    let hash = (word as u32 & 0x00ff_ffff).wrapping_mul(0x9e37_79b1) >> (32 - BITS);
    ((hash >> 6) as usize, hash & 63)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LITERALS: [&str; 6] = ["abcd", "SG.", "-----BEGIN", "bca", "xyz_", ":AA"];

    #[test]
    fn a_class_stands_for_each_of_its_characters() {
        assert_eq!(spellings("abc"), ["abc"]);
        assert_eq!(spellings("S[0-2a]"), ["S0", "S1", "S2", "Sa"]);
        assert_eq!(spellings("[MN]x[a-b]"), ["Mxa", "Mxb", "Nxa", "Nxb"]);
    }

    proptest! {
        #[test]
        fn it_finds_what_a_plain_search_finds(text in "[abcdxyzSGA.:_-]{0,60}", from in 0_usize..20, less in 0_usize..20) {
            let literals = Literals::new(&LITERALS.map(str::to_owned));
            let to = text.len().saturating_sub(less);
            let plain = (from..to).find_map(|at| {
                let number = LITERALS.iter().position(|literal| text[at..].starts_with(literal))?;
                Some((at, number))
            });
            // A short literal counts only where its format can go on.
            let plain_counts = plain.is_none_or(|(at, number)| {
                LITERALS[number].len() > 3 || text.as_bytes().get(at + 3).is_some_and(|byte| goes_on(*byte))
            });
            prop_assume!(plain_counts);
            prop_assert_eq!(literals.find(text.as_bytes(), from, to), plain);
        }
    }
}
