//! UTF-16 text, as programs of Windows write it, turned into UTF-8 for the rules.

/// Characters by which text without a byte order mark is recognised.
const SAMPLE: usize = 16;

/// How the two bytes of a unit stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

/// The order of UTF-16 contents that begin so; `None` for anything else. Text without a byte order mark counts when
/// all of its beginning is ASCII.
pub(super) fn order(start: &[u8]) -> Option<Order> {
    match start {
        // A zero follows in UTF-32.
        [0xff, 0xfe, 0, 0, ..] => return None,
        [0xff, 0xfe, ..] => return Some(Order::Little),
        [0xfe, 0xff, ..] => return Some(Order::Big),
        _ => {}
    }
    let sample = start.get(..SAMPLE * 2)?;
    let is_text = |byte: u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    let all = |text: usize, zero: usize| sample.chunks(2).all(|unit| is_text(unit[text]) && unit[zero] == 0);
    match () {
        () if all(0, 1) => Some(Order::Little),
        () if all(1, 0) => Some(Order::Big),
        () => None,
    }
}

/// Whole units as UTF-8; what is no text is replaced.
pub(super) fn decode(units: &[u8], order: Order) -> Vec<u8> {
    let units = units.chunks_exact(2).map(|unit| match order {
        Order::Little => u16::from_le_bytes([unit[0], unit[1]]),
        Order::Big => u16::from_be_bytes([unit[0], unit[1]]),
    });
    let text: String =
        char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, order: Order) -> Vec<u8> {
        let bytes = |unit: u16| if order == Order::Little { unit.to_le_bytes() } else { unit.to_be_bytes() };
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn text_is_known_by_its_mark_or_by_its_beginning() {
        let text = "password: über 0123456789";
        for wanted in [Order::Little, Order::Big] {
            let marked = utf16(&format!("\u{feff}{text}"), wanted);
            assert_eq!(order(&marked), Some(wanted));
            assert_eq!(decode(&marked, wanted), format!("\u{feff}{text}").into_bytes());
            assert_eq!(order(&utf16("[default]\r\nregion = here", wanted)), Some(wanted));
        }
        for other in [
            text.as_bytes(),
            b"",
            b"\0",
            &[0; 64],
            b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0",
            &[0xff, 0xfe, 0, 0],
        ] {
            assert_eq!(order(other), None, "{other:?}");
        }
    }
}
