//! What the doctor and a setup say of settings that do not go together, or not with this machine.

use super::{SETTINGS, machine};
use crate::support::{Herdr, Home, User, program};

#[test]
fn a_fix_keeps_the_provider_of_the_command_line() {
    let home = Home::new().with_bin();
    let _herdr = Herdr::in_home(&home);
    let doctor = home.run(&["setup", "--doctor", "--provider", "local"]);
    let fix = "fix: createos-sandbox setup herdr --provider local\n";
    assert!(doctor.stdout.contains(fix), "{}", doctor.stdout);
    assert!(!doctor.stdout.contains("setup herdr\n"), "{}", doctor.stdout);
}

#[test]
fn an_egress_list_goes_for_boxes_of_this_machine_too() {
    let home = Home::new().with_bin();
    let _herdr = Herdr::in_home(&home);
    home.write(SETTINGS, r#"{"agent":"codex","egress":["github.com"],"provider":"local"}"#);
    let doctor = home.run(&["setup", "--doctor"]);
    assert!(doctor.stdout.contains("warn  egress "), "it lacks the agent's: {}", doctor.stdout);
    home.write(SETTINGS, r#"{"egress":["*","localhost:5432"],"provider":"local"}"#);
    let doctor = home.run(&["setup", "--doctor"]);
    assert!(doctor.stdout.contains("ok    egress "), "{}", doctor.stdout);
}

#[test]
fn a_rule_for_this_machine_is_refused_for_boxes_on_createos() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let said = "\"localhost:5432\" means this machine, which no box on CreateOS can reach";
    let rules = ["--egress", "*", "--egress", "localhost:5432"];
    let setup = home.run(&[&["setup"], &rules[..]].concat()).fails(2, said);
    assert!(setup.stderr.contains("--provider local"), "{setup:?}");
    home.write(SETTINGS, "{\n  \"egress\": [\"*\", \"localhost:5432\"]\n}\n");
    let setup = home.run(&["setup"]).fails(2, &format!("config.json:2:19: \"egress\": {said}"));
    for words in
        ["take \"localhost:5432\" out of egress", "createos-sandbox setup herdr --provider local --force"]
    {
        assert!(setup.stderr.contains(words), "[{words}] {setup:?}");
    }
    let doctor = home.run(&["setup", "--doctor"]);
    assert_eq!(doctor.code, 1, "{doctor:?}");
    assert!(doctor.stdout.contains("line 2, column 19"), "{}", doctor.stdout);
    assert!(doctor.stdout.contains("--provider local --force"), "{}", doctor.stdout);
    let _ = home.run(&["setup", "--provider", "local", "--force"]).success();
    let kept = home.read(SETTINGS);
    assert!(kept.contains("localhost:5432") && kept.contains("\"provider\": \"local\""), "{kept}");
}

#[test]
fn the_network_is_a_setting_of_boxes_on_this_machine() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.run(&["setup", "--network", "host"]).fails(2, "is for boxes on this machine");
    home.run(&["setup", "--network", "office"]).fails(2, "pick one of: own, host, none");
    let rules = ["setup", "--provider", "local", "--network", "host"];
    home.run(&[&rules[..], &["--egress", "a.com"]].concat()).fails(2, "nothing that could keep to egress");
    let _ = home.run(&rules).success();
    assert!(home.read(SETTINGS).contains("\"network\": \"host\""));
    let doctor = home.run(&["setup", "--doctor"]).success();
    assert!(doctor.stdout.contains("note  egress ") && doctor.stdout.contains("--network own"), "{doctor:?}");
}

#[test]
fn the_local_provider_needs_neither_the_official_program_nor_a_session() {
    let home = Home::new().with_bin();
    let _herdr = Herdr::in_home(&home);
    let report = home.run(&["setup", "--doctor", "--provider", "local", "--json"]).json();
    for id in ["createos", "session"] {
        let check = report["checks"].as_array().unwrap().iter().find(|check| check["id"] == id).unwrap();
        assert_eq!(check["status"], "skip", "{check}");
    }
}

#[test]
fn the_settings_row_says_where_boxes_are_made() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    for (settings, said) in [
        (r#"{"agent":"pi"}"#, "agent pi, boxes on CreateOS"),
        (r#"{"agent":"pi","provider":"local"}"#, "agent pi, boxes on this machine"),
    ] {
        home.write(SETTINGS, settings);
        let doctor = home.run(&["setup", "--doctor"]).success();
        assert!(doctor.stdout.contains(said), "{}", doctor.stdout);
    }
}

#[test]
fn a_shape_that_nobody_makes_is_a_warning_with_those_that_there_are() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let local = ["--provider", "local", "--shape", "s-9vcpu-9gb"];
    let createos = ["--shape", "s-8vcpu-16gb"];
    for (flags, said, choices, fix) in [
        (
            &local[..],
            "boxes on this machine know no s-9vcpu-9gb",
            "s-0.25vcpu-512mb, ",
            "--force --shape s-2vcpu-4gb",
        ),
        (
            &createos[..],
            "s-8vcpu-16gb is not in your plan",
            "s-1vcpu-1gb, s-2vcpu-4gb",
            "--force --shape s-2vcpu-4gb",
        ),
    ] {
        let doctor = home.run(&[&["setup", "--doctor"], flags].concat()).success();
        let row = doctor.stdout.lines().find(|line| line.contains("  shape ")).expect("the check");
        assert!(row.trim_start().starts_with("warn") && row.contains(said), "{row}");
        assert!(doctor.stdout.contains(fix), "{}", doctor.stdout);
        let plan = home.run(&[&["setup", "--dry-run"], flags].concat()).success();
        assert!(plan.stdout.contains(said) && plan.stdout.contains(choices), "{}", plan.stdout);
        assert_eq!(
            home.run(&[&["setup", "--dry-run", "--strict"], flags].concat()).code,
            0,
            "nothing was done"
        );
        let _ = home.run(&[&["setup"], flags].concat()).success();
        let _ = home.run(&["setup", "--undo"]).success();
        assert_eq!(home.run(&[&["setup", "--strict"], flags].concat()).code, 1);
        let _ = home.run(&["setup", "--undo"]).success();
    }
    // Without a word about the shape nobody is asked for the list.
    let plan = home.run(&["setup", "--dry-run"]).success();
    assert!(!plan.stdout.contains("warn"), "{}", plan.stdout);
}

#[test]
fn an_allow_list_is_compared_with_every_host_of_the_agent_and_its_installer() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let egress = |agent: &str, rules: &[&str]| {
        let settings = serde_json::json!({ "agent": agent, "egress": rules });
        home.write(SETTINGS, settings.to_string());
        let report = home.run(&["setup", "--doctor", "--json"]).success().json();
        let checks = report["checks"].as_array().expect("checks").clone();
        checks.into_iter().find(|check| check["id"] == "egress").expect("the check")
    };
    // The host of the install script alone brings nothing.
    for (agent, script, missing) in [
        ("claude-code", "claude.ai", "downloads.claude.ai, api.anthropic.com, platform.claude.com"),
        (
            "codex",
            "chatgpt.com",
            "api.github.com, github.com, release-assets.githubusercontent.com, auth.openai.com",
        ),
        ("cursor", "cursor.com", "downloads.cursor.com, *.cursor.sh, *.cursorapi.com"),
        ("amp", "ampcode.com", "storage.googleapis.com"),
    ] {
        let check = egress(agent, &[script]);
        assert_eq!(check["status"], "warn", "{check}");
        assert!(check["message"].as_str().unwrap().ends_with(&format!(" reach {missing}")), "{check}");
        // What is proposed makes it good.
        let fix = check["fix"].as_str().unwrap().replace('\'', "");
        let words: Vec<&str> = fix.split(' ').skip(1).chain(["--yes"]).collect();
        let _ = home.run(&words).success();
        let report = home.run(&["setup", "--doctor", "--json"]).success().json();
        let check = report["checks"]
            .as_array()
            .unwrap()
            .iter()
            .find(|check| check["id"] == "egress")
            .unwrap()
            .clone();
        assert_eq!(check["status"], "ok", "{check}");
        let _ = home.run(&["setup", "--undo", "--yes"]).success();
    }
    // A package registry is asked of its tool, and what nobody knows is not called good.
    let known = ["opencode.ai", "*.opencode.ai", "github.com", "*.github.com", "*.githubusercontent.com"];
    program(
        &home,
        "bin/npm",
        "#!/bin/sh\n[ \"$*\" = 'config get registry' ] && echo https://packages.example.com/x/\n",
    );
    let check = egress("opencode", &known);
    assert!(check["message"].as_str().unwrap().ends_with(" reach packages.example.com"), "{check}");
    let check = egress("opencode", &[&known[..], &["packages.example.com"]].concat());
    assert_eq!(check["status"], "note", "{check}");
    assert!(check["message"].as_str().unwrap().ends_with("the host of its model provider"), "{check}");
    program(&home, "bin/npm", "#!/bin/sh\nexit 1\n");
    let check = egress("opencode", &known);
    assert_eq!(check["status"], "note", "{check}");
    let words = "the host of its package registry and its model provider";
    assert!(check["message"].as_str().unwrap().ends_with(words), "{check}");
    assert_eq!(egress("opencode", &["*"])["status"], "ok");
}

#[cfg(target_os = "linux")]
#[test]
fn local_boxes_are_not_set_up_where_none_can_be_isolated() {
    // The probe of the isolation makes a box in the temporary folder, and deletes it.
    let home = Home::new().with_bin().var("TMPDIR", "/tmp");
    let _herdr = Herdr::in_home(&home);
    let before = super::tree(home.path());
    let without = |args: &[&str]| {
        // In a user namespace of its own, which allows no others.
        let script = r#"echo 0 > /proc/sys/user/max_user_namespaces && exec "$0" "$@""#;
        let binary = crate::support::binary();
        let binary = binary.to_str().expect("text");
        let all = [&["-Ur", "sh", "-c", script, binary][..], args].concat();
        crate::support::outcome(home.command_of(std::path::Path::new("unshare"), &all))
    };
    let refused = without(&["setup", "herdr", "--provider", "local"]).fails(1, "cannot be set up yet");
    assert!(refused.stderr.contains("local-sandbox   this machine does not let"), "{refused:?}");
    assert!(refused.stderr.contains("help: "), "{refused:?}");
    assert_eq!(super::tree(home.path()), before);
    let doctor = without(&["setup", "--doctor", "--provider", "local"]);
    assert!(doctor.code == 1 && doctor.stdout.contains("FAIL  local-sandbox"), "{doctor:?}");
}
