//! Our own provider, which has the boxes.

use crate::argv::Parsed;
use crate::control::Control;
use serde_json::Value;
#[cfg(target_os = "linux")]
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// What it left.
pub(crate) struct Output {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) code: u8,
}

impl Output {
    /// Its document.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).expect("our provider answers JSON")
    }

    /// Code and words of its error document.
    pub(crate) fn refusal(&self) -> (String, String) {
        let error = &self.json()["error"];
        let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
        // The official program would not have said that about its own flags.
        let code = text("code").replace("bad_request", "error");
        (code, text("message"))
    }
}

/// The words after its name.
pub(crate) fn words(json: bool, verb: &str, parsed: &Parsed, remote: &[String]) -> Vec<String> {
    let mut words =
        ["local", "-o", if json { "json" } else { "table" }, "sandbox"].map(str::to_owned).to_vec();
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

/// It with these words, and without its own stdin. It ends with us, however we end.
pub(crate) fn command(control: &Control, words: &[String]) -> Command {
    let mut command = Command::new(&control.provider);
    command.args(words).stdin(Stdio::null());
    #[cfg(target_os = "linux")]
    // SAFETY: one system call between fork and exec, no allocation and no lock.
    unsafe {
        command.pre_exec(|| {
            let signal = Some(rustix::process::Signal::KILL);
            Ok(rustix::process::set_parent_process_death_signal(signal)?)
        });
    }
    command
}

/// Runs it and keeps what it says.
pub(crate) fn capture(
    control: &Control,
    json: bool,
    verb: &str,
    parsed: &Parsed,
    remote: &[String],
) -> Output {
    let output = command(control, &words(json, verb, parsed, remote)).output().expect("our provider starts");
    Output { stdout: output.stdout, stderr: output.stderr, code: code(output.status) }
}

/// Asks it for a document about a box, with these positionals.
pub(crate) fn ask(control: &Control, verb: &str, positional: &[&str]) -> Output {
    let positional = positional.iter().map(|word| (*word).to_owned()).collect();
    capture(control, true, verb, &Parsed { flags: Vec::new(), positional }, &[])
}

/// An exit code as it is passed on.
pub(crate) fn code(status: std::process::ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
