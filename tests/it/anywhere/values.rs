//! `environment`: the values reach the agent and the shells of its box, and are to be seen nowhere else.

use super::given::image;
use super::{LONG, Machine, detaches, types_until};
use crate::support::{User, binary, generation, result_line};
use serde_json::json;
use std::path::Path;

/// What must not be seen.
const SECRET: &str = "s3ntinel'value $HOME 7f3a";

/// Every file below a folder that holds the text, without those of boxes.
fn holding(folder: &Path, text: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(meta) = std::fs::symlink_metadata(&path) else { continue };
        // A box's own home is where it belongs.
        if meta.is_dir() && !path.ends_with(".local/share/createos-sandbox/boxes") {
            holding(&path, text, found);
        } else if meta.is_file()
            && std::fs::read(&path).is_ok_and(|bytes| memchr::memmem::find(&bytes, text.as_bytes()).is_some())
        {
            found.push(path.display().to_string());
        }
    }
}

/// Whether the text is on the command line of any process.
fn is_in_an_argv(text: &str) -> bool {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|argv| memchr::memmem::find(&argv, text.as_bytes()).is_some())
}

fn reach_the_agent(user: User, provider: &str) {
    let config = json!({
        "agent": "shell", "provider": provider,
        "environment": {
            "API_KEY": { "from": "MY_KEY" }, "OF_FILE": { "file": "~/key" },
            "OF_PROGRAM": { "command": ["cat", "key"] }, "PLAIN": "a 'b' \"c\" $d", "COLORTERM": null,
        },
    });
    let machine =
        Machine::with(user, Some(config), |home| home.var("MY_KEY", SECRET).var("COLORTERM", "truecolor"));
    std::fs::write(machine.path("key"), "of a file\n").expect("a file");
    machine.home.own(machine.home.path());
    // A command runs where the program does.
    std::fs::copy(machine.path("key"), machine.repo.root().join("key")).expect("a copy");
    machine.home.own(machine.home.path());

    let mut pty = machine.start(&["start"]);
    types_until(&mut pty, "env > ~/environment; echo do''ne", "done");
    let agents = machine.in_box("cat ~/environment");
    let shells = machine.in_box("env");
    for environment in [&agents, &shells] {
        for line in [
            format!("API_KEY={SECRET}"),
            "OF_FILE=of a file".into(),
            "OF_PROGRAM=of a file".into(),
            "PLAIN=a 'b' \"c\" $d".into(),
        ] {
            assert!(environment.lines().any(|own| own == line), "{line}: {environment}");
        }
    }
    assert!(!agents.contains("COLORTERM"), "{agents}");
    let modes = machine
        .in_box("stat -c '%a %n' ~/.createos-sandbox/environment ~/.createos-sandbox/environment/values");
    assert!(modes.starts_with("700 ") && modes.contains("\n600 "), "{modes}");

    // Nowhere else.
    let name = machine.name();
    let info = machine.run(&["info"]).success().stdout;
    assert_eq!(result_line(&info)["environment"], json!(["API_KEY", "OF_FILE", "OF_PROGRAM", "PLAIN"]));
    assert!(!info.contains(SECRET) && info.contains("API_KEY, OF_FILE"), "{info}");
    assert!(!pty.text().contains(SECRET), "{}", pty.text());
    assert!(!is_in_an_argv(SECRET));
    let _ = machine.in_box("cd /workspace; echo x >> README.md");
    let patch = machine.run(&["apply", "--to-patch", "work.patch"]).success().stdout;
    let upload = machine.run(&["herdr", "upload", "--output", "upload.tgz"]).success().stdout;
    assert!(!patch.contains(SECRET) && !upload.contains(SECRET));
    let mut found = Vec::new();
    holding(machine.home.path(), SECRET, &mut found);
    // Pieces of it, as an encoding would leave them.
    holding(machine.home.path(), "s3ntinel", &mut found);
    assert!(found.is_empty(), "{found:?}");

    // A value that changed is there when the agent starts again.
    pty.send("exit\r");
    pty.expect("has ended", LONG);
    let _ = pty.wait(LONG);
    std::fs::write(machine.path("key"), "changed\n").expect("a file");
    let mut pty = machine.on_terminal(&["attach", &name]);
    types_until(&mut pty, "echo \"<$OF_FILE>\"", "<changed>");
    let _ = detaches(&mut pty);
}

#[test]
fn values_reach_the_agent_of_a_local_box_and_nothing_else() {
    User::all().into_iter().for_each(|user| reach_the_agent(user, "local"));
}

#[test]
fn values_reach_the_agent_by_the_official_cli_and_nothing_else() {
    reach_the_agent(User::Me, "createos");
}

#[test]
fn a_value_that_cannot_be_had_ends_the_start_before_a_box_is_made() {
    let config =
        json!({ "agent": "shell", "provider": "local", "environment": { "API_KEY": { "from": "NOT_SET" } } });
    let machine = Machine::new(config);
    let mut pty = machine.on_terminal(&["start"]);
    pty.expect("the value of API_KEY in \"environment\" cannot be had: NOT_SET is not set here", LONG);
    assert_eq!(pty.wait(LONG).code(), Some(1));
    assert!(machine.boxes().is_empty());
    machine.home.write(super::CONFIG, r#"{"environment":{"LD_PRELOAD":"/x"}}"#);
    machine.run(&["herdr", "upload", "--dry-run"]).fails(2, "LD_PRELOAD");
}

#[test]
fn values_that_are_taken_out_of_the_settings_go_at_the_next_start() {
    let config =
        |environment| json!({ "agent": "claude-code", "provider": "createos", "environment": environment });
    let machine = Machine::new(config(json!({ "API_KEY": "x" })));
    let control = json!({ "provider": binary(), "generation": generation(), "image": image("claude") });
    machine.home.write(".createos-stand-in/control.json", control.to_string());
    let mut pty = machine.start(&["start"]);
    types_until(&mut pty, "echo \"<$API_KEY>\"", "<x>");
    pty.send("exit\r");
    pty.expect("has ended", LONG);
    let _ = pty.wait(LONG);
    machine.home.write(super::CONFIG, config(json!({})).to_string());
    let mut pty = machine.on_terminal(&["start"]);
    types_until(&mut pty, "echo \"<$API_KEY>\"", "<>\r\n");
    let _ = detaches(&mut pty);
    assert_eq!(machine.in_box("ls ~/.createos-sandbox/environment"), "");
}
