//! An undo whose receipt is lost works on what is there, and lists what stays with the command that removes it.

use super::{BUNDLE, CONFIG, SETTINGS, contents, machine, seen_once};
use crate::support::{Herdr, Home, User, outcome};
use std::process::Command;

const DATA: &str = ".local/share/createos-sandbox";

fn lose_the_receipt(home: &Home) {
    std::fs::remove_dir_all(home.path().join(DATA).join("receipts")).expect("the receipts go");
}

#[test]
fn without_a_receipt_the_registration_the_keys_and_the_files_go() {
    for (mine, folder) in [("[ui]\nx = 1\n", "receipts"), ("# mine", "receipts"), ("[ui]\nx = 1\n", "")] {
        let home = machine(User::Me);
        let herdr = Herdr::in_home(&home);
        seen_once(&home, &herdr);
        home.write(CONFIG, mine);
        home.write(".local/share/keep", "");
        let before = contents(home.path());
        let _ = home.run(&["setup", "--key", "pause=prefix+alt+p"]).success();
        std::fs::remove_dir_all(home.path().join(DATA).join(folder)).unwrap();
        let undo = home.run(&["setup", "--undo"]).success();
        assert!(undo.stdout.contains("Everything that setup did was taken back."), "{}", undo.stdout);
        let mut after = contents(home.path());
        // The folder is Herdr's for the plugin, and nobody can say any more who made it; a line that had no end has one.
        after.retain(|name, _| before.contains_key(name) || !name.ends_with("config/createos.sandbox"));
        for contents in after.values_mut() {
            *contents = contents.replace("# mine\\n", "# mine");
        }
        assert_eq!(after, before, "{}", undo.stdout);
        let again = home.run(&["setup", "--undo"]).success();
        assert!(again.stdout.contains("There is nothing to take back"), "{}", again.stdout);
    }
}

#[test]
fn a_setup_after_the_loss_is_taken_back_with_the_one_before_it() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    home.write(CONFIG, "[ui]\n");
    let _ = home.run(&["setup"]).success();
    lose_the_receipt(&home);
    let _ = home.run(&["setup", "--force", "--agent", "pi"]).success();
    let undo = home.run(&["setup", "--undo"]).success();
    assert!(herdr.registry().is_empty(), "{}", undo.stdout);
    assert_eq!(home.read(CONFIG), "[ui]\n");
    assert!(!home.path().join(BUNDLE).exists());
    assert!(!home.read(SETTINGS).contains("\"pi\""), "as it was before the setup that is on record");
}

#[test]
fn what_is_not_provably_ours_stays_and_is_listed_with_what_removes_it() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    let _ = home.run(&["setup", "--agent", "codex"]).success();
    let his = "[[keys.command]]\nkey = \"prefix+shift+e\"\ntype = \"plugin_action\"\n\
               command = \"createos.sandbox.pause\"\ndescription = \"my own\"\n";
    let text = format!("{his}\n{}", home.read(CONFIG));
    home.write(CONFIG, text);
    home.write(".local/state/herdr/plugins/createos.sandbox/patches/a.patch", "work");
    lose_the_receipt(&home);
    let undo = home.run(&["setup", "--undo"]).success();
    assert_eq!(home.read(CONFIG).trim_end(), his.trim_end());
    assert!(herdr.registry().is_empty() && !home.path().join(BUNDLE).exists());
    assert!(home.read(SETTINGS).contains("codex"), "somebody chose that");
    // Each is removed by the command that is printed for it.
    let commands: Vec<&str> = undo
        .stdout
        .lines()
        .filter(|line| line.starts_with("  keep "))
        .filter_map(|line| line.rsplit_once(" with: ").map(|(_, command)| command))
        .collect();
    assert_eq!(commands.len(), 3, "{}", undo.stdout);
    for command in commands {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).env_clear().env("PATH", crate::support::PATH);
        let _ = outcome(shell).success();
    }
    assert!(!home.path().join(SETTINGS).exists());
    assert!(!home.path().join(".local/state/herdr/plugins/createos.sandbox").exists());
    assert!(!home.read(CONFIG).contains("createos"), "{}", home.read(CONFIG));
    let report = home.run(&["setup", "--undo", "--json"]).success().json();
    assert_eq!((&report["kept"], &report["changed"]), (&serde_json::json!([]), &false.into()));
}

#[test]
fn an_undo_without_a_receipt_that_is_killed_is_finished_by_the_next_one() {
    for at in 1.. {
        let home = machine(User::Me);
        let herdr = Herdr::in_home(&home);
        home.write(CONFIG, "[ui]\n");
        let _ = home.run(&["setup"]).success();
        lose_the_receipt(&home);
        let mut command = home.command(&["setup", "--undo"]);
        command.env("CREATEOS_SANDBOX_KILL_AT", at.to_string());
        let code = outcome(command).code;
        let _ = home.run(&["setup", "--undo"]).success();
        assert_eq!(home.read(CONFIG), "[ui]\n", "after point {at}");
        assert!(herdr.registry().is_empty() && !home.path().join(SETTINGS).exists(), "after point {at}");
        assert!(!home.path().join(DATA).exists(), "after point {at}");
        if code == 0 {
            assert!(at > 3, "only {at} points");
            break;
        }
    }
}

#[test]
fn a_copied_block_is_taken_out_with_its_plugin_and_an_original_comes_back_whole() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.write(CONFIG, "[ui]\n");
    let _ = home.run(&["setup"]).success();
    let with_ours = home.read(CONFIG);
    let _ = home.run(&["setup", "--undo"]).success();
    // As dotfiles bring it to another machine: all keys are there, so that setup does not write the file.
    home.write(CONFIG, &with_ours);
    let _ = home.run(&["setup"]).success();
    let _ = home.run(&["setup", "--undo"]).success();
    assert_eq!(home.read(CONFIG), "[ui]\n");
    // Written by a setup, it comes back byte for byte, whatever was in it.
    let five = with_ours.replacen("createos.sandbox.info", "createos.sandbox.resume", 1);
    home.write(CONFIG, &five);
    let _ = home.run(&["setup"]).success();
    let undo = home.run(&["setup", "--undo"]).success();
    assert_eq!(home.read(CONFIG), five);
    assert!(undo.stdout.contains("createos.sandbox.resume stays"), "{}", undo.stdout);
}
