//! Taking a setup back.

use super::{BUNDLE, CONFIG, SETTINGS, machine, tree};
use crate::support::{Herdr, User};
use std::collections::BTreeMap;
use std::path::PathBuf;

#[test]
fn undo_gives_back_every_byte_and_removes_what_setup_made() {
    for user in User::all() {
        let home = machine(user);
        let herdr = Herdr::in_home(&home);
        let mine = "# mine\r\n[ui]\r\nx = 1";
        home.write(CONFIG, mine);
        let settings = "{\"agent\":\"codex\"}";
        home.write(SETTINGS, settings);
        home.mode(CONFIG, 0o600);
        let before =
            tree(&home.path().join(".config/herdr"))["config.toml"].split(' ').next().map(str::to_owned);
        let _ = home.run(&["setup", "--force", "--agent", "pi"]).success();
        assert_ne!(home.read(CONFIG), mine);
        let undo = home.run(&["setup", "--undo"]).success();
        assert!(undo.stdout.contains("taken back"), "{}", undo.stdout);
        assert_eq!((home.read(CONFIG).as_str(), home.read(SETTINGS).as_str()), (mine, settings));
        let after =
            tree(&home.path().join(".config/herdr"))["config.toml"].split(' ').next().map(str::to_owned);
        assert_eq!(after, before, "the mode");
        assert!(herdr.registry().is_empty());
        assert!(!home.path().join(".local/share").exists(), "folders that setup made are gone");
        let again = home.run(&["setup", "--undo"]).success();
        assert!(again.stdout.contains("nothing to take back"), "{}", again.stdout);
    }
}

#[test]
fn an_undo_is_shown_first_with_its_diff() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.write(CONFIG, "[ui]\n");
    let _ = home.run(&["setup"]).success();
    let before = tree(home.path());
    let shown = home.run(&["setup", "--undo", "--dry-run"]).success();
    assert_eq!(tree(home.path()), before);
    for line in
        ["     [ui]", "    -# createos-sandbox", "    -command = \"createos.sandbox.delete\"", "--dry-run"]
    {
        assert!(shown.stdout.contains(line), "[{line}] is not in:\n{}", shown.stdout);
    }
    assert!(!shown.stdout.lines().any(|line| line.trim_start().starts_with('+')), "{}", shown.stdout);
}

#[test]
fn what_the_user_added_since_stays() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.write(CONFIG, "[ui]\n");
    let _ = home.run(&["setup"]).success();
    let mut text = home.read(CONFIG);
    text.push_str("\n[[keys.command]]\nkey = \"prefix+m\"\ncommand = \"true\"\n");
    home.write(CONFIG, &text);
    let settings = home.read(SETTINGS).replace("\"30m\"", "\"1h\"");
    home.write(SETTINGS, settings);
    let undo = home.run(&["setup", "--undo"]).success();
    assert!(undo.stdout.contains("exactly our entries go"), "{}", undo.stdout);
    assert_eq!(home.read(CONFIG), "[ui]\n\n[[keys.command]]\nkey = \"prefix+m\"\ncommand = \"true\"\n");
    assert_eq!(home.read(SETTINGS), "{\n  \"autoPause\": \"1h\"\n}\n");
}

#[test]
fn several_setups_are_taken_back_at_once() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let mine = "[[keys.command]]\nkey = \"prefix+m\"\ncommand = \"true\"\n";
    home.write(CONFIG, mine);
    let _ = home.run(&["setup"]).success();
    let _ = home.run(&["setup", "--key", "pause=prefix+shift+e", "--force", "--agent", "pi"]).success();
    let _ = home.run(&["setup", "--undo"]).success();
    assert_eq!(home.read(CONFIG), mine);
    assert!(!home.path().join(SETTINGS).exists());
}

#[test]
fn herdrs_own_reset_of_all_keys_is_understood() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    home.write(CONFIG, "[ui]\n");
    let _ = home.run(&["setup"]).success();
    let _ = herdr.run(&["config", "reset-keys"]).success();
    let backups = || -> BTreeMap<_, _> {
        let paths =
            std::fs::read_dir(home.path().join(".config/herdr")).unwrap().map(|entry| entry.unwrap().path());
        let is_backup = |path: &PathBuf| path.to_string_lossy().contains("bak-keybind");
        paths.filter(is_backup).map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
    };
    assert_eq!(backups().len(), 1);
    let doctor = home.run(&["setup", "--doctor"]).success();
    assert!(doctor.stdout.contains("0 of 6 bound"), "{}", doctor.stdout);
    let _ = home.run(&["setup"]).success();
    assert!(home.run(&["setup", "--doctor"]).success().stdout.contains("6 of 6 bound"));
    let _ = herdr.run(&["config", "reset-keys"]).success();
    let (after_reset, kept) = (home.read(CONFIG), backups());
    let _ = home.run(&["setup", "--undo"]).success();
    assert!(after_reset.contains("# createos-sandbox"), "the reset leaves our comment: {after_reset}");
    assert_eq!(home.read(CONFIG), "[ui]\n");
    assert!(herdr.registry().is_empty());
    assert_eq!(backups(), kept, "Herdr's own backups are left alone");
    assert!(!home.path().join(BUNDLE).exists());
}

#[test]
fn an_entry_that_the_user_wrote_himself_after_a_reset_stays_and_is_named() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    home.write(CONFIG, "[ui]\n");
    let _ = home.run(&["setup"]).success();
    let _ = herdr.run(&["config", "reset-keys"]).success();
    let his = "\n[[keys.command]]\nkey = \"prefix+shift+s\"\ntype = \"plugin_action\"\n\
               command = \"createos.sandbox.start\"\ndescription = \"my sandbox\"\n";
    let text = home.read(CONFIG) + his;
    home.write(CONFIG, text);
    let undo = home.run(&["setup", "--undo"]).success();
    assert_eq!(home.read(CONFIG), format!("[ui]\n{his}"));
    let words = "~/.config/herdr/config.toml, line 3  ";
    assert!(undo.stdout.contains(words), "{}", undo.stdout);
    assert!(undo.stdout.contains("your own binding of createos.sandbox.start stays"), "{}", undo.stdout);
}

#[test]
fn comments_that_the_user_wrote_into_our_entries_stay() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.write(CONFIG, "[ui]\n");
    let _ = home.run(&["setup"]).success();
    let text = home.read(CONFIG).replacen("type = ", "# do not touch: my note\ntype = ", 1);
    home.write(CONFIG, text);
    let _ = home.run(&["setup", "--undo"]).success();
    assert_eq!(home.read(CONFIG), "[ui]\n\n# do not touch: my note\n");
}

#[test]
fn keys_that_were_chosen_again_leave_no_second_header_and_no_rest() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.write(CONFIG, "[ui]\n");
    let _ = home.run(&["setup"]).success();
    for chord in ["delete=prefix+alt+x", "start=prefix+alt+s", "delete=prefix+shift+z"] {
        let _ = home.run(&["setup", "--key", chord]).success();
        let text = home.read(CONFIG);
        assert_eq!(text.matches("# createos-sandbox\n").count(), 1, "{text}");
        assert_eq!(text.matches("type = \"plugin_action\"").count(), 6, "{text}");
    }
    // Somebody else's change keeps the original from coming back whole; nothing of ours stays for that.
    let text = home.read(CONFIG) + "[theme]\nname = \"nord\"\n";
    home.write(CONFIG, text);
    let _ = home.run(&["setup", "--undo"]).success();
    assert_eq!(home.read(CONFIG), "[ui]\n[theme]\nname = \"nord\"\n");
}

#[test]
fn boxes_that_panes_are_tied_to_are_named_and_need_a_yes() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    let _ = home.run(&["setup"]).success();
    let record = serde_json::json!({
        "version": 1, "installation": "abcd",
        "records": [{
            "id": "0a1b2c3d", "phase": "ready", "socket": "/s", "provider": "createos", "box": "hd-app-k3x9q2",
            "boxId": "sb-01j00000000000000000000000", "agent": "pi", "local": "/w", "remote": "/workspace"
        }]
    });
    home.write(".local/state/herdr/plugins/createos.sandbox/state.json", record.to_string());
    let refused = home.run(&["setup", "--undo"]).fails(1, "tied to boxes");
    assert!(
        refused.stdout.contains("createos sandbox rm --yes sb-01j00000000000000000000000"),
        "{}",
        refused.stdout
    );
    assert_eq!(herdr.registry().len(), 1);
    assert!(home.run(&["setup", "--doctor"]).success().stdout.contains("1 pane is tied to a box"));
    let _ = home.run(&["setup", "--undo", "--dry-run"]).success();
    let _ = home.run(&["setup", "--undo", "--yes"]).success();
    assert!(herdr.registry().is_empty());
}

/// Our own state does not know them before an action has run.
#[test]
fn boxes_that_only_the_earlier_plugin_knows_are_counted_and_named_and_its_file_stays() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    let _ = home.run(&["setup"]).success();
    let panes = serde_json::json!({ "w1:p1": {
        "box": "hd-old-abc123", "boxId": "sb-01j00000000000000000000000", "agent": "shell", "bin": "/bin/bash",
        "processId": "proc_1", "local": "/w", "remote": "/workspace"
    }});
    let file = home.write(".local/state/herdr/plugins/createos.sandbox/panes.json", panes.to_string());
    assert!(home.run(&["setup", "--doctor"]).success().stdout.contains("1 pane is tied to a box"));
    let refused = home.run(&["setup", "--undo"]).fails(1, "tied to boxes");
    let delete = "createos sandbox rm --yes sb-01j00000000000000000000000";
    assert!(refused.stdout.contains(delete) && refused.stderr.contains("hd-old-abc123"), "{refused:?}");
    assert_eq!(herdr.registry().len(), 1);
    let _ = home.run(&["setup", "--undo", "--yes"]).success();
    assert_eq!(std::fs::read_to_string(file).unwrap(), panes.to_string());
}

#[test]
fn a_plugin_that_somebody_registered_anew_stays() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    let _ = home.run(&["setup"]).success();
    let manifest = home.read(&format!("{BUNDLE}/herdr-plugin.toml"));
    home.write("mine/herdr-plugin.toml", manifest);
    let _ = herdr.run(&["plugin", "link", "mine"]).success();
    let undo = home.run(&["setup", "--undo"]).success();
    assert!(undo.stdout.contains("somebody registered it anew"), "{}", undo.stdout);
    assert_eq!(herdr.registry().len(), 1);
    assert!(!home.path().join(CONFIG).exists());
}

#[test]
fn complaints_that_only_move_do_not_keep_an_undo_from_working() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    let _ = home.run(&["setup"]).success();
    let twice = "\n[[keys.command]]\nkey = \"prefix+m\"\ncommand = \"true\"\n".repeat(2);
    let text = home.read(CONFIG) + &twice;
    home.write(CONFIG, &text);
    // Herdr calls the two by their place in the file, which changes.
    let _ = herdr.run(&["config", "check"]);
    let _ = home.run(&["setup", "--undo"]).success();
    assert_eq!(home.read(CONFIG).trim_start(), twice.trim_start());
}

#[test]
fn a_file_that_moved_between_two_setups_is_cleaned_in_both_places() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.write(CONFIG, "[ui]\n");
    let other = home.write("elsewhere.toml", "# other\n");
    let _ = home.run(&["setup"]).success();
    let mut command = home.command(&["setup"]);
    command.env("HERDR_CONFIG_PATH", &other);
    let _ = crate::support::outcome(command).success();
    assert!(home.read("elsewhere.toml").contains("createos.sandbox.start"));
    let _ = home.run(&["setup", "--undo"]).success();
    assert_eq!((home.read(CONFIG).as_str(), home.read("elsewhere.toml").as_str()), ("[ui]\n", "# other\n"));
}

#[test]
fn a_binding_of_the_users_own_in_a_second_file_stays() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.write(CONFIG, "[ui]\n");
    let _ = home.run(&["setup"]).success();
    // The same binding as ours, but written by the user: the setup finds it there and adds the others.
    let ours = home.read(CONFIG);
    let start = ours.find("[[keys.command]]").unwrap();
    let entry = ours[start..].split("\n\n").next().unwrap().trim_end().to_owned() + "\n";
    let other = home.write("elsewhere.toml", &entry);
    let mut command = home.command(&["setup"]);
    command.env("HERDR_CONFIG_PATH", &other);
    let _ = crate::support::outcome(command).success();
    // Changed since, so that it is taken apart by meaning.
    let text = home.read("elsewhere.toml") + "\n[ui]\n";
    home.write("elsewhere.toml", text);
    let _ = home.run(&["setup", "--undo"]).success();
    assert!(home.read("elsewhere.toml").starts_with(&entry), "{}", home.read("elsewhere.toml"));
    assert_eq!(home.read("elsewhere.toml").matches("createos.sandbox.").count(), 1);
    assert_eq!(home.read(CONFIG), "[ui]\n");
}

#[test]
fn another_configuration_folder_is_refused_with_the_variable_to_set() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    let folder = home.path().join("xdg");
    let with = |args: &[&str]| {
        let mut command = home.command(args);
        command.env("XDG_CONFIG_HOME", &folder);
        crate::support::outcome(command)
    };
    let _ = with(&["setup"]).success();
    let needed = format!("XDG_CONFIG_HOME={}", folder.display());
    let refused = home.run(&["setup", "--undo"]).fails(1, "another configuration folder");
    assert!(refused.stderr.contains(&needed), "{}", refused.stderr);
    let _ = with(&["setup", "--undo"]).success();
    assert!(!folder.join("herdr/config.toml").exists() && herdr.registry().is_empty());
    assert!(!home.path().join(".local/share").exists());
}

#[test]
fn what_cannot_be_registered_again_is_a_warning_and_the_rest_goes() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    let manifest =
        "id = \"createos.sandbox\"\nname = \"x\"\nversion = \"1.0.0\"\nmin_herdr_version = \"0.7.5\"\n";
    home.write("earlier/herdr-plugin.toml", manifest);
    let _ = herdr.run(&["plugin", "link", "earlier"]).success();
    home.write(CONFIG, "[ui]\n");
    let _ = home.run(&["setup"]).success();
    std::fs::remove_dir_all(home.path().join("earlier")).unwrap();
    let undo = home.run(&["setup", "--undo"]).success();
    assert!(undo.stdout.contains("herdr plugin link"), "{}", undo.stdout);
    assert_eq!(home.read(CONFIG), "[ui]\n");
    assert!(herdr.registry().is_empty() && !home.path().join(BUNDLE).exists());
}

#[test]
fn without_herdr_the_keys_and_the_files_are_taken_back() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    home.write(CONFIG, "[ui]\n");
    let _ = home.run(&["setup"]).success();
    std::fs::remove_file(home.path().join("bin/herdr")).unwrap();
    let undo = home.run(&["setup", "--undo"]).success();
    assert!(undo.stdout.contains("herdr plugin uninstall createos.sandbox"), "{}", undo.stdout);
    assert_eq!(home.read(CONFIG), "[ui]\n");
    assert!(!home.path().join(SETTINGS).exists() && !home.path().join(BUNDLE).exists());
    assert_eq!(herdr.registry().len(), 1, "only herdr itself may change that");
}
