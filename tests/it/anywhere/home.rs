//! What of the user's home goes into a box's home, judged as the upload.

use super::given::image;
use super::{Machine, detaches, types_until};
use crate::support::{User, binary, generation};
use serde_json::json;

#[test]
fn home_files_arrive_at_their_places_and_what_must_stay_stays() {
    for user in User::all() {
        let config = json!({
            "agent": "shell", "provider": "local", "homeFiles": ["~/notes/", "~/.tool.conf", "~/.netrc", "~/gone"],
        });
        let machine = Machine::of(user, Some(config));
        machine.home.write("notes/deep/a.md", "a\n");
        machine.home.write("notes/.npmrc", "x=1\n");
        machine.home.write(".tool.conf", "b\n");
        machine.home.write(".netrc", "machine x login y password z\n");
        machine.home.write("not-named", "c\n");
        std::os::unix::fs::symlink("/etc/passwd", machine.path("notes/out")).expect("a link");
        machine.home.own(machine.home.path());
        let listed = machine.run(&["herdr", "upload", "--dry-run"]).success().stdout;
        for words in ["notes/deep/a.md", ".tool.conf", "link out", ".netrc"] {
            assert!(listed.contains(words), "{words}: {listed}");
        }
        let mut pty = machine.start(&["start"]);
        types_until(&mut pty, "echo re''ady", "ready");
        assert!(pty.text().contains("of your home files are not there: ~/gone"), "{}", pty.text());
        assert!(
            pty.text().contains("of your home files stay home: ~/.netrc (credentials)"),
            "{}",
            pty.text()
        );
        assert_eq!(machine.in_box("cat ~/notes/deep/a.md ~/.tool.conf"), "a\nb\n");
        let there = machine.in_box("ls -A ~ ~/notes");
        for name in [".netrc", ".npmrc", "out", "not-named"] {
            assert!(!there.lines().any(|own| own == name), "{name}: {there}");
        }
        let _ = detaches(&mut pty);
    }
}

#[test]
fn the_agents_settings_come_along_and_its_sign_in_does_not() {
    let config =
        json!({ "agent": "claude-code", "provider": "createos", "agentSettings": true, "unattended": true });
    let machine = Machine::new(config);
    let control = json!({ "provider": binary(), "generation": generation(), "image": image("claude") });
    machine.home.write(".createos-stand-in/control.json", control.to_string());
    machine.home.write(".claude/CLAUDE.md", "be brief\n");
    machine.home.write(".claude/skills/x/SKILL.md", "x\n");
    machine.home.write(".claude/settings.json", r#"{"theme":"dark"}"#);
    machine.home.write(".claude/.credentials.json", r#"{"claudeAiOauth":{"accessToken":"t"}}"#);
    let mut pty = machine.start(&["start"]);
    types_until(&mut pty, "echo re''ady", "ready");
    assert_eq!(machine.in_box("cat ~/.claude/CLAUDE.md ~/.claude/skills/x/SKILL.md"), "be brief\nx\n");
    let settings: serde_json::Value =
        serde_json::from_str(&machine.in_box("cat ~/.claude/settings.json")).expect("JSON");
    assert_eq!(settings, json!({ "theme": "dark", "skipDangerousModePermissionPrompt": true }));
    assert_eq!(machine.in_box("ls ~/.claude/.credentials.json 2>/dev/null || true"), "");
    let _ = detaches(&mut pty);
}
