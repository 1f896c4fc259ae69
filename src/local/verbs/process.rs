//! `process start | list | get | resize | signal | stop | attach`.

use super::confirm::confirmed;
use crate::cli::{ProcessRef, ProcessVerb, StartArgs};
use crate::error::Error;
use crate::exit::Exit;
use crate::local::boxes::id::LocalProcessId;
use crate::local::boxes::meta::now;
use crate::local::boxes::record::{self, KeptOutput, ProcessRecord};
use crate::local::boxes::renew::renew;
use crate::local::boxes::signals;
use crate::local::boxes::store::BoxStore;
use crate::local::entry::environment;
use crate::local::failure::{Failure, Result};
use crate::local::output::{self, OutputMode};
use crate::local::process::attach;
use crate::local::process::launch::background;
use crate::local::process::supervisor::{Brief, SupervisorAnswer};
use crate::local::process::talk::{PATIENCE, ask, talk};
use crate::local::wire::hello::Hello;
use crate::local::wire::spec::Bytes;
use crate::ui::terminal::{self, Size};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

pub(crate) fn run(store: &BoxStore, verb: ProcessVerb, mode: OutputMode) -> Result<Exit> {
    match verb {
        ProcessVerb::Start(args) => start(store, args, mode),
        ProcessVerb::List { reference } => {
            let found = store.live(&reference)?;
            let views: Vec<Value> = record::all(&found)?.iter().map(view).collect();
            mode.show(&json!(views), || table(&views));
            Ok(Exit::DONE)
        }
        ProcessVerb::Get(ProcessRef { reference, process }) => {
            let found = store.live(&reference)?;
            let view = view(&record::read(&found, &process.parse()?)?);
            mode.show(&view, || output::facts(&view));
            Ok(Exit::DONE)
        }
        ProcessVerb::Resize { rows, cols, of: ProcessRef { reference, process } } => {
            let found = store.live(&reference)?;
            found.must_run()?;
            let here = terminal::size_at_either_end().filter(|_| std::io::stdin().is_terminal());
            let size = match (rows.or(here.map(|here| here.rows)), cols.or(here.map(|here| here.cols))) {
                (Some(rows), Some(cols)) => Size { rows, cols },
                _ => return Err(Error::usage("there is no terminal here: give --rows and --cols").into()),
            };
            let record = record::read(&found, &process.parse()?)?;
            if !record.pty || !record.is_running() {
                let what = if record.pty { "has ended" } else { "has no terminal" };
                return Err(Failure::conflict(format!("process {} {what}", record.process_id)));
            }
            talk(&record, &Hello::Resize(size), PATIENCE)?;
            Ok(Exit::DONE)
        }
        ProcessVerb::Signal { of: ProcessRef { reference, process }, signal } => {
            let found = store.live(&reference)?;
            found.must_run()?;
            let number = signals::number(&signal)
                .ok_or_else(|| Error::usage(format!("there is no signal {signal}")).help("such as SIGINT"))?;
            let record = record::read(&found, &process.parse()?)?;
            if !record.is_running() {
                return Err(Failure::conflict(format!("process {} has ended", record.process_id)));
            }
            talk(&record, &Hello::Signal(number), PATIENCE)?;
            Ok(Exit::DONE)
        }
        ProcessVerb::Stop { grace, yes, of: ProcessRef { reference, process } } => {
            let found = store.live(&reference)?;
            found.must_run()?;
            let grace = crate::local::boxes::shape::duration(&grace)?;
            let id = process.parse()?;
            let record = record::read(&found, &id)?;
            // Unlike deleting a box, this asks only where there is a person to answer (docs/measured/createos-cli.md 4.2).
            let asks = !yes && std::io::stdout().is_terminal();
            if record.is_running() && (!asks || confirmed("Stop", &process)?) {
                let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
                talk(&record, &Hello::Stop { grace: grace_ms }, grace + PATIENCE)?;
            }
            let view = view(&record::read(&found, &id)?);
            mode.show(&view, || output::facts(&view));
            Ok(Exit::DONE)
        }
        ProcessVerb::Attach(args) => {
            let found = store.live(&args.of.reference)?;
            found.must_run()?;
            let id = args.of.process.parse()?;
            let record = record::read(&found, &id)?;
            attach::attach(&found, &record, &args)
        }
    }
}

fn start(store: &BoxStore, args: StartArgs, mode: OutputMode) -> Result<Exit> {
    let mut found = store.live(&args.reference)?;
    found.must_run()?;
    renew(&mut found)?;
    let own = environment::parse(&args.env)?;
    let mut argv: Vec<Bytes> = args.command.into_iter().map(OsString::into_vec).collect();
    if argv.is_empty() {
        if !args.pty {
            return Err(Error::usage("please pass the command to run after '--'").into());
        }
        argv = vec![b"bash".to_vec(), b"-l".to_vec()];
    }
    let here = terminal::size();
    let size = Size {
        rows: args.rows.or(here.map(|here| here.rows)).unwrap_or(24),
        cols: args.cols.or(here.map(|here| here.cols)).unwrap_or(80),
    };
    let cwd = args.cwd.into_vec();
    let lossy = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
    let record = ProcessRecord {
        version: 1,
        process_id: LocalProcessId::fresh(),
        pty: args.pty,
        argv: argv.iter().map(lossy).collect(),
        cwd: lossy(&cwd),
        pid: 0,
        created_at: now(),
        finished_at: None,
        end: None,
        socket: PathBuf::new(),
        output: KeptOutput::default(),
    };
    let brief = Brief {
        boxes: store.folder().to_path_buf(),
        reference: found.meta.id.to_string(),
        env: environment::of_a_process(&found.meta, &own),
        terminal: args.pty.then_some(size),
        record,
        argv,
        cwd,
    };
    let record = match background("supervise", &brief)? {
        SupervisorAnswer::Started(record) => record,
        SupervisorAnswer::Failed(parts) => return Err(Failure::from_parts(parts)),
    };
    record::prune(&found)?;
    let view = record.view(None);
    let kind = if record.pty { "pty" } else { "pipe" };
    mode.show(&view, || format!("Started {} ({kind}).", record.process_id));
    Ok(Exit::DONE)
}

/// The view of a process; one that runs is asked for what changes.
fn view(record: &ProcessRecord) -> Value {
    match record.is_running().then(|| ask(record)).flatten() {
        Some((now, foreground)) => now.view(foreground.as_ref()),
        None => record.view(None),
    }
}

fn table(views: &[Value]) -> String {
    if views.is_empty() {
        return "No process has been started in this box.".into();
    }
    let cell = |view: &Value, key: &str| match &view[key] {
        Value::Null => "-".to_owned(),
        Value::String(text) => crate::ui::visible(text).replace('\n', "\\x0a"),
        other => other.to_string(),
    };
    let keys = ["process_id", "kind", "pid", "state", "exit_code", "cmd", "created_at"];
    let rows: Vec<Vec<String>> =
        views.iter().map(|view| keys.iter().map(|key| cell(view, key)).collect()).collect();
    output::table(&["ID", "KIND", "PID", "STATE", "EXIT", "COMMAND", "CREATED"], &rows)
}
