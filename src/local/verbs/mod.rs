//! The provider's verbs: from the command line to the store and back to words.

mod confirm;
mod create;
mod exec;
mod fork;
mod interrupt;
mod list;
mod ports;
mod process;
mod rm;
mod transfer;

use crate::cli::{BoxRef, LocalArgs, LocalCommand, SandboxVerb};
use crate::exit::Exit;
use crate::local::boxes::local_box::LocalBox;
use crate::local::boxes::pause;
use crate::local::boxes::store::{BoxStore, LiveOrGone};
use crate::local::failure::Result;
use crate::local::inside;
use crate::local::keeper;
use crate::local::output::{self, OutputMode};
use crate::local::process::supervisor;
use crate::paths::Paths;
use crate::ui;
use serde_json::{Value, json};

/// Runs a command of the provider; gives the exit code, everything has been shown.
pub(crate) fn run(args: LocalArgs) -> Exit {
    let verb = match args.command {
        LocalCommand::Enter => return Exit::of_program(inside::main()),
        LocalCommand::Supervise => return supervisor::main(),
        LocalCommand::Keep => return keeper::serve::main(),
        LocalCommand::Sandbox { verb } => verb,
    };
    let output = args.output.as_deref();
    let mode = match &verb {
        // These are text, whatever was said (docs/measured/createos-cli.md 1).
        SandboxVerb::Exec(_) | SandboxVerb::Rm { .. } => OutputMode::Text,
        _ => OutputMode::from_flag(output),
    };
    match sandbox(verb, mode) {
        Ok(code) => code,
        Err(failure) => mode.fail(&failure),
    }
}

fn sandbox(verb: SandboxVerb, mode: OutputMode) -> Result<Exit> {
    let paths = Paths::from_env()?;
    if !matches!(verb, SandboxVerb::List(_) | SandboxVerb::Get(_)) {
        paths.refuse_foreign_home(&paths.boxes())?;
    }
    let store = BoxStore::open(&paths);
    match verb {
        SandboxVerb::Create(args) => create::create(&store, args, mode),
        SandboxVerb::List(args) => list::list(&store, &args, mode),
        SandboxVerb::Get(BoxRef { reference }) => {
            let view = match store.find(&reference)? {
                LiveOrGone::Live(mut found) => {
                    pause::settle(&mut found)?;
                    found.view()
                }
                LiveOrGone::Gone(gone) => gone.view(),
            };
            mode.show(&view, || output::facts(&view));
            Ok(Exit::DONE)
        }
        SandboxVerb::Exec(args) => exec::exec(&store, args),
        SandboxVerb::Push { of: BoxRef { reference }, local, remote } => {
            let count = transfer::push(&mut store.live(&reference)?, &local, &remote)?;
            ui::note(format!("Pushed {} to {}", ui::bytes(count), ui::visible(&remote.to_string_lossy())));
            Ok(Exit::DONE)
        }
        SandboxVerb::Pull { of: BoxRef { reference }, remote, local } => {
            let count = transfer::pull(&mut store.live(&reference)?, &remote, &local)?;
            ui::note(format!("Pulled {} from {}", ui::bytes(count), ui::visible(&remote.to_string_lossy())));
            Ok(Exit::DONE)
        }
        SandboxVerb::Pause(BoxRef { reference }) => {
            let mut found = store.live(&reference)?;
            pause::pause(&mut found)?;
            changed("paused", &found, mode);
            Ok(Exit::DONE)
        }
        SandboxVerb::Resume(BoxRef { reference }) => {
            let mut found = store.live(&reference)?;
            pause::resume(&mut found)?;
            changed("resumed", &found, mode);
            Ok(Exit::DONE)
        }
        SandboxVerb::Fork(args) => fork::fork(&store, &args, mode),
        SandboxVerb::Process { verb } => process::run(&store, verb, mode),
        SandboxVerb::Ports(args) => ports::ports(&store, &args, mode),
        SandboxVerb::Rm { yes, references } => rm::rm(&store, yes, &references),
    }
}

/// The action object with the view merged in (docs/measured/createos-cli.md 4.1).
fn changed(action: &str, found: &LocalBox, mode: OutputMode) {
    let mut document = json!({ "action": action });
    if let (Value::Object(document), Value::Object(view)) = (&mut document, found.view()) {
        document.extend(view);
    }
    mode.show(&document, || format!("Sandbox {} is {}", found.meta.name, found.meta.status.word()));
}
