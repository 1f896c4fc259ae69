//! `cos shell`: a shell in a new box, which goes with it.

use super::clean_up;
use super::egress;
use super::environment;
use super::make::{self, Wish};
use super::name::command;
use super::project::Project;
use super::providers::Providers;
use super::refused::refused;
use super::say::{report, say};
use super::state::{BoxRecord, StateFolder};
use crate::cli::ShellArgs;
use crate::createos::{BoxName, StartSpec};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::journey::Stop;
use crate::ui;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};

const START: &str = "cos-sh";
const SHAPE: &str = "s-1vcpu-1gb";

/// Opens it, and deletes the box when it has ended, however that was.
///
/// # Errors
/// There is no terminal, or the provider refuses.
pub(super) fn shell(providers: &Providers, args: &ShellArgs) -> Result<Exit> {
    if !(ui::is_on_terminal() && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        return Err(Error::failed("a shell needs a terminal")
            .help(format!("type it in a terminal of your own: {}", command("shell")))
            .help(format!("for one command: {}", command("offload").flag("--help"))));
    }
    let here = std::env::current_dir().unwrap_or_default();
    let egress = egress::rules(&args.of, providers.paths.home(), &here)?;
    let wish = Wish::read(&args.of, SHAPE, egress, environment::read(&args.env)?)?;
    let state = StateFolder::of(&providers.paths)?;
    let project = Project::here()?;
    clean_up::tidy(&state, &project.key)?;
    let provider = providers.new_boxes()?;
    wish.tell_of_egress();
    let named: Arc<Mutex<Option<BoxName>>> = Arc::default();
    let lock = |named: &Mutex<Option<BoxName>>| named.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let stop = Stop::watch("interrupted", {
        let (state, named) = (state.clone(), Arc::clone(&named));
        move || lock(&named).map_or(Ok(()), |name| clean_up::start(&state, &name))
    })?;
    let record =
        BoxRecord::new(make::name(START)?, provider.kind(), &project.key, project.root.clone(), "shell");
    let stopping = provider.clone().stop_when(stop.flag());
    let outcome = make::make(&stopping, &state, record, START, &wish, &|name| {
        *named.lock().unwrap_or_else(PoisonError::into_inner) = Some(name.clone());
    });
    let ended = outcome.map_err(Error::from).and_then(|made| {
        let size = ui::terminal::size();
        let spec = StartSpec {
            folder: String::from("/"),
            variables: Vec::new(),
            cwd: String::from("/"),
            rows: size.map_or(24, |size| size.rows),
            cols: size.map_or(80, |size| size.cols),
            program: "/bin/bash".into(),
            args: vec!["-lc".into(), "cd; exec bash -l".into()],
        };
        let shown = stopping.process_start(&made.id, &spec).map_err(refused).and_then(|process| {
            say(format!("box {}: it goes with this shell", made.owned.record.name));
            let ended = provider
                .attach(&made.id, &process.id, crate::config::DetachKey::default())
                .run()
                .map_err(|error| Error::failed(error.to_string()))?;
            let view = provider.process_get(&made.id, &process.id);
            Ok(view.ok().and_then(|view| view.exit_code).unwrap_or_else(|| ended.code().into()))
        });
        if stop.raised() {
            return shown;
        }
        let deleted = made.delete();
        let code = shown?;
        deleted.inspect_err(report).map_or(Ok(code.max(1)), |()| Ok(code))
    });
    match stop.signal() {
        Some(signal) => {
            drop(ended);
            let _still_going_on = lock(&named).is_none_or(|name| clean_up::is_done(&state, &name));
            Ok(Exit::of_program(128 + signal))
        }
        None => ended.map(Exit::of_program),
    }
}
