//! What is left of a run that was killed before it had a receipt: `--undo` finds it, and it is nobody else's.

use super::{BUNDLE, CONFIG, contents, machine, seen_once};
use crate::support::{Herdr, Home, User, outcome};

const DATA: &str = ".local/share/createos-sandbox";

/// A setup that is killed at this point.
fn killed_at(home: &Home, at: u32) -> i32 {
    let mut command = home.command(&["setup"]);
    command.env("CREATEOS_SANDBOX_KILL_AT", at.to_string());
    outcome(command).code
}

#[test]
fn what_a_killed_run_left_without_a_receipt_is_shown_and_removed() {
    let mut swept = 0;
    for at in 1.. {
        let home = machine(User::Me);
        let herdr = Herdr::in_home(&home);
        seen_once(&home, &herdr);
        home.write(CONFIG, "[ui]\n");
        let before = contents(home.path());
        assert_ne!(killed_at(&home, at), 0);
        let left = contents(home.path());
        if home.path().join(DATA).join("receipts/herdr.json").exists() {
            break;
        }
        let shown = home.run(&["setup", "--undo", "--dry-run"]).success();
        assert_eq!(contents(home.path()), left, "--dry-run changes nothing");
        let report = home.run(&["setup", "--undo", "--dry-run", "--json"]).success().json();
        if left != before {
            swept += 1;
            assert!(
                shown.stdout.contains("  remove  ~/.createos-sandbox-")
                    || shown.stdout.contains("  remove  ~/.local"),
                "{}",
                shown.stdout
            );
            assert!(shown.stdout.ends_with("Nothing was changed (--dry-run).\n"), "{}", shown.stdout);
            assert_eq!(
                (&report["changes"][0]["verb"], &report["changed"]),
                (&"remove".into(), &false.into())
            );
        }
        let _ = home.run(&["setup", "--undo"]).success();
        assert_eq!(contents(home.path()), before, "after point {at}");
    }
    assert!(swept > 0, "no point comes before the receipt");
}

#[test]
fn leftovers_of_a_lost_receipt_go_and_what_is_not_ours_stays() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    let _ = home.run(&["setup"]).success();
    std::fs::remove_file(home.path().join(DATA).join("receipts/herdr.json")).unwrap();
    let _ = herdr.run(&["plugin", "uninstall", "createos.sandbox"]).success();
    home.write(&format!("{DATA}/mine.txt"), "mine");
    home.write(&format!("{DATA}/receipts/originals/mine.txt"), "mine");
    home.write(".createos-sandbox-notes1/notes.txt", "mine");
    home.write(".createos-sandbox-aaaaaa/share/createos-sandbox/receipts/herdr.json", "{}");
    home.write(".createos-sandbox-bbbbbb/blobs/herdr.json", "mine");
    let shown = home.run(&["setup", "--undo", "--dry-run"]).success();
    for line in ["  remove  ~/.createos-sandbox-aaaaaa ", "  remove  the bundled plugin "] {
        assert!(shown.stdout.contains(line), "{line}: {}", shown.stdout);
    }
    assert!(!shown.stdout.contains("mine") && !shown.stdout.contains("bbbbbb"), "{}", shown.stdout);
    let undo = home.run(&["setup", "--undo"]).success();
    assert!(undo.stdout.contains("Done. Everything that setup did was taken back."), "{}", undo.stdout);
    assert!(!home.path().join(BUNDLE).exists() && !home.path().join(".createos-sandbox-aaaaaa").exists());
    assert_eq!(home.read(&format!("{DATA}/mine.txt")), "mine");
    assert_eq!(home.read(&format!("{DATA}/receipts/originals/mine.txt")), "mine");
    assert_eq!(home.read(".createos-sandbox-notes1/notes.txt"), "mine");
    assert_eq!(home.read(".createos-sandbox-bbbbbb/blobs/herdr.json"), "mine");
    let again = home.run(&["setup", "--undo", "--dry-run"]).success();
    assert!(again.stdout.contains("There is nothing to take back"), "{}", again.stdout);
}
