//! A stand-in for Herdr 0.8.2, written from its contract: the argv table, the plugin registry with its side
//! effects, and scripted diagnostics. It is strict: an argv that the contract does not have is recorded as
//! unknown, which fails the test, and ends with 97.
//!
//! What a test scripts is in `$HOME/.herdr-stand-in/control.json` ([`control`]); each call is appended to
//! `calls` beside it when that folder exists.

mod config;
mod control;
mod install;
mod live;
mod manifest;
mod places;
mod registry;
mod reply;
mod reset_keys;
mod server;

use control::Control;
use places::Places;
use reply::{Reply, usage};
use std::process::ExitCode;

/// Everything that a command needs.
pub(crate) struct Herdr {
    pub(crate) places: Places,
    pub(crate) control: Control,
}

fn main() -> ExitCode {
    let argv: Vec<String> = std::env::args().skip(1).collect();
    let words = without_session(&argv);
    let places = Places::from_env();
    let control = Control::read(&places);
    let herdr = Herdr { places, control };
    herdr.control.record(&words);
    if words == ["server"] {
        return live::serve(herdr).print();
    }
    let reply = herdr
        .scripted_failure(&words)
        .or_else(|| herdr.run(&words))
        .unwrap_or_else(|| herdr.control.unknown(&words));
    reply.print()
}

/// The words without `--session default`, which is taken out wherever it stands (docs/measured/herdr.md 0). Other
/// sessions are not known here.
fn without_session(argv: &[String]) -> Vec<&str> {
    let mut words: Vec<&str> = argv.iter().map(String::as_str).collect();
    if let Some(at) = words.windows(2).position(|pair| pair == ["--session", "default"]) {
        words.drain(at..at + 2);
    }
    words
}

impl Herdr {
    /// Runs `words`; `None` when the contract does not have them.
    fn run(&self, words: &[&str]) -> Option<Reply> {
        if words == ["server", "stop"] && self.control.server.is_some() {
            return Some(self.control.stop_server());
        }
        if live::is_live(words) {
            return live::ask(self, words);
        }
        match words {
            ["--version" | "-V", ..] => Some(Reply::text(format!("herdr {}\n", self.control.version))),
            ["config", rest @ ..] => self.config(rest),
            ["plugin", rest @ ..] => self.plugin(rest),
            ["server", "reload-config"] => Some(self.reload_config()),
            ["status", rest @ ..] => self.status(rest),
            ["session", "list", "--json"] => Some(self.session_list()),
            _ => None,
        }
    }

    fn plugin(&self, words: &[&str]) -> Option<Reply> {
        match words {
            ["link", rest @ ..] => Some(self.link(rest)),
            ["install", rest @ ..] => Some(self.install(rest)),
            ["uninstall", id] => Some(self.uninstall(id)),
            ["uninstall", ..] => {
                Some(usage("usage: herdr plugin uninstall <plugin_id|owner/repo[/subdir...]>"))
            }
            ["list", rest @ ..] => Some(self.list(rest)),
            ["config-dir", id] => Some(self.config_dir(id)),
            ["unlink", id] => Some(self.unlink(id)),
            ["enable", id] => Some(self.enable(id, true)),
            ["disable", id] => Some(self.enable(id, false)),
            _ => None,
        }
    }

    fn scripted_failure(&self, words: &[&str]) -> Option<Reply> {
        let call = words.join(" ");
        let (_, failure) = self.control.fail.iter().find(|(start, _)| call.starts_with(start.as_str()))?;
        Some(Reply { out: failure.stdout.clone(), err: failure.stderr.clone(), code: failure.code })
    }
}
