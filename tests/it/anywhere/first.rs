//! The first questions of an agent in a new box, and its conversation when it has to start again.

use super::given::image;
use super::{LONG, Machine, detaches, types_until};
use crate::support::{Pty, binary, generation};
use serde_json::{Value, json};

/// A machine with boxes in which this program is an agent, whose image has done this.
fn machine(config: Value, program: &str, more: &str) -> Machine {
    let machine = Machine::new(config);
    let image = format!("{}\n{more}", image(program));
    let control = json!({ "provider": binary(), "generation": generation(), "image": image });
    machine.home.write(".createos-stand-in/control.json", control.to_string());
    machine
}

fn started(machine: &Machine, args: &[&str]) -> Pty {
    let mut pty = machine.start(args);
    types_until(&mut pty, "echo re''ady", "ready");
    pty
}

fn json_of(machine: &Machine, file: &str) -> Value {
    serde_json::from_str(&machine.in_box(&format!("cat {file}"))).expect("JSON")
}

#[test]
fn what_an_agent_asks_first_is_answered_and_what_is_there_stays() {
    let config = json!({ "agent": "claude-code", "provider": "createos", "unattended": true });
    let there = r#"mkdir ~/.claude; echo '{"theme":"dark"}' > ~/.claude/settings.json"#;
    let machine = machine(config, "claude", there);
    let mut pty = started(&machine, &["start"]);
    let answers = json_of(&machine, "~/.claude.json");
    assert_eq!(answers["hasCompletedOnboarding"], true);
    assert_eq!(answers["projects"]["/workspace"]["hasTrustDialogAccepted"], true);
    let settings = json_of(&machine, "~/.claude/settings.json");
    assert_eq!(settings, json!({ "theme": "dark", "skipDangerousModePermissionPrompt": true }));
    assert_eq!(machine.in_box("stat -c %a ~/.claude.json").trim(), "600");
    assert!(!pty.text().contains("left alone"), "{}", pty.text());
    let _ = detaches(&mut pty);
}

#[test]
fn trust_is_the_persons_where_the_repository_would_run_something_by_it() {
    let config = json!({ "agent": "claude-code", "provider": "createos" });
    let machine = machine(config, "claude", "true");
    machine.repo.write(".claude/settings.json", r#"{"hooks":{}}"#).commit("hooks");
    let mut pty = started(&machine, &["start"]);
    assert_eq!(json_of(&machine, "~/.claude.json"), json!({ "hasCompletedOnboarding": true }));
    assert_eq!(machine.in_box("ls -A ~/.claude 2>/dev/null || true"), "", "it asks before it acts");
    let _ = detaches(&mut pty);
}

#[test]
fn settings_that_do_not_parse_are_left_alone_and_named() {
    for (agent, program, file, broken) in [
        ("claude-code", "claude", ".claude.json", "{ \"a\": "),
        ("codex", "codex", ".codex/config.toml", "a = "),
        ("copilot", "copilot", ".copilot/config.json", "// a comment\n{}"),
    ] {
        let there = format!("mkdir -p ~/.codex ~/.copilot; printf '%s' '{broken}' > ~/{file}");
        let machine = machine(json!({ "agent": agent, "provider": "createos" }), program, &there);
        let mut pty = started(&machine, &["start"]);
        assert!(pty.text().contains(&format!("note: ~/{file} in the box does not parse")), "{}", pty.text());
        assert_eq!(machine.in_box(&format!("cat ~/{file}")).trim_end(), broken.trim_end());
        let _ = detaches(&mut pty);
    }
    // A link may lead anywhere, and is not followed.
    let there = "ln -s /tmp/elsewhere ~/.claude.json";
    let machine = machine(json!({ "agent": "claude-code", "provider": "createos" }), "claude", there);
    let mut pty = started(&machine, &["start"]);
    assert!(pty.text().contains("~/.claude.json in the box is no plain file"), "{}", pty.text());
    let _ = detaches(&mut pty);
}

#[test]
fn codex_gets_what_it_lacks_of_its_own_tables() {
    let there = "mkdir ~/.codex; printf 'model = \"x\"\\n[features]\\nmine = true\\n' > ~/.codex/config.toml";
    let machine = machine(json!({ "agent": "codex", "provider": "createos" }), "codex", there);
    let mut pty = started(&machine, &["start"]);
    assert_eq!(
        machine.in_box("cat ~/.codex/config.toml"),
        "check_for_update_on_startup = false\n\nmodel = \"x\"\n[features]\nmine = true\n\n\
         [projects.\"/workspace\"]\ntrust_level = \"trusted\"\n"
    );
    let _ = detaches(&mut pty);
}

#[test]
fn an_agent_that_starts_again_goes_on_with_its_conversation() {
    let machine = machine(json!({ "agent": "claude-code", "provider": "createos" }), "claude", "true");
    let ends = |pty: &mut Pty, more: &str| {
        types_until(pty, "echo re''ady", "ready");
        pty.send(format!("{more}exit\r"));
        pty.expect("Claude Code has ended", LONG);
        let _ = pty.wait(LONG);
    };
    let mut pty = machine.start(&["start"]);
    pty.expect("<>", LONG);
    // Another folder's conversation is none of this one.
    ends(
        &mut pty,
        "mkdir -p ~/.claude/projects/-elsewhere; echo x > ~/.claude/projects/-elsewhere/a.jsonl; ",
    );
    let mut pty = machine.on_terminal(&["start"]);
    pty.expect("<>", LONG);
    ends(
        &mut pty,
        "mkdir -p ~/.claude/projects/-workspace; echo x > ~/.claude/projects/-workspace/a.jsonl; ",
    );
    let mut pty = machine.on_terminal(&["start"]);
    pty.expect("<--continue>", LONG);
    ends(&mut pty, "");
    let mut pty = machine.on_terminal(&["attach", "--fresh"]);
    pty.expect("<>", LONG);
    assert!(!pty.text().contains("--continue"), "{}", pty.text());
    ends(&mut pty, "");
}
