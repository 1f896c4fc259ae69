//! What tells a secret from what only looks like one: check digits, entropy, placeholders.

use serde::Deserialize;

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
}

impl Check {
    /// Whether the check holds for this text.
    pub(super) fn holds(self, text: &[u8]) -> bool {
        match self {
            Self::Crc32Base62 => crc32_base62(text),
            Self::Bech32 => bech32(text),
            Self::ServiceRole => service_role(text),
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
    let decoded = base64url(payload);
    memchr::memmem::find(&decoded, b"\"role\":\"service_role\"").is_some()
}

/// Decodes base64url without padding; stops at the first byte that is not of it.
fn base64url(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut held) = (0_u32, 0);
    for byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' | b'+' => 62,
            b'_' | b'/' => 63,
            _ => break,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            decoded.push((bits >> held & 0xff) as u8);
        }
    }
    decoded
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
    const WORDS: [&str; 19] = [
        "example",
        "sample",
        "dummy",
        "placeholder",
        "changeme",
        "change_me",
        "change-me",
        "redacted",
        "notreal",
        "not_real",
        "insert",
        "your_",
        "your-",
        "yourtoken",
        "yourkey",
        "xxxx",
        "fake",
        "deadbeef",
        "notasecret",
    ];
    let lower = text.to_ascii_lowercase();
    if WORDS.iter().any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some()) {
        return true;
    }
    // Six of the same in a row, or eight that count up: no generator makes those.
    let mut same = 1;
    let mut rising = 1;
    for pair in lower.windows(2) {
        same = if pair[1] == pair[0] { same + 1 } else { 1 };
        rising = if pair[1] == pair[0].wrapping_add(1) { rising + 1 } else { 1 };
        if same >= 6 || rising >= 8 {
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
