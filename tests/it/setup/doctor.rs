//! The doctor: every check, nothing changed.

use super::{CONFIG, SETTINGS, createos, fixed_git, machine, plain, tree};
use crate::support::{Herdr, Home, User, program};

#[test]
fn a_machine_that_is_ready_passes_and_says_what_comes_next() {
    let home = machine(User::Me);
    fixed_git(&home);
    let _herdr = Herdr::in_home(&home);
    let doctor = home.run(&["setup", "herdr", "--doctor"]).success();
    assert!(doctor.stdout.ends_with(" ok. Nothing was changed.\n"), "{}", doctor.stdout);
    insta::assert_snapshot!(plain(&home, &doctor.stdout), @r##"
    createos-sandbox setup herdr --doctor

    Programs
      ok    os             Linux ARCH
      ok    createos       0.0.29   ~/bin/createos
      ok    session        signed in with a stored login
      ok    herdr          0.8.2    ~/bin/herdr
      ok    git            2.47.3   ~/bin/git
      skip  bun            not needed by the bundled plugin

    Plugin
      skip  plugin         not set up yet
                           fix: createos-sandbox setup herdr
      skip  config         there is none, so the defaults apply   ~/.config/herdr/plugins/config/createos.sandbox/config.json
      skip  shim           not installed; to make it: createos-sandbox shim install
      skip  paths          nothing is recorded yet

    Herdr
      ok    herdr-server   not running; what is set up applies when it starts
      ok    herdr-config   there is none yet, so Herdr's defaults apply   ~/.config/herdr/config.toml
      skip  keys           not set up yet
      ok    config-owner   there is none yet; setup makes it   ~/.config/herdr/config.toml
      note  notices        Herdr's notices are off, so an action's result shows in a popup or not at all
                           fix: createos-sandbox setup herdr --notices

    Boxes
      ok    shape          s-2vcpu-4gb is in your plan
      ok    egress         open: a box may reach anything (no egress list)
      ok    agent-env      no key of an agent's provider is exported here
      ok    boxes          no pane is tied to a box
    "##);
}

#[test]
fn the_fix_for_notices_works_in_every_shape_of_ui_and_undo_takes_it_back() {
    for before in [
        "",
        "[ui]\n",
        "ui = { mouse_capture = true }\n",
        "ui.mouse_capture = true\n",
        "[ui.toast]\ndelivery = \"off\"\n",
    ] {
        let home = machine(User::Me);
        let herdr = Herdr::in_home(&home);
        let notices = || {
            let report = home.run(&["setup", "--doctor", "--json"]).success().json();
            let checks = report["checks"].as_array().expect("checks").clone();
            checks.into_iter().find(|check| check["id"] == "notices").expect("the check")
        };
        home.write(CONFIG, before);
        // A setup that did not ask leaves them alone, and that is no fault.
        let _ = home.run(&["setup", "--yes"]).success();
        let check = notices();
        assert_eq!(check["status"], "note", "{check}");
        let words: Vec<&str> = check["fix"].as_str().expect("a fix").split(' ').skip(1).collect();
        let setup = home.run(&words).success();
        assert_eq!(notices()["status"], "ok", "{before:?} {setup:?}\n{}", home.read(CONFIG));
        assert_eq!(herdr.run(&["config", "check"]).code, 0, "{}", home.read(CONFIG));
        let again = home.run(&words).success();
        assert!(again.stdout.contains("Nothing was changed."), "{again:?}");
        // Somebody's line in between stays, ours go.
        let now = format!("# mine\n{}", home.read(CONFIG));
        home.write(CONFIG, &now);
        let _ = home.run(&["setup", "--undo", "--yes"]).success();
        assert_eq!(home.read(CONFIG), format!("# mine\n{before}"));
    }
}

#[test]
fn a_fresh_setup_without_another_fault_passes_a_strict_doctor() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let _ = home.run(&["setup", "--yes"]).success();
    let report = home.run(&["setup", "--doctor", "--strict", "--json"]).json();
    let checks = report["checks"].as_array().expect("checks");
    // Whether this machine isolates a box is another matter.
    let faults: Vec<_> = checks
        .iter()
        .filter(|check| check["status"] == "warn" || check["status"] == "fail")
        .filter(|check| check["id"] != "local-sandbox")
        .collect();
    assert!(faults.is_empty(), "{faults:?}");
    let notes: Vec<_> =
        checks.iter().filter(|check| check["status"] == "note").map(|check| &check["id"]).collect();
    assert_eq!(notes, ["keys", "notices"]);
    assert_eq!(report["summary"]["notes"], 2);
}

#[test]
fn nothing_in_the_home_changes_not_even_a_time() {
    for user in User::all() {
        // The probe of the isolation makes a box in the temporary folder, and deletes it.
        let home = machine(user).var("TMPDIR", "/tmp");
        let _herdr = Herdr::in_home(&home);
        home.write(CONFIG, "[ui]\n");
        let before = tree(home.path());
        let _ = home.run(&["setup", "--doctor"]).success();
        let _ = home.run(&["setup", "--doctor", "--json", "--provider", "local"]);
        let _ = home.run(&["setup", "--dry-run"]).success();
        assert_eq!(tree(home.path()), before, "{user:?}");
        let _ = home.run(&["setup"]).success();
        let before = tree(home.path());
        let _ = home.run(&["setup", "--doctor"]).success();
        let _ = home.run(&["setup", "--undo", "--dry-run"]).success();
        let _ = home.run(&["setup"]).success();
        assert_eq!(tree(home.path()), before, "{user:?}");
    }
}

#[test]
fn all_checks_run_and_each_fault_has_its_fix_beside_it() {
    let home = Home::new().with_bin().var("ANTHROPIC_API_KEY", "x");
    createos(&home, "v0.0.24", false);
    fixed_git(&home);
    let mut herdr = Herdr::in_home(&home);
    if !herdr.is_stand_in() {
        return;
    }
    herdr.script("version", "0.7.4".into());
    home.write(CONFIG, "[ui.toast]\ndelivery = \"herdr\"\n");
    home.write(SETTINGS, "{\n  \"agnet\": \"codex\"\n}\n");
    let doctor = home.run(&["setup", "herdr", "--doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains("\n4 failed, "), "{}", doctor.stdout);
    insta::assert_snapshot!(plain(&home, &doctor.stdout), @r##"
    createos-sandbox setup herdr --doctor

    Programs
      ok    os             Linux ARCH
      FAIL  createos       0.0.24   ~/bin/createos     needs 0.0.26 or newer
                           fix: createos upgrade
      FAIL  session        createos is not signed in: your session has expired
                           fix: put a key into CREATEOS_API_KEY, or on a terminal: createos login
      FAIL  herdr          0.7.4    ~/bin/herdr     needs 0.7.5 or newer
                           fix: herdr update
      ok    git            2.47.3   ~/bin/git
      skip  bun            not needed by the bundled plugin

    Plugin
      skip  plugin         not set up yet
                           fix: createos-sandbox setup herdr
      FAIL  config         line 2, column 9: unknown key "agnet"; did you mean "agent"?   ~/.config/herdr/plugins/config/createos.sandbox/config.json
                           fix: correct it, or keep its valid settings with: createos-sandbox setup herdr --force
      skip  shim           not installed; to make it: createos-sandbox shim install
      skip  paths          nothing is recorded yet

    Herdr
      ok    herdr-server   not running; what is set up applies when it starts
      ok    herdr-config   Herdr has nothing to say about it   ~/.config/herdr/config.toml
      skip  keys           not set up yet
      ok    config-owner   an ordinary file   ~/.config/herdr/config.toml
      ok    notices        Herdr shows notices (herdr)

    Boxes
      ok    shape          s-2vcpu-4gb is in your plan
      ok    egress         open: a box may reach anything (no egress list)
      warn  agent-env      ANTHROPIC_API_KEY is set here and does not reach a box
                           fix: sign the agent in inside its own pane, the first time that it starts
      ok    boxes          no pane is tied to a box

    To mend
      FAIL  createos       0.0.24   ~/bin/createos     needs 0.0.26 or newer
                           fix: createos upgrade
      FAIL  session        createos is not signed in: your session has expired
                           fix: put a key into CREATEOS_API_KEY, or on a terminal: createos login
      FAIL  herdr          0.7.4    ~/bin/herdr     needs 0.7.5 or newer
                           fix: herdr update
      FAIL  config         line 2, column 9: unknown key "agnet"; did you mean "agent"?   ~/.config/herdr/plugins/config/createos.sandbox/config.json
                           fix: correct it, or keep its valid settings with: createos-sandbox setup herdr --force
      warn  agent-env      ANTHROPIC_API_KEY is set here and does not reach a box
                           fix: sign the agent in inside its own pane, the first time that it starts
    "##);
}

#[test]
fn a_program_that_is_not_there_is_named_with_the_command_that_brings_it() {
    let home = Home::new().with_bin();
    let doctor = home.run(&["setup", "--doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains("herdr is not on PATH"), "{}", doctor.stdout);
    assert!(
        doctor.stdout.contains("fix: createos-sandbox setup herdr --install-missing\n"),
        "{}",
        doctor.stdout
    );
    assert!(doctor.stdout.contains("or by hand: install it from https://herdr.dev"), "{}", doctor.stdout);
    assert!(doctor.stdout.contains("createos is not on PATH"), "{}", doctor.stdout);
    if cfg!(target_os = "linux") {
        let other =
            "or without an account, boxes on this machine: createos-sandbox setup herdr --provider local";
        assert!(doctor.stdout.contains(other), "{}", doctor.stdout);
        // The one command that does all of it comes first, and every other one does what it says.
        let setup = home.run(&["setup"]).fails(1, "cannot be set up yet");
        let help: Vec<_> = setup.stderr.lines().filter_map(|line| line.strip_prefix("help: ")).collect();
        assert_eq!(
            help[..4],
            [
                "have createos and herdr installed, and Herdr set up: createos-sandbox setup herdr --install-missing",
                "then, with a CreateOS account: createos login",
                &other.replace("herdr --", "herdr --install-missing --"),
                "or see first what it does, with nothing set up: createos-sandbox try",
            ],
            "{}",
            setup.stderr
        );
    }
}

#[test]
fn a_printed_setup_repeats_every_flag_that_decides_what_is_set_up() {
    let home = Home::new().with_bin();
    let flags =
        ["--egress", "*.example.com", "--shape", "s-1vcpu-1gb", "--key", "delete=prefix+alt+x", "--reset"];
    let refused =
        home.run(&[&["setup", "herdr", "--yes"], &flags[..]].concat()).fails(1, "cannot be set up yet");
    let repeated = "createos-sandbox setup herdr --shape s-1vcpu-1gb --egress '*.example.com' \
                    --key delete=prefix+alt+x --reset --install-missing\n";
    assert!(refused.stderr.contains(repeated), "{}", refused.stderr);
    // Without Herdr, boxes of this machine stay what was asked for.
    let refused = home.run(&["setup", "herdr", "--provider", "local"]).fails(1, "cannot be set up yet");
    let repeated = "createos-sandbox setup herdr --provider local --install-missing\n";
    assert!(refused.stderr.contains(repeated), "{}", refused.stderr);
}

#[test]
fn a_key_of_this_shell_alone_is_a_warning_and_its_value_is_never_shown() {
    let value = ["cs", "test", "value"].join("-");
    let home = machine(User::Me).var("CREATEOS_API_KEY", &value);
    let _herdr = Herdr::in_home(&home);
    let doctor = home.run(&["setup", "--doctor"]).success();
    assert!(doctor.stdout.contains("signed in with CREATEOS_API_KEY, which only this shell has"));
    home.write(".createos/.token", "x");
    let doctor = home.run(&["setup", "--doctor"]).success();
    assert!(doctor.stdout.contains("CREATEOS_API_KEY (wins over the stored login)"), "{}", doctor.stdout);
    assert!(!doctor.stdout.contains(&value));
}

#[test]
fn a_program_that_hangs_or_breaks_does_not_hang_the_doctor() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    program(&home, "bin/bun", "#!/bin/sh\nexit 3\n");
    program(&home, "bin/createos", "#!/bin/sh\necho no version here\n");
    let doctor = home.run(&["setup", "--doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains("createos --version printed no version"), "{}", doctor.stdout);
}
