//! `exec`: a program in the foreground, its output raw, its exit code ours, whatever `-o` says
//! (docs/measured/createos-cli.md 1): buffered with a line feed added where the last one is missing, streamed byte
//! for byte.

use crate::cli::ExecArgs;
use crate::error::{Error, IoContext};
use crate::exit::Exit;
use crate::local::boxes::pause;
use crate::local::boxes::renew::renew;
use crate::local::boxes::running::RunPurpose;
use crate::local::boxes::store::BoxStore;
use crate::local::entry::enter::{self, BoxProcess, Start};
use crate::local::entry::environment;
use crate::local::failure::{Failure, Result};
use crate::local::wire::spec::{Command, Task};
use crate::ui;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

/// Buffered output that is larger is refused: `--stream` has no such limit.
const BUFFER_LIMIT: usize = 64 * 1024 * 1024;

/// Runs it; the program's exit code.
pub(super) fn exec(store: &BoxStore, args: ExecArgs) -> Result<Exit> {
    let mut found = store.live(&args.reference)?;
    renew(&mut found)?;
    let own = environment::parse(&args.env)?;
    if let Some((name, _)) =
        own.iter().find(|(name, _)| !found.meta.env.iter().any(|(known, _)| known == name))
    {
        return Err(Error::usage(format!("--env {name}: the box was not made with this variable"))
            .help("exec can only override what create declared")
            .into());
    }
    let source = source(args.stdin.as_deref())?;
    let env = environment::of_a_process(&found.meta, &own);
    let argv = args.command.into_iter().map(OsString::into_vec).collect();
    let task = Task::Run { argv, cwd: b"/home/agent".to_vec(), terminal: None };
    let code = match enter::enter(&mut found, env, task, source.is_some(), RunPurpose::Foreground)? {
        Start::Running(entry) => run_to_end(*entry, source, args.stream)?,
        Start::NotStarted { what, errno } => not_started(&what, errno),
    };
    // The time without activity begins when the program has ended. The box may be gone by now.
    let _gone = pause::touch(&found);
    Ok(code)
}

/// As a shell has it: 127 for a program that is not there, 126 for one that cannot be run.
fn not_started(what: &str, errno: i32) -> Exit {
    ui::report(&Error::failed(format!("could not {what}: {}", io::Error::from_raw_os_error(errno))));
    Exit::of_program(if errno == libc::ENOENT { 127 } else { 126 })
}

/// Where stdin comes from: `--stdin`, else whatever is no terminal (docs/measured/createos-cli.md 1). It is passed on as
/// it comes, so an open pipe delays no program that does not read it.
fn source(stdin: Option<&str>) -> Result<Option<Box<dyn Read + Send>>> {
    match stdin {
        Some("-") => Ok(Some(Box::new(io::stdin()))),
        Some(file) => {
            let path = Path::new(file);
            Ok(Some(Box::new(std::fs::File::open(path).at("read", path)?)))
        }
        None if io::stdin().is_terminal() => Ok(None),
        None => Ok(Some(Box::new(io::stdin()))),
    }
}

fn run_to_end(mut entry: BoxProcess, source: Option<Box<dyn Read + Send>>, stream: bool) -> Result<Exit> {
    let stdout = entry.stdout.take().expect("a program without a terminal has pipes");
    let stderr = entry.stderr.take().expect("a program without a terminal has pipes");
    if let (Some(mut source), Some(mut stdin)) = (source, entry.stdin.take()) {
        // Not joined: it may wait for input that never comes, while the program has long ended.
        std::thread::spawn(move || {
            let _program_reads_no_more = io::copy(&mut source, &mut stdin);
        });
    }
    forward_signals(&entry)?;
    let (out, err) = std::thread::scope(|scope| {
        let out = scope.spawn(|| collect(stdout, stream.then_some(("stdout", &mut ui::stdout()))));
        let err = scope.spawn(|| collect(stderr, stream.then_some(("stderr", &mut ui::stderr()))));
        let out = out.join().expect("the reader does not panic");
        let err = err.join().expect("the reader does not panic");
        (out, err)
    });
    let (out, err) = (out?, err?);
    let end = entry.wait()?;
    if let Some(words) = entry.network_lost() {
        ui::report(&Error::failed(words));
    }
    if stream {
        return Ok(Exit::of_program(end.code()));
    }
    let told = ui::raw_note(&with_newline(err));
    ui::unless_closed(told).at("write to", Path::new("stderr"))?;
    ui::unless_closed(ui::raw(&with_newline(out))).at("write to", Path::new("stdout"))?;
    Ok(Exit::of_program(end.code()))
}

/// Reads to the end: passed on, or kept.
fn collect(mut from: impl Read, mut to: Option<(&str, &mut dyn Write)>) -> Result<Vec<u8>> {
    let wrong = |source: io::Error| Failure::from(Error::failed(format!("read stream: {source}")));
    let mut kept = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => return Ok(kept),
            Ok(count) => count,
            Err(source) if source.kind() == io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(wrong(source)),
        };
        match &mut to {
            Some((name, to)) => match to.write_all(&buffer[..count]).and_then(|()| to.flush()) {
                Ok(()) => {}
                // The reader has seen enough: the program gets the same SIGPIPE as anywhere.
                Err(source) if source.kind() == io::ErrorKind::BrokenPipe => return Ok(kept),
                lost => return Ok(lost.map(|()| kept).at("write to", Path::new(name))?),
            },
            None if kept.len() + count > BUFFER_LIMIT => {
                return Err(Error::failed("the output is larger than 64 MiB")
                    .help("use exec --stream")
                    .into());
            }
            None => kept.extend_from_slice(&buffer[..count]),
        }
    }
}

fn with_newline(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.last().is_some_and(|last| *last != b'\n') {
        bytes.push(b'\n');
    }
    bytes
}

/// Passes INT, TERM, HUP and QUIT on to the program; a second one ends us, and the program with us.
fn forward_signals(entry: &BoxProcess) -> Result<()> {
    let channel = entry.channel.try_clone().map_err(|source| Error::failed(source.to_string()))?;
    let caught = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];
    let mut signals =
        signal_hook::iterator::Signals::new(caught).map_err(|source| Error::failed(source.to_string()))?;
    std::thread::spawn(move || {
        for (count, signal) in signals.forever().enumerate() {
            let passed = channel.send(&Command::Signal(signal), None);
            if count > 0 || passed.is_err() {
                let _unreachable = signal_hook::low_level::emulate_default_handler(signal);
            }
        }
    });
    Ok(())
}
