//! `exec`. The main line prints the remote output raw, whatever `-o` says, and ends with the remote code; the
//! branch prints a document when it was told to (docs/measured/createos-cli.md 3.4).

use crate::argv::Parsed;
use crate::boxes::said;
use crate::errors::badge;
use crate::{Call, backend, print, tell};
use serde_json::json;
use std::io::{IsTerminal, Read, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// How many pieces of output may wait: a reader that is slow makes the command wait, as it does on a connection.
const FRAMES: usize = 64;
/// How much of stderr is looked at for our provider's own words.
const TOLD: usize = 64 * 1024;

/// Output of the remote command.
enum Frame {
    Out(Vec<u8>),
    Err(Vec<u8>),
}

impl Call<'_> {
    pub(crate) fn exec(&self, parsed: &Parsed) -> u8 {
        if !std::io::stdin().is_terminal() {
            // docs/measured/createos-cli.md 1: the branch reads it to its end before the request; nobody knows what
            // comes after it.
            let mut given = Vec::new();
            let _unreadable = std::io::stdin().read_to_end(&mut given);
            self.control.append("stdin", &format!("{}", given.len()));
        }
        let stream = parsed.has(&["--stream", "-s"]);
        if stream && self.control.take("stream_error") {
            // An error frame is text on stdout, and no failure.
            print(&badge(self.control, "ERROR", "exec: the connection to the guest was lost"));
            return 0;
        }
        let mut streamed = parsed.clone();
        streamed.flags.retain(|(name, _)| !matches!(name.as_str(), "--stream" | "-s" | "--stdin"));
        streamed.flags.push(("--stream".into(), None));
        let words = backend::words(false, "exec", &streamed, &self.argv.command);
        let mut command = backend::command(self.control, &words);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.expect("our provider starts");
        let frames = frames(&mut child);
        if stream { self.streamed(child, &frames) } else { self.buffered(child, &frames) }
    }

    /// Nothing is sent before the end, so every silence is as long as the command runs.
    fn buffered(&self, mut child: Child, frames: &Receiver<Frame>) -> u8 {
        let deadline = self.control.idle_cut.map(|limit| Instant::now() + Duration::from_secs(limit));
        let (mut out, mut err) = (Vec::new(), Vec::new());
        loop {
            match receive(frames, deadline) {
                Ok(Frame::Out(bytes)) => out.extend(bytes),
                Ok(Frame::Err(bytes)) => err.extend(bytes),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    kill(&mut child);
                    return self.fail("error", "Post \"https://api.sb.example.com/v1/sandboxes/exec\": EOF");
                }
            }
        }
        let code = backend::code(child.wait().expect("an end"));
        let not_started = not_started(code, out.is_empty(), &err, &self.argv.command);
        if not_started.is_some() {
            err.clear();
        }
        let (out, err) = (String::from_utf8_lossy(&out), String::from_utf8_lossy(&err));
        if self.argv.json && !self.is_main() {
            let document = json!({
                "sandbox_id": self.box_id(), "exit_code": code, "stdout": out, "stderr": err,
                "error": not_started.unwrap_or_default(),
            });
            print(&format!("{document:#}\n"));
            return code;
        }
        let ended = |text: &str| if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        print(&format!("{out}{}", ended(&out)));
        tell(&format!("{err}{}", ended(&err)));
        if let Some(words) = not_started {
            print(&badge(self.control, "ERROR", &words));
        }
        code
    }

    fn box_id(&self) -> String {
        let parsed = self.argv.flags(self.control).expect("it was read before");
        parsed.positional.into_iter().next().unwrap_or_default()
    }

    /// As it comes. Heartbeats are not shown, and keep the connection where something cuts silent ones.
    fn streamed(&self, mut child: Child, frames: &Receiver<Frame>) -> u8 {
        let beats = self.control.heartbeat;
        let cut =
            self.control.idle_cut.filter(|limit| beats == 0 || beats >= *limit).map(Duration::from_secs);
        let (mut out, mut err) = (Text::default(), Text::default());
        let (mut shown, mut told) = (false, Vec::new());
        let is_cut = self.control.take("stream_cut");
        let follows = self.argv.command.iter().any(|word| word.contains("base64 -w"));
        let mut left = if follows { self.control.next_cut() } else { None };
        loop {
            match receive(frames, cut.map(|limit| Instant::now() + limit)) {
                Ok(Frame::Out(bytes)) => {
                    shown |= !bytes.is_empty();
                    if let Some(most) = left {
                        let part = &bytes[..bytes.len().min(usize::try_from(most).unwrap_or(usize::MAX))];
                        left = Some(most - part.len() as u64);
                        if left == Some(0) {
                            let _closed_pipe = std::io::stdout().write_all(part);
                            kill(&mut child);
                            return 0;
                        }
                    }
                    let written = std::io::stdout().write_all(out.take(&bytes).as_bytes());
                    if is_cut || written.is_err() {
                        // A closed pipe ends the real program by its signal.
                        kill(&mut child);
                        return if is_cut { 0 } else { 1 };
                    }
                }
                Ok(Frame::Err(bytes)) => {
                    // The first line may be our provider's, about a program that did not start.
                    if told.len() < TOLD {
                        told.extend_from_slice(&bytes);
                    }
                    if !told.starts_with(b"error: could not ") {
                        tell(&err.take(&bytes));
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    // The stream ends without an exit frame: exit code 0 (docs/measured/createos-cli.md 3.4).
                    kill(&mut child);
                    return 0;
                }
            }
        }
        let code = backend::code(child.wait().expect("an end"));
        if is_cut {
            return 0;
        }
        if let Some(words) = not_started(code, !shown, &told, &self.argv.command) {
            print(&badge(self.control, "ERROR", &words));
            return 0;
        }
        code
    }
}

/// The service's words for a program that could not be started.
fn not_started(code: u8, silent: bool, err: &[u8], command: &[String]) -> Option<String> {
    let starts = matches!(code, 126 | 127) && silent && err.starts_with(b"error: could not ");
    let program = command.first().map(String::as_str).unwrap_or_default();
    starts.then(|| match code {
        127 => format!("exec: \"{program}\": executable file not found in $PATH"),
        _ => {
            let output = backend::Output { stdout: Vec::new(), stderr: err.to_vec(), code };
            format!("exec: \"{program}\": {}", said(&output))
        }
    })
}

/// Ends it, and the remote command with it.
fn kill(child: &mut Child) {
    let _already_gone = child.kill();
    let _reaped = child.wait();
}

fn receive(frames: &Receiver<Frame>, deadline: Option<Instant>) -> Result<Frame, RecvTimeoutError> {
    match deadline {
        None => frames.recv().map_err(|_| RecvTimeoutError::Disconnected),
        Some(deadline) => frames.recv_timeout(deadline.saturating_duration_since(Instant::now())),
    }
}

/// Both streams, as they come.
fn frames(child: &mut Child) -> Receiver<Frame> {
    fn pump(mut from: impl Read + Send + 'static, to: SyncSender<Frame>, frame: fn(Vec<u8>) -> Frame) {
        std::thread::spawn(move || {
            let mut buffer = [0; 16 * 1024];
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                if to.send(frame(buffer[..count].to_vec())).is_err() {
                    return;
                }
            }
        });
    }
    let (sender, receiver) = sync_channel(FRAMES);
    pump(child.stdout.take().expect("a pipe"), sender.clone(), Frame::Out);
    pump(child.stderr.take().expect("a pipe"), sender, Frame::Err);
    receiver
}

/// Bytes on their way through JSON text: what is no UTF-8 is lost; a character may come in two parts.
#[derive(Default)]
struct Text {
    held: Vec<u8>,
}

impl Text {
    fn take(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.held) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.held.len(),
        };
        // An incomplete end may follow damage: then only what comes before the damage is judged, which is enough.
        let text = String::from_utf8_lossy(&self.held[..whole]).into_owned();
        self.held.drain(..whole);
        text
    }
}
