//! docs/json.md and docs/exit-codes.md: examples of every document are made and their fields
//! compared, and the commands of the table of exit codes are run.

use super::document;
#[cfg(target_os = "linux")]
use crate::support::result_line;
use crate::support::{Home, Repo};
use serde_json::Value;
use std::collections::BTreeSet;

/// The fields in the first column of the table behind a mark.
fn documented(name: &str) -> BTreeSet<String> {
    let text = document("docs/json.md");
    let (_, behind) =
        text.split_once(&format!("<!-- fields: {name} -->\n\n")).unwrap_or_else(|| panic!("no table {name}"));
    let rows = behind.lines().take_while(|line| line.starts_with('|')).skip(2);
    let first = rows.map(|row| row.split('|').nth(1).expect("a first column").to_owned());
    first.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// The paths of a document: `checks[].id`. A list or object without members, and `null`, are paths themselves.
fn paths(value: &Value, at: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, member) in members {
                let below = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
                paths(member, &below, found);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            items.iter().for_each(|item| paths(item, &format!("{at}[]"), found));
        }
        _ => drop(found.insert(at.to_owned())),
    }
}

/// Asserts that all fields of the examples are documented, and that every documented field is in one of them.
#[track_caller]
fn all_are_documented(name: &str, examples: &[Value]) {
    let documented = documented(name);
    let mut seen = BTreeSet::new();
    examples.iter().for_each(|example| paths(example, "", &mut seen));
    // What has no members here has them elsewhere: `checks` for `checks[].id`, `archive` for `archive.path`.
    seen.retain(|path| {
        let inner = |known: &String| {
            known
                .strip_prefix(path.as_str())
                .is_some_and(|rest| rest.starts_with("[].") || rest.starts_with('.'))
        };
        documented.contains(path) || !documented.iter().any(inner)
    });
    let missing: Vec<_> = seen.difference(&documented).collect();
    assert!(missing.is_empty(), "{name}: not in docs/json.md: {missing:?}");
    let gone: Vec<_> = documented.difference(&seen).collect();
    assert!(gone.is_empty(), "{name}: in docs/json.md and in no example: {gone:?}");
}

/// The paths that a schema allows.
fn schema_paths(schema: &Value, root: &Value, at: &str, found: &mut BTreeSet<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().expect("a name");
        return schema_paths(&root["$defs"][name], root, at, found);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        return choices.iter().for_each(|choice| schema_paths(choice, root, at, found));
    }
    if let Some(members) = schema["properties"].as_object() {
        for (name, member) in members {
            let below = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
            schema_paths(member, root, &below, found);
        }
        return;
    }
    let items = &schema["items"];
    if items.get("$ref").is_some() {
        return schema_paths(items, root, &format!("{at}[]"), found);
    }
    if schema["type"] != "null" {
        found.insert(at.to_owned());
    }
}

#[test]
fn the_document_of_setup_is_as_its_schema() {
    let schema: Value = serde_json::from_str(&document("docs/schema/setup.json")).expect("JSON");
    let mut allowed = BTreeSet::new();
    schema_paths(&schema, &schema, "", &mut allowed);
    assert_eq!(documented("setup"), allowed);
}

#[test]
fn the_documents_of_upload_and_version_are_as_described() {
    let home = Home::new();
    let version = home.run(&["version", "--json"]).success().json();
    all_are_documented("version", &[version]);

    let repo = Repo::init(&home.path().join("shop"));
    let key = ["AKIA", "Q7NRWT2LXJ4ZVE6P"].concat();
    repo.write("a.txt", "a\n").write(".env", "A=1\n").write("notes.txt", format!("# mine\n{key}\n"));
    let odd =
        std::ffi::OsString::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"b\xff"));
    let has_odd = std::fs::write(repo.root().join(&odd), "b\n").is_ok();
    let odd_env = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"c\xff.pem");
    let _ = std::fs::write(repo.root().join(odd_env), "b\n");
    repo.commit("one");
    home.write(
        ".config/herdr/plugins/config/createos.sandbox/config.json",
        r#"{"allowFiles": {"~/shop": ["gone.pem"]}}"#,
    );
    if !has_odd {
        // A file system of text names only, as on macOS.
        return;
    }
    let run = |args: &[&str]| home.run_in(repo.root(), args);
    all_are_documented(
        "upload",
        &[
            run(&["herdr", "upload", "--dry-run", "--json"]).success().json(),
            run(&["herdr", "upload", "--output", "../out.tgz", "--json"]).success().json(),
            home.run(&["herdr", "upload", "--dry-run", "--json"]).json(),
        ],
    );
}

#[cfg(target_os = "linux")]
#[test]
fn the_documents_of_local_boxes_are_as_described() {
    let home = Home::new().var("HTTPS_PROXY", "http://127.0.0.1:9");
    let run = |args: &[&str]| home.run(&[&["local", "-o", "json", "sandbox"], args].concat()).json();
    let create = ["create", "--shape", "s-1vcpu-1gb", "--name", "a", "--auto-pause", "30m", "--env", "A=1"];
    let created = run(&create);
    let start = |args: &[&str]| run(&[&["process", "start"], args].concat());
    let running = start(&["-t", "a", "--", "sh"]);
    let process = |view: &Value| view["process_id"].as_str().expect("an id").to_owned();
    let get = |id: &str| run(&["process", "get", "a", id]);
    let (on_terminal, quick) = (process(&running), process(&start(&["a", "--", "sh", "-c", "exit 4"])));
    crate::support::eventually("it ends", std::time::Duration::from_secs(60), || {
        get(&quick)["state"] == "exited"
    });
    let mut processes = vec![running, get(&on_terminal), get(&quick)];
    processes.push(run(&["process", "stop", "--yes", "a", &on_terminal]));
    processes.extend(run(&["process", "list", "a"]).as_array().expect("a list").clone());
    all_are_documented("process", &processes);

    let wish =
        "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT 10.0.0.1:80 HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3";
    let _refused = home.run(&["local", "sandbox", "exec", "a", "--", "bash", "-c", wish]).success();
    crate::support::eventually("the refusal is known", std::time::Duration::from_secs(60), || {
        run(&["get", "a"])["refused"].as_array().is_some_and(|refused| !refused.is_empty())
    });
    let mut sandboxes =
        vec![created, run(&["pause", "a"]), run(&["fork", "a"]), run(&["resume", "a"]), run(&["get", "a"])];
    sandboxes.extend(run(&["list"]).as_array().expect("a list").clone());
    let pushed =
        home.run(&["local", "-o", "json", "sandbox", "push", "a", "/etc/hostname", "/tmp/f"]).success();
    assert_eq!(pushed.stdout, "", "push has no document");
    let removed = home.run(&["local", "-o", "json", "sandbox", "rm", "--yes", "a"]).success();
    assert!(removed.stdout.starts_with("Deleted a ("), "rm has no document: {removed:?}");
    sandboxes.extend(run(&["list", "--all"]).as_array().expect("a list").clone());
    all_are_documented("sandbox", &sandboxes);
    let errors =
        [run(&["get", "nobody"]), run(&["create", "--shape", "s-1vcpu-1gb", "--egress", "https://a.b"])];
    all_are_documented("error", &errors);
}

#[cfg(target_os = "linux")]
#[test]
fn the_document_of_cos_is_as_described() {
    let cos = crate::cos::Cos::local();
    let none = cos.run(&["status", "--json"]).success().json();
    let _ = cos.run(&["up"]).success();
    let _ = cos.run(&["fork"]).success();
    let _ = cos.run(&["offload", "-K", ".", "false"]);
    all_are_documented("cos status", &[none, cos.run(&["status", "--json"]).success().json()]);
}

#[cfg(target_os = "linux")]
#[test]
fn the_result_lines_of_the_actions_are_as_described() {
    use crate::actions::world::{World, typed};
    let mut world = World::new();
    let (id, pane) = world.start();
    let mut lines = Vec::new();
    let mut run = |world: &World, action: &str, rest: &[&str]| {
        let outcome = crate::support::outcome(typed(world, &pane, &[&["herdr", action], rest].concat()));
        let line = result_line(&outcome.stdout);
        assert_eq!(line["action"], action);
        assert_eq!(line["ok"], outcome.code == 0, "{outcome:?}");
        let result = line["result"].as_str().unwrap_or_default().to_owned();
        lines.push(line);
        result
    };
    world.in_box(&id, "cd /workspace && echo x >> README.md && echo use x > .envrc && ln -s /etc/passwd out");
    assert_eq!(run(&world, "review", &[]), "shown");
    assert_eq!(run(&world, "apply", &[]), "applied");
    assert_eq!(run(&world, "apply", &[]), "no-changes");
    assert_eq!(run(&world, "undo", &["--list"]), "listed");
    assert_eq!(run(&world, "undo", &[]), "undone");
    assert_eq!(run(&world, "apply", &["--to-patch", "work.patch"]), "written");
    world.repo.write("README.md", "mine\n");
    world.in_box(&id, "cd /workspace && echo y >> README.md");
    assert_eq!(run(&world, "apply", &[]), "conflict");
    for action in ["info", "attach", "pause"] {
        run(&world, action, &[]);
    }
    // A paused box is not looked into.
    assert_eq!(run(&world, "delete", &[]), "confirmation-required");
    run(&world, "resume", &[]);
    assert_eq!(run(&world, "delete", &[]), "confirmation-required");
    assert_eq!(run(&world, "delete", &[]), "deleted");
    assert_eq!(run(&world, "prune", &["--yes"]), "nothing");
    run(&world, "info", &[]);
    // Only the official CLI has a sync, and a start shows its fields by itself.
    lines.push(world.invoke("start").ok());
    lines.push(serde_json::json!({ "pane": "", "truncated": true }));
    world.script("provider", serde_json::json!(crate::support::binary()));
    all_are_documented("result", &lines);
}

#[test]
fn the_exit_codes_are_as_described() {
    let text = document("docs/exit-codes.md");
    let mut ran = 0;
    for row in text.lines() {
        let Some((command, code)) =
            row.strip_prefix("| `createos-sandbox ").and_then(|row| row.split_once("` | "))
        else {
            continue;
        };
        let code: i32 = code.trim_end_matches(" |").parse().expect("a code");
        let home = Home::new();
        let outcome = home.run(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(outcome.code, code, "createos-sandbox {command}: {outcome:?}");
        ran += 1;
    }
    assert!(ran > 8, "only {ran} commands were found");
}
