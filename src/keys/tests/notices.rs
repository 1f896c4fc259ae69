//! The notices of Herdr, in every shape of `ui`.

use super::files::{real, synthetic};
use super::*;

/// Turns them on, proves what must hold, and takes it back, also from a file that was edited meanwhile.
#[track_caller]
fn on_and_back(original: &[u8]) -> String {
    let on = with_notices(original).unwrap().expect("they were off");
    assert_eq!(delivery(&on.text).unwrap().as_deref(), Some("herdr"));
    assert_eq!(with_notices(&on.text).unwrap(), None, "a second time changes nothing");
    let back = without_notices(&on.text, &on.patch).unwrap().expect("it is there");
    assert_eq!(String::from_utf8_lossy(&back), String::from_utf8_lossy(original));
    let edited = [&on.text[..], b"\n# later\n[later]\nx = 1\n"].concat();
    let back = without_notices(&edited, &on.patch).unwrap().expect("it is there still");
    assert_eq!(back, [original, b"\n# later\n[later]\nx = 1\n"].concat());
    // The bindings go on top of it, and go without it.
    let merged = checked(&on.text, &six()).unwrap();
    let back = without_notices(&merged.text, &on.patch).unwrap().expect("it is there below the bindings");
    assert_eq!(delivery(&back).unwrap(), None);
    String::from_utf8(on.text).unwrap()
}

#[test]
fn each_shape_of_ui_gets_the_setting_in_its_own_way() {
    for (original, on) in [
        ("", "[ui.toast]\ndelivery = \"herdr\"\n"),
        ("[ui]\n", "[ui]\n\n[ui.toast]\ndelivery = \"herdr\"\n"),
        ("[ui]\ntheme = \"x\"", "[ui]\ntheme = \"x\"\n\n[ui.toast]\ndelivery = \"herdr\"\n"),
        ("ui = { theme = \"x\" }\n", "ui = { theme = \"x\", toast = { delivery = \"herdr\" } }\n"),
        ("ui = {}\n", "ui = { toast = { delivery = \"herdr\" } }\n"),
        (
            "ui = { toast = { position = \"x\" } }",
            "ui = { toast = { position = \"x\", delivery = \"herdr\" } }",
        ),
        ("ui = { toast = { delivery = \"off\" } }", "ui = { toast = { delivery = \"herdr\" } }"),
        ("ui = { toast.position = \"x\" }", "ui = { toast.position = \"x\", toast.delivery = \"herdr\" }"),
        ("[ui]\ntoast = {}\n", "[ui]\ntoast = { delivery = \"herdr\" }\n"),
        ("ui.toast = {}\n[keys]\n", "ui.toast = { delivery = \"herdr\" }\n[keys]\n"),
        ("[ui.toast] # mine\n", "[ui.toast] # mine\ndelivery = \"herdr\"\n"),
        ("[ui.toast]", "[ui.toast]\ndelivery = \"herdr\"\n"),
        ("[ui.toast]\r\nx = 1\r\n", "[ui.toast]\r\ndelivery = \"herdr\"\r\nx = 1\r\n"),
        ("[ui.toast]\ndelivery = 'off' # quiet\n", "[ui.toast]\ndelivery = \"herdr\" # quiet\n"),
        ("ui.toast.delivery = \"off\"\n", "ui.toast.delivery = \"herdr\"\n"),
        ("ui.toast.x = 1\n", "ui.toast.delivery = \"herdr\"\nui.toast.x = 1\n"),
        ("[ui]\ntoast.x = 1\ny = 2\n", "[ui]\ntoast.delivery = \"herdr\"\ntoast.x = 1\ny = 2\n"),
        ("[ui.toast.more]\nx = 1\n", "[ui.toast.more]\nx = 1\n\n[ui.toast]\ndelivery = \"herdr\"\n"),
    ] {
        assert_eq!(on_and_back(original.as_bytes()), on, "{original:?}");
    }
    // Written in dotted keys it stays one table, however it is said.
    for original in
        ["ui.theme = \"x\"\n", "\u{feff}ui.theme = \"x\"\r\n[keys]\r\n", "ui.a.b = 1\nui.c = 2\n[[x]]\n"]
    {
        on_and_back(original.as_bytes());
    }
}

#[test]
fn what_is_on_or_cannot_be_read_stays() {
    assert_eq!(with_notices(b"[ui.toast]\ndelivery = \"terminal\"\n").unwrap(), None);
    assert!(matches!(with_notices(b"ui = 3\n"), Err(KeysError::Unsafe { .. })));
    assert!(matches!(with_notices(b"[ui]\ntoast = \"on\"\n"), Err(KeysError::Unsafe { .. })));
    assert!(with_notices(b"ui = {\n").is_err());
    // Somebody's own value, or lines that were built on ours.
    let on = with_notices(b"").unwrap().unwrap();
    for edited in
        ["[ui.toast]\ndelivery = \"terminal\"\n", "[ui.toast]\ndelivery = \"herdr\"\nposition = \"x\"\n"]
    {
        assert_eq!(without_notices(edited.as_bytes(), &on.patch).unwrap(), None, "{edited}");
    }
}

#[test]
fn every_file_gets_them_and_comes_back() {
    let files = synthetic().into_iter().chain(real().unwrap_or_default());
    let mut count = 0;
    for (_, original) in files.filter(|(_, text)| delivery(text).is_ok_and(|on| on.is_none())) {
        if merge(&original, &six()).is_ok() {
            on_and_back(&original);
            count += 1;
        }
    }
    assert!(count >= 30, "only {count}");
}
