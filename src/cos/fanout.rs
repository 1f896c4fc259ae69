//! `cos fanout`: a folder is packed once, and each command runs in a new box of its own.

use super::clean_up;
use super::egress;
use super::environment;
use super::make::{self, Made, Wish};
use super::name::command;
use super::offload::{WORK, fill, pack, warn_of_memory};
use super::project::Project;
use super::providers::Providers;
use super::refused::{refused, unfollowed};
use super::run;
use super::say::{report, say};
use super::ship;
use super::state::{BoxRecord, StateFolder, new_run_folder};
use crate::cli::FanoutArgs;
use crate::createos::{BoxName, Provider};
use crate::error::{Error, IoContext, Result};
use crate::exit::Exit;
use crate::journey::{Stop, Upload};
use crate::ui;
use crate::worktree::Pattern;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

const START: &str = "cos-fo";
const SHAPE: &str = "s-1vcpu-1gb";
/// The box could not be made.
const UNMADE: u8 = 127;

/// Runs them: 0 when all have ended well, else 1.
///
/// # Errors
/// Wrong use, or a failure before the first box.
pub(super) fn fanout(providers: &Providers, args: &FanoutArgs) -> Result<Exit> {
    let dir = ship::folder(&args.dir)?;
    let patterns: Vec<Pattern> = args.exclude.iter().map(|text| text.parse()).collect::<Result<_>>()?;
    let env = environment::read(&args.env)?;
    let lines: Vec<OsString> = args
        .commands
        .iter()
        .map(|command| run::line(std::slice::from_ref(command)))
        .collect::<Result<_>>()?;
    let egress = egress::rules(&args.of, providers.paths.home(), &dir)?;
    let wish = Wish::read(&args.of, SHAPE, egress, env)?;
    let state = StateFolder::of(&providers.paths)?;
    let project = Project::here()?;
    clean_up::tidy(&state, &project.key)?;
    let provider = providers.new_boxes()?;
    let selection = ship::select(&dir, providers.paths.home(), &providers.config, &patterns)?;
    wish.tell_of_egress();
    lines.iter().for_each(|line| warn_of_memory(&wish, line));

    let names: Arc<Mutex<Vec<BoxName>>> = Arc::default();
    let stop = Stop::watch("interrupted", {
        let (state, names) = (state.clone(), Arc::clone(&names));
        move || lock(&names).iter().try_for_each(|name| clean_up::start(&state, name))
    })?;
    let upload = pack(&state, &selection, &stop)?;
    stop.check()?;
    let folder = new_run_folder(&state)?;
    let jobs = Jobs {
        provider: provider.stop_when(stop.flag()),
        state: &state,
        project: &project,
        wish: &wish,
        upload: &upload,
        dir: &dir,
        folder: &folder,
        lines: &lines,
        names: &names,
        queue: Mutex::new(Queue {
            waiting: (0..lines.len()).collect(),
            running: 0,
            most: usize::from(args.jobs),
            codes: vec![None; lines.len()],
        }),
        changed: Condvar::new(),
    };
    let failed = jobs.run(&stop)?;
    let Some(signal) = stop.signal() else { return Ok(Exit::failed_if(failed)) };
    for name in lock(&names).iter() {
        if !clean_up::is_done(&state, name) {
            say(format!("box {name} is still being deleted; see what is left: {}", command("status")));
        }
    }
    Ok(Exit::of_program(128 + signal))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Queue {
    waiting: VecDeque<usize>,
    running: usize,
    /// So many at once; fewer when the account has no more boxes.
    most: usize,
    codes: Vec<Option<u8>>,
}

struct Jobs<'a> {
    provider: Provider,
    state: &'a StateFolder,
    project: &'a Project,
    wish: &'a Wish,
    upload: &'a Upload,
    dir: &'a Path,
    folder: &'a Path,
    lines: &'a [OsString],
    names: &'a Mutex<Vec<BoxName>>,
    queue: Mutex<Queue>,
    changed: Condvar,
}

/// How a job has ended.
enum Done {
    Code(u8),
    /// There are as many boxes as the account may have, and others of ours are among them.
    Later,
}

impl Jobs<'_> {
    /// Runs all, and prints the output of each in the order of the command line; whether one failed.
    fn run(&self, stop: &Stop) -> Result<bool> {
        let workers = lock(&self.queue).most.min(self.lines.len());
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    while let Some(number) = self.next(stop) {
                        let began = Instant::now();
                        let done = self.one(number);
                        self.ended(number, done, began);
                    }
                });
            }
            let mut failed = false;
            for number in 0..self.lines.len() {
                let Some(code) = self.code_of(number, stop) else { return Ok(true) };
                failed |= code != 0;
                show(&self.log(number))?;
            }
            Ok(failed)
        })
    }

    fn log(&self, number: usize) -> PathBuf {
        self.folder.join(format!("{}.log", number + 1))
    }

    /// The next job, as soon as there is room for it.
    fn next(&self, stop: &Stop) -> Option<usize> {
        let mut queue = lock(&self.queue);
        loop {
            if stop.raised() || queue.codes.iter().all(Option::is_some) {
                return None;
            }
            if queue.running < queue.most
                && let Some(number) = queue.waiting.pop_front()
            {
                queue.running += 1;
                return Some(number);
            }
            queue = self.wait(queue);
        }
    }

    fn wait<'q>(&self, queue: MutexGuard<'q, Queue>) -> MutexGuard<'q, Queue> {
        // A signal wakes nobody: it is looked for.
        let look = std::time::Duration::from_millis(100);
        self.changed.wait_timeout(queue, look).unwrap_or_else(PoisonError::into_inner).0
    }

    fn code_of(&self, number: usize, stop: &Stop) -> Option<u8> {
        let mut queue = lock(&self.queue);
        loop {
            match queue.codes[number] {
                Some(code) => return Some(code),
                None if stop.raised() => return None,
                None => queue = self.wait(queue),
            }
        }
    }

    fn ended(&self, number: usize, done: Done, began: Instant) {
        let mut queue = lock(&self.queue);
        queue.running -= 1;
        match done {
            Done::Code(code) => {
                queue.codes[number] = Some(code);
                let line = ui::visible_line(&self.lines[number].to_string_lossy());
                let log = self.log(number);
                let seconds = began.elapsed().as_secs();
                say(format!("{} exit {code}, {seconds} s, {}: {line}", self.tag(number), log.display()));
            }
            Done::Later => {
                queue.most = queue.running.max(1);
                queue.waiting.push_front(number);
                say(format!("the account has no more boxes: going on with {} at once", queue.most));
            }
        }
        drop(queue);
        self.changed.notify_all();
    }

    fn tag(&self, number: usize) -> String {
        format!("[{}/{}]", number + 1, self.lines.len())
    }

    fn one(&self, number: usize) -> Done {
        let failed = |code: u8, error: &Error| {
            say(format!("{} {}", self.tag(number), error.message()));
            error.facts().iter().for_each(|(label, value)| say(format!("  {label}: {value}")));
            error.hints().iter().for_each(|hint| say(format!("  help: {hint}")));
            Done::Code(code)
        };
        let name = match make::numbered_name(START, number + 1) {
            Ok(name) => name,
            Err(error) => return failed(UNMADE, &error),
        };
        let (kind, key) = (self.provider.kind(), &self.project.key);
        let record = BoxRecord::new(name, kind, key, self.dir.to_path_buf(), "fanout");
        let on_name = |name: &BoxName| lock(self.names).push(name.clone());
        let mut made = match make::make(&self.provider, self.state, record, START, self.wish, &on_name) {
            Ok(made) => made,
            Err(unmade) if unmade.is_cap && lock(&self.queue).running > 1 => return Done::Later,
            Err(unmade) => return failed(UNMADE, &unmade.error),
        };
        match self.work(&mut made, number) {
            // The clean-up has it.
            Err(_) if self.is_interrupted(&made) => Done::Code(1),
            outcome => {
                let deleted = made.delete();
                if let Err(error) = &deleted {
                    report(error);
                }
                match outcome {
                    Ok(code) => Done::Code(if deleted.is_err() { code.max(1) } else { code }),
                    Err(error) => failed(1, &error),
                }
            }
        }
    }

    fn is_interrupted(&self, made: &Made) -> bool {
        made.provider.is_stopped()
    }

    fn work(&self, made: &mut Made, number: usize) -> Result<u8> {
        let path = self.log(number);
        let mut log = File::create(&path).at("create", &path)?;
        fill(made, self.upload)?;
        let mut started = made.provider.start_run(&made.id, WORK, &self.lines[number]).map_err(refused)?;
        made.owned.change(|record| record.process.clone_from(&started.process))?;
        let who = format!("{} ", self.tag(number));
        run::follow(&made.provider, &made.id, &mut started, &who, &mut |bytes| log.write_all(bytes))
            .map_err(unfollowed)
    }
}

/// Prints the whole log of a job; one whose box was not made has none.
fn show(log: &Path) -> Result<()> {
    let Ok(mut file) = File::open(log) else { return Ok(()) };
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = file.read(&mut buffer).at("read", log)?;
        if count == 0 {
            return Ok(());
        }
        ui::unless_closed(ui::raw(&buffer[..count])).at("write to", Path::new("stdout"))?;
    }
}
