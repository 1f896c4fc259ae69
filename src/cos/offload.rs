//! `cos offload`: a folder into a new box, a command there, and the box is gone.

use super::clean_up;
use super::egress;
use super::environment;
use super::home::{self, Wanted};
use super::make::{self, Made, Wish};
use super::name::command;
use super::project::Project;
use super::providers::Providers;
use super::refused::{refused, unfollowed, with_ways};
use super::run::{self, PIPE};
use super::say::{report, say};
use super::ship;
use super::state::{BoxRecord, StateFolder};
use crate::cli::OffloadArgs;
use crate::config::ProviderKind;
use crate::createos::{BoxName, Provider, Unfollowed};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::journey::{self, ProviderBox, Stop, Upload};
use crate::merge::Remote;
use crate::templates;
use crate::worktree::{self, Pattern, Selection};
use serde::Deserialize;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// How the names of its boxes begin.
const START: &str = "cos-o";
const SHAPE: &str = "s-1vcpu-1gb";
/// Where the folder is in a box.
pub(super) const WORK: &str = "/work";

/// Unpacks the archive `$1` into /work.
const UNPACK: &str = r#"mkdir -p /work && tar -xzf "$1" -C /work && rm -f "$1""#;
/// Makes `$1` GB of swap.
const SWAP: &str =
    r#"fallocate -l "${1}G" /cos.swap && chmod 600 /cos.swap && mkswap /cos.swap && swapon /cos.swap"#;

/// What a command line asks for, judged.
struct Offload {
    dir: PathBuf,
    line: OsString,
    wanted: Option<Wanted>,
    wish: Wish,
    keep: bool,
    swap: Option<u16>,
}

/// Runs it: the command's exit code, or ours.
///
/// # Errors
/// Wrong use, or a failure of ours or of the provider.
pub(super) fn offload(providers: &Providers, args: &OffloadArgs) -> Result<Exit> {
    let dir = ship::folder(&args.dir)?;
    let patterns: Vec<Pattern> = args.exclude.iter().map(|text| text.parse()).collect::<Result<_>>()?;
    let wanted = args.out.as_deref().map(Wanted::read).transpose()?;
    let env = environment::read(&args.env)?;
    if args.dry_run {
        let selection = ship::select(&dir, providers.paths.home(), &providers.config, &patterns)?;
        let judged = worktree::judge(&selection, &mut |_, _| {})?;
        journey::list(&selection, &judged, "folder", "cos.json");
        return Ok(Exit::DONE);
    }
    let line = run::line(&args.command)?;
    let egress = egress::rules(&args.of, providers.paths.home(), &dir)?;
    let wish = Wish::read(&args.of, SHAPE, egress, env)?;
    let asked = Offload { dir, line, wanted, wish, keep: args.keep_on_fail, swap: args.swap };

    let state = StateFolder::of(&providers.paths)?;
    let project = Project::here()?;
    clean_up::tidy(&state, &project.key)?;
    let provider = providers.new_boxes()?;
    let selection = ship::select(&asked.dir, providers.paths.home(), &providers.config, &patterns)?;

    // The name of the box that the clean-up is for, as soon as there can be one.
    let named: Arc<Mutex<Option<BoxName>>> = Arc::default();
    let stop = Stop::watch("interrupted", {
        let (state, named) = (state.clone(), Arc::clone(&named));
        move || match &*lock(&named) {
            Some(name) => clean_up::start(&state, name),
            None => Ok(()),
        }
    })?;
    let provider = provider.stop_when(stop.flag());
    let outcome = asked.run(&provider, &state, &project, &selection, &stop, &|name| {
        *lock(&named) = Some(name.clone());
    });
    let Some(signal) = stop.signal() else { return outcome };
    // What was made is the clean-up's: this call has let go of it.
    drop(outcome);
    if let Some(name) = lock(&named).take()
        && !clean_up::is_done(&state, &name)
    {
        say(format!("box {name} is still being deleted; see what is left: {}", command("status")));
    }
    Ok(Exit::of_program(128 + signal))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Offload {
    fn run(
        &self,
        provider: &Provider,
        state: &StateFolder,
        project: &Project,
        selection: &Selection,
        stop: &Stop,
        on_name: &dyn Fn(&BoxName),
    ) -> Result<Exit> {
        self.wish.tell_of_egress();
        warn_of_memory(&self.wish, &self.line);
        let upload = pack(state, selection, stop)?;
        stop.check()?;
        let record =
            BoxRecord::new(make::name(START)?, provider.kind(), &project.key, self.dir.clone(), "offload");
        let mut made = make::make(provider, state, record, START, &self.wish, on_name)?;
        if let Err(error) = fill(&made, &upload) {
            return Err(made.failed(error));
        }
        drop(upload);
        if let Some(size) = self.swap {
            swap(&made, size);
        }
        let mut run = match made.provider.start_run(&made.id, WORK, &self.line) {
            Ok(run) => run,
            Err(failure) => return Err(made.failed(refused(failure))),
        };
        made.owned.change(|record| record.process = run.process.clone())?;
        let outcome = run::to_stdout(&made.provider, &made.id, &mut run);
        stop.check()?;
        self.end(made, outcome, state)
    }

    /// Brings home what was asked for, and deletes or keeps the box.
    fn end(&self, made: Made, outcome: Result<u8, Unfollowed>, state: &StateFolder) -> Result<Exit> {
        let code = match outcome {
            Ok(code) => code,
            Err(why) if run::is_unread(&why) => {
                made.delete()?;
                return Ok(Exit::of_program(PIPE));
            }
            Err(why) => {
                let error = with_ways(unfollowed(why), &made.provider, made.id.as_str());
                made.keep()?;
                return Err(error.fact("kept", "the box is kept, for its command may run on"));
            }
        };
        let mut failed = false;
        if let Some(wanted) = &self.wanted {
            match home::bring(&made.provider, &made.id, wanted, &self.dir, state.path()) {
                Ok(Some(count)) => {
                    say(format!("{} came home: {}", wanted.text, crate::ui::count(count as u64, "file")))
                }
                Ok(None) => {
                    failed = true;
                    say(format!("{} is not there in the box: nothing came home", wanted.text));
                }
                Err(error) => {
                    failed = true;
                    report(&error);
                }
            }
        }
        if self.keep && code != 0 {
            let told = Error::failed(format!("exit code {code}: the box is kept"));
            report(&with_ways(told, &made.provider, made.id.as_str()));
            made.keep()?;
        } else if let Err(error) = made.delete() {
            failed = true;
            report(&error);
        }
        Ok(Exit::of_program(if failed { code.max(1) } else { code }))
    }
}

/// Packs a selection, and says what stayed home for a secret.
pub(super) fn pack(state: &StateFolder, selection: &Selection, stop: &Stop) -> Result<Upload> {
    let folder = state.make("")?;
    let help = || ship::largest_folders(selection);
    let upload = Upload::pack(selection, &folder, ship::LARGEST, stop.flag(), &help, &mut |_, _| {})?;
    ship::tell_of_secrets(&upload.packed);
    if upload.packed.base.is_empty() {
        say("no file leaves: /work is empty in the box");
    }
    Ok(upload)
}

/// Brings the upload to /work.
pub(super) fn fill(made: &Made, upload: &Upload) -> Result<()> {
    let mut remote = ProviderBox::new(made.provider.clone(), made.id.clone());
    upload.push(&mut remote, &mut |_| {})?;
    let place = upload.place().to_owned();
    let unpacked = remote.exec_long(UNPACK, &[&place], &mut |_| {})?;
    if unpacked.code != 0 {
        return Err(Error::failed(format!(
            "the upload could not be unpacked in the box: exit code {}",
            unpacked.code
        ))
        .fact("it said", unpacked.stdout.trim())
        .help("the image needs bash, tar and gzip, and room for the files"));
    }
    Ok(())
}

/// Never fails: a box without it may do.
fn swap(made: &Made, size: u16) {
    if made.provider.kind() == ProviderKind::Local {
        say("-w: a local box has this machine's memory and swap");
        return;
    }
    let limit = std::time::Duration::from_secs(120);
    let done = made.provider.exec(&made.id, SWAP, &[&size.to_string()], limit);
    match done {
        Ok(said) if said.code == 0 => {}
        Ok(said) => say(format!("-w: no swap in this box ({})", said.stderr.trim())),
        Err(failure) => say(format!("-w: no swap in this box ({})", failure.words)),
    }
}

#[derive(Deserialize)]
struct Heavy {
    heavy: Vec<String>,
}

static HEAVY: LazyLock<Heavy> = LazyLock::new(|| templates::read(include_str!("../../templates/cos.toml")));

/// Says so when a command is known to need more memory than the box has.
pub(super) fn warn_of_memory(wish: &Wish, line: &OsString) {
    let line = line.to_string_lossy();
    let is_small = wish
        .shape
        .as_str()
        .rsplit('-')
        .next()
        .is_some_and(|memory| memory.ends_with("mb") || memory == "1gb");
    let is_in = |word: &&String| {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        line.match_indices(word.as_str()).any(|(at, _)| {
            let (before, after) = (line[..at].chars().next_back(), line[at + word.len()..].chars().next());
            !before.is_some_and(is_letter) && !after.is_some_and(is_letter)
        })
    };
    if let Some(word) = HEAVY.heavy.iter().find(is_in).filter(|_| is_small) {
        let shape = wish.shape.as_str();
        say(format!(
            "{word} may need more memory than {shape} has: if it is killed, take a larger one with -s"
        ));
    }
}
