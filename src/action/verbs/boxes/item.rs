//! What can be done with a box of the list, whether a mapping names it or not.

use crate::action::mapping::{ActionContext, Item, delete_box, ready, record_of_box};
use crate::action::verbs::attach::{By, reattach};
use crate::action::verbs::delete::delete_now;
use crate::action::work::{NotHome, home};
use crate::error::{Error, Result};
use crate::journey::ProviderBox;
use crate::state::Record;

/// Deletes one of ours, with its mapping if it has one.
pub(crate) fn delete(context: &ActionContext, item: &Item) -> Result<()> {
    match record(context, item)? {
        Some(record) => delete_now(context, &record).map(|_| ()),
        None => {
            delete_box(context, &context.provider(item.provider)?, &item.view.id)?;
            context.store.forget_base(&item.view.id, &item.view.name);
            Ok(())
        }
    }
}

/// What of a box is not here.
pub(crate) fn not_home(context: &ActionContext, item: &Item) -> NotHome {
    let found = record(context, item).and_then(|record| match record {
        Some(record) => Ok(home::look(context, &record)),
        None => {
            let remote = ProviderBox::new(context.provider(item.provider)?, item.view.id.clone());
            Ok(home::look_unmapped(context, remote, &item.view.status))
        }
    });
    found.unwrap_or_else(|error| NotHome::unknown(&error))
}

/// Brings a box back into its pane, or into a new one.
///
/// # Errors
/// It has no agent of a pane here, or cannot be brought back.
pub(super) fn attach(context: &ActionContext, item: &Item) -> Result<()> {
    reattach(context, &to_attach(context, item)?, By::List, false).map(|_| ())
}

/// The record of a box that can be shown.
///
/// # Errors
/// It has no agent of ours.
pub(super) fn to_attach(context: &ActionContext, item: &Item) -> Result<Record> {
    match record(context, item)? {
        Some(record) => ready(record),
        None if item.is_ours() => {
            Err(Error::failed("this box is not recorded any more, only d is left for it"))
        }
        None => Err(Error::failed("this box was made elsewhere and has no agent of a pane here")),
    }
}

fn record(context: &ActionContext, item: &Item) -> Result<Option<Record>> {
    let state = context.store.read()?;
    let found = record_of_box(&state, item.provider, &item.view);
    Ok(found.map(|record| Record { box_id: Some(item.view.id.clone()), ..record.clone() }))
}
