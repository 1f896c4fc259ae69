//! Ctrl-C while a box is made: what was begun is brought to its end, which takes moments, and then taken back.

use crate::error::{Error, Kind};
use crate::local::failure::{Failure, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Listens for Ctrl-C, Ctrl-\, a hang-up and a polite kill.
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on.
    ///
    /// # Errors
    /// The system refuses the handler.
    pub(super) fn listen() -> Result<Self> {
        let raised = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            signal_hook::flag::register(signal, Arc::clone(&raised))
                .map_err(|source| Error::failed(format!("could not listen for signals: {source}")))?;
        }
        Ok(Self(raised))
    }

    pub(super) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Stops here when a signal came.
    pub(super) fn check(&self) -> Result<()> {
        if self.is_raised() { Err(Self::failure()) } else { Ok(()) }
    }

    pub(super) fn failure() -> Failure {
        Error::new(Kind::Interrupted, "interrupted: no box was made").into()
    }
}
