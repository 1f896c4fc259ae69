//! A box of an earlier version, at its first start after the upgrade.

use super::local_box::LocalBox;
use super::meta::VERSION;
use super::news::own_network;
use crate::local::failure::Result;
use crate::local::wire::spec::Network;
use crate::ui;

/// Brings its record up to date, and says once what is new about it.
pub(crate) fn renew(found: &mut LocalBox) -> Result<()> {
    if found.meta.network.is_some() {
        return Ok(());
    }
    let _lock = found.lock()?;
    found.refresh()?;
    if found.meta.network.is_some() {
        return Ok(());
    }
    let network = found.meta.network();
    (found.meta.network, found.meta.version) = (Some(network), VERSION);
    found.save()?;
    if network == Network::Own {
        ui::note(own_network(&format!("note: {} has", found.meta.name)));
    }
    Ok(())
}
