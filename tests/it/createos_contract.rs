//! The stand-in for the official CLI itself, where its contract is subtle: a stand-in that is kinder than the program
//! hides what it is for.

use crate::support::{Home, Outcome, Pty, binary, eventually, outcome, stand_in};
use serde_json::{Map, Value, json};
use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(60);

/// A home with the stand-in as its `createos`, and with boxes of our own provider, which go with it.
struct Official {
    home: Home,
    script: Map<String, Value>,
}

impl Official {
    fn of(generation: &str) -> Self {
        let home = Home::new().with_bin().var("NO_COLOR", "1");
        for name in ["createos", "mutagen"] {
            symlink(stand_in("createos-stand-in"), home.path().join("bin").join(name)).expect("a link");
        }
        std::fs::create_dir(home.path().join(".createos-stand-in")).expect("a folder");
        let mut official = Self { home, script: Map::new() };
        official.script("provider", json!(binary()));
        official.script("generation", json!(generation));
        official
    }

    fn script(&mut self, key: &str, value: Value) {
        self.script.insert(key.into(), value);
        let text = Value::Object(self.script.clone()).to_string();
        self.home.write(".createos-stand-in/control.json", text);
    }

    fn command(&self, args: &[&str]) -> std::process::Command {
        self.home.command_of(&self.home.path().join("bin/createos"), args)
    }

    fn run(&self, args: &[&str]) -> Outcome {
        outcome(self.command(args))
    }

    fn make(&self) -> String {
        let made = self.run(&["-o", "json", "sandbox", "create", "--shape", "s-1vcpu-1gb"]).success();
        made.json()["id"].as_str().expect("an id").to_owned()
    }

    fn record(&self, name: &str) -> String {
        std::fs::read_to_string(self.home.path().join(".createos-stand-in").join(name)).unwrap_or_default()
    }
}

impl Drop for Official {
    fn drop(&mut self) {
        let listed = self.home.run(&["local", "sandbox", "list", "--quiet"]);
        for id in listed.stdout.split_whitespace() {
            let _ = self.home.run(&["local", "sandbox", "rm", "--yes", id]);
        }
    }
}

#[test]
fn its_own_flags_count_only_before_the_verb_on_the_main_line() {
    let main = Official::of("main");
    for (late, corrected) in [
        (&["sandbox", "list", "-o", "json"][..], "createos -o json sandbox list"),
        (&["sandbox", "-o", "json", "list"], "createos -o json sandbox list"),
        (&["sandbox", "list", "-d", "--limit", "1"], "createos -d sandbox list --limit 1"),
    ] {
        let refused = main.run(late);
        assert_eq!((refused.code, refused.stderr.as_str()), (1, ""), "{refused:?}");
        assert!(refused.stdout.contains("is a global flag, so it has to come BEFORE"), "{refused:?}");
        assert!(refused.stdout.contains(corrected), "{refused:?}");
    }
    let branch = Official::of("branch");
    assert_eq!(branch.run(&["sandbox", "list", "-o", "json"]).success().json(), json!([]));
}

#[test]
fn exec_is_raw_on_the_main_line_and_a_document_on_the_branch() {
    let script =
        ["-o", "json", "sandbox", "exec", "@", "--", "sh", "-c", "printf out; printf 'e\\377' >&2; exit 3"];
    for generation in ["main", "branch"] {
        let official = Official::of(generation);
        let id = official.make();
        let args = script.map(|word| if word == "@" { id.as_str() } else { word });
        let said = official.run(&args);
        assert_eq!(said.code, 3, "{said:?}");
        if generation == "main" {
            assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("out\n", "e\u{fffd}\n"));
        } else {
            assert_eq!(said.json()["stdout"], "out");
            assert_eq!(said.json()["stderr"], "e\u{fffd}", "what is no text is lost");
        }
        let streamed =
            [&["sandbox", "exec", "--stream", id.as_str(), "--"][..], &["no-such-program"]].concat();
        let failed = official.run(&streamed);
        assert_eq!(failed.code, 0, "an error frame is text, and no failure: {failed:?}");
        assert!(
            failed.stdout.contains("executable file not found") && failed.stderr.is_empty(),
            "{failed:?}"
        );
    }
}

#[test]
fn silence_cuts_a_buffered_exec_with_its_command_and_heartbeats_keep_a_streamed_one() {
    let mut official = Official::of("main");
    let id = official.make();
    official.script("idle_cut", json!(1));
    official.script("heartbeat", json!(0));
    let silent = ["sh", "-c", "sleep 1000; echo done"];
    for flags in [&["sandbox", "exec"][..], &["sandbox", "exec", "--stream"]] {
        let began = Instant::now();
        let cut = official.run(&[flags, &[&id, "--"], &silent].concat());
        assert!(began.elapsed() >= Duration::from_secs(1), "{cut:?}");
        assert_eq!(cut.code, i32::from(flags.len() == 2), "a stream that is cut ends well: {cut:?}");
        assert!(!cut.stdout.contains("done"), "{cut:?}");
    }
    let running = official.home.path().join(".local/share/createos-sandbox/boxes").join(&id).join("running");
    let alive = |entry: std::fs::DirEntry| std::path::Path::new("/proc").join(entry.file_name()).exists();
    eventually("the commands are killed", LONG, || {
        !std::fs::read_dir(&running).expect("a folder").any(|entry| alive(entry.expect("an entry")))
    });
    official.script("idle_cut", json!(2));
    official.script("heartbeat", json!(1));
    let kept = official.run(
        &[&["sandbox", "exec", "--stream", &id, "--"][..], &["sh", "-c", "sleep 3; echo done"]].concat(),
    );
    assert_eq!(kept.success().stdout, "done\n");
}

#[test]
fn rm_is_text_on_the_main_line_whatever_it_was_told() {
    let main = Official::of("main");
    let (first, second) = (main.make(), main.make());
    let gone = main.run(&["-o", "json", "sandbox", "rm", "--yes", &first]).success();
    assert_eq!(gone.stdout, format!(" SUCCESS  Deleted {first}\n"));
    let missing = "sb-01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let mixed = main.run(&["-o", "json", "sandbox", "rm", "--yes", missing, &second]);
    assert_eq!(mixed.code, 1, "{mixed:?}");
    assert!(mixed.stdout.starts_with(&format!(" ERROR  {missing}: no sandbox")), "{mixed:?}");
    assert!(mixed.stdout.contains(&format!("Deleted {second}")), "{mixed:?}");
    let branch = Official::of("branch");
    let id = branch.make();
    let document = branch.run(&["-o", "json", "sandbox", "rm", "--yes", &id, missing]);
    assert_eq!((document.code, &document.json()["failed"]), (1, &json!(1)), "{document:?}");
}

#[test]
fn a_box_that_does_not_run_is_refused_before_anything_is_asked() {
    let mut main = Official::of("main");
    let id = main.make();
    let view = main.run(&["-o", "json", "sandbox", "pause", &id]).success().json();
    assert_eq!((&view["status"], view.get("action")), (&json!("paused"), None), "the service's own object");
    let file = main.home.write("file", "x");
    let file = file.to_str().expect("a plain path");
    let calls: [(&str, &[&str]); 6] = [
        ("exec", &["exec", &id, "--", "true"]),
        ("push", &["push", &id, file, "/tmp/x"]),
        ("pull", &["pull", &id, "/tmp/x", "-"]),
        ("process", &["process", "list", &id]),
        ("sync", &["sync", "--yes", &id]),
        ("tunnel", &["tunnel", "--remote", "80", &id]),
    ];
    for (verb, call) in calls {
        let refused = main.run(&[&["sandbox"], call].concat());
        assert_eq!((refused.code, refused.stderr.as_str()), (1, ""), "{refused:?}");
        let words = format!("sandbox {id} is paused");
        assert!(
            refused.stdout.contains(&words) && refused.stdout.contains("Resume it first:"),
            "{refused:?}"
        );
        assert!(refused.stdout.contains(&format!("Then retry your {verb} command")), "{refused:?}");
    }
    main.script("status", json!("pausing"));
    let refused = main.run(&["sandbox", "exec", &id, "--", "true"]);
    assert!(refused.stdout.contains(&format!("sandbox {id} is pausing; exec requires a running sandbox")));
}

#[test]
fn a_fork_needs_a_paused_box_and_answers_as_its_line_does() {
    for (generation, member) in [("main", "forked_from"), ("branch", "source_id")] {
        let official = Official::of(generation);
        let id = official.make();
        let refused = official.run(&["-o", "json", "sandbox", "fork", &id]);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(refused.stdout.contains("is running, and fork needs a paused snapshot"), "{refused:?}");
        let _paused = official.run(&["-o", "json", "sandbox", "pause", &id]).success();
        let one = official.run(&["-o", "json", "sandbox", "fork", &id]).success().json();
        assert_eq!(one[member], json!(id), "{one}");
        assert!(one["id"].is_string() && one["id"] != json!(id), "{one}");
        assert_eq!(one.get("action").is_some(), generation == "branch", "{one}");
        let two = official.run(&["-o", "json", "sandbox", "fork", "--count", "2", &id]).success().json();
        assert_eq!(two.as_array().map(Vec::len), Some(2), "{two}");
    }
}

#[test]
fn a_plain_list_is_a_request_for_each_status_with_its_own_page() {
    let mut official = Official::of("main");
    let ids = [official.make(), official.make(), official.make()];
    let _ = official.run(&["sandbox", "pause", &ids[0]]).success();
    official.script("other_rows", json!(4));
    // Two that run and one that is paused: each status has a page of its own.
    let listed = official.run(&["-o", "json", "sandbox", "list", "--limit", "2"]).success().json();
    let status = |row: &Value| row["status"].as_str().expect("a status").to_owned();
    let statuses: Vec<String> = listed.as_array().expect("rows").iter().map(status).collect();
    assert_eq!(statuses, ["running", "running", "paused"]);
    let asked = official.record("requests");
    assert_eq!(asked.lines().count(), 5, "{asked}");
    assert!(asked.lines().all(|line| line.ends_with("&limit=2&offset=0")), "{asked}");
    official.script("slow", json!(9));
    let new = official.make();
    let plain = official.run(&["-o", "json", "sandbox", "list"]).success();
    assert!(!plain.stdout.contains(&new), "creating is not among them");
    let creating = official.run(&["sandbox", "list", "--quiet", "--status", "creating"]).success();
    assert_eq!(creating.stdout.trim(), new);
}

#[test]
fn two_calls_at_once_race_for_the_token_of_an_expired_session() {
    let official = Official::of("main");
    // Made at run time, and of no service.
    let token = format!("fake-{}", std::process::id());
    let session =
        json!({ "access_token": "fake", "refresh_token": token, "expires_at": 1, "token_endpoint": "" });
    official.home.write(".createos/.oauth", session.to_string());
    let list = ["-o", "json", "sandbox", "list", "--limit", "1"];
    let spawn = || {
        let mut command = official.command(&list);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let both = [spawn(), spawn()].map(|child| child.wait_with_output().expect("an end"));
    let failed: Vec<_> = both.iter().filter(|output| !output.status.success()).collect();
    assert_eq!(failed.len(), 1, "one of two is refused: {both:?}");
    let told = String::from_utf8_lossy(&failed[0].stdout);
    assert!(told.contains("your session has expired and could not be renewed"), "{told}");
    // The file holds what the other one got: the next call needs no renewal.
    let _ = official.run(&list).success();
    assert_eq!(official.record("refreshes").lines().count(), 2);
    let kept: Value = serde_json::from_str(&official.home.read(".createos/.oauth")).expect("JSON");
    assert_ne!(kept["refresh_token"], json!(token));
    // A key in the environment comes first.
    official.home.write(".createos/.oauth", session.to_string());
    let mut keyed = official.command(&list);
    keyed.env("CREATEOS_API_KEY", "fake");
    let _ = outcome(keyed).success();
}

#[test]
fn help_words_are_found_wherever_they_stand() {
    let mut official = Official::of("main");
    let id = official.make();
    let among = official.run(&["sandbox", "exec", &id, "--", "ls", "--help"]).success();
    assert!(among.stdout.starts_with("NAME:"), "{among:?}");
    let value = official.run(&["sandbox", "create", "--shape", "help"]);
    assert!(value.code == 1 && value.stdout.contains("not signed in"), "{value:?}");
    official.script("older_help", json!(true));
    let older = official.run(&["sandbox", "exec", &id, "--", "ls", "--help"]);
    assert!(older.code == 1 && older.stdout.contains("not signed in"), "{older:?}");
    let hosts = official.run(&["sandbox", "setup"]).success();
    assert!(hosts.stdout.contains("herdr") && hosts.stdout.contains("claude-code"), "{hosts:?}");
    official.script("signed_out", json!(true));
    assert_eq!(official.run(&["sandbox", "setup"]).code, 1);
    assert!(official.run(&["sandbox", "setup", "--help"]).success().stdout.contains("herdr"));
}

#[test]
fn errors_have_their_hint_by_status_and_an_older_printer_hides_its_own() {
    let mut official = Official::of("main");
    let told = |official: &mut Official, code: &str, message: &str| {
        official.script("fail", json!([{ "verb": "*", "code": code, "message": message }]));
        let refused = official.run(&["-o", "json", "sandbox", "list"]);
        assert_eq!((refused.code, refused.stderr.as_str()), (1, ""), "{refused:?}");
        refused.stdout
    };
    let unauthorized = told(&mut official, "unauthorized", "invalid api key");
    assert!(unauthorized.starts_with(" ERROR  invalid api key\n  Hint: "), "{unauthorized}");
    let forbidden = told(&mut official, "forbidden", "sandbox limit reached (2)");
    assert_eq!(unauthorized.lines().last(), forbidden.lines().last(), "the same advice for 401 and 403");
    assert!(told(&mut official, "not_found", "no such").contains("Hint:"));
    assert!(!told(&mut official, "conflict", "taken").contains("Hint:"));
    official.script("errors", json!("generic"));
    assert!(!told(&mut official, "error", "dial tcp: refused").contains("dial"));
    assert!(told(&mut official, "conflict", "taken").contains("taken"), "the service's words stay");
    official.script("noise", json!(true));
    let noisy = official.run(&["-o", "json", "sandbox", "get", "sb-01ARZ3NDEKTSV4RRFFQ69G5FAV"]);
    assert!(noisy.stderr.contains("WARN RESTY"), "{noisy:?}");
}

#[test]
fn an_attach_has_a_row_of_its_own_takes_four_keys_and_says_only_a_detach() {
    let official = Official::of("main");
    let id = official.make();
    let start =
        ["sandbox", "process", "start", "--pty", "--rows", "24", "--cols", "80", &id, "--", "bash", "--norc"];
    let process = official.run(&start).success().json()["process_id"].as_str().expect("an id").to_owned();
    let attach = || {
        let args = ["sandbox", "process", "attach", "--after", "0", &id, &process];
        Pty::spawn(official.command(&args), 24, 80)
    };
    let mut pty = attach();
    pty.expect("\u{1b}[1;23r\u{1b}[24;1H\u{1b}[7m createos proc_", LONG);
    pty.send("stty size; stty -isig; cat > /dev/null\r");
    pty.expect("23 80", LONG);
    let foreground = || {
        let view = official.run(&["sandbox", "process", "get", &id, &process]).success().json();
        view["foreground"]["cmd"].as_str().unwrap_or_default().to_owned()
    };
    eventually("cat has the terminal", LONG, || foreground() == "cat");
    // As a byte it would do nothing now.
    pty.send("\x03");
    eventually("Ctrl-C is a signal", LONG, || foreground() == "bash");
    pty.resize(12, 60);
    pty.expect("\u{1b}[1;11r\u{1b}[12;1H", LONG);
    pty.send("echo before-$((1+1))\r");
    pty.expect("before-2", LONG);
    pty.send("\x1d");
    assert_eq!(pty.wait(LONG).code(), Some(0));
    pty.expect("Detached. The shell is still running. Reattach with:", LONG);

    let mut pty = attach();
    pty.expect("before-2", LONG);
    pty.send("\x0e");
    pty.expect("Switching...", LONG);
    pty.send("echo second-$((2+2)); exit 7\r");
    pty.expect("second-4", LONG);
    assert_eq!(pty.wait(LONG).code(), Some(0), "a terminal's attach ends well, whatever its exit code");
    assert!(!pty.text().contains("Detached"), "{}", pty.text());
}

#[test]
fn a_sync_dies_of_ctrl_c_without_a_word_and_leaves_its_session() {
    let official = Official::of("main");
    let id = official.make();
    std::fs::create_dir_all(official.home.path().join("work")).expect("a folder");
    let work = official.home.path().join("work").display().to_string();
    let key = official.home.path().join("key").display().to_string();
    let made =
        std::process::Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &key]).status();
    assert!(made.expect("ssh-keygen runs").success());
    let args = ["sandbox", "sync", "--yes", "--local", &work, "--remote", "/workspace", "-i", &key, &id];
    let mut pty = Pty::spawn(official.command(&args), 24, 80);
    pty.expect("Sync running.", LONG);
    let mutagen =
        |args: &[&str]| outcome(official.home.command_of(&official.home.path().join("bin/mutagen"), args));
    let named = || mutagen(&["sync", "list"]).success().stdout.contains(&format!("Name: createos-{id}-"));
    eventually("its session is there", LONG, named);
    pty.send("\x03");
    assert_eq!(pty.wait(LONG).code(), None, "the signal ended it");
    assert!(!pty.text().contains("stopped"), "{}", pty.text());
    assert!(named(), "the session stays");
    let listed =
        mutagen(&["sync", "list", "--template", "{{range .}}{{.Identifier}}{{\"\\n\"}}{{end}}"]).success();
    let _ = mutagen(&["sync", "terminate", listed.stdout.trim()]).success();
    assert!(!named());
}
