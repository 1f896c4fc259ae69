//! The command line, the settings, the sign-in, the link: what needs no box.

use super::Cos;
use crate::support::{Answer, Home, Server, binary, outcome, stand_in};
use sha2::Digest as _;
use std::os::unix::fs::symlink;

#[test]
fn an_unknown_verb_is_wrong_use_with_the_nearest_one_and_needs_no_sign_in() {
    let home = Home::new();
    let wrong = home.run(&["cos", "offlaod", ".", "x"]).fails(2, "offload");
    assert!(wrong.stderr.starts_with("cos: "), "{wrong:?}");
    assert!(wrong.stdout.is_empty(), "{wrong:?}");
    // Defect: an unknown option exited 0; so did a missing operand.
    let _ = home.run(&["cos", "offload", "--nonsense", ".", "x"]).fails(2, "--nonsense");
    for words in [&["cos", "offload"][..], &["cos", "offload", "."], &["cos", "run"], &["cos", "fanout", "."]]
    {
        let missing = home.run(words).fails(2, "Usage: ");
        assert!(missing.stdout.is_empty(), "{missing:?}");
    }
    let _ =
        home.run(&["cos", "offload", "-E", "-e", "a.example.com", ".", "x"]).fails(2, "cannot be used with");
    let _ = home.run(&["cos", "fanout", "-j", "33", ".", "x"]).fails(2, "33");
    for words in [["cos", "pause", "x"], ["cos", "resume", "x"]] {
        let _ = home.run(&words).fails(2, "unexpected argument");
    }
}

#[test]
fn help_needs_neither_program_nor_account_and_acts_on_nothing() {
    let home = Home::new();
    for words in [
        &["cos", "--help"][..],
        &["cos", "-h"],
        &["cos", "help"],
        &["cos", "help", "run"],
        &["cos", "run", "--help"],
        // Defect: `pause --help` paused.
        &["cos", "pause", "--help"],
        &["cos", "resume", "-h"],
        &["cos", "offload", "-h"],
    ] {
        let help = home.run(words).success();
        assert!(help.stdout.contains("Usage: createos-sandbox cos"), "{help:?}");
    }
    assert!(!home.path().join(".cache").exists());
}

#[test]
fn by_its_own_name_it_is_the_same() {
    let home = Home::new().with_bin();
    let link = home.path().join("bin/cos");
    let made = home.run(&["cos", "install", &link.display().to_string()]).success();
    assert!(made.stderr.contains("its folder is on PATH"), "{made:?}");
    let help = outcome(home.command_of(&link, &["help"])).success();
    assert!(help.stdout.contains("Usage: cos "), "{help:?}");
    let help = outcome(home.command_of(&link, &["run", "--help"])).success();
    assert!(help.stdout.contains("Usage: cos run"), "{help:?}");
    let _ = outcome(home.command_of(&link, &["sattus"])).fails(2, "status");
    // Again, it stays.
    let _ = home.run(&["cos", "install", &link.display().to_string()]).success();
}

#[test]
fn the_link_is_made_over_nothing_of_somebody_else() {
    let home = Home::new();
    let first = home.run(&["cos", "install"]).success();
    assert!(first.stderr.contains("is not on PATH"), "{first:?}");
    let link = home.path().join(".local/bin/cos");
    assert_eq!(std::fs::canonicalize(&link).unwrap(), std::fs::canonicalize(binary()).unwrap());
    std::fs::remove_file(&link).unwrap();
    std::fs::write(&link, "mine").unwrap();
    let _ = home.run(&["cos", "install"]).fails(1, "not ours");
    assert_eq!(std::fs::read_to_string(&link).unwrap(), "mine");
    std::fs::remove_file(&link).unwrap();
    symlink("/bin/sh", &link).unwrap();
    let _ = home.run(&["cos", "install"]).fails(1, "not ours");
    // One of ours that leads nowhere since the binary was moved is mended.
    std::fs::remove_file(&link).unwrap();
    symlink("/gone/createos-sandbox", &link).unwrap();
    let _ = home.run(&["cos", "install"]).success();
    assert!(link.exists());
}

#[test]
fn who_is_signed_in_is_said_offline_and_without_the_value() {
    let home = Home::new();
    let out = home.run(&["cos", "auth"]).fails(1, "createos login");
    assert!(out.stderr.contains("CREATEOS_API_KEY") && out.stderr.contains("never paste"), "{out:?}");
    home.write(".createos/.token", "secret-token");
    let stored = home.run(&["cos", "auth"]).success();
    assert!(stored.stderr.contains("signed in via the stored login"), "{stored:?}");
    let home = home.var("CREATEOS_API_KEY", "secret-key");
    let key = home.run(&["cos", "auth"]).success();
    assert!(key.stderr.contains("signed in via CREATEOS_API_KEY"), "{key:?}");
    assert!(!key.stderr.contains("secret"), "{key:?}");
    let local = Home::new().run(&["cos", "--provider", "local", "auth"]).success();
    assert!(local.stderr.contains("no sign-in is needed"), "{local:?}");
    // A variable that is set to nothing is not set.
    let _ = Home::new().var("CREATEOS_API_KEY", "").run(&["cos", "auth"]).fails(1, "not signed in");
}

#[test]
fn the_provider_is_what_was_said_last() {
    let home = Home::new();
    home.write(".config/createos-sandbox/cos.json", "{\"provider\": \"local\"}");
    let local = |outcome: crate::support::Outcome| outcome.stderr.contains("no sign-in is needed");
    assert!(local(home.run(&["cos", "auth"])));
    let home = home.var("COS_PROVIDER", "createos");
    assert!(!local(home.run(&["cos", "auth"])));
    assert!(local(home.run(&["cos", "auth", "--provider", "local"])));
    let home = Home::new().var("COS_PROVIDER", "nobody");
    let _ = home.run(&["cos", "auth"]).fails(2, "unknown provider \"nobody\"");
}

#[test]
fn settings_that_are_wrong_are_named_with_their_place() {
    let home = Home::new();
    home.write(".config/createos-sandbox/cos.json", "{\n  \"shape\": \"s-1vcpu-1gb\"\n}\n");
    let _ = home.run(&["cos", "auth"]).fails(2, "cos.json:2:9: unknown key \"shape\"");
    home.write(".config/createos-sandbox/cos.json", "{\"provider\": \"local\", }");
    let _ = home.run(&["cos", "status"]).fails(2, "cos.json:1:23: trailing comma");
}

#[test]
fn a_program_that_is_named_wrongly_or_must_not_be_installed_is_an_error() {
    let cos = Cos::service();
    std::fs::remove_file(cos.home().path().join("bin/createos")).unwrap();
    let mut named = cos.command(&["offload", ".", "true"]);
    named.env("COS_CLI", "/nowhere/createos");
    let _ = outcome(named).fails(1, "COS_CLI names /nowhere/createos");
    let mut kept = cos.command(&["offload", ".", "true"]);
    kept.env("COS_NO_AUTOINSTALL", "1");
    let _ = outcome(kept).fails(1, "COS_NO_AUTOINSTALL");
    // Defect: the address could be injected through the environment.
    let mut injected = cos.command(&["offload", ".", "true"]);
    injected.env("COS_CLI_INSTALL_URL", "http://127.0.0.1:1/install.sh");
    let _ = outcome(injected).fails(1, "COS_AUTOINSTALL_ALLOW_CUSTOM_URL");
    cos.has_nothing_left();
}

#[test]
fn status_without_a_box_says_so_and_leaves_nothing() {
    let cos = Cos::local();
    let status = cos.run(&["status"]).success();
    assert_eq!(status.stdout, "cos: no active box for this project\n");
    assert!(!cos.state().exists());
    let document = cos.run(&["status", "--json"]).success().json();
    assert_eq!(document["box"], serde_json::Value::Null);
    let _ = cos.run(&["run", "true"]).fails(1, "no active box — run 'cos up' first");
    let down = cos.run(&["down"]).success();
    assert!(down.stderr.contains("no active box"), "{down:?}");
}

#[test]
fn a_missing_program_is_installed_by_its_checksum_and_used() {
    let cos = Cos::service();
    std::fs::remove_file(cos.home().path().join("bin/createos")).unwrap();
    let program = std::fs::read(stand_in("createos-stand-in")).unwrap();
    let sum: String = sha2::Sha256::digest(&program).iter().map(|byte| format!("{byte:02x}")).collect();
    let processor = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    let server = Server::new();
    let asset = format!("/latest/download/createos-linux-{processor}");
    server.at(&asset, Answer::ok(program));
    let install = |sum: &str| {
        server.at(&format!("{asset}.sha256"), Answer::ok(format!("{sum}\n")));
        let mut command = cos.command(&["offload", ".", "echo ran"]);
        command.env("COS_CLI_INSTALL_URL", server.url("")).env("COS_AUTOINSTALL_ALLOW_CUSTOM_URL", "1");
        command.env("CREATEOS_INSTALL_DIR", cos.home().path().join("bin"));
        outcome(command)
    };
    let wrong = install(&"0".repeat(64)).fails(1, "the checksum of");
    assert!(!cos.home().path().join("bin/createos").exists(), "{wrong:?}");
    let done = install(&sum).success();
    assert_eq!(done.stdout, "ran\n");
    assert!(done.stderr.contains("installing it"), "{done:?}");
    // It is there now.
    let again = cos.run(&["offload", ".", "echo again"]).success();
    assert!(!again.stderr.contains("installing it"), "{again:?}");
    cos.has_nothing_left();
}
