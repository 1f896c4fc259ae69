//! Completions, manual pages, version, and what happens to a mistyped word.

use crate::support::{Home, PATH, binary, outcome};
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn every_shell_gets_a_script() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = home.run(&["completions", shell]).success();
        for word in ["setup", "shim", "completions", "json"] {
            assert!(script.stdout.contains(word), "{shell}: {word}");
        }
        assert_eq!(script.stderr, "");
    }
    let unknown = home.run(&["completions", "bsh"]).fails(2, "bash");
    assert!(unknown.stderr.contains("a similar value exists: 'bash'"), "{unknown:?}");
}

#[test]
fn the_scripts_are_valid_where_their_shell_is_at_hand() {
    let home = Home::new();
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        if which::which_in(shell, Some(PATH), "/").is_ok() {
            let script = home.write(shell, home.run(&["completions", shell]).success().stdout);
            let checked =
                outcome(home.command_of(Path::new(shell), &[check, script.to_str().expect("text")]));
            assert_eq!(checked.success().stderr, "", "{shell}");
        }
    }
}

#[test]
fn bash_completes_commands_flags_and_values() {
    let home = Home::new().with_bin();
    home.write("completion", home.run(&["completions", "bash"]).success().stdout);
    let complete = |line: &str| {
        let script = format!(
            "set -eu; . ./completion; COMP_WORDS=({line}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); \
             _createos__sandbox createos-sandbox \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; \
             echo ${{COMPREPLY[*]}}"
        );
        outcome(home.command_of(Path::new("bash"), &["-c", &script])).success().stdout
    };
    assert_eq!(complete("createos-sandbox comp"), "completions\n");
    assert!(complete("createos-sandbox version --j").contains("--json"));
    assert!(complete("createos-sandbox shim ''").contains("install remove"));
    // Values, too.
    assert_eq!(complete("createos-sandbox start cop"), "copilot\n");
    assert_eq!(complete("createos-sandbox setup --agent open"), "opencode\n");
    assert_eq!(complete("createos-sandbox start --provider lo"), "local\n");
    assert_eq!(complete("createos-sandbox setup --key start-cod"), "start-codex=\n");
    std::os::unix::fs::symlink(binary(), home.path().join("bin/createos-sandbox")).expect("a link");
    let record = serde_json::json!({
        "id": "00000000", "phase": "ready", "socket": "", "provider": "local", "box": "hd-shop-ab3dxyzzy",
        "agent": "shell", "local": "/w", "remote": "/workspace",
    });
    let state = serde_json::json!({ "version": 1, "installation": "ab3d", "records": [record] });
    home.write(".local/state/herdr/plugins/createos.sandbox/state.json", state.to_string());
    for verb in ["apply", "herdr apply", "attach", "delete"] {
        assert_eq!(complete(&format!("createos-sandbox {verb} hd-")), "hd-shop-ab3dxyzzy\n", "{verb}");
    }
}

#[test]
fn every_command_has_a_page_of_its_own() {
    let home = Home::new();
    let wrote = home.run(&["man", "--out", "share/man1"]).success();
    let pages: BTreeSet<String> = std::fs::read_dir(home.path().join("share/man1"))
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    assert_eq!(wrote.stdout, format!("{} pages in share/man1\n", pages.len()));
    for name in ["createos-sandbox", "createos-sandbox-setup", "createos-sandbox-shim-install"] {
        let page = home.read(&format!("share/man1/{name}.1"));
        assert!(page.contains(&format!(".TH {name} 1")), "{page}");
    }
    assert_eq!(home.run(&["man"]).success().stdout, home.read("share/man1/createos-sandbox.1"));

    // Each command that the help lists, down to the last level.
    let mut levels = vec![Vec::new()];
    while let Some(words) = levels.pop() {
        let help = home.run(
            &[words.as_slice(), &["--help".to_owned()]]
                .concat()
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>(),
        );
        let commands = help.success().stdout.split("Commands:\n").nth(1).unwrap_or_default().to_owned();
        for line in commands.lines().take_while(|line| line.starts_with("  ")) {
            let command = line.trim_start().split(' ').next().expect("a word");
            if line.starts_with("   ") || command == "help" {
                continue;
            }
            let below: Vec<String> = words.iter().cloned().chain([command.to_owned()]).collect();
            assert!(pages.contains(&format!("createos-sandbox-{}.1", below.join("-"))), "{below:?}");
            levels.push(below);
        }
    }
}

#[test]
fn pages_have_what_people_look_for_and_their_examples_are_commands() {
    let home = Home::new();
    let _ = home.run(&["man", "--out", "man"]).success();
    let root = home.read("man/createos-sandbox.1");
    for section in ["EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES"] {
        assert!(
            root.contains(&format!(".SH \"{section}\"")) || root.contains(&format!(".SH {section}")),
            "{section}"
        );
    }
    let words = crate::documents::document("templates/man.toml");
    let mut page = String::new();
    for line in words.lines() {
        let value = line.split_once(" = ").map_or("", |(_, value)| value.trim_matches('"'));
        if line.starts_with("page = ") {
            page = home.read(&format!("man/{value}.1"));
            assert!(!page.contains("EXTRA"), "{page}");
        }
        if line.starts_with("run = ") {
            assert!(page.replace("\\-", "-").contains(value), "[{value}] is in its page:\n{page}");
            let words =
                value.split_whitespace().skip(1).take_while(|word| !word.starts_with(['-', '>', '.', '~']));
            let asked: Vec<&str> = words.chain(["--help"]).collect();
            let _ = home.run(&asked).success();
        }
    }
}

#[test]
fn pages_replace_older_ones_and_a_bad_folder_is_an_error() {
    let home = Home::new();
    home.write("man/createos-sandbox.1", "old");
    let _ = home.run(&["man", "--out", "man"]).success();
    assert!(home.read("man/createos-sandbox.1").starts_with(".ie"));
    home.run(&["man", "--out", "man/createos-sandbox.1/x"]).fails(1, "could not create the folder");
}

#[test]
fn the_version_is_a_line_or_a_document() {
    let home = Home::new();
    let line = home.run(&["version"]).success().stdout;
    let document = home.run(&["version", "--json"]).success().json();
    assert_eq!(document["schemaVersion"], 1);
    assert_eq!(document["version"], env!("CARGO_PKG_VERSION"));
    assert!(line.starts_with(&format!("createos-sandbox {} (", env!("CARGO_PKG_VERSION"))), "{line}");
}

#[test]
fn a_mistyped_word_or_flag_gets_a_suggestion() {
    let home = Home::new();
    home.run(&["stup"]).fails(2, "'setup'");
    home.run(&["shim", "instal"]).fails(2, "'install'");
    home.run(&["version", "--jsn"]).fails(2, "'--json'");
}

#[test]
fn a_verb_without_its_area_is_told_and_inner_commands_are_never_proposed() {
    let home = Home::new();
    let wrong = home.run(&["local", "-o", "table", "create"]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
    assert!(wrong.stderr.contains("tip: createos-sandbox local sandbox create"), "{wrong:?}");
    let near = home.run(&["local", "-o", "table", "superv"]);
    let provision = home.run(&["herdr", "provison"]).fails(2, "unrecognized");
    assert!(!provision.stderr.contains("'provision'"), "{provision:?}");
    for text in [&wrong.stderr, &near.stderr] {
        assert!(!text.contains("'enter'") && !text.contains("'supervise'"), "{text}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = home.run(&["completions", shell]).success().stdout;
        assert!(!script.contains("supervise") && !script.contains("inner end"), "{shell}");
        for inner in ["ask-delete", "provision", "reconcile", "sync-pane"] {
            assert!(!script.contains(inner), "{shell}: {inner}");
        }
    }
}
