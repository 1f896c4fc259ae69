//! `herdr upload`: what would leave this worktree and why the rest stays, or the archive itself.

use crate::action::mapping::state_folder;
use crate::action::pane::{home, include};
use crate::cli::UploadArgs;
use crate::config::Config;
use crate::error::{Error, IoContext, Result};
use crate::exit::Exit;
use crate::paths::Paths;
use crate::state::Store;
use crate::worktree::{self, Exclude, Lifted, Packed, RelPath, Selection, Worktree};
use crate::{command, journey, ui};
use serde_json::{Value, json};
use std::io::BufWriter;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Runs it in the current folder.
///
/// # Errors
/// Not a worktree, wrong settings, or the archive cannot be written. With `--json` the error is
/// printed as the one document too.
pub(crate) fn upload(args: &UploadArgs) -> Result<Exit> {
    match run(args) {
        Err(error) if args.json => {
            ui::line(
                json!({"schemaVersion": 1, "ok": false, "error": error.message(), "help": error.hints()})
                    .to_string(),
            );
            Ok(error.exit())
        }
        done => done.map(|()| Exit::DONE),
    }
}

fn run(args: &UploadArgs) -> Result<()> {
    if !args.dry_run && args.output.is_none() {
        return Err(Error::usage("herdr upload shows or writes what start would send; say which")
            .help(format!("list it: {}", command::action("upload").flag("--dry-run")))
            .help(format!("write it: {}", command::action("upload").with("--output", "FILE"))));
    }
    let to_stdout = args.output.as_deref() == Some(Path::new("-"));
    if to_stdout && args.json {
        return Err(Error::usage("--json and --output - both want stdout").help("name a file: --output FILE"));
    }
    let here = std::env::current_dir().at("enter", Path::new("."))?;
    let worktree = Worktree::discover(Path::new("git"), &here)?;
    let paths = Paths::from_env()?;
    let config = Config::load(&paths.plugin_config())?;
    let mut rules = include::rules(&config, &Store::open(&state_folder(&paths)), worktree.root())?;
    if let Some(own) = args.output.as_deref().and_then(|output| inside(worktree.root(), &here.join(output))) {
        // The archive of the run before is not part of this one.
        rules.excludes.push(Exclude::Path(own));
    }
    let selection = worktree::select(&worktree, &rules)?;
    for idle in &selection.idle {
        ui::note(format!("warning: {idle}"));
    }
    let packed = match &args.output {
        None => with_progress(&selection, |progress| worktree::judge(&selection, progress))?,
        Some(_) if to_stdout => {
            with_progress(&selection, |progress| worktree::pack(&selection, &mut ui::stdout(), progress))?
        }
        Some(output) => write_file(&selection, output)?,
    };
    if args.json {
        ui::line(document(&selection, &worktree, &packed, args.output.as_deref()).to_string());
    } else if !to_stdout {
        match &args.output {
            None => {
                journey::list(&selection, &packed, "worktree", "config.json");
                if let Some(home) = home::selection(&config, config.agent, &paths)? {
                    let packed = worktree::judge(&home, &mut |_, _| {})?;
                    ui::line("");
                    journey::list(&home, &packed, "home", "config.json");
                }
            }
            Some(output) => written(&packed, output),
        }
    }
    Ok(())
}

/// The output's path below the root, when it is there.
fn inside(root: &Path, output: &Path) -> Option<RelPath> {
    let folder = std::fs::canonicalize(output.parent()?).ok()?;
    let path = folder.join(output.file_name()?);
    RelPath::new(path.strip_prefix(root).ok()?.as_os_str().as_bytes()).ok()
}

/// Writes beside the file and renames, so that there is a whole archive or none.
fn write_file(selection: &Selection, output: &Path) -> Result<Packed> {
    let folder = match output.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut staged = tempfile::Builder::new()
        .prefix(".createos-sandbox-")
        .tempfile_in(folder)
        .at("create a file in", folder)?;
    let packed = with_progress(selection, |progress| {
        worktree::pack(selection, &mut BufWriter::with_capacity(1 << 20, staged.as_file_mut()), progress)
    })?;
    staged.persist(output).map_err(|refused| Error::io("write", output, &refused.error))?;
    Ok(packed)
}

fn with_progress<T>(selection: &Selection, act: impl FnOnce(&mut (dyn FnMut(u64, u64) + Send)) -> T) -> T {
    let mut bar = ui::Progress::new(selection.files().len() as u64);
    act(&mut |done, bytes| bar.at(done, bytes))
}

fn written(packed: &Packed, output: &Path) {
    ui::line(format!(
        "wrote    {}, {}",
        ui::visible_line(&output.to_string_lossy()),
        ui::bytes(packed.archive_bytes)
    ));
    ui::line(format!("leaves   {}, {}", ui::count(packed.files, "file"), ui::bytes(packed.bytes)));
    if !packed.stayed.is_empty() {
        let stay = ui::count(packed.stayed.len() as u64, "file");
        ui::line(format!("stays    {stay}; see why with: {}", command::action("upload").flag("--dry-run")));
    }
    ui::line(format!("digest   {}", packed.digest));
}

fn document(selection: &Selection, worktree: &Worktree, packed: &Packed, output: Option<&Path>) -> Value {
    let leaves = packed.base.iter().zip(&packed.sizes).map(|((path, entry), size)| {
        let (allowed, included) = match selection.let_through.get(path) {
            Some(Lifted::Allowed(entry)) => (Some(entry), false),
            Some(Lifted::Included) => (None, true),
            None => (None, false),
        };
        let facts = json!({
            "mode": entry.kind.mode(), "bytes": size, "sha256": entry.hash.to_string(), "allowed": allowed,
            "included": included,
        });
        with_path(path.as_path(), facts)
    });
    let stays = packed.stayed.iter().map(|stayed| {
        let facts = json!({
            "reason": stayed.reason, "rule": stayed.rule, "line": stayed.line, "kind": stayed.kind,
        });
        with_path(&stayed.path, facts)
    });
    let archive =
        output.map(|output| json!({"path": output.to_string_lossy(), "bytes": packed.archive_bytes}));
    json!({
        "schemaVersion": 1,
        "ok": true,
        "worktree": worktree.root().to_string_lossy(),
        "files": packed.files,
        "bytes": packed.bytes,
        "digest": packed.digest.to_string(),
        "archive": archive,
        "leaves": leaves.collect::<Vec<_>>(),
        "stays": stays.collect::<Vec<_>>(),
        "warnings": selection.idle,
    })
}

/// The path first; its bytes in hex too when it is no text.
fn with_path(path: &Path, facts: Value) -> Value {
    let mut object = serde_json::Map::new();
    object.insert("path".into(), path.to_string_lossy().into());
    if path.to_str().is_none() {
        let hex: String = path.as_os_str().as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        object.insert("pathHex".into(), hex.into());
    }
    if let Value::Object(facts) = facts {
        object.extend(facts);
    }
    Value::Object(object)
}
