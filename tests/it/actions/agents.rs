//! Agents with a name: installed by their own installer, seen by Herdr, and the installs that fail.

use super::world::{LONG, World};
use crate::support::eventually;
use serde_json::json;

/// An image whose `curl` is a script: the installer that it prints puts an agent into `folder`, and the first
/// `fails` tries do not get through. What it was asked for is in `~/asked`.
pub fn image(program: &str, folder: &str, fails: u32) -> String {
    format!(
        r#"mkdir -p ~/.local/bin
cat > ~/.local/bin/curl <<'EOF'
#!/bin/sh
echo "$*" >> ~/asked
if [ $(wc -l < ~/asked) -le {fails} ]; then echo 'curl: (6) Could not resolve host' >&2; exit 6; fi
cat ~/installer
EOF
cat > ~/installer <<'EOF'
env > ~/installers-environment
mkdir -p {folder}
printf '#!/bin/bash\n[ "$1" = --version ] && echo 2.1.245 && exit\necho "the agent is here"\nexec bash -l\n' > {folder}/{program}
chmod +x {folder}/{program}
echo installed {program}
EOF
chmod +x ~/.local/bin/curl
cat > ~/.local/bin/npm <<'EOF'
#!/bin/sh
echo "$*" >> ~/asked
exec sh ~/installer
EOF
chmod +x ~/.local/bin/npm; ln -sf /bin/true ~/.local/bin/node"#
    )
}

/// What Herdr says which agent a pane runs.
pub fn listed(world: &World, pane: &str) -> Option<String> {
    let agents = world.herdr(&["agent", "list"])["agents"].as_array().expect("agents").clone();
    let of_pane = agents.iter().find(|agent| agent["pane_id"] == pane)?;
    Some(of_pane["agent"].as_str().expect("a label").to_owned())
}

#[test]
fn every_agent_is_installed_by_its_own_installer_and_herdr_lists_it_while_it_is_attached() {
    for (agent, label, program, folder, url) in [
        ("claude-code", "claude", "claude", "~/.local/bin", "https://claude.ai/install.sh"),
        ("codex", "codex", "codex", "~/.codex/bin", "https://chatgpt.com/codex/install.sh"),
        ("opencode", "opencode", "opencode", "~/.opencode/bin", "https://opencode.ai/install"),
        ("pi", "pi", "pi", "~/.pi/bin", "https://pi.dev/install.sh"),
        ("cursor", "cursor", "cursor-agent", "~/.cursor/bin", "https://cursor.com/install"),
        (
            "gemini",
            "gemini",
            "gemini",
            "~/.local/bin",
            "--global --prefix /home/agent/.local @google/gemini-cli",
        ),
        ("copilot", "copilot", "copilot", "~/.local/bin", "https://gh.io/copilot-install"),
        ("qwen", "qwen", "qwen", "~/.local/bin", "--global --prefix /home/agent/.local @qwen-code/qwen-code"),
        ("amp", "amp", "amp", "~/.amp/bin", "https://ampcode.com/install.sh"),
    ] {
        let mut world = World::with_config(json!({ "agent": agent }));
        world.script("image", json!(image(program, folder, 0)));
        let (id, pane) = world.start();
        world.sees(&pane, &format!("installed {program}"));
        let path = folder.replace('~', "/home/agent");
        world.sees(&pane, &format!("4/5 install {program} 2.1.245 {path}/{program}"));
        world.sees(&pane, "the agent is here");
        assert_eq!(world.records()[0]["bin"], format!("{path}/{program}"));
        let asked = world.in_box(&id, "cat ~/asked");
        assert!(asked.lines().count() == 1 && asked.contains(url), "{agent}: {asked}");
        let environment = world.in_box(&id, "cat ~/installers-environment");
        assert_eq!(environment.contains("CODEX_NON_INTERACTIVE=1"), agent == "codex", "{environment}");

        eventually("Herdr lists the agent", LONG, || listed(&world, &pane).as_deref() == Some(label));
        world.types(&pane, "exit 7");
        world.sees(&pane, "the agent has ended, exit code 7");
        eventually("the pane without it is no agent", LONG, || listed(&world, &pane).is_none());
        // The variable was on the child that attaches, and on nothing else.
        for call in world.calls() {
            let attaches = call["argv"].as_array().expect("words").contains(&json!("attach"));
            assert_eq!(call["herdr_agent"], if attaches { json!(label) } else { json!(null) }, "{call}");
        }
    }
}

#[test]
fn the_output_of_an_installer_is_on_the_screen_while_it_runs() {
    let mut world = World::with_config(json!({ "agent": "claude-code" }));
    let waits = "sed -i '1i echo half of it; until [ -e ~/go ]; do sleep 0.1; done' ~/installer";
    world.script("image", json!(format!("{}\n{waits}", image("claude", "~/.local/bin", 0))));
    let start = world.begin("start");
    eventually("the pane is known", LONG, || {
        world.records().first().is_some_and(|record| record["pane"].is_string())
    });
    let pane = world.box_pane();
    world.sees(&pane, "half of it");
    assert!(!world.screen(&pane).contains("installed claude") && !world.has_ended(&start));
    let id = world.boxes()[0]["id"].as_str().expect("an id").to_owned();
    world.in_box(&id, "touch ~/go");
    assert_eq!(world.wait(&start).ok()["result"], "started");
    world.sees(&pane, "installed claude");
}

#[test]
fn the_agent_shell_is_a_login_shell() {
    let world = World::new();
    let (_, pane) = world.start();
    world.answers(&pane, "it ", "runs");
    world.types(&pane, "shopt -q login_shell && echo of a lo''gin");
    world.sees(&pane, "of a login");
}

#[test]
fn an_agent_that_the_image_carries_is_not_installed_again_whatever_egress_allows() {
    let mut world = World::with_config(json!({ "agent": "claude-code", "egress": ["github.com"] }));
    let carried = r#"printf '#!/bin/sh\n[ "$1" = --version ] && echo 2.0.9 && exit\nexec bash -l\n' > ~/.local/bin/claude
chmod +x ~/.local/bin/claude"#;
    world.script("image", json!(format!("{}\n{carried}", image("claude", "~/.local/bin", 0))));
    let (id, pane) = world.start();
    let warning = "note: egress does not list claude.ai, downloads.claude.ai: if the image lacks claude";
    world.sees(&pane, warning);
    world.sees(&pane, "4/5 install claude 2.0.9 /home/agent/.local/bin/claude, of the image");
    assert_eq!(world.in_box(&id, "cat ~/asked 2>/dev/null || true"), "");
}

#[test]
fn under_an_egress_list_the_install_is_tried_again_until_its_names_work() {
    let mut world =
        World::with_config(json!({ "agent": "claude-code", "egress": ["claude.ai", "downloads.claude.ai"] }));
    world.script("image", json!(image("claude", "~/.local/bin", 2)));
    let (id, pane) = world.start();
    world.sees(&pane, "Could not resolve host");
    world.sees(&pane, "trying again in 2 s");
    world.sees(&pane, "the agent is here");
    assert_eq!(world.in_box(&id, "wc -l < ~/asked").trim(), "3");
}

#[test]
fn an_install_that_cannot_work_fails_at_once_and_its_box_is_gone() {
    for (egress, words, fix, tries) in [
        (json!([]), "the installer of Claude Code failed with exit code 6", "try again", 1),
        (
            json!(["github.com"]),
            "egress in config.json allows github.com only",
            "add claude.ai, downloads.claude.ai to egress",
            1,
        ),
    ] {
        let mut world = World::with_config(json!({ "agent": "claude-code", "egress": egress }));
        world.script("image", json!(image("claude", "~/.local/bin", 1)));
        let failed = world.invoke("start").fails(words);
        assert!(failed["fix"].as_str().unwrap().contains(fix), "{failed}");
        assert!(failed["error"].as_str().unwrap().contains("nothing is billed"), "{failed}");
        assert!(world.boxes().is_empty());
        let runs =
            |argv: &&Vec<String>| argv.iter().any(|word| word.contains("https://claude.ai/install.sh"));
        assert_eq!(world.calls_of("process").iter().filter(runs).count(), tries, "{egress}");
    }
    // An installer that ends well and leaves nothing is believed by nobody.
    let mut world = World::with_config(json!({ "agent": "claude-code" }));
    world.script("image", json!("mkdir -p ~/.local/bin; printf '#!/bin/sh\\necho true\\n' > ~/.local/bin/curl; chmod +x ~/.local/bin/curl"));
    world.invoke("start").fails("the installer of Claude Code left no program claude");
    assert!(world.boxes().is_empty());
}

#[test]
fn a_box_without_a_program_that_is_needed_names_it() {
    for missing in ["git", "tar", "curl"] {
        let mut world = World::with_config(json!({ "agent": "claude-code" }));
        let image = format!(
            "mkdir ~/only; cp -sf /usr/bin/* /usr/local/bin/* ~/only 2>/dev/null; rm -f ~/only/{missing} ~/only/claude; \
             echo 'PATH=~/only' > ~/.bash_profile"
        );
        world.script("image", json!(image));
        let failed = world.invoke("start").fails("");
        let error = failed["error"].as_str().expect("an error");
        assert!(error.contains(missing) && error.contains("the box"), "{failed}");
        assert!(error.contains("nothing is billed"), "{failed}");
        assert!(failed["fix"].as_str().unwrap().contains("bash, git"), "{failed}");
        assert!(world.boxes().is_empty());
    }
    // Another installer needs other programs.
    let mut world = World::with_config(json!({ "agent": "gemini" }));
    let image = "mkdir ~/only; cp -sf /usr/bin/* /usr/local/bin/* ~/only 2>/dev/null; \
                 rm -f ~/only/npm ~/only/node ~/only/gemini; echo 'PATH=~/only' > ~/.bash_profile";
    world.script("image", json!(image));
    let failed = world.invoke("start").fails("the box has no node, no npm");
    assert!(failed["fix"].as_str().unwrap().contains("bash, git, tar, node, npm"), "{failed}");
    assert!(world.boxes().is_empty());
    let mut world = World::with_config(json!({ "agent": "claude-code" }));
    let words = "exec: \"bash\": executable file not found in $PATH";
    world.script("fail", json!([{ "verb": "exec", "code": "error", "message": words }]));
    let failed = world.invoke("start").fails(words);
    assert!(failed["fix"].as_str().unwrap().contains("bash"), "{failed}");
    assert!(world.boxes().is_empty());
}
