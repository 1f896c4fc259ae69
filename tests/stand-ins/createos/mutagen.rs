//! The same program under the name `mutagen`: the sessions that `sync` leaves behind, which are files of the
//! record (docs/measured/createos-cli.md 3.9).

use crate::control::Control;
use crate::print;
use serde_json::{Value, json};

/// A session begins; its identifier.
pub(crate) fn begins(control: &Control, name: &str) -> String {
    let identifier = format!("sync_{}{}", std::process::id(), "x".repeat(30));
    let session = json!({ "identifier": identifier, "name": name });
    std::fs::write(control.file(&format!("mutagen-{identifier}")), session.to_string()).expect("a session");
    identifier
}

fn sessions(control: &Control) -> Vec<Value> {
    let folder = control.file("");
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("mutagen-"));
    let mut found: Vec<Value> =
        named.filter_map(|entry| serde_json::from_slice(&std::fs::read(entry.path()).ok()?).ok()).collect();
    found.sort_by_key(|session| session["identifier"].as_str().unwrap_or_default().to_owned());
    found
}

/// `mutagen sync list [--template TEMPLATE]`, `mutagen sync terminate SESSION…`, `mutagen daemon stop`.
pub(crate) fn run(control: &Control, words: &[String]) -> u8 {
    control.append("mutagen", &words.join(" "));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let text = |session: &Value, key: &str| session[key].as_str().unwrap_or_default().to_owned();
    match words[..] {
        ["sync", "list", "--template", template] => {
            let (before, rest) = template.split_once("{{range .}}").unwrap_or(("", template));
            let (line, after) = rest.split_once("{{end}}").unwrap_or((rest, ""));
            print(before);
            for session in sessions(control) {
                let shown = line
                    .replace("{{.Identifier}}", &text(&session, "identifier"))
                    .replace("{{.Name}}", &text(&session, "name"))
                    .replace("{{\"\\n\"}}", "\n")
                    .replace("{{println}}", "\n");
                assert!(!shown.contains("{{"), "an unknown template: {template}");
                print(&shown);
            }
            print(after);
            0
        }
        ["sync", "list"] => {
            for session in sessions(control) {
                let (name, identifier) = (text(&session, "name"), text(&session, "identifier"));
                print(&format!(
                    "{}\nName: {name}\nIdentifier: {identifier}\nStatus: Watching for changes\n",
                    "-".repeat(80)
                ));
            }
            0
        }
        ["sync", "terminate", ref named @ ..] if !named.is_empty() => {
            // An identifier, or a name.
            let mut code = 0;
            for one in named {
                let wanted =
                    |session: &&Value| text(session, "identifier") == *one || text(session, "name") == *one;
                match sessions(control).iter().find(wanted) {
                    Some(session) => {
                        let path = control.file(&format!("mutagen-{}", text(session, "identifier")));
                        std::fs::remove_file(path).expect("it was there");
                    }
                    None => {
                        crate::tell(&format!(
                            "Error: unable to locate requested sessions: specification \"{one}\" did not match any sessions\n"
                        ));
                        code = 1;
                    }
                }
            }
            code
        }
        ["daemon", "stop" | "start"] | ["version"] => 0,
        _ => control.unknown(&words.iter().map(|word| format!("mutagen {word}")).collect::<Vec<_>>()),
    }
}
