//! An undo deletes what setup made and nothing else, however much it looks like ours.

use super::{CONFIG, machine};
use crate::support::{Herdr, User};

#[test]
fn files_of_others_in_folders_that_setup_made_stay() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    assert!(!home.path().join(".local").exists(), "setup makes it");
    home.write(CONFIG, "[ui]\n");
    let _ = home.run(&["setup"]).success();
    let hash = "0123456789abcdef".repeat(4);
    let data = ".local/share/createos-sandbox";
    let others = [
        format!(".local/share/blobs/sha256/{hash}"),
        ".local/share/app/herdr.json".into(),
        format!(".local/share/originals/{hash}"),
        ".local/receipts/herdr.json".into(),
        format!("{data}/receipts/originals/{hash}"),
        format!("{data}/receipts/originals/notes.txt"),
        format!("{data}/receipts/app/herdr.json"),
        format!("{data}/notes/herdr.json"),
    ];
    for other in &others {
        home.write(other, "not ours");
    }
    let undo = home.run(&["setup", "--undo"]).success();
    assert!(undo.stdout.contains("taken back"), "{}", undo.stdout);
    for other in &others {
        assert_eq!(home.read(other), "not ours", "{other}");
    }
    assert_eq!(home.read(CONFIG), "[ui]\n");
    assert!(!home.path().join(data).join("receipts/herdr.json").exists());
    assert!(!home.path().join(data).join("herdr-plugin").exists());
    let kept = std::fs::read_dir(home.path().join(data).join("receipts/originals")).unwrap().count();
    assert_eq!(kept, 2, "our own copies are gone");
}

#[test]
fn folders_that_setup_made_go_when_nothing_else_is_in_them() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let _ = home.run(&["setup"]).success();
    home.write(".local/share/app/notes", "not ours");
    let _ = home.run(&["setup", "--undo"]).success();
    assert_eq!(home.read(".local/share/app/notes"), "not ours");
    assert!(!home.path().join(".local/share/createos-sandbox").exists());
}
