//! Where a try plays: a temporary folder that holds boxes, sockets and files, and goes with everything.

use crate::createos::{Provider, Scope};
use crate::error::{Error, IoContext, Result};
use crate::paths::own_binary;
use crate::ui;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ctrl-C, Ctrl-\\, a hang-up or a polite kill: noticed between two steps and inside every call.
pub(super) struct Interrupt {
    raised: Arc<AtomicBool>,
    left_something: Arc<AtomicBool>,
}

impl Interrupt {
    /// Listens from now on. A second signal changes nothing: the cleaning takes moments.
    ///
    /// # Errors
    /// The system refuses the handler.
    pub(super) fn listen() -> Result<Self> {
        let raised = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            signal_hook::flag::register(signal, Arc::clone(&raised))
                .map_err(|source| Error::failed(format!("could not listen for signals: {source}")))?;
        }
        Ok(Self { raised, left_something: Arc::default() })
    }

    /// The flag that every program of a try watches.
    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.raised)
    }

    pub(super) fn raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }

    /// The cleaning failed, and has said so.
    pub(super) fn left_something(&self) -> bool {
        self.left_something.load(Ordering::Relaxed)
    }

    /// Stops here when a signal came.
    ///
    /// # Errors
    /// It came.
    pub(super) fn check(&self) -> Result<()> {
        if self.raised() { Err(Error::failed("interrupted")) } else { Ok(()) }
    }
}

/// The temporary folder and the provider whose boxes live in it. Dropped, it takes them all away.
pub(super) struct Stage {
    folder: Option<tempfile::TempDir>,
    path: PathBuf,
    provider: Provider,
    cleaner: Provider,
    left_something: Arc<AtomicBool>,
}

impl Stage {
    /// Makes the folder, private to this user.
    ///
    /// # Errors
    /// It cannot be made, or this binary cannot be found again.
    pub(super) fn set(interrupt: &Interrupt) -> Result<Self> {
        let temporary = std::env::temp_dir();
        // A short name: sockets are made below it, and their paths must fit 107 bytes.
        let folder = tempfile::Builder::new()
            .prefix("cs-try-")
            .permissions(std::fs::Permissions::from_mode(0o700))
            .tempdir_in(&temporary)
            .at("create a folder in", &temporary)?;
        let path = folder.path().to_path_buf();
        let binary = own_binary()?;
        let cleaner = ["XDG_DATA_HOME", "XDG_RUNTIME_DIR", "TMPDIR"]
            .iter()
            .fold(Provider::local(binary), |provider, name| provider.env(name, &path));
        let provider = cleaner.clone().stop_when(interrupt.flag());
        Ok(Self {
            folder: Some(folder),
            path,
            provider,
            cleaner,
            left_something: Arc::clone(&interrupt.left_something),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The provider of the boxes; its calls end when the person interrupts.
    pub(super) fn provider(&self) -> &Provider {
        &self.provider
    }

    /// Deletes every box and the folder.
    ///
    /// # Errors
    /// What could not be deleted, and where it is.
    pub(super) fn strike(mut self) -> Result<()> {
        self.clean()
    }

    fn clean(&mut self) -> Result<()> {
        let Some(folder) = self.folder.take() else { return Ok(()) };
        let removed = self
            .cleaner
            .list(Scope::Live)
            .and_then(|listing| listing.boxes.iter().try_for_each(|view| self.cleaner.remove(&view.id)));
        if let Err(failure) = removed {
            // What still runs in there must be found again.
            let kept = folder.keep();
            return Err(Error::from(failure)
                .fact("left", kept.display().to_string())
                .help(format!("when nothing runs in it any more: rm -r {}", kept.display())));
        }
        folder.close().at("delete", &self.path)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Err(error) = self.clean() {
            self.left_something.store(true, Ordering::Relaxed);
            ui::report(&error);
        }
    }
}
