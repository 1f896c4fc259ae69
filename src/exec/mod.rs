//! Runs a program: argv, environment, folder, stdin, time limit; output captured or inherited.

mod ending;

pub(crate) use ending::{end_together, stay_when_ending};

use crate::error::Error;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// How long a program may take when the caller does not say.
const DEFAULT_LIMIT: Duration = Duration::from_secs(30);
/// How much of each captured stream is kept; the rest is read and dropped.
const CAPTURE_LIMIT: usize = 64 * 1024 * 1024;

/// Feeds a child's stdin from its own thread; it may end early when the child closes the pipe.
type Feed<'a> = Box<dyn FnOnce(&mut ChildStdin) -> std::io::Result<()> + Send + 'a>;
/// Receives a child's stdout as it comes.
type Sink<'a> = Box<dyn FnMut(&[u8]) -> std::io::Result<()> + Send + 'a>;

enum Input<'a> {
    Null,
    Inherit,
    Feed(Feed<'a>),
}

enum Output<'a> {
    Capture,
    Inherit,
    Sink(Sink<'a>),
}

/// A program to run. stdin is `/dev/null` unless said otherwise.
pub(crate) struct Run<'a> {
    program: PathBuf,
    args: Vec<OsString>,
    env: Vec<(OsString, Option<OsString>)>,
    clear_env: bool,
    cwd: Option<PathBuf>,
    input: Input<'a>,
    output: Output<'a>,
    errors_inherited: bool,
    limit: Option<Duration>,
    stop: Option<Arc<AtomicBool>>,
}

/// What a program that ended has left.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Exit status or signal.
    pub(crate) status: ExitStatus,
    /// Captured stdout; empty when it was inherited or streamed.
    pub(crate) stdout: Vec<u8>,
    /// Captured stderr; empty when it was inherited.
    pub(crate) stderr: Vec<u8>,
}

impl Ended {
    /// The exit code as a shell would give it: 128 plus the signal for one that was killed.
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }

    /// Exit code 0.
    pub(crate) fn success(&self) -> bool {
        self.status.success()
    }

    /// stdout as text, damaged bytes replaced.
    pub(crate) fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// stderr as text, damaged bytes replaced, trimmed.
    pub(crate) fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim().to_owned()
    }
}

/// Why a program gave no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExecError {
    /// It could not be started.
    #[error("could not start {program}: {source}")]
    Start {
        /// The program as it was asked for.
        program: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// It ran longer than its limit and was killed, with its whole process group.
    #[error("{program} did not finish within {} s and was stopped", limit.as_secs())]
    TimedOut {
        /// The program as it was asked for.
        program: String,
        /// The limit that it had.
        limit: Duration,
    },
    /// The person pressed Ctrl-C; it was killed, with its whole process group.
    #[error("interrupted while {program} ran")]
    Interrupted {
        /// The program as it was asked for.
        program: String,
    },
    /// Feeding its stdin, or passing its stdout on, failed.
    #[error("could not talk to {program}: {source}")]
    Pipe {
        /// The program as it was asked for.
        program: String,
        /// What failed.
        source: std::io::Error,
    },
}

impl From<ExecError> for Error {
    fn from(error: ExecError) -> Self {
        Self::failed(error.to_string())
    }
}

impl<'a> Run<'a> {
    /// A run of `program`: an absolute path, or a name that is looked up on PATH.
    pub(crate) fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            clear_env: false,
            cwd: None,
            input: Input::Null,
            output: Output::Capture,
            errors_inherited: false,
            limit: Some(DEFAULT_LIMIT),
            stop: None,
        }
    }

    /// Adds one argument.
    #[must_use]
    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds several arguments.
    #[must_use]
    pub(crate) fn args<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(mut self, args: I) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub(crate) fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Removes a variable.
    #[must_use]
    pub(crate) fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), None));
        self
    }

    /// Starts from an empty environment.
    #[must_use]
    pub(crate) fn env_clear(mut self) -> Self {
        self.clear_env = true;
        self
    }

    /// Runs in this folder.
    #[must_use]
    pub(crate) fn cwd(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cwd = Some(folder.into());
        self
    }

    /// Gives these bytes as stdin.
    #[must_use]
    pub(crate) fn stdin_bytes(self, bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        self.stdin_feed(move |stdin| stdin.write_all(&bytes))
    }

    /// Writes stdin from a thread of its own. A child that stops reading is not an error.
    #[must_use]
    pub(crate) fn stdin_feed(
        mut self,
        feed: impl FnOnce(&mut ChildStdin) -> std::io::Result<()> + Send + 'a,
    ) -> Self {
        self.input = Input::Feed(Box::new(feed));
        self
    }

    /// Passes stdout on as it comes instead of keeping it.
    #[must_use]
    pub(crate) fn stdout_to(mut self, sink: impl FnMut(&[u8]) -> std::io::Result<()> + Send + 'a) -> Self {
        self.output = Output::Sink(Box::new(sink));
        self
    }

    /// The program gets our own stdin, stdout and stderr, and no time limit.
    #[must_use]
    pub(crate) fn interactive(mut self) -> Self {
        self.input = Input::Inherit;
        self.output = Output::Inherit;
        self.errors_inherited = true;
        self.limit = None;
        self
    }

    /// The same program run by another one, which gets its command line behind these words.
    #[must_use]
    pub(crate) fn through<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(
        mut self,
        program: impl Into<PathBuf>,
        words: I,
    ) -> Self {
        let own = std::mem::replace(&mut self.program, program.into());
        let mut args: Vec<OsString> = words.into_iter().map(|word| word.as_ref().to_owned()).collect();
        args.push(own.into_os_string());
        args.append(&mut self.args);
        self.args = args;
        self
    }

    /// A person watches and can press Ctrl-C: stderr is ours, there is no time limit, and it stays in our
    /// process group. It has no stdin to ask on.
    #[must_use]
    pub(crate) fn attended(mut self) -> Self {
        self.errors_inherited = true;
        self.limit = None;
        self
    }

    /// The time after which the program is killed.
    #[must_use]
    pub(crate) fn limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Ends the program when the flag is raised, as a signal handler does.
    #[must_use]
    pub(crate) fn stop_when(mut self, raised: Arc<AtomicBool>) -> Self {
        self.stop = Some(raised);
        self
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// It cannot be started, takes too long, or its pipes fail. An exit code is no error.
    pub(crate) fn run(self) -> Result<Ended, ExecError> {
        let name = self.to_string();
        let bounds = Bounds { started: Instant::now(), limit: self.limit, stop: self.stop.clone() };
        let (mut child, input, output) = self.spawn()?;
        let pipe = |source| ExecError::Pipe { program: name.clone(), source };

        let (done, finished) = mpsc::channel();
        // Raised when the program was killed: a daemon that it left may hold the streams for ever.
        let abandoned = &AtomicBool::new(false);
        let stdin = child.stdin.take();
        let stdout = child.stdout.take();
        let stderr = child.stderr.take();
        std::thread::scope(|scope| {
            let fed = match (input, stdin) {
                (Input::Feed(feed), Some(mut stdin)) => Some(scope.spawn(move || feed(&mut stdin))),
                _ => None,
            };
            let out = stdout.map(|stream| {
                let done = done.clone();
                scope.spawn(move || {
                    let result = match output {
                        Output::Sink(mut sink) => pump(stream, abandoned, &mut *sink).map(|()| Vec::new()),
                        _ => capture(stream, abandoned),
                    };
                    let _receiver_gone = done.send(());
                    result
                })
            });
            let err = stderr.map(|stream| {
                let done = done.clone();
                scope.spawn(move || {
                    let result = capture(stream, abandoned);
                    let _receiver_gone = done.send(());
                    result
                })
            });
            drop(done);

            let waited = wait(&mut child, &finished, &bounds);
            if waited.is_err() {
                kill_group(&child);
                abandoned.store(true, Ordering::Relaxed);
            }
            let reaped = child.wait();
            ending::ended(&child);
            let out = out.map_or(Ok(Vec::new()), |thread| thread.join().expect("the reader does not panic"));
            let err = err.map_or(Ok(Vec::new()), |thread| thread.join().expect("the reader does not panic"));
            let fed = fed.map_or(Ok(()), |thread| thread.join().expect("the feed does not panic"));
            match waited {
                Err(Cut::TimedOut(limit)) => {
                    return Err(ExecError::TimedOut { program: name.clone(), limit });
                }
                Err(Cut::Stopped) => return Err(ExecError::Interrupted { program: name.clone() }),
                Ok(()) => {}
            }
            match fed {
                Err(source) if source.kind() != std::io::ErrorKind::BrokenPipe => return Err(pipe(source)),
                _ => {}
            }
            Ok(Ended {
                status: reaped.map_err(pipe)?,
                stdout: out.map_err(pipe)?,
                stderr: err.map_err(pipe)?,
            })
        })
    }

    /// Becomes the program, under the name `name` if given: streams, signals and exit code are its own
    /// from here on. Only comes back when it could not be started.
    #[must_use]
    pub(crate) fn replace(self, name: Option<&OsStr>) -> ExecError {
        let mut command = self.command();
        if let Some(name) = name {
            command.arg0(name);
        }
        let source = command.exec();
        ExecError::Start { program: self.to_string(), source }
    }

    /// The program with its arguments, environment and folder.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        if self.clear_env {
            command.env_clear();
        }
        for (variable, value) in &self.env {
            match value {
                Some(value) => command.env(variable, value),
                None => command.env_remove(variable),
            };
        }
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        command
    }

    fn spawn(self) -> Result<(Child, Input<'a>, Output<'a>), ExecError> {
        let name = self.to_string();
        let mut command = self.command();
        command.stdin(match self.input {
            Input::Null => Stdio::null(),
            Input::Inherit => Stdio::inherit(),
            Input::Feed(_) => Stdio::piped(),
        });
        command.stdout(match self.output {
            Output::Inherit => Stdio::inherit(),
            Output::Capture | Output::Sink(_) => Stdio::piped(),
        });
        command.stderr(if self.errors_inherited { Stdio::inherit() } else { Stdio::piped() });
        let leads = self.limit.is_some() || self.stop.is_some();
        if leads {
            // Its own group, so that an early end is its children's too.
            command.process_group(0);
        }
        let child = ending::start(leads, || command.spawn())
            .map_err(|source| ExecError::Start { program: name, source })?;
        Ok((child, self.input, self.output))
    }
}

impl fmt::Display for Run<'_> {
    /// The program's name, for messages; arguments may hold what a message should not.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.program.file_name().unwrap_or(self.program.as_os_str());
        write!(f, "{}", Path::new(name).display())
    }
}

/// What ends a program before its own end.
struct Bounds {
    started: Instant,
    limit: Option<Duration>,
    stop: Option<Arc<AtomicBool>>,
}

enum Cut {
    TimedOut(Duration),
    Stopped,
}

impl Bounds {
    /// How often a raised flag is looked for.
    const LOOK: Duration = Duration::from_millis(50);

    /// The time that may be waited before looking again.
    fn left(&self) -> Result<Duration, Cut> {
        if self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(Cut::Stopped);
        }
        let left = match self.limit {
            Some(limit) => limit.checked_sub(self.started.elapsed()).ok_or(Cut::TimedOut(limit))?,
            None => Duration::from_secs(3600),
        };
        Ok(if self.stop.is_some() { left.min(Self::LOOK) } else { left })
    }
}

/// Waits until both streams are at their end and the child is gone, or until the bounds say stop.
fn wait(child: &mut Child, finished: &mpsc::Receiver<()>, bounds: &Bounds) -> Result<(), Cut> {
    while let Ok(()) | Err(mpsc::RecvTimeoutError::Timeout) = finished.recv_timeout(bounds.left()?) {}
    if bounds.limit.is_none() && bounds.stop.is_none() {
        return Ok(());
    }
    // The streams are closed; the exit follows at once unless the program closed them early.
    let mut pause = Duration::from_micros(100);
    while let Ok(None) = child.try_wait() {
        bounds.left()?;
        std::thread::sleep(pause);
        pause = (pause * 2).min(Bounds::LOOK);
    }
    Ok(())
}

fn kill_group(child: &Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _already_gone = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

fn capture(stream: impl Read + AsFd, abandoned: &AtomicBool) -> std::io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    pump(stream, abandoned, &mut |bytes| {
        let room = CAPTURE_LIMIT - kept.len();
        kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        Ok(())
    })?;
    Ok(kept)
}

fn pump(
    mut stream: impl Read + AsFd,
    abandoned: &AtomicBool,
    sink: &mut dyn FnMut(&[u8]) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let look = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let ready = poll(&mut [PollFd::new(&stream, PollFlags::IN)], Some(&look));
        match ready {
            Ok(0) | Err(rustix::io::Errno::INTR) if abandoned.load(Ordering::Relaxed) => return Ok(()),
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(source) => return Err(source.into()),
        }
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => sink(&buffer[..count])?,
            Err(source) if source.kind() == std::io::ErrorKind::Interrupted => {}
            Err(source) => return Err(source),
        }
    }
}

#[cfg(test)]
mod tests;
