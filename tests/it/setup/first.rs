//! Setting up for the first time, and again.

use super::{BUNDLE, CONFIG, SETTINGS, createos, machine, plain, tree};
use crate::support::{Herdr, Home, PATH, User, binary, outcome};
use std::os::unix::fs::PermissionsExt;

#[test]
fn one_command_links_the_plugin_and_writes_settings_and_keys() {
    for user in User::all() {
        let home = machine(user);
        let herdr = Herdr::in_home(&home);
        let setup = home.run(&["setup", "herdr", "--agent", "codex", "--shape", "s-1vcpu-1gb"]).success();
        assert!(setup.stdout.contains("press ctrl+b, then shift+s."), "{}", setup.stdout);
        assert_eq!(
            home.read(SETTINGS),
            "{\n  \"agent\": \"codex\",\n  \"shape\": \"s-1vcpu-1gb\",\n  \"autoPause\": \"30m\",\n  \
             \"remoteRoot\": \"/workspace\"\n}\n"
        );
        assert_eq!(home.read(CONFIG).matches("type = \"plugin_action\"").count(), 6);
        let mode =
            |file: &str| std::fs::metadata(home.path().join(file)).unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode(CONFIG), mode(SETTINGS)), (0o644, 0o600), "new files");
        let record = &herdr.registry()[0];
        assert_eq!(record["plugin_id"], "createos.sandbox");
        assert_eq!(record["enabled"], true);
        let manifest = home.read(&format!("{BUNDLE}/herdr-plugin.toml"));
        let program = binary().canonicalize().unwrap();
        assert!(manifest.contains(&format!("command = [\"{}\", \"herdr\", \"start\"]", program.display())));
        let programs: serde_json::Value =
            serde_json::from_str(&home.read(&format!("{BUNDLE}/programs.json"))).unwrap();
        assert_eq!(programs["createos"], home.path().join("bin/createos").to_str().unwrap());
        assert!(programs["git"].as_str().unwrap().ends_with("/git"));
        assert_eq!(herdr.run(&["config", "check"]).success().stdout, "config: ok\n");
        let doctor = home.run(&["setup", "--doctor"]).success();
        assert!(doctor.stdout.contains("6 of 6 bound"), "{}", doctor.stdout);
    }
}

#[test]
fn every_setting_of_the_command_line_reaches_the_file() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let settings = [
        ["--agent", "pi"],
        ["--shape", "s-1vcpu-1gb"],
        ["--rootfs", "ubuntu:24.04"],
        ["--auto-pause", "1h30m"],
        ["--remote-root", "/srv/work"],
        ["--egress", "one.example"],
        ["--egress", "two.example"],
        ["--exclude", "fixtures/"],
        ["--exclude", "*.mp4"],
        ["--sync-exclude", "dist"],
    ];
    let args: Vec<_> = ["setup"].into_iter().chain(settings.into_iter().flatten()).collect();
    let _ = home.run(&args).success();
    let written: serde_json::Value = serde_json::from_str(&home.read(SETTINGS)).unwrap();
    let wanted = serde_json::json!({
        "agent": "pi", "shape": "s-1vcpu-1gb", "rootfs": "ubuntu:24.04", "autoPause": "1h30m",
        "remoteRoot": "/srv/work", "egress": ["one.example", "two.example"],
        "excludes": ["fixtures/", "*.mp4"], "syncExcludes": ["dist"],
    });
    assert_eq!(written, wanted);
}

#[test]
fn under_the_name_of_the_official_program_it_sets_up_as_well() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    std::fs::create_dir(home.path().join("shim")).unwrap();
    let link = home.path().join("shim/createos");
    std::os::unix::fs::symlink(binary(), &link).unwrap();
    let at = |folder: &str| home.path().join(folder).display().to_string();
    let path = format!("{}:{}:{PATH}", at("shim"), at("bin"));
    let run = |args: &[&str]| {
        let mut command = home.command_of(&link, args);
        command.env("PATH", &path);
        outcome(command)
    };
    let _ = run(&["sandbox", "setup", "herdr", "--agent", "pi"]).success();
    assert_eq!(home.read(CONFIG).matches("type = \"plugin_action\"").count(), 6);
    assert_eq!(herdr.registry()[0]["plugin_id"], "createos.sandbox");
    // Boxes are asked for from the official program, not from the link that leads back here.
    let programs: serde_json::Value =
        serde_json::from_str(&home.read(&format!("{BUNDLE}/programs.json"))).unwrap();
    assert_eq!(programs["createos"], at("bin/createos"));
    let again = run(&["sb", "setup", "herdr"]).success();
    assert!(again.stdout.contains("Nothing was changed."), "{}", again.stdout);
    let _ = run(&["sandbox", "setup", "herdr", "--undo"]).success();
    assert!(herdr.registry().is_empty());
}

/// Herdr lists the actions of all plugins together.
#[test]
fn every_action_of_the_plugin_says_whose_it_is_and_what_it_does() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let _ = home.run(&["setup", "--yes"]).success();
    let manifest: toml_edit::DocumentMut = home.read(&format!("{BUNDLE}/herdr-plugin.toml")).parse().unwrap();
    let actions = manifest["actions"].as_array_of_tables().expect("actions");
    assert!(actions.len() >= 10, "{}", actions.len());
    for action in actions {
        let text = |key: &str| action.get(key).and_then(|value| value.as_str()).unwrap_or_default();
        assert!(text("title").starts_with("CreateOS: "), "{action:?}");
        assert!(text("description").len() > 20, "{action:?}");
    }
}

#[test]
fn the_plan_shows_what_would_change() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.write(CONFIG, "[ui]\n\n[[keys.command]]\nkey = \"prefix+shift+c\"\ncommand = \"true\"\n");
    let plan = home.run(&["setup", "--dry-run", "--agent", "pi", "--key", "delete=prefix+alt+x"]).success();
    insta::assert_snapshot!(plain(&home, &plan.stdout), @r##"
    Setting up Herdr 0.8.2 (4 changes)

      write  the bundled plugin           ~/.local/share/createos-sandbox/herdr-plugin
      link   createos.sandbox             ~/.local/share/createos-sandbox/herdr-plugin
      write  config.json                  agent pi, s-2vcpu-4gb

        @@ -0,0 +1,6 @@
        +{
        +  "agent": "pi",
        +  "shape": "s-2vcpu-4gb",
        +  "autoPause": "30m",
        +  "remoteRoot": "/workspace"
        +}

      edit   ~/.config/herdr/config.toml  6 bindings after line 5, backup config.toml.before-createos

        @@ -4,2 +4,39 @@
         key = "prefix+shift+c"
         command = "true"
        +
        +# createos-sandbox
        +[[keys.command]]
        +key = "prefix+shift+s"
        +type = "plugin_action"
        +command = "createos.sandbox.start"
        +description = "start an agent in a new CreateOS sandbox"
        +
        +[[keys.command]]
        +key = "prefix+alt+c"
        +type = "plugin_action"
        +command = "createos.sandbox.attach"
        +description = "reattach the agent to this pane"
        +
        +[[keys.command]]
        +key = "prefix+shift+y"
        +type = "plugin_action"
        +command = "createos.sandbox.sync"
        +description = "keep the worktree and the sandbox in sync"
        +
        +[[keys.command]]
        +key = "prefix+shift+a"
        +type = "plugin_action"
        +command = "createos.sandbox.apply"
        +description = "apply sandbox changes locally"
        +
        +[[keys.command]]
        +key = "prefix+shift+i"
        +type = "plugin_action"
        +command = "createos.sandbox.info"
        +description = "show the sandbox of this pane"
        +
        +[[keys.command]]
        +key = "prefix+alt+x"
        +type = "plugin_action"
        +command = "createos.sandbox.delete"
        +description = "delete the sandbox of this pane"

      ctrl+b shift+s  start
      ctrl+b alt+c    attach
      ctrl+b shift+y  sync
      ctrl+b shift+a  apply
      ctrl+b shift+i  info
      ctrl+b alt+x    delete

      prefix+shift+c is yours (true, line 3), so attach gets prefix+alt+c

    Nothing was changed (--dry-run).
    "##);
}

#[test]
fn a_second_setup_changes_nothing() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let _ = home.run(&["setup"]).success();
    let before = tree(home.path());
    let again = home.run(&["setup"]).success();
    assert_eq!(tree(home.path()), before);
    insta::assert_snapshot!(again.stdout, @r##"
    Herdr 0.8.2 is set up (4 already right)

    Nothing was changed.
    "##);
}

#[test]
fn existing_settings_are_kept_and_that_is_said() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let mine = "{ \"agent\": \"codex\", \"egress\": [\"github.com\"] }";
    home.write(SETTINGS, mine);
    let setup = home.run(&["setup", "--agent", "pi"]).success();
    assert!(setup.stdout.contains("agent codex stays; pi was not applied (use --force)"), "{}", setup.stdout);
    assert_eq!(home.read(SETTINGS), mine);
}

#[test]
fn force_keeps_an_allow_list_and_the_local_provider_and_reset_does_not() {
    let settings = [("egress", serde_json::json!(["github.com"])), ("provider", "local".into())];
    // Where no box can be isolated, nothing is set up for local ones.
    let settings = settings.into_iter().take(if cfg!(target_os = "linux") { 2 } else { 1 });
    for (key, value) in settings {
        let home = machine(User::Me);
        let _herdr = Herdr::in_home(&home);
        home.write(SETTINGS, serde_json::json!({key: value, "colour": "red"}).to_string());
        let setup = home.run(&["setup", "--force", "--agent", "pi"]).success();
        assert!(setup.stdout.contains("\"colour\" is dropped: unknown key"), "{}", setup.stdout);
        let settings: serde_json::Value = serde_json::from_str(&home.read(SETTINGS)).unwrap();
        assert_eq!((&settings["agent"], &settings[key]), (&"pi".into(), &value));
        assert!(home.read(&format!("{SETTINGS}.before-createos")).contains("colour"));

        let _ = home.run(&["setup", "--reset"]).success();
        let settings: serde_json::Value = serde_json::from_str(&home.read(SETTINGS)).unwrap();
        assert!(settings.get(key).is_none());
        assert!(home.read(&format!("{SETTINGS}.before-createos")).contains("colour"), "the first stays");
        assert!(home.read(&format!("{SETTINGS}.before-createos.2")).contains(key));
    }
}

#[test]
fn wrong_values_are_refused_before_anything_is_written() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let before = tree(home.path());
    for (args, said) in [
        (["--agent", "claude"], "unknown agent"),
        (["--auto-pause", "2d"], "not a duration"),
        (["--auto-pause", "25h"], "out of range"),
        (["--remote-root", "/w'; touch /tmp/PWNED; #"], "not accepted"),
        (["--remote-root", "work"], "not an absolute path"),
        (["--rootfs", "a b"], "not an image name"),
        (["--egress", "https://github.com"], "is not accepted"),
        (["--exclude", "**/x"], "exclude"),
        (["--key", "start=nonsense+x"], "not a chord"),
        (["--source", "npm"], "is not accepted"),
        (["--provider", "docker"], "unknown provider"),
        (["--local", "/nonexistent"], "--local"),
    ] {
        let _ = home.run(&["setup", args[0], args[1]]).fails(2, said);
    }
    assert_eq!(tree(home.path()), before);
    assert!(!std::path::Path::new("/tmp/PWNED").exists());
}

#[test]
fn a_requirement_that_is_not_met_stops_it_before_anything_is_written() {
    let home = Home::new().with_bin();
    createos(&home, "v0.0.25", true);
    let _herdr = Herdr::in_home(&home);
    let before = tree(home.path());
    let setup = home.run(&["setup"]).fails(1, "createos 0.0.25 is too old");
    assert!(setup.stderr.contains("help: or createos by hand: createos upgrade"), "{}", setup.stderr);
    assert_eq!(tree(home.path()), before);
    if cfg!(target_os = "linux") {
        let _ = home.run(&["setup", "--provider", "local"]).success();
        let _ = home.run(&["setup", "--undo"]).success();
    }
    createos(&home, "dev", true);
    let _ = home.run(&["setup"]).success();
}

#[test]
fn no_keys_leaves_the_file_alone_and_prints_the_block() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let setup = home.run(&["setup", "--no-keys"]).success();
    assert!(!home.path().join(CONFIG).exists());
    assert!(setup.stdout.contains("[[keys.command]]\nkey = \"prefix+shift+s\""), "{}", setup.stdout);
}

#[test]
fn another_chord_can_be_chosen_later() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.write(CONFIG, "[ui]\n");
    let _ = home.run(&["setup"]).success();
    let _ = home.run(&["setup", "--key", "delete=prefix+alt+x"]).success();
    let text = home.read(CONFIG);
    assert!(text.contains("prefix+alt+x") && !text.contains("prefix+shift+x"), "{text}");
    assert_eq!(text.matches("createos.sandbox.delete").count(), 1);
    let _ = home.run(&["setup", "--undo"]).success();
    assert_eq!(home.read(CONFIG), "[ui]\n");
}

#[test]
fn the_last_words_name_the_prefix_that_the_user_has() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.write(CONFIG, "[keys]\nprefix = \"ctrl+a\"\n");
    let setup = home.run(&["setup"]).success();
    assert!(setup.stdout.contains("press ctrl+a, then shift+s.\n"), "{}", setup.stdout);
    let _ = home.run(&["setup", "--undo"]).success();
    let setup = home.run(&["setup", "--key", "start=ctrl+alt+s"]).success();
    assert!(setup.stdout.contains("press ctrl+alt+s.\n"), "{}", setup.stdout);
}

#[test]
fn variables_of_the_official_program_choose_agent_shape_and_image() {
    let home = machine(User::Me).var("CREATEOS_AGENT", "pi").var("CREATEOS_ROOTFS", "devbox:1");
    let _herdr = Herdr::in_home(&home);
    let _ = home.run(&["setup"]).success();
    assert!(home.read(SETTINGS).contains("\"agent\": \"pi\""));
    assert!(home.read(SETTINGS).contains("\"rootfs\": \"devbox:1\""));
}
