//! `create`: what was asked for, refused where it cannot be had here.

use super::interrupt::Interrupt;
use crate::cli::CreateArgs;
use crate::config::EgressRule;
use crate::error::Error;
use crate::exit::Exit;
use crate::local::boxes::id::{LocalId, LocalName};
use crate::local::boxes::meta::{BoxStatus, Meta, ROOTFS, VERSION, now};
use crate::local::boxes::news::news;
use crate::local::boxes::shape::{self, LocalShape};
use crate::local::boxes::store::BoxStore;
use crate::local::boxes::{create, destroy};
use crate::local::entry::{environment, probe};
use crate::local::failure::Result;
use crate::local::output::OutputMode;
use crate::local::reach::Reach;
use crate::local::wire::spec::Network;
use crate::ui;
use serde_json::{Value, json};

/// What a program that asks no proxy has to know.
const PROXY_ONLY: &str = ", by its proxy only: /dev/net/tun cannot be opened here";

pub(super) fn create(store: &BoxStore, args: CreateArgs, mode: OutputMode) -> Result<Exit> {
    let network: Network = args.network.as_deref().map(network).transpose()?.unwrap_or_default();
    if environment::rules(&args.egress)?.iter().any(EgressRule::is_bare_localhost) {
        return Err(Error::usage("--egress localhost opens nothing: a rule for this machine has a port")
            .help("--egress localhost:5432; with '*' before it the internet stays open")
            .into());
    }
    if network != Network::Own && !args.egress.is_empty() {
        let word = network.word();
        return Err(Error::usage(format!(
            "--egress: with --network {word} there is nothing that could keep to it"
        ))
        .help("leave --network out, or --egress")
        .into());
    }
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
        network: Some(network),
        network_none: false,
        egress: args.egress,
        nested: args.nested,
        env: environment::parse(&args.env)?,
        auto_pause_after_seconds: args.auto_pause.as_deref().map(shape::auto_pause).transpose()?,
        status: BoxStatus::Running,
        paused_at: None,
        last_resumed_at: None,
    };
    let interrupt = Interrupt::listen()?;
    probe::sweep();
    // A box that cannot be entered must not exist.
    let reach = probe::probe_network(network)?;
    interrupt.check()?;
    if let Some(words) = news(store)?.filter(|_| network == Network::Own) {
        ui::note(words);
    }
    let made = create::create(store, meta)?.meta;
    if interrupt.is_raised() {
        destroy::forget(store, &made.id)?;
        return Err(Interrupt::failure());
    }
    let mut document = json!({ "action": "created" });
    merge(&mut document, made.view());
    merge(&mut document, json!({ "ip": "", "ingress_url": "", "shell_command": "" }));
    mode.show(&document, || {
        let network = match network {
            Network::Own if made.egress.is_empty() => "its own; out to any public address".into(),
            Network::Own => format!("its own; out to {}", made.egress.join(", ")),
            Network::Host => "this machine's".into(),
            Network::None => "none".to_owned(),
        };
        let only = if reach == Reach::ProxyOnly { PROXY_ONLY } else { "" };
        format!("Sandbox {} ({})\n  size     {}\n  network  {network}{only}", made.name, made.id, made.shape)
    });
    Ok(Exit::DONE)
}

fn network(text: &str) -> crate::error::Result<Network> {
    text.parse::<Network>()
        .map_err(|error| Error::usage(format!("--network: {}", error.message())).because(&error))
}

fn merge(document: &mut Value, more: Value) {
    if let (Value::Object(document), Value::Object(more)) = (document, more) {
        // The status belongs to `get`; create has none (docs/measured/createos-cli.md 4.1).
        document.extend(more.into_iter().filter(|(key, _)| key != "status"));
    }
}
