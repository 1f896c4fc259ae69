//! What is there already: an install from GitHub, a checkout, a disabled plugin; and other sources.

use super::{BUNDLE, CONFIG, SETTINGS, machine};
use crate::support::{Herdr, Home, User, on_github, program};

const FOREIGN: &str = "id = \"createos.sandbox\"\nname = \"Of record\"\nversion = \"9.9.9\"\n\
    min_herdr_version = \"0.7.5\"\nplatforms = [\"linux\", \"macos\"]\n\
    [[actions]]\nid = \"start\"\ntitle = \"Start\"\ncommand = [\"./run.sh\", \"start\"]\n";

fn source(herdr: &Herdr<'_>) -> String {
    herdr
        .registry()
        .first()
        .map_or_else(String::new, |record| record["source"]["kind"].as_str().expect("a kind").to_owned())
}

fn acme(home: &Home) {
    on_github(home, "acme", "plug", &[("sub/herdr-plugin.toml", FOREIGN)]);
}

#[test]
fn an_install_from_github_is_replaced_and_undo_installs_it_again() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    acme(&home);
    let _ = herdr.run(&["plugin", "install", "acme/plug/sub", "--ref", "main", "--yes"]).success();
    let setup = home.run(&["setup"]).success();
    assert!(setup.stdout.contains("replace  createos.sandbox"), "{}", setup.stdout);
    assert!(setup.stdout.contains("installed from acme/plug/sub@main, now linked from"), "{}", setup.stdout);
    assert_eq!(source(&herdr), "local");
    let checkouts = home.path().join(".config/herdr/plugins/github");
    assert_eq!(std::fs::read_dir(&checkouts).unwrap().count(), 0, "no checkout is left as garbage");
    let _ = home.run(&["setup", "--undo"]).success();
    let record = &herdr.registry()[0];
    assert_eq!((&record["version"], &record["source"]["requested_ref"]), (&"9.9.9".into(), &"main".into()));
}

#[test]
fn an_earlier_plugin_that_cannot_be_had_again_keeps_nothing_else_back() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    acme(&home);
    home.write(CONFIG, "[ui]\n");
    let _ = herdr.run(&["plugin", "install", "acme/plug/sub", "--ref", "main", "--yes"]).success();
    let _ = home.run(&["setup"]).success();
    std::fs::rename(home.path().join("github"), home.path().join("moved")).unwrap();
    let command = "herdr plugin install acme/plug/sub --ref main";
    let undo = home.run(&["setup", "--undo"]).fails(1, "the plugin from before it is not there again");
    assert!(undo.stderr.contains(&format!("help: bring it back with: {command}\n")), "{}", undo.stderr);
    assert!(undo.stderr.contains("herdr plugin install failed"), "{}", undo.stderr);
    assert_eq!(home.read(CONFIG), "[ui]\n");
    assert!(herdr.registry().is_empty() && !home.path().join(SETTINGS).exists());
    assert!(!home.path().join(".local/share").exists(), "nothing of ours is left");
    let again = home.run(&["setup", "--undo"]).success();
    assert!(again.stdout.contains("nothing to take back"), "{}", again.stdout);
    // What was named works once the repository answers again.
    std::fs::rename(home.path().join("moved"), home.path().join("github")).unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).chain(["--yes"]).collect();
    let _ = herdr.run(&words).success();
    // And in a document.
    let _ = home.run(&["setup"]).success();
    std::fs::rename(home.path().join("github"), home.path().join("moved")).unwrap();
    let report = home.run(&["setup", "--undo", "--json"]).json();
    assert_eq!((&report["exitCode"], &report["changed"]), (&1.into(), &true.into()));
    assert_eq!(report["error"]["help"][0], format!("bring it back with: {command}"));
}

#[test]
fn a_disabled_plugin_from_before_comes_back_disabled_or_that_is_said() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    acme(&home);
    home.write("earlier/herdr-plugin.toml", FOREIGN);
    let _ = herdr.run(&["plugin", "link", "earlier", "--disabled"]).success();
    let setup = home.run(&["setup"]).success();
    assert!(setup.stdout.contains("it was disabled and gets enabled"), "{}", setup.stdout);
    let _ = home.run(&["setup", "--undo"]).success();
    assert_eq!(herdr.registry()[0]["enabled"], false);
    // Herdr switches one from GitHub off through its server only, and none runs.
    let _ = herdr.run(&["plugin", "uninstall", "createos.sandbox"]).success();
    let _ = herdr.run(&["plugin", "install", "acme/plug/sub", "--yes"]).success();
    let registry = home.read(".config/herdr/plugins.json").replace("\"enabled\": true", "\"enabled\": false");
    home.write(".config/herdr/plugins.json", registry);
    assert_eq!(herdr.registry()[0]["enabled"], false, "the record is as Herdr writes it");
    let _ = home.run(&["setup"]).success();
    let undo = home.run(&["setup", "--undo"]).fails(1, "the plugin from before it");
    assert!(undo.stderr.contains("herdr plugin disable createos.sandbox"), "{}", undo.stderr);
    assert_eq!(source(&herdr), "github");
    assert!(!home.path().join(BUNDLE).exists());
}

#[test]
fn the_plugin_of_record_can_be_installed_over_our_link() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    acme(&home);
    program(&home, "bin/bun", "#!/bin/sh\necho 1.1.0\n");
    let _ = home.run(&["setup"]).success();
    let _ = home.run(&["setup", "--source", "github:acme/plug/sub@main"]).success();
    assert_eq!(source(&herdr), "github");
    let again = home.run(&["setup", "--source", "github:acme/plug/sub@main"]).success();
    assert!(again.stdout.contains("Nothing was changed."), "{}", again.stdout);
    let _ = home.run(&["setup", "--undo"]).success();
    assert!(herdr.registry().is_empty());
}

#[test]
fn an_install_that_fails_gives_our_link_back() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    acme(&home);
    let _ = home.run(&["setup"]).success();
    let failed =
        home.run(&["setup", "--source", "github:acme/plug/sub@no-such-ref"]).fails(1, "install failed");
    assert!(failed.stderr.contains("no-such-ref"), "{}", failed.stderr);
    assert_eq!(source(&herdr), "local");
    assert!(home.run(&["setup", "--doctor"]).success().stdout.contains("bundled"));
}

#[test]
fn settings_that_only_our_plugin_knows_do_not_meet_another_one() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    acme(&home);
    let args = ["setup", "--source", "github:acme/plug/sub"];
    let _ = home.run(&[&args[..], &["--provider", "local"]].concat()).fails(1, "does not know \"provider\"");
    home.write(SETTINGS, r#"{"provider":"local"}"#);
    let refused = home.run(&args).fails(1, "does not know \"provider\"");
    assert!(refused.stderr.contains("--force --provider createos"), "{}", refused.stderr);
    let _ = home.run(&[&args[..], &["--force", "--provider", "createos"]].concat()).success();
    assert!(!home.read(SETTINGS).contains("provider"));
    home.write(SETTINGS, r#"{"allowFiles":{"~/shop":["a.pem"]}}"#);
    let _ = home.run(&args).fails(1, "does not know \"allowFiles\"");
    home.write(SETTINGS, r#"{"allowSecrets":["a.pem"]}"#);
    let refused = home.run(&args).fails(1, "does not know \"allowSecrets\"");
    assert!(refused.stderr.contains("--reset"), "{}", refused.stderr);
}

#[test]
fn a_disabled_plugin_is_enabled_and_that_is_said() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    let _ = home.run(&["setup"]).success();
    let bundle = home.path().join(BUNDLE);
    let _ = herdr.run(&["plugin", "link", bundle.to_str().unwrap(), "--disabled"]).success();
    let doctor = home.run(&["setup", "--doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains("it is disabled"), "{}", doctor.stdout);
    let setup = home.run(&["setup"]).success();
    assert!(setup.stdout.contains("enable  createos.sandbox  it was disabled"), "{}", setup.stdout);
    assert_eq!(herdr.registry()[0]["enabled"], true);
}

#[test]
fn a_checkout_is_linked_and_built_with_its_output_shown() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    home.write("plug/herdr-plugin.toml", FOREIGN);
    home.write(
        "plug/build.sh",
        "echo building; echo replaced > ../bin/createos; echo exit > run.sh; chmod 755 run.sh\n",
    );
    let createos = home.read("bin/createos");
    let plan = home.run(&["setup", "--local", "plug", "--dry-run"]).success();
    assert!(plan.stdout.contains("it may replace ~/bin/createos, a copy is kept"), "{}", plan.stdout);
    let setup = home.run(&["setup", "--local", "plug"]).success();
    assert!(setup.stdout.contains("building\n"), "{}", setup.stdout);
    assert_eq!(herdr.registry()[0]["plugin_root"], home.path().join("plug").to_str().unwrap());
    assert_eq!(home.read("bin/createos"), "replaced\n");
    let _ = home.run(&["setup", "--undo"]).success();
    assert_eq!(home.read("bin/createos"), createos);
    assert!(herdr.registry().is_empty());
}

#[test]
fn a_build_that_fails_takes_the_link_back() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    home.write("plug/herdr-plugin.toml", FOREIGN);
    home.write("plug/build.sh", "echo half > ../bin/createos; exit 3\n");
    let createos = home.read("bin/createos");
    let failed = home.run(&["setup", "--local", "plug", "--json"]);
    assert_eq!(failed.code, 1);
    assert!(failed.json()["error"]["message"].as_str().unwrap().contains("build.sh ended with 3"));
    assert!(herdr.registry().is_empty());
    assert_eq!(home.read("bin/createos"), createos);
    assert!(!home.path().join(SETTINGS).exists());
}

#[test]
fn a_checkout_of_something_else_is_refused() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.write("other/herdr-plugin.toml", FOREIGN.replace("createos.sandbox", "some.other"));
    home.write("empty/readme", "");
    let _ = home.run(&["setup", "--local", "other"]).fails(2, "is the plugin \"some.other\"");
    let _ = home.run(&["setup", "--local", "empty"]).fails(2, "herdr-plugin.toml");
}

/// The official `setup herdr` registers its own plugin under the same id: the doctor says so, setup brings ours back,
/// and undo gives back what was there before it.
#[test]
fn a_plugin_that_the_official_setup_put_in_place_of_ours_is_named_and_ours_comes_back() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    let plugin = |home: &Home| {
        let report = home.run(&["setup", "--doctor", "--json"]).json();
        let checks = report["checks"].as_array().expect("checks").clone();
        checks.into_iter().find(|check| check["id"] == "plugin").expect("the check")
    };
    let _ = home.run(&["setup"]).success();
    let manifest = "id = \"createos.sandbox\"\nname = \"x\"\nversion = \"1.0.0\"\nmin_herdr_version = \"0.7.5\"\n\
                    platforms = [\"linux\", \"macos\"]\n[[actions]]\nid = \"start\"\ntitle = \"S\"\ncommand = [\"bun\", \"x.ts\"]\n";
    let theirs = ".config/createos/plugins/createos-plugin/packages/herdr-plugin";
    home.write(&format!("{theirs}/herdr-plugin.toml"), manifest);
    let _ = herdr.run(&["plugin", "link", theirs]).success();
    let check = plugin(&home);
    assert_eq!((&check["status"], &check["fixable"]), (&"warn".into(), &true.into()), "{check}");
    let words = "the official `createos sandbox setup herdr` has put its plugin in place of ours";
    assert!(check["message"].as_str().unwrap().contains(words), "{check}");
    let _ = home.run(&["setup"]).success();
    let check = plugin(&home);
    assert_eq!(check["status"], "ok", "{check}");
    let _ = home.run(&["setup", "--undo", "--yes"]).success();
    let root = home.path().join(theirs);
    assert_eq!(herdr.registry()[0]["plugin_root"], root.to_str().unwrap());
}

#[test]
fn a_key_for_an_action_that_the_plugin_lacks_is_refused_and_every_action_of_ours_can_have_one() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.write("theirs/herdr-plugin.toml", FOREIGN);
    program(&home, "theirs/run.sh", "#!/bin/sh\n");
    program(&home, "bin/bun", "#!/bin/sh\necho 1.1.29\n");
    for source in [["--local", "theirs"], ["--source", "github"]] {
        let refused = home.run(&["setup", source[0], source[1], "--key", "review=prefix+alt+r"]);
        refused.fails(2, "this plugin has no action review");
    }
    let keys = ["review", "undo", "pause", "resume", "boxes"];
    let chords: Vec<String> =
        keys.iter().map(|action| format!("{action}=prefix+alt+{}", &action[..1])).collect();
    let mut args = vec!["setup"];
    args.extend(
        chords.iter().filter(|chord| !chord.starts_with("resume")).flat_map(|chord| ["--key", chord]),
    );
    let _ = home.run(&args).success();
    let now = home.read(CONFIG);
    for action in ["review", "undo", "pause", "boxes"] {
        assert!(now.contains(&format!("command = \"createos.sandbox.{action}\"")), "{now}");
    }
    let _ = home.run(&["setup", "--undo", "--yes"]).success();
    assert!(!home.path().join(CONFIG).exists());
}

#[test]
fn a_checkout_without_the_files_that_its_manifest_runs_is_not_set_up() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    home.write("plug/herdr-plugin.toml", FOREIGN);
    let refused = home.run(&["setup", "--local", "plug"]).fails(2, "starts ./run.sh, which is not there");
    assert!(refused.stderr.contains("build the plugin, then run this again"), "{}", refused.stderr);
    assert!(herdr.registry().is_empty() && !home.path().join(SETTINGS).exists());
    // A build that does not make it either takes the link back.
    home.write("plug/build.sh", "echo built\n");
    let failed =
        home.run(&["setup", "--local", "plug"]).fails(1, "did not make what the plugin's manifest runs");
    assert!(failed.stderr.contains("./run.sh"), "{}", failed.stderr);
    assert!(herdr.registry().is_empty() && !home.path().join(SETTINGS).exists());
    home.write("plug/build.sh", "echo exit > run.sh; chmod 755 run.sh\n");
    let _ = home.run(&["setup", "--local", "plug"]).success();
    // One that is built already needs no script.
    let _ = home.run(&["setup", "--undo"]).success();
    std::fs::remove_file(home.path().join("plug/build.sh")).unwrap();
    let _ = home.run(&["setup", "--local", "plug"]).success();
    assert_eq!(herdr.registry().len(), 1);
}

#[test]
fn boxes_that_another_plugin_would_not_know_are_warned_of() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    acme(&home);
    home.write("plug/herdr-plugin.toml", FOREIGN);
    program(&home, "plug/run.sh", "exit\n");
    let elsewhere: [&[&str]; 2] = [
        &["setup", "--source", "github:acme/plug/sub", "--dry-run"],
        &["setup", "--local", "plug", "--dry-run"],
    ];
    let _ = home.run(&["setup"]).success();
    for args in elsewhere {
        let plan = home.run(args).success();
        assert!(!plan.stdout.contains("does not know"), "no box lives: {}", plan.stdout);
    }
    let record = serde_json::json!({
        "version": 1, "installation": "abcd",
        "records": [{
            "id": "0a1b2c3d", "phase": "ready", "socket": "/s", "provider": "createos", "box": "hd-app-k3x9q2",
            "boxId": "sb-01j00000000000000000000000", "agent": "pi", "local": "/w", "remote": "/workspace"
        }]
    });
    home.write(".local/state/herdr/plugins/createos.sandbox/state.json", record.to_string());
    for args in elsewhere {
        let plan = home.run(args).success();
        let words = "1 pane is tied to a box that the other plugin does not know: hd-app-k3x9q2";
        assert!(plan.stdout.contains(words), "{}", plan.stdout);
        assert!(plan.stdout.contains("createos-sandbox herdr boxes"), "{}", plan.stdout);
        let strict = home.run(&[args, &["--strict", "--json"]].concat());
        assert_eq!(strict.json()["warnings"].as_array().unwrap().len(), 1, "{strict:?}");
    }
    let _ = home.run(&["setup", "--local", "plug"]).success();
    let back = home.run(&["setup", "--dry-run"]).success();
    assert!(!back.stdout.contains("does not know"), "back to ours: {}", back.stdout);
}

#[test]
fn without_a_ref_the_commit_that_was_installed_comes_back() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    acme(&home);
    let _ = herdr.run(&["plugin", "install", "acme/plug/sub", "--yes"]).success();
    let commit = herdr.registry()[0]["source"]["resolved_commit"].as_str().expect("a commit").to_owned();
    let _ = home.run(&["setup"]).success();
    // The repository goes on.
    let work = home.path().join("github/plug-work");
    home.write("github/plug-work/sub/herdr-plugin.toml", FOREIGN.replace("9.9.9", "10.0.0"));
    let bare = home.path().join("github/acme/plug.git").display().to_string();
    for args in [
        &["-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qam", "more"][..],
        &["push", "-q", &bare, "HEAD"],
    ] {
        let mut git = std::process::Command::new("git");
        git.args(args).current_dir(&work);
        let _ = crate::support::outcome(git).success();
    }
    let undo = home.run(&["setup", "--undo"]).success();
    let record = &herdr.registry()[0];
    assert_eq!((&record["version"], &record["source"]["resolved_commit"]), (&"9.9.9".into(), &commit.into()));
    assert!(undo.stdout.contains("installed from acme/plug/sub@"), "{}", undo.stdout);
}

#[test]
fn what_setup_itself_wrote_is_not_backed_up_again_and_again() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let backups = || {
        let names = std::fs::read_dir(home.path().join(SETTINGS).parent().unwrap()).unwrap();
        names.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().contains("before")).count()
    };
    home.write(SETTINGS, r#"{"agent":"codex"}"#);
    for agent in ["pi", "codex", "opencode", "cursor", "pi"] {
        let _ = home.run(&["setup", "--force", "--agent", agent]).success();
    }
    assert_eq!(backups(), 1, "the user's own");
    home.write(SETTINGS, r#"{"agent":"shell"}"#);
    let _ = home.run(&["setup", "--force", "--agent", "pi"]).success();
    assert_eq!(backups(), 2, "what he wrote since");
    let _ = home.run(&["setup", "--key", "pause=prefix+alt+p"]).success();
    let keys = home.path().join(CONFIG).with_file_name("config.toml.before-createos");
    assert!(!keys.exists(), "there was none before the setup");
}
