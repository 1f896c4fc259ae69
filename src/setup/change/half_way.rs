//! What is said when a signal ends a run that has begun to change something.

use super::ledger::Purpose;
use crate::command::{self, Command};
use crate::ui;
use std::sync::{Mutex, PoisonError};

static WORDS: Mutex<Option<String>> = Mutex::new(None);

/// Says on stderr how a run that is ended now is finished or taken back.
pub(crate) fn last_words() {
    let words = WORDS.lock().unwrap_or_else(PoisonError::into_inner).take();
    words.into_iter().for_each(ui::note);
}

/// Lives while a run changes something.
pub(super) struct HalfWay;

impl HalfWay {
    /// `again` is the command that finishes a setup.
    pub(super) fn begin(purpose: Purpose, again: &Command) -> Self {
        let undo = command::setup().flag("--undo");
        set(Some(match purpose {
            Purpose::Setup => {
                format!("stopped half way; finish it with: {again}\nor take it back with: {undo}")
            }
            Purpose::Undo => format!("stopped half way; finish it with: {undo}"),
        }));
        Self
    }
}

impl Drop for HalfWay {
    fn drop(&mut self) {
        set(None);
    }
}

fn set(words: Option<String>) {
    *WORDS.lock().unwrap_or_else(PoisonError::into_inner) = words;
}
