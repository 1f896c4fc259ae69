//! The command line itself.

use crate::support::{Herdr, Home};

#[test]
fn an_unknown_command_is_wrong_use() {
    let outcome = Home::new().run(&["bogus"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("bogus"), "{outcome:?}");
}

#[test]
fn looking_leaves_nothing_in_the_home() {
    let home = Home::new().with_bin();
    let _herdr = Herdr::in_home(&home);
    for words in [
        &["herdr", "info"][..],
        &["herdr", "review"],
        &["herdr", "boxes"],
        #[cfg(target_os = "linux")]
        &["local", "sandbox", "list"],
        #[cfg(target_os = "linux")]
        &["local", "sandbox", "get", "nobody"],
        #[cfg(target_os = "linux")]
        &["local", "sandbox", "rm", "--yes", "nobody"],
    ] {
        let _ended = home.run(words);
        for folder in [".local", ".config", ".cache"] {
            assert!(!home.path().join(folder).exists(), "{words:?} left {folder}");
        }
    }
}

#[test]
fn what_is_missing_or_wrong_in_a_local_command_is_told_with_the_way_to_go_on() {
    let home = Home::new();
    for (words, tip) in [
        (&["process", "list"][..], "tip: REF is a box; show them with: createos-sandbox local sandbox list"),
        (&["process", "start"], "tip: REF is a box"),
        (&["rm"], "tip: REF is a box"),
        (&["rm", "-f", "x"], "tip: --yes, or -y, deletes without a question"),
        (&["create"], "tip: such as --shape s-2vcpu-4gb"),
    ] {
        let wrong = home.run(&[&["local", "-o", "table", "sandbox"], words].concat()).fails(2, tip);
        assert!(!wrong.stderr.contains("as a value"), "{wrong:?}");
    }
}
