//! Old output, split anywhere, acts no second time; what is new passes.

use super::*;
use proptest::prelude::*;

const AGES: u64 = 1 << 40;

fn filtered<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let now = Instant::now();
    let mut old = OldOutput::new(AGES, now);
    let mut out = Vec::new();
    parts.into_iter().for_each(|part| old.pass(part, now, &mut out));
    out
}

#[track_caller]
fn passes(output: &str, expected: &str) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    assert_eq!(text(filtered([output.as_bytes()])), expected, "{output:?}");
    assert_eq!(text(filtered(output.as_bytes().chunks(1))), expected, "{output:?}, byte by byte");
}

#[test]
fn what_asks_or_acts_does_not_pass() {
    for acting in [
        "\x1b[6n",
        "\x1b[c",
        "\x1b[>c",
        "\x1b[=c",
        "\x1b[5n",
        "\x1b[?6n",
        "\x1b[?996n",
        "\x1b[?u",
        "\x1b[>0q",
        "\x1b[?1$p",
        "\x1b[14t",
        "\x1b[18t",
        "\x1b[x",
        "\x1b[?2;1;0S",
        "\x1b[?4m",
        "\x1b[5i",
        "\x1bZ",
        "\x1b]52;c;aGVsbG8=\x07",
        "\x1b]52;c;?\x1b\\",
        "\x1b]9;done\x07",
        "\x1b]777;notify;a;b\x1b\\",
        "\x1b]99;i=1;hello\x1b\\",
        "\x1b]10;?\x07",
        "\x1b]11;?\x1b\\",
        "\x1b]4;1;?\x07",
        "\x1b]1337;Copy=:x\x07",
        "\x1bP+q544e\x1b\\",
        "\x1bP$qm\x1b\\",
        "\x1b_Ga=q,i=1;AAAA\x1b\\",
        "\x1b^x\x1b\\",
        "\x1bXx\x1b\\",
        "\x07",
        "\x05",
        "\u{9b}6n",
        "\u{9d}52;c;x\x07",
        "\u{90}+q544e\x1b\\",
        "\u{9a}",
        "\x1b[?\x076n",
    ] {
        passes(&format!("a{acting}b"), "ab");
    }
    let zeros = format!("a\x1b[{}6nb", "0".repeat(9_000));
    passes(&zeros, "ab");
    let many = format!("a\x1b[{}6nb", "7;".repeat(100));
    passes(&many, "ab");
}

#[test]
fn what_is_shown_passes_as_it_is() {
    for shown in [
        "plain ä€🦀字 text\r\n\ttab\x08",
        "\x1b[1;31mred\x1b[0m\x1b[38:2::1:2:3m",
        "\x1b[?1049h\x1b[?25l\x1b[2J\x1b[H\x1b[?2004h\x1b[?1000;1006h\x1b[5;20r",
        "\x1b[>1u\x1b[<u\x1b[=5u\x1b[u\x1b[s\x1b7\x1b8\x1b[>4;2m\x1b[!p\x1b[2 q",
        "\x1b]0;a title?\x07\x1b]2;t\x1b\\\x1b]8;;https://example.com/?q\x1b\\link\x1b]8;;\x1b\\",
        "\x1b]7;file:///home\x07\x1b]133;A\x07\x1b]11;#102030\x07\x1b]104\x07",
        "\x1bPq#0;2;0;0;0~~@@\x1b\\\x1bP=1s\x1b\\\x1b(0lqk\x1b(B\x1b#8\x1b=\x1b>\x1bM",
        "\u{a0}\u{bf}é",
    ] {
        passes(shown, shown);
    }
    // A string that another sequence cuts short.
    passes("\x1b]52;c;abc\x1b[1mx", "\x1b[1mx");
    passes("\x1b]52;c;abc\x18x", "x");
    passes("\x1b[6\x1b[1mx", "\x1b[1mx");
}

#[test]
fn it_ends_in_silence_behind_the_last_old_byte_and_never_inside_a_sequence() {
    let start = Instant::now();
    let at = |ms| start + Duration::from_millis(ms);
    let mut out = Vec::new();
    let mut old = OldOutput::new(10, start);
    assert!(!old.is_over(at(60_000)), "nothing has come");
    old.pass(b"12345", at(100), &mut out);
    assert!(!old.is_over(at(2_000)) && old.is_over(at(2_100)), "less has come than was told");
    old.pass(b"67890\x1b", at(300), &mut out);
    assert!(!old.is_over(at(10_000)), "inside a sequence");
    old.pass(b"[1m", at(310), &mut out);
    assert!(!old.is_over(at(509)) && old.is_over(at(510)));
    // One that is never silent.
    let mut busy = OldOutput::new(10, start);
    for ms in (0..6_000).step_by(50) {
        busy.pass(b"0123456789", at(ms), &mut out);
        assert_eq!(busy.is_over(at(ms)), ms >= 5_000, "{ms}");
    }
    assert!(OldOutput::new(0, start).is_over(at(200)));
}

proptest! {
    #[test]
    fn no_split_changes_what_passes(
        output in proptest::collection::vec(
            prop_oneof![
                Just(b"\x1b[6n".to_vec()), Just(b"\x1b]52;c;eA==\x07".to_vec()), Just(b"\x1b[1m".to_vec()),
                Just(b"\x1bPq~\x1b\\".to_vec()), Just(b"\xc2\x9b6n".to_vec()), Just("ä字".as_bytes().to_vec()),
                proptest::collection::vec(any::<u8>(), 0..6),
            ], 0..12),
        cuts in proptest::collection::vec(0usize..80, 0..6),
    ) {
        let output = output.concat();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(output.len())).collect();
        cuts.extend([0, output.len()]);
        cuts.sort_unstable();
        let parts = cuts.windows(2).map(|pair| &output[pair[0]..pair[1]]);
        prop_assert_eq!(filtered(parts), filtered([output.as_slice()]));
    }

    #[test]
    fn text_passes(text in "[a-zäöü字 \r\n]{0,200}") {
        prop_assert_eq!(filtered([text.as_bytes()]), text.as_bytes());
    }
}

#[test]
fn what_the_official_program_adds_is_not_counted() {
    let now = Instant::now();
    let mut old = OldOutput::new(10, now);
    let mut out = Vec::new();
    old.pass(b"  attached to proc_1 (sb-1)\r\n", now, &mut out);
    old.pass(
        b"\x1b7\x1b[0m\x1b[1;23r\x1b[24;1H\x1b[7m createos proc_1 | Ctrl-] detach \x1b[0m\x1b8",
        now,
        &mut out,
    );
    let later = now + Duration::from_secs(1);
    assert!(!old.is_over(later), "nothing old has come yet");
    old.pass(b"123456789\x07", later, &mut out);
    assert!(!out.contains(&7), "an old bell");
    assert!(old.is_over(later + QUIET), "all of it has come");
}
