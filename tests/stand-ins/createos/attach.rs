//! `process attach`: this terminal, or these pipes, and a process (docs/measured/createos-cli.md 3.8). The bytes are
//! passed on as they are; four keys are not: Ctrl-C is a signal, Ctrl-] detaches, Ctrl-N makes a shell beside it,
//! Ctrl-P picks.

use crate::argv::Parsed;
use crate::{Call, backend, footer, print, tell};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use serde_json::Value;
use std::io::{IsTerminal, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// What happens while attached. Output carries the number of the connection that it is from.
enum Event {
    Output(usize, Vec<u8>),
    Over(usize),
    Typed(Vec<u8>),
    /// There is nothing more to type.
    Closed,
    Resized,
}

/// What a key does that is not passed on.
#[derive(Debug, Clone, Copy)]
enum Key {
    Interrupt,
    Detach,
    New,
    Pick,
}

/// How a connection ends.
enum Next {
    Exit(u8),
    Process(String),
}

/// Raw mode, until dropped.
struct Raw(Termios);

impl Raw {
    fn on() -> Self {
        let before = tcgetattr(rustix::stdio::stdin()).expect("a terminal");
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &raw).expect("raw mode");
        Self(before)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _terminal_gone = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &self.0);
    }
}

/// An attach, over all the processes that it shows one after the other.
struct Attach<'a> {
    call: &'a Call<'a>,
    id: &'a str,
    follow: bool,
    /// `--stdin`: input is sent although stdin is no terminal.
    fed: bool,
    terminal: bool,
    events: Receiver<Event>,
    sender: Sender<Event>,
    count: usize,
    reading: bool,
}

impl Call<'_> {
    pub(crate) fn attach(&self, parsed: &Parsed) -> u8 {
        let [id, process] = &parsed.positional[..] else {
            return self.fail("error", "please provide a process ID");
        };
        if self.control.take("attach_loses") {
            return self.fail("error", "read stream: unexpected EOF");
        }
        if self.control.take("attach_ends") {
            return 0;
        }
        if self.control.take("attach_says_detached") {
            // What a box may print as well.
            print("Detached. The shell is still running.\n");
            return 0;
        }
        let (sender, events) = channel();
        let mut attach = Attach {
            call: self,
            id,
            follow: !parsed.has(&["--no-follow"]),
            fed: parsed.has(&["--stdin"]),
            terminal: std::io::stdin().is_terminal(),
            events,
            sender,
            count: 0,
            reading: false,
        };
        let mut after = parsed.one("--after").map(|text| text.parse().expect("a number"));
        let mut process = process.clone();
        loop {
            let output = backend::ask(self.control, "process get", &[id, &process]);
            if output.code != 0 {
                return self.relay(&output);
            }
            match attach.show(&output.json(), after) {
                Next::Exit(code) => return code,
                Next::Process(next) => process = next,
            }
            after = None;
        }
    }
}

impl Attach<'_> {
    /// Shows one process to the end of the connection.
    fn show(&mut self, view: &Value, after: Option<u64>) -> Next {
        let process = view["process_id"].as_str().unwrap_or_default();
        let newest = view["output"]["newest_seq"].as_u64().unwrap_or_default();
        let foreground =
            view["foreground"]["cmd"].as_str().or_else(|| view["cmd"].as_str()).unwrap_or_default();
        let pty = view["kind"] == "pty";
        let after = after.unwrap_or(if self.follow { newest } else { 0 });
        if !self.follow && newest <= after {
            return Next::Exit(0);
        }
        let typing = self.fed || pty && self.terminal && self.follow;
        if typing && pty && std::io::stdout().is_terminal() {
            tell(&format!("  attached to {process} ({})\n", self.id));
        }
        let framed = typing && pty && self.terminal;
        let mut full = framed && footer::is_full(foreground);
        let own_screen = full;
        let raw = framed.then(Raw::on);
        if framed {
            if full {
                footer::enter_screen()
            } else {
                footer::paint(process)
            }
            self.resize(process, full);
        }
        let (mut child, input) = self.connect(process, after);
        let mut input = Some(input);
        if framed && !full && after >= newest && footer::is_shell(foreground) {
            // Ctrl-L: a shell draws its prompt again.
            feed(&mut input, b"\x0c");
        }
        if typing {
            self.read_keys();
        }
        let mut next = None;
        while let Ok(event) = self.events.recv() {
            match event {
                Event::Output(count, bytes) if count == self.count => {
                    let mut out = std::io::stdout().lock();
                    let _closed_pipe = out.write_all(&bytes).and_then(|()| out.flush());
                    drop(out);
                    match footer::switches(&bytes).filter(|_| framed) {
                        Some(true) => footer::clear(),
                        Some(false) => footer::paint(process),
                        None if framed && !full => footer::paint(process),
                        None => {}
                    }
                    full = footer::switches(&bytes).unwrap_or(full);
                }
                Event::Over(count) if count == self.count => break,
                Event::Typed(bytes) if pty => {
                    if let Some(key) = self.type_in(&bytes, process, &mut input) {
                        next = Some(self.leave(key, process));
                        break;
                    }
                }
                Event::Typed(bytes) => feed(&mut input, &bytes),
                Event::Closed if !pty => input = None,
                Event::Resized if framed => {
                    self.resize(process, full);
                    if !full {
                        footer::paint(process);
                    }
                }
                Event::Output(..) | Event::Over(_) | Event::Closed | Event::Resized => {}
            }
        }
        let code = match next {
            // What was typed before the key is on its way; the connection is ours to end.
            Some(_) => {
                let _already_gone = child.kill();
                child.wait().map_or(1, backend::code)
            }
            None => child.wait().map_or(1, backend::code),
        };
        if framed {
            footer::clear();
            if own_screen {
                footer::leave_screen();
            }
        }
        drop(raw);
        next.unwrap_or_else(|| Next::Exit(self.ended(pty, process, code)))
    }

    /// The exit code of a stream that ended by itself: 0 for a terminal, whatever happened
    /// (docs/measured/createos-cli.md 3.8).
    fn ended(&self, pty: bool, process: &str, code: u8) -> u8 {
        if pty {
            return 0;
        }
        let view = backend::ask(self.call.control, "process get", &[self.id, process]);
        if view.code == 0 && view.json()["exit_code"].is_number() {
            tell(&format!("Process exited with code {code}.\n"));
        }
        code
    }

    /// What a key leads to.
    fn leave(&self, key: Key, process: &str) -> Next {
        footer::clear();
        match key {
            Key::New => {
                let flags = vec![("--pty".to_owned(), None)];
                let parsed = Parsed { flags, positional: vec![self.id.to_owned()] };
                let made = backend::capture(self.call.control, true, "process start", &parsed, &[]).json();
                let made = made["process_id"].as_str().expect("a process").to_owned();
                tell(&format!("\r\nCreated {made}. Switching...\r\n"));
                Next::Process(made)
            }
            Key::Pick => {
                tell("\r\nSwitching shell session...\r\n");
                self.pick()
            }
            Key::Detach | Key::Interrupt => {
                tell("\r\nDetached. The shell is still running. Reattach with:\r\n");
                tell(&format!("  createos sandbox process attach {} {process}\r\n", self.id));
                Next::Exit(0)
            }
        }
    }

    /// The picker: Enter takes the first, anything else cancels, which ends the attach without a word.
    fn pick(&self) -> Next {
        let list = backend::ask(self.call.control, "process list", &[self.id]).json();
        let running = list.as_array().into_iter().flatten().filter(|view| view["state"] == "running");
        let ids: Vec<&str> = running.filter_map(|view| view["process_id"].as_str()).collect();
        print(&format!("Attach to which process?\r\n> {}\r\n", ids.join("\r\n  ")));
        loop {
            match self.events.recv() {
                Ok(Event::Typed(bytes)) if bytes.first() == Some(&b'\r') => match ids.first() {
                    Some(first) => return Next::Process((*first).to_owned()),
                    None => return Next::Exit(0),
                },
                Ok(Event::Typed(_)) | Err(_) => return Next::Exit(0),
                Ok(_) => {}
            }
        }
    }

    /// Passes on what was typed, but for the keys. `Some`: one that ends this connection.
    fn type_in(&self, typed: &[u8], process: &str, input: &mut Option<ChildStdin>) -> Option<Key> {
        let mut rest = typed;
        loop {
            let found = rest.iter().enumerate().find_map(|(at, byte)| Some((at, key(*byte)?)));
            let plain = &rest[..found.map_or(rest.len(), |(at, _)| at)];
            feed(input, plain);
            match found {
                None => return None,
                Some((at, Key::Interrupt)) => {
                    // The byte is not delivered; failures are silent.
                    let _ended =
                        backend::ask(self.call.control, "process signal", &[self.id, process, "SIGINT"]);
                    rest = &rest[at + 1..];
                }
                Some((_, key)) => {
                    // Each chunk of input is a request of its own, and this one is answered before the end.
                    std::thread::sleep(Duration::from_millis(50));
                    return Some(key);
                }
            }
        }
    }

    fn resize(&self, process: &str, full: bool) {
        let Some((rows, columns)) = footer::size() else { return };
        let rows = if full || rows < 2 { rows } else { rows - 1 };
        let flags = [("--rows", rows), ("--cols", columns)];
        let flags = flags.map(|(name, value)| (name.to_owned(), Some(value.to_string()))).to_vec();
        let parsed = Parsed { flags, positional: vec![self.id.to_owned(), process.to_owned()] };
        let _ended = backend::capture(self.call.control, true, "process resize", &parsed, &[]);
    }

    /// Connects, and lets the output come as events.
    fn connect(&mut self, process: &str, after: u64) -> (Child, ChildStdin) {
        let mut flags = vec![("--after".to_owned(), Some(after.to_string()))];
        flags.push((if self.follow { "--stdin" } else { "--no-follow" }.to_owned(), None));
        let parsed = Parsed { flags, positional: vec![self.id.to_owned(), process.to_owned()] };
        let words = backend::words(false, "process attach", &parsed, &[]);
        let mut command = backend::command(self.call.control, &words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("our provider starts");
        self.count += 1;
        let (sender, count) = (self.sender.clone(), self.count);
        let mut out = child.stdout.take().expect("a pipe");
        std::thread::spawn(move || {
            let mut buffer = [0; 16 * 1024];
            while let Ok(read @ 1..) = out.read(&mut buffer) {
                let _nobody_shows_it = sender.send(Event::Output(count, buffer[..read].to_vec()));
            }
            let _nobody_waits = sender.send(Event::Over(count));
        });
        let input = child.stdin.take().expect("a pipe");
        (child, input)
    }

    /// Lets what is typed, and another size, come as events; once.
    fn read_keys(&mut self) {
        if std::mem::replace(&mut self.reading, true) {
            return;
        }
        let sender = self.sender.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 32 * 1024];
            while let Ok(read @ 1..) = rustix::io::read(rustix::stdio::stdin(), &mut buffer) {
                if sender.send(Event::Typed(buffer[..read].to_vec())).is_err() {
                    return;
                }
            }
            let _nobody_waits = sender.send(Event::Closed);
        });
        if self.terminal {
            let sender = self.sender.clone();
            let mut signals =
                signal_hook::iterator::Signals::new([signal_hook::consts::SIGWINCH]).expect("a handler");
            std::thread::spawn(move || {
                while signals.wait().next().is_some() && sender.send(Event::Resized).is_ok() {}
            });
        }
    }
}

/// Passes input on; a connection that has ended takes none, and nobody is told.
fn feed(input: &mut Option<ChildStdin>, bytes: &[u8]) {
    if let Some(input) = input {
        let _ended = input.write_all(bytes).and_then(|()| input.flush());
    }
}

fn key(byte: u8) -> Option<Key> {
    Some(match byte {
        0x03 => Key::Interrupt,
        0x1d => Key::Detach,
        0x0e => Key::New,
        0x10 => Key::Pick,
        _ => return None,
    })
}
