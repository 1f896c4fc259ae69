//! base64, as two kinds of writers leave it, and as HTTP wants it.

/// The bytes as base64 on one line.
#[cfg(target_os = "linux")]
pub(crate) fn encode(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let held = (0..3).fold(0_usize, |held, at| held << 8 | usize::from(*part.get(at).unwrap_or(&0)));
        for at in 0..4 {
            let letter = LETTERS[held >> (18 - 6 * at) & 63];
            text.push(if at <= part.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

/// What a program in a box encoded for us: lines of any length, padding at the end. The bytes up to the first letter
/// that is not of it.
pub(crate) fn decode(text: &[u8]) -> Vec<u8> {
    let letters = text.iter().copied().filter(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t'));
    unpack(letters.map_while(|byte| digit(byte).filter(|_| !matches!(byte, b'-' | b'_'))))
}

/// The same in source files and settings, also of the kind for URLs: quotes and escaped line feeds do not end it, as
/// programs and people wrap long texts.
pub(crate) fn decode_in_source(text: &[u8]) -> Vec<u8> {
    let mut bytes = text.iter().copied().peekable();
    unpack(std::iter::from_fn(move || {
        loop {
            let byte = bytes.next()?;
            if let Some(value) = digit(byte) {
                return Some(value);
            }
            let escapes_line_end = byte == b'\\' && bytes.next_if(|next| b"nr\n\r".contains(next)).is_some();
            // Some writers of JSON put a backslash before a slash.
            let escapes_slash = byte == b'\\' && bytes.peek() == Some(&b'/');
            let is_wrapping = byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'');
            if !(escapes_line_end || escapes_slash || is_wrapping) {
                return None;
            }
        }
    }))
}

/// Whether a byte is a digit of base64, also of the kind for URLs.
pub(crate) fn is_digit(byte: u8) -> bool {
    digit(byte).is_some()
}

fn digit(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'-' | b'+' => 62,
        b'_' | b'/' => 63,
        _ => return None,
    })
}

fn unpack(digits: impl Iterator<Item = u8>) -> Vec<u8> {
    let (mut held, mut bits) = (0_u32, 0);
    let mut bytes = Vec::with_capacity(digits.size_hint().1.unwrap_or(0) / 4 * 3);
    for digit in digits {
        held = held << 6 | u32::from(digit);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_written_is_read_again() {
        assert_eq!(encode(b"user:pa ss"), "dXNlcjpwYSBzcw==");
        for bytes in [&b""[..], b"a", b"ab", b"abc", b"\xff\xef\0"] {
            assert_eq!(decode(encode(bytes).as_bytes()), bytes);
        }
    }

    #[test]
    fn every_byte_comes_back_over_lines_and_padding() {
        assert_eq!(decode(b""), b"");
        assert_eq!(decode(b"YQ==\n"), b"a");
        assert_eq!(decode(b"Y W\r\nI="), b"ab");
        assert_eq!(decode(b"YWJj"), b"abc");
        assert_eq!(decode(b"/+8A"), [0xff, 0xef, 0]);
        assert_eq!(decode(b"YWJj:YWJj"), b"abc", "up to what is none");
        assert_eq!(decode(b"YWJj-YWJj"), b"abc", "the kind for URLs is none here");
    }

    #[test]
    fn in_source_files_it_may_be_wrapped_and_quoted() {
        assert_eq!(decode_in_source(b"aGVsbG8gd29ybGQ="), b"hello world");
        assert_eq!(decode_in_source(b"aGVs\n  bG8g\\nd29ybGQ\"\n"), b"hello world");
        assert_eq!(decode_in_source(b"aGVs.bG8g"), b"hel");
        assert_eq!(decode_in_source(b"\\/\\/7\\/"), [0xff, 0xfe, 0xff]);
        assert_eq!(decode_in_source(b"__-_"), [0xff, 0xff, 0xbf]);
    }
}
