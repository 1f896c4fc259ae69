//! Whether this machine isolates: the whole way into a box and a program in it, nothing less. A probe
//! that only makes a namespace says yes where writing the uid map is what gets refused.

use super::enter::{self, Start};
use super::{environment, hidden};
use crate::error::{Error, Result};
use crate::local::boxes::skeleton;
use crate::local::keeper::make;
use crate::local::reach::Reach;
use crate::local::wire::spec::{End, Limits, Network, NetworkOrder, Order, Task};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What its folders are called, before the process that made one.
const PREFIX: &str = "createos-sandbox-probe-";

/// Deletes the folders of probes that were killed, as far as they are ours.
pub(crate) fn sweep() {
    let place = std::env::temp_dir();
    let own = rustix::process::geteuid().as_raw();
    for entry in std::fs::read_dir(&place).into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let maker = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-')?.0.parse::<u32>().ok());
        let is_left = maker.is_some_and(|maker| !Path::new(&format!("/proc/{maker}")).exists());
        if is_left && entry.metadata().is_ok_and(|found| found.is_dir() && found.uid() == own) {
            let _next_time = crate::local::boxes::remove::remove_tree(&place, &name);
        }
    }
}

/// Makes a box in a temporary folder, runs `true` in it, and deletes it.
///
/// # Errors
/// The step that was refused, why that usually is, and the fix.
pub(crate) fn probe() -> Result<Reach> {
    probe_network(Network::Own)
}

/// As [`probe`], for a box with this network.
pub(crate) fn probe_network(network: Network) -> Result<Reach> {
    let wrong =
        |source: std::io::Error| Error::failed(format!("could not make a temporary folder: {source}"));
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let folder = tempfile::Builder::new().prefix(&prefix).tempdir().map_err(wrong)?;
    let uid = rustix::process::geteuid().is_root().then_some(crate::local::boxes::create::FIRST_UID);
    let root = folder.path().join("root");
    skeleton::make(&root, uid)?;
    let order = Order {
        hostname: "probe".into(),
        network,
        nested: false,
        limits: Limits { processes: 1024, memory_mib: 1024, shared_mib: 1 },
        name_server: None,
        covered: hidden::folders(folder.path())?,
        env: environment::bare(),
        starter: std::process::id().cast_signed(),
        task: Task::Run { argv: vec![b"true".to_vec()], cwd: b"/".to_vec(), terminal: None },
    };
    let made = match network {
        Network::Own => {
            make::make(&root, uid, NetworkOrder { proxy: crate::network::proxy(&[]), localhost: Vec::new() })
                .map(Some)
        }
        Network::Host | Network::None => Ok(None),
    };
    let reach = match &made {
        Ok(Some(made)) if made.wire.is_some() => Reach::Everything,
        Ok(Some(_)) => Reach::ProxyOnly,
        Ok(None) | Err(_) => Reach::Nothing,
    };
    let started = made.and_then(|made| enter::probe(&root, uid, made.map(|made| made.shared), order));
    let ran = started.and_then(|start| match start {
        Start::Running(entry) => entry.wait(),
        Start::NotStarted { what, errno } => {
            let system = std::io::Error::from_raw_os_error(errno);
            Err(Error::cannot_run(format!("a box stands, but could not {what} in it: {system}")).into())
        }
    });
    crate::local::boxes::remove::remove_tree(folder.path(), "root")?;
    match ran {
        Ok(End::Code(0)) => Ok(reach),
        Ok(end) => Err(Error::cannot_run(format!("a program in a box ended wrongly: {end:?}"))),
        Err(failure) => Err(failure.into_error()),
    }
}
