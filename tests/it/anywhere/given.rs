//! What an agent is given: arguments, the switch for "ask nothing", this terminal's colours and locale, the folder in
//! which it was started, and who it commits as.

use super::{LONG, Machine, detaches, types_until};
use crate::support::{Pty, User, binary, generation, result_line};
use serde_json::{Value, json};

/// An image in which an agent shows what it was given, and is a shell then.
pub fn image(program: &str) -> String {
    format!(
        r#"mkdir -p ~/.local/bin; cat > ~/.local/bin/{program} <<'EOF'
#!/bin/bash
[ "$1" = --version ] && echo 2.0.9 && exit
printf '<%s>' "$@"; echo
env > ~/environment; pwd > ~/place
exec bash --norc
EOF
chmod +x ~/.local/bin/{program}"#
    )
}

/// A machine with boxes in which this program is an agent.
pub fn machine(config: Value, program: &str) -> Machine {
    let machine = Machine::with(User::Me, Some(config), |home| {
        home.var("COLORTERM", "truecolor").var("LC_ALL", "xx_YY.UTF-8").var("LC_TIME", "C")
    });
    let control = json!({ "provider": binary(), "generation": generation(), "image": image(program) });
    machine.home.write(".createos-stand-in/control.json", control.to_string());
    machine
}

#[test]
fn an_agent_gets_its_arguments_and_what_its_terminal_can_show() {
    let config = json!({
        "agent": "claude-code", "provider": "createos", "unattended": true,
        "agentArgs": { "claude-code": ["--model", "a b"], "codex": ["-c", "x"] },
    });
    let machine = machine(config, "claude");
    let mut pty = machine.start(&["start", "--", "--help", "it's $HOME"]);
    pty.expect("<--dangerously-skip-permissions><--model><a b><--help><it's $HOME>", LONG);
    types_until(&mut pty, "echo re''ady", "ready");
    let environment = machine.in_box("cat ~/environment");
    for line in ["IS_SANDBOX=1", "COLORTERM=truecolor", "LANG=C.UTF-8", "LC_TIME=C", "TZ=UTC"] {
        assert!(environment.lines().any(|own| own == line), "{line}: {environment}");
    }
    assert!(!environment.contains("xx_YY"), "a locale that the box lacks stays out: {environment}");
    let info = machine.run(&["info"]).success().stdout;
    assert_eq!(result_line(&info)["unattended"], true);
    assert!(info.contains("the agent asks nothing"), "{info}");

    // When it starts again, it gets what the settings say, and not what was typed once.
    pty.send("exit\r");
    pty.expect("Claude Code has ended", LONG);
    let _ = pty.wait(LONG);
    let mut pty = machine.on_terminal(&["start"]);
    pty.expect("<--dangerously-skip-permissions><--model><a b>\r\n", LONG);
    types_until(&mut pty, "echo re''ady", "ready");
    let _ = detaches(&mut pty);
    let mut pty = machine.on_terminal(&["start", "--", "more"]);
    pty.expect("the agent runs already", LONG);
    types_until(&mut pty, "echo o''n", "on");
    let _ = detaches(&mut pty);
}

#[test]
fn what_no_agent_can_be_given_is_refused() {
    let machine = Machine::new(json!({ "agent": "shell", "provider": "local" }));
    let mut pty = machine.on_terminal(&["start", "--", "a\u{1}b"]);
    pty.expect("control character", LONG);
    assert_eq!(pty.wait(LONG).code(), Some(2));
    assert!(machine.records().is_empty());
}

#[test]
fn an_agent_starts_in_the_folder_of_the_person_where_the_box_has_it() {
    let machine = Machine::new(json!({ "agent": "shell", "provider": "local" }));
    machine.repo.write(".gitignore", "ignored/\n").write("ignored/x", "x").write("a b/c/x", "x");
    let place = |folder: &str| {
        let mut pty = machine.in_folder(folder, &["start", "--new"]);
        pty.expect("attached. Ctrl-]", LONG);
        types_until(&mut pty, "pwd > ~/place; echo do''ne", "done");
        let _ = detaches(&mut pty);
        machine.in_box("cat ~/place").trim().to_owned()
    };
    assert_eq!(place("a b/c"), "/workspace/a b/c");
    assert_eq!(place("ignored"), "/workspace");
    assert_eq!(place(""), "/workspace");
}

#[test]
fn git_knows_the_person_everywhere_in_the_box() {
    for provider in ["local", "createos"] {
        let machine = Machine::new(json!({ "agent": "shell", "provider": provider }));
        let mut pty: Pty = machine.start(&["start"]);
        types_until(&mut pty, "echo re''ady", "ready");
        let said = machine.in_box(
            "git config --global user.name; git config --global user.email; git init -q ~/other; cd ~/other; \
             git commit -q --allow-empty -m x; git log -1 --format='%an <%ae>'",
        );
        assert_eq!(said, "Test\ntest@example.com\nTest <test@example.com>\n");
        let _ = detaches(&mut pty);
    }
}
