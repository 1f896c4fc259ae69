//! Every command that is printed to be typed is run in the state that printed it: the state is better then, or the
//! thing is done. Those of popups and panes are in `screens.rs`; other commands of the actions are run where they are
//! printed, in `apply/` and `actions/`, and every output of every test is looked through for commands that are none
//! ([`printed`]).

#[cfg(target_os = "linux")]
mod screens;

use crate::documents::{document, documents};
use crate::setup::{BUNDLE, CONFIG, SETTINGS, createos, machine};
use crate::support::{Herdr, Home, Outcome, User, binary, outcome, printed, program};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::Path;

/// Commands that are not run here.
const NOT_RUN: [(&str, &str); 6] = [
    ("createos login", "opens a browser"),
    ("createos upgrade", "downloads a release"),
    ("herdr update", "downloads a release"),
    ("--install-missing", "downloads what is missing; setup/install.rs runs it against a server of its own"),
    ("createos-sandbox try", "has its own tests, and needs git"),
    ("CHORD", "is a blank that only a person can fill"),
];

/// Commands that show something and change nothing.
const SHOWS: [&str; 3] = ["herdr config check", "createos -o json sandbox list --limit 1", "--no-keys"];

/// A home in a state, and what the doctor is asked.
struct State {
    /// The check that is not well.
    check: &'static str,
    /// The doctor's flags.
    flags: &'static [&'static str],
    /// Makes the state, from a home with everything in it.
    make: fn(&Home, &mut Herdr<'_>),
}

const fn state(check: &'static str, make: fn(&Home, &mut Herdr<'_>)) -> State {
    State { check, flags: &[], make }
}

fn set_up(home: &Home) {
    let _ = home.run(&["setup", "--yes"]).success();
}

const STATES: &[State] = &[
    state("plugin", |_, _| {}),
    state("plugin", |home, herdr| {
        set_up(home);
        let _ = herdr.run(&["plugin", "uninstall", "createos.sandbox"]).success();
    }),
    state("plugin", |home, herdr| {
        set_up(home);
        let _ = herdr.run(&["plugin", "link", BUNDLE, "--disabled"]).success();
    }),
    state("plugin", |home, _| {
        set_up(home);
        std::fs::remove_file(home.path().join(BUNDLE).join("herdr-plugin.toml")).expect("it goes");
    }),
    State {
        check: "plugin",
        flags: &["--provider", "local", "--key", "delete=prefix+alt+x"],
        make: |_, _| {},
    },
    state("createos", |home, _| std::fs::remove_file(home.path().join("bin/createos")).expect("it goes")),
    state("createos", |home, _| createos(home, "v0.0.20", true)),
    state("session", |home, _| createos(home, "v0.0.29", false)),
    state("session", |home, _| {
        let text = "#!/bin/sh\n[ \"$1\" = --version ] && echo 'createos version v0.0.29' && exit\necho odd >&2\nexit 1\n";
        program(home, "bin/createos", text);
    }),
    state("config", |home, _| drop(home.write(SETTINGS, "{\n  \"agnet\": \"codex\"\n}\n"))),
    state("config", |home, _| {
        drop(home.write(SETTINGS, "{\n  \"egress\": [\"*\", \"localhost:5432\"]\n}\n"))
    }),
    state("config", |home, _| {
        set_up(home);
        std::fs::remove_file(home.path().join(SETTINGS)).expect("it goes");
    }),
    state("keys", |home, _| {
        set_up(home);
        home.write(CONFIG, "");
    }),
    state("keys", |home, _| {
        let entry =
            "[[keys.command]]\nkey = \"\"\ntype = \"plugin_action\"\ncommand = \"createos.sandbox.delete\"\n";
        set_up(home);
        home.write(CONFIG, entry);
    }),
    state("keys", |home, _| set_up(home)),
    state("notices", |home, _| drop(home.write(CONFIG, "ui = { theme = \"x\" }\n"))),
    state("shape", |home, _| drop(home.write(SETTINGS, r#"{"shape":"s-9vcpu-9gb"}"#))),
    State {
        check: "shape",
        flags: &["--provider", "local"],
        make: |home, _| drop(home.write(SETTINGS, r#"{"shape":"s-9vcpu-9gb","provider":"local"}"#)),
    },
    state("egress", |home, _| drop(home.write(SETTINGS, r#"{"agent":"cursor","egress":["cursor.com"]}"#))),
    state("egress", |home, _| {
        home.write(SETTINGS, r#"{"provider":"local","egress":["example.com"]}"#);
    }),
    state("paths", |home, _| {
        set_up(home);
        std::fs::rename(home.path().join("bin/git"), home.path().join("bin/gone")).expect("it goes");
    }),
    state("shim", |_, _| {}),
    state("shim", |home, _| {
        let _ = home.run(&["shim", "install"]).success();
        let link = home.path().join(".local/share/createos-sandbox/shim/createos");
        std::fs::remove_file(&link).expect("it goes");
        symlink("/gone/createos-sandbox", link).expect("a link");
    }),
    state("herdr-server", |_, herdr| {
        herdr.script("server", json!({ "reload": "applied", "compatible": false }))
    }),
    state("herdr-config", |home, herdr| {
        home.write(CONFIG, "[ui]\n");
        herdr.script("diagnostics", json!([{ "text": "something odd" }]));
    }),
    state("config-owner", |home, _| {
        home.write(CONFIG, "[ui]\n");
        home.mode(CONFIG, 0o444);
    }),
];

/// A signed-in machine whose PATH has everything that is printed, under the names that are printed.
fn everything() -> Home {
    let home = machine(User::Me).var("TMPDIR", "/tmp");
    symlink(binary(), home.path().join("bin/createos-sandbox")).expect("a link");
    let git = which::which_in("git", Some(crate::support::PATH), "/").expect("git");
    symlink(git, home.path().join("bin/git")).expect("a link");
    home
}

fn checks(home: &Home, flags: &[&str], id: &str) -> Vec<Value> {
    let report = home.run(&[&["setup", "--doctor", "--json"], flags].concat()).json();
    let all = report["checks"].as_array().expect("checks").clone();
    all.into_iter().filter(|check| check["id"] == id).collect()
}

fn typed(home: &Home, command: &str) -> Outcome {
    outcome(home.command_of(Path::new("/bin/sh"), &["-c", command]))
}

fn is_not_run(command: &str) -> bool {
    // Herdr itself takes the terminal over.
    command == "herdr" || NOT_RUN.iter().any(|(part, _why)| command.contains(part))
}

/// How bad it is.
fn rank(checks: &[Value]) -> usize {
    let worst = |check: &Value| {
        ["ok", "skip", "note", "warn", "fail"].iter().position(|word| check["status"] == *word)
    };
    checks.iter().filter_map(worst).max().unwrap_or(0)
}

#[test]
fn every_fix_of_the_doctor_works_as_it_is_printed() {
    every_third(0);
}

#[test]
fn every_other_fix_of_the_doctor_works_as_it_is_printed() {
    every_third(1);
}

#[test]
fn the_rest_of_the_fixes_of_the_doctor_work_as_they_are_printed() {
    every_third(2);
}

/// Every third state, from `first` on: they run side by side.
fn every_third(first: usize) {
    let mut ran = 0;
    for (number, state) in STATES.iter().enumerate().skip(first).step_by(3) {
        // Each way out from the same state.
        for way in 0.. {
            let home = everything();
            let mut herdr = Herdr::in_home(&home);
            if !herdr.is_stand_in() {
                return;
            }
            (state.make)(&home, &mut herdr);
            let before = checks(&home, state.flags, state.check);
            let said = |check: &Value| {
                let fix = check["fix"].as_str().map(str::to_owned);
                fix.unwrap_or_else(|| check["message"].as_str().unwrap_or_default().to_owned())
            };
            let found: Vec<String> =
                before.iter().flat_map(|check| printed::commands(&said(check))).collect();
            assert!(!found.is_empty(), "{number} {}: no command in {before:?}", state.check);
            let Some(command) = found.get(way) else { break };
            if is_not_run(command) {
                continue;
            }
            let done = typed(&home, command);
            let shows = SHOWS.iter().any(|part| command.contains(part));
            assert!(done.code == 0 || shows, "{number} {}: [{command}] {done:?}", state.check);
            let after = checks(&home, state.flags, state.check);
            let better = rank(&after) < rank(&before) || after.len() < before.len() || shows;
            // A link that is there still has to come first on PATH, which is a line in a file.
            let better = better || state.check == "shim" && after != before;
            assert!(better, "{number} {}: [{command}] {done:?}\n{before:?}\n{after:?}", state.check);
            ran += 1;
        }
    }
    assert!(ran >= STATES.len() / 3 - 2, "only {ran}");
}

/// What a refused setup proposes.
#[test]
fn every_way_out_of_a_refused_setup_works_as_it_is_printed() {
    type Case<'a> = (&'a [&'a str], fn(&Home));
    let cases: &[Case<'_>] = &[
        (&["setup"], |home| drop(home.write(SETTINGS, "{\"agnet\": 1}"))),
        (&["setup"], |home| drop(home.write(CONFIG, "[keys\n"))),
        (&["setup", "--key", "delete=prefix+alt+x"], |home| drop(home.write(CONFIG, "[keys\n"))),
        (&["setup", "--local", "other"], |home| {
            let manifest =
                "id = \"an.other\"\nname = \"x\"\nversion = \"1\"\nmin_herdr_version = \"0.7.5\"\n";
            home.write("other/herdr-plugin.toml", manifest);
        }),
    ];
    for (number, (args, make)) in cases.iter().enumerate() {
        for way in 0.. {
            let home = everything();
            let herdr = Herdr::in_home(&home);
            if !herdr.is_stand_in() {
                return;
            }
            make(&home);
            let refused = home.run(args);
            assert_ne!(refused.code, 0, "{number}: {refused:?}");
            let found = printed::commands(&refused.stderr);
            assert!(!found.is_empty(), "{number}: {refused:?}");
            let Some(command) = found.get(way) else { break };
            if is_not_run(command) {
                continue;
            }
            let done = typed(&home, command);
            assert_eq!(done.code, 0, "{number}: [{command}] {done:?}");
        }
    }
}

/// The commands in the text of the documents; those in `console` blocks and in docs/exit-codes.md are run elsewhere.
#[test]
fn every_command_in_the_documents_is_one() {
    let home = everything();
    let herdr = Herdr::in_home(&home);
    if !herdr.is_stand_in() {
        return;
    }
    let _ = home.run(&["setup", "--yes"]).success();
    let is_blank = |word: &String| {
        word.contains(['…', '*', '<']) || word.chars().all(|c| c.is_ascii_uppercase() || c == '-')
    };
    let mut seen = 0;
    for name in documents().iter().filter(|name| *name != "docs/exit-codes.md") {
        let text = document(name);
        let spans = text
            .lines()
            .filter(|line| !line.starts_with("    "))
            .flat_map(|line| line.split('`').skip(1).step_by(2));
        for span in spans {
            let words = printed::words(span);
            let Some((program, rest)) = words.split_first().filter(|(_, rest)| !rest.is_empty()) else {
                continue;
            };
            if rest.iter().any(|word| is_blank(word) || word == "--" || word.starts_with('(')) {
                continue;
            }
            let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
            match program.as_str() {
                "createos-sandbox" => {
                    let said = home.run(&[&rest[..], &["--help"]].concat());
                    // The name of a flag, whose value stands elsewhere.
                    if said.stderr.contains("a value is required") {
                        continue;
                    }
                    assert_eq!(said.code, 0, "{name}: {span}: {}", said.stderr);
                }
                // The stand-in fails the test for what Herdr does not have.
                "herdr" if rest.len() == 3 && rest[..2] == ["plugin", "config-dir"] => {
                    let _ = herdr.run(&rest).success();
                }
                _ => continue,
            }
            seen += 1;
        }
    }
    assert!(seen >= 15, "only {seen}");
}
