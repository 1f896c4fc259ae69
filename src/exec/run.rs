//! A program to run: how it is built, started and followed to its end.

use super::ended::{Ended, ExecError};
use super::ending;
use super::watch::{Bounds, Cut, capture, pump, wait};
use rustix::process::Signal;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// How long a program may take when the caller does not say.
pub(super) const DEFAULT_LIMIT: Duration = Duration::from_secs(30);

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
#[must_use]
pub(crate) struct Run<'a> {
    program: PathBuf,
    args: Vec<OsString>,
    env: Vec<(OsString, Option<OsString>)>,
    clear_env: bool,
    cwd: Option<PathBuf>,
    input: Input<'a>,
    output: Output<'a>,
    errors_inherited: bool,
    pub(super) limit: Option<Duration>,
    stop: Option<Arc<AtomicBool>>,
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

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub(crate) fn args<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(mut self, args: I) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub(crate) fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    pub(crate) fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), None));
        self
    }

    /// Starts from an empty environment.
    pub(crate) fn env_clear(mut self) -> Self {
        self.clear_env = true;
        self
    }

    pub(crate) fn cwd(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cwd = Some(folder.into());
        self
    }

    /// Gives these bytes as stdin.
    pub(crate) fn stdin_bytes(self, bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        self.stdin_feed(move |stdin| stdin.write_all(&bytes))
    }

    /// Writes stdin from a thread of its own. A child that stops reading is not an error.
    pub(crate) fn stdin_feed(
        mut self,
        feed: impl FnOnce(&mut ChildStdin) -> std::io::Result<()> + Send + 'a,
    ) -> Self {
        self.input = Input::Feed(Box::new(feed));
        self
    }

    /// Passes stdout on as it comes instead of keeping it.
    pub(crate) fn stdout_to(mut self, sink: impl FnMut(&[u8]) -> std::io::Result<()> + Send + 'a) -> Self {
        self.output = Output::Sink(Box::new(sink));
        self
    }

    /// The program gets our own stdin, stdout and stderr, and no time limit.
    pub(crate) fn interactive(mut self) -> Self {
        self.input = Input::Inherit;
        self.output = Output::Inherit;
        self.errors_inherited = true;
        self.limit = None;
        self
    }

    /// The same program run by another one, which gets its command line behind these words.
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
    pub(crate) fn attended(mut self) -> Self {
        self.errors_inherited = true;
        self.limit = None;
        self
    }

    /// The time after which the program is killed.
    pub(crate) fn limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Ends the program when the flag is raised, as a signal handler does.
    pub(crate) fn stop_when(mut self, raised: impl Into<Option<Arc<AtomicBool>>>) -> Self {
        self.stop = raised.into();
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
        let stdout = child.stdout.take().map(OwnedFd::from);
        let stderr = child.stderr.take().map(OwnedFd::from);
        std::thread::scope(|scope| {
            let fed = match (input, stdin) {
                (Input::Feed(feed), Some(mut stdin)) => Some(scope.spawn(move || feed(&mut stdin))),
                _ => None,
            };
            let read = |stream: Option<OwnedFd>, output| {
                let done = done.clone();
                stream.map(|stream| {
                    scope.spawn(move || {
                        let result = match output {
                            Output::Sink(mut sink) => {
                                pump(stream.into(), abandoned, &mut *sink).map(|()| Vec::new())
                            }
                            _ => capture(stream.into(), abandoned),
                        };
                        let _receiver_gone = done.send(());
                        result
                    })
                })
            };
            let out = read(stdout, output);
            let err = read(stderr, Output::Capture);
            drop(done);

            let waited = wait(&mut child, &finished, &bounds);
            if waited.is_err() {
                ending::tell_group(&child, Signal::KILL);
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

    /// Starts it in a session of its own, without streams, and does not wait for it. It leads the session from its
    /// first moment: when a pane is closed, what still is in the terminal's foreground is hung up.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn start_detached(self) -> std::io::Result<()> {
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // SAFETY: one system call between fork and exec, no allocation and no lock.
        unsafe { command.pre_exec(|| Ok(rustix::process::setsid().map(drop)?)) };
        command.spawn().map(drop)
    }

    /// Starts it in a session of its own, whose terminal this is, for all three streams.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn start_on_terminal(self, terminal: OwnedFd) -> std::io::Result<Child> {
        let mut command = self.command();
        command.stdin(terminal.try_clone()?).stdout(terminal.try_clone()?).stderr(terminal);
        // SAFETY: two system calls between fork and exec, no allocation and no lock.
        unsafe {
            command.pre_exec(|| {
                rustix::process::setsid()?;
                Ok(rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?)
            });
        }
        command.spawn()
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
