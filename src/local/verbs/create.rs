//! `create`: what was asked for, refused where it cannot be had here.

use crate::cli::CreateArgs;
use crate::error::Error;
use crate::exit::Exit;
use crate::local::boxes::create;
use crate::local::boxes::id::{LocalId, LocalName};
use crate::local::boxes::meta::{BoxStatus, Meta, ROOTFS, VERSION, now};
use crate::local::boxes::shape::{self, LocalShape};
use crate::local::boxes::store::BoxStore;
use crate::local::entry::{environment, probe};
use crate::local::failure::Result;
use crate::local::output::OutputMode;
use serde_json::{Value, json};

pub(super) fn create(store: &BoxStore, args: CreateArgs, mode: OutputMode) -> Result<Exit> {
    if !args.egress.is_empty() {
        return Err(Error::usage("--egress: a local box cannot enforce an allow-list, so it takes none")
            .help("use --network none for a box without any network, or leave --egress out")
            .into());
    }
    let network_none = match args.network.as_deref() {
        None => false,
        Some("none") => true,
        Some(other) => {
            return Err(Error::usage(format!("--network \"{other}\": a local box knows only `none`"))
                .help("without --network it shares this machine's network")
                .into());
        }
    };
    if let Some(rootfs) = args.rootfs.as_deref()
        && ![ROOTFS, "devbox:1"].contains(&rootfs)
    {
        return Err(Error::usage(format!(
            "rootfs \"{rootfs}\": a local box has this machine's programs and no images, choices: [{ROOTFS}]"
        ))
        .into());
    }
    let name = args.name.map_or_else(|| Ok(LocalName::fresh()), |name| name.parse())?;
    let meta = Meta {
        version: VERSION,
        id: LocalId::fresh(),
        name,
        shape: args.shape.parse::<LocalShape>()?,
        created_at: now(),
        uid: None,
        network_none,
        env: environment::parse(&args.env)?,
        auto_pause_after_seconds: args.auto_pause.as_deref().map(shape::auto_pause).transpose()?,
        status: BoxStatus::Running,
        paused_at: None,
        last_resumed_at: None,
    };
    // A box that cannot be entered must not exist.
    probe::probe_network(meta.network_none)?;
    let made = create::create(store, meta)?.meta;
    let mut document = json!({ "action": "created" });
    merge(&mut document, made.view());
    merge(&mut document, json!({ "ip": "", "ingress_url": "", "shell_command": "" }));
    mode.show(&document, || {
        let network = if made.network_none { "none" } else { "this machine's" };
        format!("Sandbox {} ({})\n  size     {}\n  network  {network}", made.name, made.id, made.shape)
    });
    Ok(Exit::DONE)
}

fn merge(document: &mut Value, more: Value) {
    if let (Value::Object(document), Value::Object(more)) = (document, more) {
        // The status belongs to `get`; create has none (docs/measured/createos-cli.md 4.1).
        document.extend(more.into_iter().filter(|(key, _)| key != "status"));
    }
}
