//! A failure at each step takes back what was done before it, and says so.

use super::{BUNDLE, CONFIG, SETTINGS, contents, machine, seen_once, tree};
use crate::support::{Herdr, Home, User};
use serde_json::json;
use std::process::Command;

/// The user's files and the registration; what Herdr leaves beside them does not count.
fn state(home: &Home, herdr: &Herdr<'_>) -> (Option<String>, Option<String>, usize, bool) {
    let read = |file: &str| std::fs::read_to_string(home.path().join(file)).ok();
    let ours = home.path().join(".local/share/createos-sandbox").exists();
    (read(CONFIG), read(SETTINGS), herdr.registry().len(), ours)
}

#[test]
fn a_chord_without_the_prefix_is_warned_about() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let plan = home.run(&["setup", "--dry-run", "--key", "start=ctrl+c"]).success();
    let words = "ctrl+c is then taken from every program in Herdr";
    assert!(plan.stdout.contains(words), "{}", plan.stdout);
    let plan = home.run(&["setup", "--dry-run", "--key", "start=prefix+ctrl+c"]).success();
    assert!(!plan.stdout.contains("taken from every program"), "{}", plan.stdout);
}

#[test]
fn a_link_that_is_refused_leaves_nothing() {
    let home = machine(User::Me);
    let mut herdr = Herdr::in_home(&home);
    if !herdr.is_stand_in() {
        return;
    }
    herdr.fail("plugin link", 1, "Error: Custom { kind: Other, error: \"disk quota exceeded\" }");
    let failed = home.run(&["setup"]).fails(1, "herdr plugin link failed");
    assert!(failed.stderr.contains("disk quota exceeded"), "{}", failed.stderr);
    assert!(failed.stderr.contains("taken back"), "{}", failed.stderr);
    assert_eq!(state(&home, &herdr), (None, None, 0, false));
}

#[test]
fn a_config_that_herdr_rejects_goes_back_with_herdrs_words() {
    let home = machine(User::Me);
    let mut herdr = Herdr::in_home(&home);
    if !herdr.is_stand_in() {
        return;
    }
    home.write(CONFIG, "[ui]\nold = 1\n");
    let old = json!({ "text": "unknown config key ui.old; ignoring key" });
    herdr.script("diagnostics", json!([old, { "text": "no such thing", "when": "createos.sandbox.start" }]));
    let failed = home.run(&["setup"]).fails(1, "Herdr does not accept the new config.toml");
    assert!(failed.stderr.contains("no such thing"), "{}", failed.stderr);
    assert!(!failed.stderr.contains("ui.old"), "an old complaint is not ours: {}", failed.stderr);
    assert_eq!(state(&home, &herdr), (Some("[ui]\nold = 1\n".into()), None, 0, false));
    herdr.script("diagnostics", json!([old]));
    let _ = home.run(&["setup"]).success();
}

#[test]
fn a_running_herdr_is_told_and_its_refusal_is_passed_on() {
    let home = machine(User::Me);
    let mut herdr = Herdr::in_home(&home);
    if !herdr.is_stand_in() {
        return;
    }
    herdr.script("server", json!({ "reload": "applied" }));
    let setup = home.run(&["setup"]).success();
    assert!(setup.stdout.contains("The running Herdr has taken the keys over."), "{}", setup.stdout);
    herdr.script("server", json!({ "reload": "partial", "diagnostics": ["kept the old keys"] }));
    let undo = home.run(&["setup", "--undo"]).success();
    assert!(undo.stderr.contains("kept the old keys"), "{}", undo.stderr);
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_that_changes_nothing() {
    for user in User::all() {
        let home = machine(user);
        let herdr = Herdr::in_home(&home);
        home.write(".local/share/keep", "");
        home.mode(".local/share", 0o555);
        // Root writes where no write bit is, so for root the mode proves nothing.
        let probe = crate::support::outcome(home.command_of("touch".as_ref(), &[".local/share/probe"]));
        if probe.code == 0 {
            assert!(rustix::process::geteuid().is_root());
            home.mode(".local/share", 0o755);
            continue;
        }
        let _ = home.run(&["setup"]).fails(1, "could not create a folder in ");
        assert_eq!(state(&home, &herdr), (None, None, 0, false));
        home.mode(".local/share", 0o755);
        let _ = home.run(&["setup"]).success();
    }
}

#[test]
fn a_read_only_file_is_not_written_and_the_block_is_printed() {
    for user in User::all() {
        let home = machine(user);
        let _herdr = Herdr::in_home(&home);
        home.write(CONFIG, "[ui]\n");
        home.mode(CONFIG, 0o444);
        let setup = home.run(&["setup"]).success();
        assert!(setup.stdout.contains("config.toml was not written: "), "{}", setup.stdout);
        assert!(setup.stdout.contains("key = \"prefix+shift+s\""), "{}", setup.stdout);
        assert_eq!(home.read(CONFIG), "[ui]\n");
        assert_eq!(home.run(&["setup", "--strict"]).code, 1);
        let doctor = home.run(&["setup", "--doctor"]).success();
        assert!(doctor.stdout.contains("is read-only (mode 0444)"), "{}", doctor.stdout);
    }
}

#[test]
fn a_file_that_does_not_parse_stops_it_with_line_column_and_block() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    for broken in [&b"[ui]\nx = \"\\e\"\n"[..], b"[ui]\n[keys\n", b"\xff\xfe", b"keys = {\n}\n"] {
        home.write(CONFIG, broken);
        let before = tree(home.path());
        let failed = home.run(&["setup"]).fails(1, "config.toml, line ");
        assert!(failed.stderr.contains("key = \"prefix+shift+s\""), "{}", failed.stderr);
        assert_eq!(tree(home.path()), before);
        let _ = home.run(&["setup", "--no-keys"]).success();
        assert_eq!(std::fs::read(home.path().join(CONFIG)).unwrap(), broken);
        let _ = home.run(&["setup", "--undo"]).success();
    }
}

/// A full disk at every step: a file system of its own that grows page by page until everything has room. Only root
/// can make one.
#[test]
fn a_full_disk_at_any_step_leaves_everything_as_it_was() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    for (folder, first) in [(".local/share", 1), (".config/herdr", 6)] {
        let home = machine(User::Me);
        let herdr = Herdr::in_home(&home);
        seen_once(&home, &herdr);
        std::fs::create_dir_all(home.path().join(".local/share")).unwrap();
        home.write("seed.toml", format!("# {}\n[ui]\n", "x".repeat(6000)));
        // The home is looked at from inside, since only there the small disk is seen. What is written by Herdr before
        // the setup is on the disk too.
        let script = "set -eu; pages=$2; cp -a .config/herdr kept; \
            while :; do \
              mount -t tmpfs -o size=$((pages * 4))k,mode=755 none $1; \
              if [ $1 = .config/herdr ]; then cp -a kept/. $1; fi; \
              cp seed.toml .config/herdr/config.toml; \
              find $1 .local/share .config | sort > before; \
              if $3 setup > out 2> err; then echo fits; umount $1; exit 0; fi; \
              grep -q 'No space left\\|os error 28' err || { echo other; cat err; }; \
              find $1 .local/share .config | sort > after; \
              cmp before after || diff before after; cmp seed.toml .config/herdr/config.toml; \
              grep -q createos .config/herdr/plugins.json && echo registered; \
              echo refused; umount $1; pages=$((pages + 1)); \
            done";
        let mut command = Command::new("unshare");
        let binary = crate::support::binary();
        command.args(["-m", "sh", "-c", script, "sh", folder, &first.to_string()]).arg(&binary);
        let outer = home.command(&[]);
        command.env_clear().current_dir(home.path());
        command.envs(outer.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ended = crate::support::outcome(command);
        if ended.stderr.contains("unshare failed") || ended.stderr.contains("permission denied") {
            return;
        }
        let mut lines: Vec<&str> = ended.stdout.lines().collect();
        assert_eq!(lines.pop(), Some("fits"), "{folder}: {ended:?}");
        assert!(lines.len() >= 3 && lines.iter().all(|line| *line == "refused"), "{folder}: {ended:?}");
    }
}

#[test]
fn a_folder_of_herdrs_that_cannot_be_written_takes_everything_back() {
    for user in User::all() {
        let home = machine(user);
        let herdr = Herdr::in_home(&home);
        seen_once(&home, &herdr);
        home.write(CONFIG, "[ui]\n");
        let before = contents(home.path());
        home.mode(".config/herdr", 0o555);
        let probe = crate::support::outcome(home.command_of("touch".as_ref(), &[".config/herdr/probe"]));
        if probe.code == 0 {
            // Root writes where no write bit is, and so does Herdr for root.
            assert!(rustix::process::geteuid().is_root());
            continue;
        }
        let failed = home.run(&["setup"]).fails(1, "herdr plugin link failed");
        assert!(failed.stderr.contains("taken back"), "{}", failed.stderr);
        home.mode(".config/herdr", 0o755);
        assert_eq!(contents(home.path()), before);
    }
}

#[test]
fn settings_whose_folder_cannot_be_written_are_printed() {
    for user in User::all() {
        let home = machine(user);
        let herdr = Herdr::in_home(&home);
        seen_once(&home, &herdr);
        let folder = ".config/herdr/plugins/config/createos.sandbox";
        home.mode(folder, 0o555);
        let setup = home.run(&["setup", "--agent", "pi"]).success();
        assert!(setup.stdout.contains("config.json was not written: "), "{}", setup.stdout);
        assert!(setup.stdout.contains("\"agent\": \"pi\""), "{}", setup.stdout);
        assert!(home.read(CONFIG).contains("createos.sandbox.start"), "the keys are bound all the same");
        home.mode(folder, 0o755);
    }
}

#[test]
fn the_step_that_fails_half_way_is_taken_back_too() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    // The second of the plugin's two files cannot be written.
    std::fs::create_dir_all(home.path().join(BUNDLE).join("programs.json/mine")).unwrap();
    let before = tree(home.path()).into_keys().collect::<Vec<_>>();
    let _ = home.run(&["setup"]).fails(1, "programs.json is a folder");
    assert_eq!(tree(home.path()).into_keys().collect::<Vec<_>>(), before);
    assert!(herdr.registry().is_empty());
}

#[test]
fn a_receipt_that_cannot_be_completed_leaves_no_copy() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.write(CONFIG, "[ui]\n");
    // Where the originals go lies a link that leads nowhere.
    let receipts = home.path().join(".local/share/createos-sandbox/receipts");
    std::fs::create_dir_all(&receipts).unwrap();
    std::os::unix::fs::symlink("/nowhere", receipts.join("originals")).unwrap();
    let _ = home.run(&["setup"]).fails(1, "originals");
    assert!(!receipts.join("herdr.json").exists());
    assert!(!home.path().join(BUNDLE).exists());
}
