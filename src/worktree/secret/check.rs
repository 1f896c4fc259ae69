//! What tells a secret from what only looks like one: check digits, entropy, placeholders.

use crate::base64;
use crate::worktree::words::WORDS;
use serde::Deserialize;
use serde_json::Value;

/// A check that a format carries within itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Check {
    /// The last six characters are the CRC-32 of the 30 before them in base 62.
    /// <https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/>
    Crc32Base62,
    /// Bech32 (BIP 173), as age writes its keys. <https://github.com/C2SP/C2SP/blob/main/age.md>
    Bech32,
    /// A JSON web token whose payload claims the role that passes every rule.
    ServiceRole,
    /// A signed JSON web token that gives access: neither a published example nor one for everybody.
    Jwt,
    /// A private key of Curve25519 in base64, as WireGuard clamps it. RFC 7748, 5.
    Curve25519,
    /// A sequence of DER that is there whole, unlike a template of one; what is no sequence has nothing to hold.
    Der,
    /// A password of a generator, or nearly: letters and digits mixed, and none of the words of examples.
    Generated,
}

impl Check {
    /// Whether the check holds for this text.
    pub(super) fn holds(self, text: &[u8]) -> bool {
        match self {
            Self::Crc32Base62 => crc32_base62(text),
            Self::Bech32 => bech32(text),
            Self::ServiceRole => service_role(text),
            Self::Jwt => jwt(text),
            Self::Curve25519 => curve25519(text),
            Self::Der => der(text),
            Self::Generated => generated(text),
        }
    }
}

fn crc32_base62(text: &[u8]) -> bool {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let Some(at) = text.len().checked_sub(36) else { return false };
    let (random, digits) = text[at..].split_at(30);
    let claimed = digits.iter().try_fold(0_u64, |sum, digit| {
        let value = DIGITS.iter().position(|known| known == digit)?;
        Some(sum * 62 + value as u64)
    });
    claimed == Some(u64::from(crc32fast::hash(random)))
}

fn bech32(text: &[u8]) -> bool {
    const DIGITS: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    const GENERATOR: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
    let text = text.to_ascii_lowercase();
    let Some(one) = text.iter().rposition(|byte| *byte == b'1') else { return false };
    let (prefix, digits) = (&text[..one], &text[one + 1..]);
    let high = prefix.iter().map(|byte| u32::from(byte >> 5));
    let low = prefix.iter().map(|byte| u32::from(byte & 31));
    let mut sum = 1_u32;
    let mut step = |value: u32| {
        let top = sum >> 25;
        sum = (sum & 0x01ff_ffff) << 5 ^ value;
        for (bit, generator) in GENERATOR.iter().enumerate() {
            if top >> bit & 1 == 1 {
                sum ^= generator;
            }
        }
    };
    high.chain([0]).chain(low).for_each(&mut step);
    for digit in digits {
        let Some(value) = DIGITS.iter().position(|known| known == digit) else { return false };
        step(value as u32);
    }
    sum == 1
}

fn service_role(text: &[u8]) -> bool {
    let Some(payload) = text.split(|byte| *byte == b'.').nth(1) else { return false };
    let decoded = base64::decode_in_source(payload);
    memchr::memmem::find(&decoded, b"\"role\":\"service_role\"").is_some()
}

fn jwt(text: &[u8]) -> bool {
    /// Of the introductions to the format: RFC 7519, jwt.io and what copies them.
    const EXAMPLES: [(&str, &str); 4] =
        [("sub", "1234567890"), ("name", "John Doe"), ("iss", "joe"), ("iss", "example")];
    /// Keys for everybody's browser.
    const PUBLIC_ROLES: [&str; 2] = ["anon", "authenticated"];
    let mut parts = text.split(|byte| *byte == b'.').map(base64::decode_in_source);
    let (Some(header), Some(payload)) = (parts.next(), parts.next()) else { return false };
    let header: Value = serde_json::from_slice(&header).unwrap_or_default();
    let payload: Value = serde_json::from_slice(&payload).unwrap_or_default();
    let says = |key: &str, value: &str| payload[key] == value;
    header["alg"] != "none"
        && !EXAMPLES.iter().any(|(key, value)| says(key, value))
        && !PUBLIC_ROLES.iter().any(|role| says("role", role))
}

fn curve25519(text: &[u8]) -> bool {
    match &base64::decode_in_source(text)[..] {
        [first, .., last] => first & 7 == 0 && last & 0xc0 == 0x40,
        _ => false,
    }
}

/// X.690 8.1.3: a short length, or how many bytes it takes.
fn der(text: &[u8]) -> bool {
    let (length, rest) = match text {
        [0x30, 0x81, length, rest @ ..] => (usize::from(*length), rest),
        [0x30, 0x82, high, low, rest @ ..] => (usize::from(*high) << 8 | usize::from(*low), rest),
        [0x30, length @ 0..=0x7f, rest @ ..] => (usize::from(*length), rest),
        [0x30, ..] => return false,
        _ => return true,
    };
    rest.len() >= length
}

/// What percents stand for in an address, as RFC 3986 2.1 has it: their digits are not the password's.
fn without_percents(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        let byte = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        plain.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    plain
}

fn generated(text: &[u8]) -> bool {
    let text = &without_percents(text)[..];
    let lower = text.to_ascii_lowercase();
    let plain: Vec<u8> = lower.iter().map(|byte| spelled(*byte)).collect();
    if WORDS.passwords.iter().any(|word| [&lower, &plain].iter().any(|text| holds(text, word))) {
        return false;
    }
    let any = |test: fn(&u8) -> bool| usize::from(text.iter().any(test));
    let kinds = any(u8::is_ascii_lowercase)
        + any(u8::is_ascii_uppercase)
        + any(u8::is_ascii_digit)
        + any(u8::is_ascii_punctuation);
    let mixed = kinds >= 3 || any(u8::is_ascii_alphabetic) + any(u8::is_ascii_digit) == 2 || jumps(text);
    match text.len() {
        0..8 => false,
        8..12 => kinds >= 3 && mixed && entropy(text) >= 2.75,
        _ => mixed && entropy(text) >= 2.8,
    }
}

/// Whether the letters' case changes more often than in words that are written together.
fn jumps(text: &[u8]) -> bool {
    let changes = text.windows(2).filter(|pair| pair[0].is_ascii_lowercase() != pair[1].is_ascii_lowercase());
    changes.count() * 5 > text.len() * 2
}

/// The letter that people replace with this character.
fn spelled(byte: u8) -> u8 {
    match byte {
        b'0' => b'o',
        b'1' => b'l',
        b'3' => b'e',
        b'4' | b'@' => b'a',
        b'5' | b'$' => b's',
        b'7' => b't',
        other => other,
    }
}

fn holds(text: &[u8], word: &str) -> bool {
    memchr::memmem::find(text, word.as_bytes()).is_some()
}

/// Shannon's entropy in bits per byte.
pub(super) fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text {
        counts[usize::from(*byte)] += 1;
    }
    let length = text.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / length;
            -share * share.log2()
        })
        .sum()
}

/// Text that people write where a secret would be.
pub(super) fn is_placeholder(text: &[u8]) -> bool {
    /// What is longer holds short words and short runs by chance.
    const SHORT: usize = 64;
    let lower = text.to_ascii_lowercase();
    let counts = |word: &&String| lower.len() <= SHORT || word.len() > 6;
    if WORDS.placeholders.iter().filter(counts).any(|word| holds(&lower, word)) {
        return true;
    }
    // Six of the same in a row, or eight that count up: no generator makes those.
    let (longest, risen) = if lower.len() <= SHORT { (6, 8) } else { (lower.len() / 8, 26) };
    let mut same = 1;
    let mut rising = 1;
    for pair in lower.windows(2) {
        same = if pair[1] == pair[0] { same + 1 } else { 1 };
        rising = if pair[1] == pair[0].wrapping_add(1) { rising + 1 } else { 1 };
        if same >= longest || rising >= risen {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_example_of_each_check_holds() {
        // GitHub's example as published, in two parts; age's from its specification's alphabet is
        // made in the labelled set, where the check digits are computed independently.
        assert!(Check::Crc32Base62.holds(&[&b"zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ"[..], b"0mLq17"].concat()));
        assert!(!Check::Crc32Base62.holds(b"zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq71"));
        // BIP 173's shortest valid string.
        assert!(Check::Bech32.holds(b"A12UEL5L"));
        assert!(!Check::Bech32.holds(b"A12UEL5M"));
        // {"role":"service_role"} and {"role":"anon"}.
        assert!(Check::ServiceRole.holds(b"e30.eyJyb2xlIjoic2VydmljZV9yb2xlIn0.x"));
        assert!(!Check::ServiceRole.holds(b"e30.eyJyb2xlIjoiYW5vbiJ9.x"));
    }

    #[test]
    fn a_password_of_a_generator_is_told_from_one_of_an_example() {
        for text in [
            "qX7vP2mK9wLz",
            "f3a9c1d7e5b20846",
            "kT9!vR2#",
            "b7Jc-4kQz_91",
            "x8Zq~1Lm.p0",
            "QgXcQBxhOCOuxTbN",
        ] {
            assert!(Check::Generated.holds(text.as_bytes()), "{text}");
        }
        for text in [
            "postgres",
            "password",
            "s3cr3tP4ss9",
            "my-secret-pw",
            "mongoose",
            "example1",
            "Pa55w0rd!2",
            "abc",
            "MyDatabaseAccess",
            "p%3Ass:tail",
        ] {
            assert!(!Check::Generated.holds(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn a_web_token_of_an_introduction_or_for_everybody_is_no_secret() {
        // {"alg":"HS256"} before {"sub":"1234567890"}, {"iss":"joe"}, {"role":"anon"}; {"alg":"none"} before {"a":1}.
        for text in [
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.x",
            "eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UifQ.x",
            "eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYW5vbiJ9.x",
            "eyJhbGciOiJub25lIn0.eyJhIjoxfQ.x",
        ] {
            assert!(!Check::Jwt.holds(text.as_bytes()), "{text}");
        }
        // {"sub":"u1"}, and what is not JSON at all.
        assert!(Check::Jwt.holds(b"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1MSJ9.x"));
        assert!(Check::Jwt.holds(b"eyJhbGciOiJIUzI1NiJ9.AAAA.x"));
    }

    #[test]
    fn a_key_of_curve25519_is_clamped() {
        // 31 zeros and 0x40; the same with 0x01 first, and 32 zeros.
        assert!(Check::Curve25519.holds(b"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEA="));
        assert!(!Check::Curve25519.holds(b"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEA="));
        assert!(!Check::Curve25519.holds(b"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="));
    }

    #[test]
    fn a_sequence_that_is_cut_short_is_a_template() {
        for (bytes, whole) in [
            (&[0x30, 2, 1, 1][..], true),
            (&[0x30, 0x81, 2, 1, 1], true),
            (&[0x30, 0x82, 0, 2, 1, 1, b'\n'], true),
            (&[0x30, 3, 1, 1], false),
            (&[0x30, 0x82, 1, 2, 1, 1], false),
            (&[0x30, 0x84, 0, 0], false),
            (&[0x95, 1], true),
        ] {
            assert_eq!(Check::Der.holds(bytes), whole, "{bytes:?}");
        }
    }

    #[test]
    fn a_long_text_holds_short_words_and_runs_by_chance() {
        let long =
            ["zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ", "AAAAAAAfake", "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ"].concat();
        assert!(!is_placeholder(long.as_bytes()));
        assert!(is_placeholder("x".repeat(80).as_bytes()));
    }

    #[test]
    fn placeholders_are_known() {
        for text in [
            "AKIAIOSFODNN7EXAMPLE",
            "ghp_xxxxxxxxxx",
            "a000000b",
            "q1234567890",
            "ABCDEFGHIJ",
            "YOUR_TOKEN_HERE",
        ] {
            assert!(is_placeholder(text.as_bytes()), "{text}");
        }
        assert!(!is_placeholder(b"zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ"));
    }

    #[test]
    fn entropy_is_bits_per_byte() {
        assert!((entropy(b"abcdabcd") - 2.0).abs() < 1e-9);
        assert_eq!(entropy(b"aaaa"), 0.0);
    }
}
