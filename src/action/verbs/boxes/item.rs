//! What can be done with a box of the list, whether a mapping names it or not.

use crate::action::mapping::forget::delete_box;
use crate::action::mapping::inventory::{Item, record_of_box};
use crate::action::mapping::session::Session;
use crate::action::mapping::which::ready;
use crate::action::verbs::attach::{By, reattach};
use crate::action::verbs::delete::delete_now;
use crate::action::work::home::{self, NotHome};
use crate::error::{Error, Result};
use crate::journey::ProviderBox;
use crate::state::Record;

/// Deletes one of ours, with its mapping if it has one.
///
/// # Errors
/// The provider's refusal.
pub(crate) fn delete(session: &Session, item: &Item) -> Result<()> {
    match record(session, item)? {
        Some(record) => delete_now(session, &record).map(|_| ()),
        None => {
            delete_box(session, &session.provider(item.provider)?, &item.view.id)?;
            session.store.forget_base(&item.view.id, &item.view.name);
            Ok(())
        }
    }
}

/// What of a box is not here.
pub(crate) fn not_home(session: &Session, item: &Item) -> NotHome {
    let found = record(session, item).and_then(|record| match record {
        Some(record) => Ok(home::look(session, &record)),
        None => {
            let remote = ProviderBox::new(session.provider(item.provider)?, item.view.id.clone());
            Ok(home::look_unmapped(session, remote, &item.view.status))
        }
    });
    found.unwrap_or_else(|error| NotHome { unknown: vec![error.message().to_owned()], ..NotHome::default() })
}

/// Brings a box back into its pane, or into a new one.
///
/// # Errors
/// It has no agent of a pane here, or cannot be brought back.
pub(super) fn attach(session: &Session, item: &Item) -> Result<()> {
    match record(session, item)? {
        Some(record) => reattach(session, &ready(record)?, By::List).map(|_| ()),
        None if item.is_ours() => {
            Err(Error::failed("this box has no mapping any more, only d is left for it"))
        }
        None => Err(Error::failed("this box was made elsewhere and has no agent of a pane here")),
    }
}

fn record(session: &Session, item: &Item) -> Result<Option<Record>> {
    let state = session.store.read()?;
    let found = record_of_box(&state, item.provider, &item.view);
    Ok(found.map(|record| Record { box_id: Some(item.view.id.clone()), ..record.clone() }))
}
