//! The provider's verbs: from the command line to the store and back to words.

mod exec;
mod process;
mod transfer;

use crate::cli::{CreateArgs, ExecArgs, ListArgs, LocalArgs, LocalCommand, SandboxVerb};
use crate::error::Error;
use crate::local::boxes::id::{BoxId, BoxName};
use crate::local::boxes::meta::{Meta, ROOTFS, Status, VERSION, now};
use crate::local::boxes::pause;
use crate::local::boxes::shape::{self, Shape};
use crate::local::boxes::store::{Found, LocalBox, Store};
use crate::local::entry::{environment, probe};
use crate::local::failure::Result;
use crate::local::inside;
use crate::local::output::{self, Mode};
use crate::local::process::supervisor;
use crate::paths::Paths;
use crate::ui;
use exec::Exec;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Runs a command of the provider; gives the exit code, everything has been shown.
pub(crate) fn run(args: LocalArgs) -> u8 {
    let verb = match args.command {
        LocalCommand::Enter => return inside::main(),
        LocalCommand::Supervise => return supervisor::main(),
        LocalCommand::Sandbox { verb } => verb,
    };
    let output = args.output.as_deref();
    let mode = match &verb {
        // These are text, whatever was said (contract `createos-cli.md` 0.1).
        SandboxVerb::Exec(_) | SandboxVerb::Rm { .. } => Mode::Text,
        _ => Mode::of(output),
    };
    match sandbox(verb, mode) {
        Ok(code) => code,
        Err(failure) => mode.fail(&failure),
    }
}

fn sandbox(verb: SandboxVerb, mode: Mode) -> Result<u8> {
    let paths = Paths::from_env()?;
    if !matches!(verb, SandboxVerb::List(_) | SandboxVerb::Get { .. }) {
        paths.refuse_foreign_home(&paths.boxes())?;
    }
    let store = Store::open(&paths);
    match verb {
        SandboxVerb::Create(args) => create(&store, args, mode),
        SandboxVerb::List(args) => list(&store, &args, mode),
        SandboxVerb::Get { reference } => {
            let view = match store.find(&reference)? {
                Found::Live(mut found) => {
                    pause::settle(&mut found)?;
                    found.meta.view()
                }
                Found::Gone(gone) => gone.view(),
            };
            mode.show(&view, || facts(&view));
            Ok(0)
        }
        SandboxVerb::Exec(args) => run_in(&store, args),
        SandboxVerb::Push { reference, local, remote } => {
            let count = transfer::push(&mut store.live(&reference)?, &local, &remote)?;
            ui::note(format!("Pushed {} to {}", ui::bytes(count), ui::visible(&remote.to_string_lossy())));
            Ok(0)
        }
        SandboxVerb::Pull { reference, remote, local } => {
            let count = transfer::pull(&mut store.live(&reference)?, &remote, &local)?;
            ui::note(format!("Pulled {} from {}", ui::bytes(count), ui::visible(&remote.to_string_lossy())));
            Ok(0)
        }
        SandboxVerb::Pause { reference } => {
            let mut found = store.live(&reference)?;
            pause::pause(&mut found)?;
            changed("paused", &found, mode);
            Ok(0)
        }
        SandboxVerb::Resume { reference } => {
            let mut found = store.live(&reference)?;
            pause::resume(&mut found)?;
            changed("resumed", &found, mode);
            Ok(0)
        }
        SandboxVerb::Process { verb } => process::run(&store, verb, mode),
        SandboxVerb::Rm { yes, references } => remove(&store, yes, &references),
    }
}

fn create(store: &Store, args: CreateArgs, mode: Mode) -> Result<u8> {
    if !args.egress.is_empty() {
        return Err(Error::usage("--egress: a local sandbox cannot enforce an allow-list, so it takes none")
            .help("use --network none for a sandbox without any network, or leave --egress out")
            .into());
    }
    let network_none = match args.network.as_deref() {
        None => false,
        Some("none") => true,
        Some(other) => {
            return Err(Error::usage(format!("--network \"{other}\": a local sandbox knows only `none`"))
                .help("without --network it shares this machine's network")
                .into());
        }
    };
    if let Some(rootfs) = args.rootfs.as_deref()
        && ![ROOTFS, "devbox:1"].contains(&rootfs)
    {
        return Err(Error::usage(format!(
            "rootfs \"{rootfs}\": a local sandbox has this machine's programs and no images, choices: [{ROOTFS}]"
        ))
        .into());
    }
    let name = args.name.map_or_else(|| Ok(BoxName::fresh()), |name| name.parse())?;
    let meta = Meta {
        version: VERSION,
        id: BoxId::fresh(),
        name,
        shape: args.shape.parse::<Shape>()?,
        created_at: now(),
        uid: None,
        network_none,
        env: environment::parse(&args.env)?,
        auto_pause_after_seconds: args.auto_pause.as_deref().map(shape::auto_pause).transpose()?,
        status: Status::Running,
        paused_at: None,
        last_resumed_at: None,
    };
    // A box that cannot be entered must not exist.
    probe::probe_network(meta.network_none)?;
    let made = store.create(meta)?.meta;
    let mut document = json!({ "action": "created" });
    merge(&mut document, made.view());
    merge(&mut document, json!({ "ip": "", "ingress_url": "", "shell_command": "" }));
    mode.show(&document, || {
        let network = if made.network_none { "none" } else { "this machine's" };
        format!("Sandbox {} ({})\n  size     {}\n  network  {network}", made.name, made.id, made.shape)
    });
    Ok(0)
}

/// The action object with the view merged in (contract 4.8).
fn changed(action: &str, found: &LocalBox, mode: Mode) {
    let mut document = json!({ "action": action });
    if let (Value::Object(document), Value::Object(view)) = (&mut document, found.meta.view()) {
        document.extend(view);
    }
    mode.show(&document, || format!("Sandbox {} is {}", found.meta.name, found.meta.status.word()));
}

fn merge(document: &mut Value, more: Value) {
    if let (Value::Object(document), Value::Object(more)) = (document, more) {
        // The status belongs to `get`; create has none (contract 4.1).
        document.extend(more.into_iter().filter(|(key, _)| key != "status"));
    }
}

fn list(store: &Store, args: &ListArgs, mode: Mode) -> Result<u8> {
    let mut rows = Vec::new();
    for mut found in store.all()? {
        // A box that is being deleted just now is still shown as it was.
        let _changing = pause::settle(&mut found);
        rows.push(found.meta.view());
    }
    let destroyed = Status::Destroyed.word();
    if args.all || args.status.as_deref() == Some(destroyed) {
        rows.extend(store.tombstones()?.iter().map(crate::local::boxes::meta::Tombstone::view));
    }
    if let Some(status) = &args.status {
        rows.retain(|row| row["status"] == status.as_str());
    }
    let rows: Vec<Value> = rows.into_iter().skip(args.offset).take(args.limit).collect();
    if args.quiet {
        rows.iter().for_each(|row| ui::line(row["id"].as_str().unwrap_or_default()));
        return Ok(0);
    }
    mode.show(&json!(rows), || {
        if rows.is_empty() {
            return "There are no local sandboxes.".into();
        }
        let keys = ["id", "name", "status", "shape", "created_at"];
        let cell = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let cells: Vec<Vec<String>> =
            rows.iter().map(|row| keys.iter().map(|key| cell(row, key)).collect()).collect();
        output::table(&["ID", "NAME", "STATUS", "SHAPE", "CREATED"], &cells)
    });
    Ok(0)
}

/// A view as aligned lines.
pub(crate) fn facts(view: &Value) -> String {
    let members: Vec<(String, String)> = view
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            // A line feed would begin a line that poses as another fact.
            (key.clone(), ui::visible(&text).replace('\n', "\\x0a"))
        })
        .collect();
    let width = members.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
    members.iter().map(|(key, value)| format!("{key:width$}  {value}")).collect::<Vec<_>>().join("\n")
}

fn run_in(store: &Store, args: ExecArgs) -> Result<u8> {
    let mut found = store.live(&args.reference)?;
    let exec = Exec {
        stream: args.stream,
        env: environment::parse(&args.env)?,
        stdin: args.stdin,
        argv: args.command.into_iter().map(OsString::into_vec).collect(),
    };
    let code = exec::run(&mut found, exec)?;
    // The time without activity begins when the program has ended. The box may be gone by now.
    let _gone = pause::touch(&found);
    Ok(code)
}

/// A line for each box: that it is deleted, or why not. One that stays is exit code 1.
fn remove(store: &Store, yes: bool, references: &[String]) -> Result<u8> {
    let shown: Vec<String> = references.iter().map(|reference| ui::visible(reference)).collect();
    if !yes && !confirmed("Delete", &shown.join(", "))? {
        return Ok(1);
    }
    let mut code = 0;
    for (reference, shown) in references.iter().zip(&shown) {
        match store.remove(reference) {
            Ok((id, Some(name))) if *reference != id.as_str() => ui::line(format!("Deleted {name} ({id})")),
            Ok((id, Some(_))) => ui::line(format!("Deleted {id}")),
            Ok((id, None)) => ui::line(format!("Deleted {id}, whose record was damaged")),
            Err(failure) => {
                code = 1;
                let error = failure.into_error();
                let told = Error::new(error.kind(), format!("{shown}: {}", error.message()));
                let told = error.facts().iter().fold(told, |told, (label, value)| told.fact(label, value));
                ui::report(&error.hints().iter().fold(told, Error::help));
            }
        }
    }
    if let Err(failure) = store.tidy() {
        ui::note(format!("warning: {}", ui::visible(failure.error().message())));
    }
    Ok(code)
}

/// Asks a person; where there is none, says how to do without.
pub(crate) fn confirmed(doing: &str, what: &str) -> Result<bool> {
    if !ui::is_on_terminal() {
        return Err(Error::usage("non-interactive mode: use --force to confirm").into());
    }
    Ok(ui::confirm(&format!("{doing} {}?", ui::visible(what)), false)?)
}
