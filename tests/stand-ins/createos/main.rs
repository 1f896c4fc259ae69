//! A stand-in for the official `createos` program, written from its contract: its argv rules and quirks over
//! the boxes of our own provider, which `control.json` names. It is strict: an argv that the contract does not
//! have is recorded as unknown, which fails the test, and ends with 97.
//!
//! It plays either line of the program ([`Generation`]): the main line, which people have, and the branch.
//! What a test scripts is in `$HOME/.createos-stand-in/control.json` ([`control`]); each call is appended to
//! `calls` beside it: argv, folder, the variables that matter, and what stdin held.

mod argv;
mod attach;
mod backend;
mod boxes;
mod control;
mod errors;
mod exec;
mod footer;
mod fork;
mod help;
mod ignore;
mod list;
mod machine;
mod mutagen;
mod process;
mod session;
mod setup;
mod slow;
mod sync;
mod transfer;

use argv::{Argv, Parse};
use control::{Control, Generation};
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let control = Control::read();
    if std::env::args_os().next().is_some_and(|name| name.as_encoded_bytes().ends_with(b"mutagen")) {
        return ExitCode::from(mutagen::run(&control, &words));
    }
    control.record(&words);
    control.make_noise();
    let code = match words.first().map(String::as_str) {
        Some("--version" | "-v") => {
            print(&format!("createos version v{}\n", control.version));
            0
        }
        _ => match Argv::parse(&words, &control) {
            Parse::Call(argv) => Call { control: &control, argv }.run(&words),
            Parse::Help(text) => {
                print(&text);
                0
            }
            Parse::Refused(message) => errors::refuse_usage(&control, &message),
            Parse::Unknown => control.unknown(&words),
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
    let mut out = std::io::stdout().lock();
    let _closed_pipe = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Text on stderr.
fn tell(text: &str) {
    let _closed_pipe = std::io::stderr().write_all(text.as_bytes());
}

/// Whether this is a box's full id: `sb-` and a ULID.
fn is_full(id: &str) -> bool {
    id.strip_prefix("sb-").is_some_and(|rest| rest.len() == 26)
}

impl Call<'_> {
    fn is_main(&self) -> bool {
        self.control.generation == Generation::Main
    }

    fn run(&self, words: &[String]) -> u8 {
        let verb = self.argv.verb.as_str();
        let parsed = match self.argv.flags(self.control) {
            Ok(parsed) => parsed,
            Err(Some(message)) => return errors::refuse_usage(self.control, &message),
            Err(None) => return self.control.unknown(words),
        };
        if let Some(code) = self.helps(&parsed, words) {
            return code;
        }
        if self.control.signed_out {
            return self.fail("error", errors::SIGNED_OUT);
        }
        if let Err(words) = session::renew(self.control) {
            return self.fail("error", words);
        }
        // docs/measured/createos-cli.md 3.3: the verb's own word before a `--` of the remote command confuses the
        // parser.
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
        if verb != "create" {
            self.control.wait_while_held(verb, words);
        }
        let id = parsed.positional.first().map(String::as_str).unwrap_or_default();
        if self.control.other_account && id.starts_with("sb-") {
            return self.fail("not_found", &format!("no sandbox matching \"{id}\""));
        }
        // Anything shorter is a prefix, which may be another box's (docs/measured/createos-cli.md 4.5); so may a name.
        let names_a_box = !matches!(verb, "create" | "list" | "shapes") && !verb.starts_with("setup");
        if names_a_box && !is_full(id) {
            return self.control.unknown(words);
        }
        let inside = verb.split(' ').next().unwrap_or_default();
        if matches!(inside, "exec" | "push" | "pull" | "process" | "sync" | "tunnel")
            && let Some(code) = self.refuses_unless_running(id, inside)
        {
            return code;
        }
        match verb {
            "create" => self.create(&parsed),
            "list" => self.list(&parsed),
            "get" => self.get(id),
            "rm" => self.rm(&parsed),
            "pause" | "resume" => self.transition(id),
            "fork" => self.fork(&parsed),
            "exec" => self.exec(&parsed),
            "push" | "pull" => self.transfer(&parsed),
            "process attach" => self.attach(&parsed),
            "sync" => self.sync(&parsed),
            "tunnel" => self.fail("error", "could not bind 127.0.0.1: this stand-in forwards nothing"),
            "shapes" => {
                print(
                    "[\n  {\n    \"id\": \"s-1vcpu-1gb\"\n  },\n  {\n    \"id\": \"s-2vcpu-4gb\"\n  }\n]\n",
                );
                0
            }
            _ if verb.starts_with("process") => self.process(&parsed),
            _ => self.setup(verb),
        }
    }
}
