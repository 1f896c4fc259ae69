//! Where a try plays: a temporary folder that holds boxes, sockets and files, and goes with everything.

use crate::createos::{Provider, Scope};
use crate::error::{Error, IoContext, Result};
use crate::ui;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ctrl-C, a hang-up or a polite kill: noticed between two steps and inside every call.
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on. A second signal changes nothing: the cleaning takes moments.
    ///
    /// # Errors
    /// The system refuses the handler.
    pub(super) fn listen() -> Result<Self> {
        let raised = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&raised))
                .map_err(|source| Error::failed(format!("could not listen for signals: {source}")))?;
        }
        Ok(Self(raised))
    }

    /// A signal came.
    pub(super) fn raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Stops here when a signal came.
    ///
    /// # Errors
    /// It came.
    pub(super) fn check(&self) -> Result<()> {
        if self.raised() { Err(Error::failed("interrupted")) } else { Ok(()) }
    }
}

impl Interrupt {
    /// A writer that fails as soon as a signal came, so that a long packing ends at once.
    pub(super) fn writer<W: Write>(&self, inner: W) -> Interruptible<W> {
        Interruptible { inner, raised: Arc::clone(&self.0) }
    }
}

/// A writer that ends with [`Interrupt`].
pub(super) struct Interruptible<W> {
    inner: W,
    raised: Arc<AtomicBool>,
}

impl<W: Write> Write for Interruptible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.raised.load(Ordering::Relaxed) {
            return Err(io::Error::other("interrupted"));
        }
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// The temporary folder and the provider whose boxes live in it. Dropped, it takes them all away.
pub(super) struct Stage {
    folder: Option<tempfile::TempDir>,
    path: PathBuf,
    provider: Provider,
    cleaner: Provider,
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
        let binary = std::env::current_exe()
            .map_err(|source| Error::cannot_run(format!("could not find this program's file: {source}")))?;
        let cleaner = Provider::local(binary).env("XDG_DATA_HOME", &path).env("XDG_RUNTIME_DIR", &path);
        let provider = cleaner.clone().stop_when(Arc::clone(&interrupt.0));
        Ok(Self { folder: Some(folder), path, provider, cleaner })
    }

    /// The folder.
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
        for view in self.cleaner.list(Scope::Live)?.boxes {
            self.cleaner.remove(&view.id)?;
        }
        folder.close().at("delete", &self.path)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Err(error) = self.clean() {
            ui::report(&error.help(format!("delete it with: rm -r {}", self.path.display())));
        }
    }
}
