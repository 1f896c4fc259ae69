//! What we rely on in Herdr, asked of the Herdr that the other tests use: the stand-in, or the real one.

use crate::support::{Herdr, Home, on_github};
use std::path::Path;

const MANIFEST: &str = r#"id = "createos.sandbox"
name = "Toy"
version = "0.1.0"
min_herdr_version = "0.7.5"
platforms = ["linux", "macos"]

[[actions]]
id = "start"
title = "Start"
command = ["/bin/true"]

[[panes]]
id = "agent"
title = "Agent"
placement = "split"
command = ["/bin/true"]

[[events]]
on = "pane.moved"
command = ["/bin/true"]

[[startup]]
command = ["/bin/true"]
"#;

#[test]
fn linking_registers_the_real_path_and_makes_the_plugins_folders() {
    let home = Home::new().with_bin();
    let herdr = Herdr::in_home(&home);
    home.write("toy/herdr-plugin.toml", MANIFEST);
    let linked = herdr.run(&["plugin", "link", "toy"]).success().json();
    assert_eq!(linked["result"]["type"], "plugin_linked");
    let record = &herdr.registry()[0];
    assert_eq!(record["plugin_root"], home.path().join("toy").canonicalize().unwrap().to_str().unwrap());
    assert_eq!((&record["enabled"], &record["source"]["kind"]), (&true.into(), &"local".into()));
    for folder in
        [".config/herdr/plugins/config/createos.sandbox", ".local/state/herdr/plugins/createos.sandbox"]
    {
        assert!(home.path().join(folder).is_dir(), "{folder}");
    }
    assert!(home.path().join(".config/herdr/.plugins.lock").exists());

    let _ = herdr.run(&["plugin", "uninstall", "createos.sandbox"]).success();
    assert!(herdr.registry().is_empty());
    let _ = herdr.run(&["plugin", "uninstall", "createos.sandbox"]).fails(1, "plugin not installed");
    let _ = herdr.run(&["plugin", "unlink", "createos.sandbox"]).fails(1, "server_not_running");
}

#[test]
fn a_manifest_that_breaks_a_rule_is_not_linked() {
    let home = Home::new().with_bin();
    let herdr = Herdr::in_home(&home);
    let broken = [
        ("min_herdr_version = \"0.7.5\"", "min_herdr_version = \"99.0.0\"", "requires Herdr 99.0.0"),
        ("min_herdr_version = \"0.7.5\"", "", "min_herdr_version is required"),
        ("id = \"start\"", "id = \"sta.rt\"", ""),
        ("command = [\"/bin/true\"]", "command = \"/bin/true\"", ""),
        ("[[startup]]", "[startup]", ""),
    ];
    for (old, new, said) in broken {
        home.write("toy/herdr-plugin.toml", MANIFEST.replace(old, new));
        let _ = herdr.run(&["plugin", "link", "toy"]).fails(1, said);
    }
    let _ = herdr.run(&["plugin", "link", "absent"]).fails(1, "No such file");
    assert!(herdr.registry().is_empty());
}

#[test]
fn an_installed_plugin_keeps_its_source_in_the_registry() {
    let home = Home::new().with_bin();
    let herdr = Herdr::in_home(&home);
    on_github(&home, "acme", "plug", &[("sub/herdr-plugin.toml", MANIFEST)]);
    let install = ["plugin", "install", "acme/plug/sub", "--ref", "main", "--yes"];
    assert!(
        herdr.run(&install).success().stdout.starts_with("Installed createos.sandbox from acme/plug/sub.")
    );
    let source = herdr.registry()[0]["source"].clone();
    assert_eq!((source["owner"].as_str(), source["subdir"].as_str()), (Some("acme"), Some("sub")));
    assert_eq!(source["requested_ref"], "main");
    let checkout = source["managed_path"].as_str().unwrap().to_owned();
    assert!(Path::new(&checkout).join("sub/herdr-plugin.toml").exists());
    let _ = herdr.run(&["plugin", "uninstall", "acme/plug/sub"]).success();
    assert!(!Path::new(&checkout).exists());

    home.write("toy/herdr-plugin.toml", MANIFEST);
    let _ = herdr.run(&["plugin", "link", "toy"]).success();
    let _ = herdr.run(&install).fails(1, "already linked from a local path");
}

#[test]
fn the_check_reads_toml_1_0_and_says_where_it_fails() {
    let home = Home::new().with_bin();
    let herdr = Herdr::in_home(&home);
    assert_eq!(herdr.run(&["config", "check"]).success().stdout, "config: ok\n");
    home.write(".config/herdr/config.toml", "\u{feff}[ui]\r\n");
    assert_eq!(herdr.run(&["config", "check"]).success().stdout, "config: ok\n");
    for broken in ["[keys\n", "x = \"\\e\"\n", "keys = {\n}\n"] {
        home.write(".config/herdr/config.toml", broken);
        let checked = herdr.run(&["config", "check"]);
        assert_eq!(checked.code, 1);
        let rest = checked
            .stdout
            .strip_prefix("config: issues found\nconfig parse error: TOML parse error at line 1");
        assert!(rest.is_some_and(|rest| rest.contains("; using defaults")), "{}", checked.stdout);
    }
}

#[test]
fn resetting_the_keys_takes_everybodys_and_keeps_a_backup() {
    let home = Home::new().with_bin();
    let herdr = Herdr::in_home(&home);
    let file = ".config/herdr/config.toml";
    home.write(file, "# mine\n[ui]\nx = 1\n\n[[keys.command]]\nkey = \"prefix+m\"\ncommand = \"true\"\n");
    assert!(herdr.run(&["config", "reset-keys"]).success().stdout.starts_with("Created backup: "));
    assert_eq!(home.read(file), "# mine\n[ui]\nx = 1\n\n");
    assert!(herdr.run(&["config", "reset-keys"]).success().stdout.starts_with("No [keys] config found in"));
}

#[test]
fn asking_for_versions_and_state_creates_nothing() {
    let home = Home::new().with_bin();
    let herdr = Herdr::in_home(&home);
    assert!(herdr.run(&["--version"]).success().stdout.starts_with("herdr "));
    assert_eq!(herdr.run(&["status", "--json"]).success().json()["server"]["running"], false);
    let _ = herdr.run(&["server", "reload-config"]).fails(1, "server_not_running");
    let _ = herdr.run(&["session", "list", "--json"]).success();
    assert!(!home.path().join(".config").exists() && !home.path().join(".local").exists());
}
