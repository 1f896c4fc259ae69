//! `rm`: boxes go, with everything in them.

use super::confirm::confirmed;
use crate::error::Error;
use crate::exit::Exit;
use crate::local::boxes::destroy;
use crate::local::boxes::store::BoxStore;
use crate::local::failure::Result;
use crate::ui;

/// A line for each box: that it is deleted, or why not. One that stays is exit code 1.
pub(super) fn rm(store: &BoxStore, yes: bool, references: &[String]) -> Result<Exit> {
    let shown: Vec<String> = references.iter().map(|reference| ui::visible(reference)).collect();
    if !yes && !confirmed("Delete", &shown.join(", "))? {
        return Ok(Exit::FAILED);
    }
    let mut code = Exit::DONE;
    for (reference, shown) in references.iter().zip(&shown) {
        match destroy::remove(store, reference) {
            Ok((id, Some(name))) if *reference != id.as_str() => ui::line(format!("Deleted {name} ({id})")),
            Ok((id, Some(_))) => ui::line(format!("Deleted {id}")),
            Ok((id, None)) => ui::line(format!("Deleted {id}, whose record was damaged")),
            Err(failure) => {
                code = Exit::FAILED;
                let error = failure.into_error();
                let told = Error::new(error.kind(), format!("{shown}: {}", error.message()));
                ui::report(&told.because(&error));
            }
        }
    }
    if let Err(failure) = destroy::tidy(store) {
        ui::note(format!("warning: {}", ui::visible(failure.error().message())));
    }
    Ok(code)
}
