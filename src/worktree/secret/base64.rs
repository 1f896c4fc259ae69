//! What base64 stands for, as far as it is base64.

/// The value of a digit of base64, also of the kind for URLs.
fn value(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'-' | b'+' => 62,
        b'_' | b'/' => 63,
        _ => return None,
    })
}

/// Whether a byte is a digit of base64, also of the kind for URLs.
pub(super) fn is_digit(byte: u8) -> bool {
    value(byte).is_some()
}

/// The bytes that the text stands for, up to the first byte that is not of it. White space, quotes and escaped
/// line feeds do not end it: programs and people wrap long texts.
pub(super) fn decode(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut held) = (0_u32, 0);
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match value(byte) {
            Some(value) => {
                bits = bits << 6 | u32::from(value);
                held += 6;
            }
            None if byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'') => continue,
            None if byte == b'\\' && matches!(text.get(at), Some(b'n' | b'r' | b'\n' | b'\r')) => {
                at += 1;
                continue;
            }
            // As some writers of JSON spell a slash.
            None if byte == b'\\' && text.get(at) == Some(&b'/') => continue,
            None => break,
        }
        if held >= 8 {
            held -= 8;
            decoded.push((bits >> held & 0xff) as u8);
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_decodes_what_programs_wrap_and_stops_at_what_is_not_base64() {
        assert_eq!(decode(b"aGVsbG8gd29ybGQ="), b"hello world");
        assert_eq!(decode(b"aGVs\n  bG8g\\nd29ybGQ\"\n"), b"hello world");
        assert_eq!(decode(b"aGVs.bG8g"), b"hel");
        assert_eq!(decode(b"\\/\\/7\\/"), [0xff, 0xfe, 0xff]);
        assert_eq!(decode(b"__-_"), [0xff, 0xff, 0xbf]);
    }
}
