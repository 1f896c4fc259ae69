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

fn command(control: &Control, json: bool, verb: &str, parsed: &Parsed, remote: &[String]) -> Command {
    let mut command = Command::new(&control.provider);
    command.arg("local");
    if json {
        command.args(["-o", "json"]);
    }
    command.arg("sandbox").args(verb.split(' '));
    for (name, value) in &parsed.flags {
        command.arg(name).args(value);
    }
    command.args(&parsed.positional);
    if !remote.is_empty() {
        command.arg("--").args(remote);
    }
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
