//! Our own provider, which has the boxes.

use crate::argv::Parsed;
use crate::control::Control;
use std::process::{Command, Stdio};

/// What it left.
pub(crate) struct Output {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) code: u8,
}

/// The words after its name.
pub(crate) fn words(json: bool, verb: &str, parsed: &Parsed, remote: &[String]) -> Vec<String> {
    let mut words = vec!["local".to_owned()];
    if json {
        words.extend(["-o", "json"].map(str::to_owned));
    }
    words.push("sandbox".into());
    words.extend(verb.split(' ').map(str::to_owned));
    for (name, value) in &parsed.flags {
        words.push(name.clone());
        words.extend(value.clone());
    }
    words.extend(parsed.positional.clone());
    if !remote.is_empty() {
        words.push("--".into());
        words.extend(remote.iter().cloned());
    }
    words
}

fn command(control: &Control, json: bool, verb: &str, parsed: &Parsed, remote: &[String]) -> Command {
    let mut command = Command::new(&control.provider);
    command.args(words(json, verb, parsed, remote));
    command
}

/// Runs it in our place: its streams are ours.
pub(crate) fn run(control: &Control, json: bool, verb: &str, parsed: &Parsed, remote: &[String]) -> u8 {
    let mut command = command(control, json, verb, parsed, remote);
    if verb == "exec" {
        // What stdin held was read already.
        command.stdin(Stdio::null());
    }
    let status = command.status().expect("our provider starts");
    code(status)
}

/// Runs it and keeps what it says.
pub(crate) fn capture(
    control: &Control,
    json: bool,
    verb: &str,
    parsed: &Parsed,
    remote: &[String],
) -> Output {
    let output = command(control, json, verb, parsed, remote)
        .stdin(Stdio::null())
        .output()
        .expect("our provider starts");
    Output { stdout: output.stdout, stderr: output.stderr, code: code(output.status) }
}

fn code(status: std::process::ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
