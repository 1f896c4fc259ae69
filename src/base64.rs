//! base64, as programs in a box write it: lines of any length, padding at the end.

/// The bytes of what is base64 up to the first letter that is not; blanks and line ends do not count.
pub(crate) fn decode(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut held, mut bits) = (0_u32, 0);
    for letter in text {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b' ' | b'\n' | b'\r' | b'\t' => continue,
            _ => break,
        };
        held = held << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back_over_lines_and_padding() {
        assert_eq!(decode(b""), b"");
        assert_eq!(decode(b"YQ==\n"), b"a");
        assert_eq!(decode(b"Y W\r\nI="), b"ab");
        assert_eq!(decode(b"YWJj"), b"abc");
        assert_eq!(decode(b"/+8A"), [0xff, 0xef, 0]);
        assert_eq!(decode(b"YWJj:YWJj"), b"abc", "up to what is none");
    }
}
