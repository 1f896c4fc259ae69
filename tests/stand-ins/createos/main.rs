//! A stand-in for the official `createos` program, written from its contract: its argv rules and quirks over
//! the boxes of our own provider, which `control.json` names. It is strict: an argv that the contract does not
//! have is recorded as unknown, which fails the test, and ends with 97.
//!
//! What a test scripts is in `$HOME/.createos-stand-in/control.json` ([`control`]); each call is appended to
//! `calls` beside it: argv, folder, the variables that matter, and what stdin held.

mod argv;
mod attach;
mod backend;
mod control;
mod ignore;
mod list;
mod machine;
mod slow;
mod sync;

use argv::{Argv, Parsed};
use control::Control;
use serde_json::{Value, json};
use std::io::{IsTerminal, Read, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let control = Control::read();
    control.record(&words);
    let code = match words.first().map(String::as_str) {
        Some("--version" | "-v") => {
            print(&format!("createos version v{}\n", control.version));
            0
        }
        _ => match Argv::parse(&words) {
            Some(argv) => Call { control: &control, argv }.run(&words),
            None => control.unknown(&words),
        },
    };
    ExitCode::from(code)
}

struct Call<'a> {
    control: &'a Control,
    argv: Argv,
}

/// Text on stdout; a closed pipe is the reader's choice.
fn print(text: &str) {
    let _closed_pipe = std::io::stdout().write_all(text.as_bytes());
}

/// Whether this is a box's full id: `sb-` and a ULID.
fn is_full(id: &str) -> bool {
    id.strip_prefix("sb-").is_some_and(|rest| rest.len() == 26)
}

impl Call<'_> {
    fn run(&self, words: &[String]) -> u8 {
        let verb = self.argv.verb.as_str();
        // Q1: a bare help word anywhere, also behind `--`, skips the sign-in.
        if words.iter().any(|word| matches!(word.as_str(), "--help" | "-h" | "help")) {
            if verb.starts_with("process") {
                print("NAME:\n   createos sandbox process\n");
                return 0;
            }
            return self.fail("error", "you're not signed in — run 'createos login' to get started");
        }
        if self.control.signed_out {
            return self.fail("unauthorized", "you're not signed in — run 'createos login' to get started");
        }
        // Q3: the verb's own word before a `--` of the remote command confuses the parser.
        let last = verb.rsplit(' ').next().unwrap_or_default();
        let remote = &self.argv.command;
        if remote.windows(2).any(|pair| pair[0] == last && pair[1] == "--") {
            return self.fail("error", "please provide a sandbox ID or name");
        }
        if let Some(scripted) = self.control.fail.iter().find(|fail| fail.applies(verb)) {
            return self.fail(&scripted.code, &scripted.message);
        }
        if self.control.banner.iter().any(|unknown| unknown == verb) {
            print("createos - your intelligent infrastructure CLI\n\nCOMMANDS:\n   sandbox\n");
            return 0;
        }
        let Some(parsed) = self.argv.flags() else { return self.control.unknown(words) };
        if verb != "create" {
            self.control.wait_while_held(verb, words);
        }
        let id = parsed.positional.first().map(String::as_str).unwrap_or_default();
        if self.control.other_account && id.starts_with("sb-") {
            return self.fail("not_found", &format!("no sandbox matching \"{id}\""));
        }
        // Anything shorter is a prefix, which may be another box's (Q11); so may a name.
        if !matches!(verb, "create" | "list") && !is_full(id) {
            return self.control.unknown(words);
        }
        let inside = verb.starts_with("process") || matches!(verb, "exec" | "push" | "pull" | "sync");
        if let Some(way) = self.control.way(id, false).filter(|_| inside) {
            return self.fail("conflict", &format!("sandbox {id} is {}", way.status));
        }
        match verb {
            "create" => self.create(&parsed),
            "list" => self.list(&parsed),
            "get" => self.get(&parsed),
            "rm" => self.rm(&parsed),
            "exec" => self.exec(&parsed),
            "resume" if !self.control.lifecycle_broken() => {
                self.control.sets_out(id, "resuming");
                self.pass(&parsed)
            }
            "pause" | "resume" if self.control.lifecycle_broken() => {
                self.fail("bad_request", "Content-Length is required")
            }
            "process attach" => attach::run(self.control, &parsed),
            "sync" => self.sync(&parsed),
            _ => self.pass(&parsed),
        }
    }

    fn create(&self, parsed: &Parsed) -> u8 {
        if parsed.one("--shape").is_none() {
            return self.fail("error", "pass --shape");
        }
        if self.control.take("name_taken") {
            let name = parsed.one("--name").unwrap_or_default();
            return self.fail("conflict", &format!("a sandbox with the name {name} already exists"));
        }
        let mut kept = parsed.clone();
        // Our own provider cannot enforce an allow-list, and says so; this one does.
        kept.flags.retain(|(name, _)| name != "--egress");
        if self.control.take("create_late") {
            // The service works on, whoever reads its answer. The test says when it is done.
            let words = backend::words(true, &self.argv.verb, &kept, &[]);
            self.control.append("late", &json!(words).to_string());
            return self.fail("server_error", "request failed with status 504");
        }
        let output = backend::capture(self.control, true, &self.argv.verb, &kept, &[]);
        self.control.wait_while_held("create", &[]);
        if output.code != 0 {
            return self.relay(&output);
        }
        let view: Value = serde_json::from_slice(&output.stdout).expect("our provider answers JSON");
        self.control.sets_out(view["id"].as_str().unwrap_or_default(), "creating");
        let text = |key: &str| view[key].as_str().unwrap_or_default();
        for script in machine::hide_agents().iter().chain(&self.control.image) {
            let made = Parsed { flags: Vec::new(), positional: vec![text("id").to_owned()] };
            let command = ["sh", "-c", script].map(str::to_owned);
            let carried = backend::capture(self.control, false, "exec", &made, &command);
            assert_eq!(carried.code, 0, "the image: {}", String::from_utf8_lossy(&carried.stderr));
        }
        let answer = match self.control.create_json.as_str() {
            "old" => {
                json!({ "id": text("id"), "name": text("name"), "shape": text("shape"), "spawn_ms": 41 })
            }
            "action" => json!({ "action": "created", "id": text("id"), "name": text("name"), "ip": "" }),
            "decorated" => {
                print("Sandbox is ready [32m\n");
                json!({ "id": text("id"), "name": text("name"), "unknown_key": [1, 2] })
            }
            "text" => {
                print(&format!("Sandbox {} is ready\n", text("name")));
                return 0;
            }
            _ => view,
        };
        print(&format!("{answer:#}\n"));
        0
    }

    fn get(&self, parsed: &Parsed) -> u8 {
        let id = parsed.positional.first().map(String::as_str).unwrap_or_default();
        let way = self.control.way(id, true);
        if self.control.hidden(id) || way.as_ref().is_some_and(|way| way.unknown) {
            return self.fail("not_found", &format!("no sandbox matching \"{id}\""));
        }
        let status = self.control.status.clone().or_else(|| way.map(|way| way.status));
        let Some(status) = status else { return self.pass(parsed) };
        let output = backend::capture(self.control, true, "get", parsed, &[]);
        if output.code != 0 {
            return self.relay(&output);
        }
        let mut view: Value = serde_json::from_slice(&output.stdout).expect("our provider answers JSON");
        view["status"] = json!(status);
        print(&format!("{view:#}\n"));
        0
    }

    fn rm(&self, parsed: &Parsed) -> u8 {
        if !parsed.has(&["--yes", "--force", "-y"]) {
            return self.fail("error", "non-interactive mode: use --force to confirm deletion");
        }
        let id = parsed.positional.first().cloned().unwrap_or_default();
        if self.control.take("rm_fails") {
            // Q20: the failure stands in the document only.
            let row = json!({ "ref": id, "deleted": false, "error": "the service is busy" });
            print(&format!(
                "{:#}\n",
                json!({ "action": "deleted", "results": [row], "deleted": 0, "failed": 1 })
            ));
            return 1;
        }
        self.control.ends_its_way(&id);
        self.pass(parsed)
    }

    fn exec(&self, parsed: &Parsed) -> u8 {
        if !std::io::stdin().is_terminal() {
            // Q4: read to its end before the request.
            let mut given = Vec::new();
            let _unreadable = std::io::stdin().read_to_end(&mut given);
            self.control.append("stdin", &format!("{}", given.len()));
        }
        if parsed.has(&["--stream", "-s"]) && self.control.take("stream_cut") {
            print("half of the out");
            return 0;
        }
        self.pass(parsed)
    }

    /// Lets our provider do it.
    fn pass(&self, parsed: &Parsed) -> u8 {
        backend::run(self.control, self.argv.json, &self.argv.verb, parsed, &self.argv.command)
    }

    /// Passes on what our provider said.
    pub(crate) fn relay(&self, output: &backend::Output) -> u8 {
        let _closed = std::io::stdout().write_all(&output.stdout);
        let _closed = std::io::stderr().write_all(&output.stderr);
        output.code
    }

    /// An error as this generation of the program reports it (contract 1.5).
    fn fail(&self, code: &str, message: &str) -> u8 {
        match self.control.errors.as_str() {
            "stdout" => print(&format!("ERROR: {message}\n\n  createos sandbox list\n")),
            "stderr" => {
                let _closed = writeln!(std::io::stderr(), " ERROR  {message}\n");
            }
            _ if self.argv.json || !std::io::stdout().is_terminal() => {
                print(&format!("{:#}\n", json!({ "error": { "code": code, "message": message } })));
            }
            _ => {
                let _closed = writeln!(std::io::stderr(), "ERROR: {message}");
            }
        }
        1
    }
}
