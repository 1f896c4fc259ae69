//! What every action has at hand: who called, Herdr, the state, the settings, the providers.

use super::program;
use crate::config::Config;
use crate::createos::{BoxId, Provider, ProviderKind};
use crate::error::{Error, Result};
use crate::herdr::{Focus, Herdr, HerdrError, Invocation, Pane};
use crate::journey::ProviderBox;
use crate::keys::Chord;
use crate::paths::{PLUGIN_ID, Paths, own_binary};
use crate::state::{Record, RecordId, Store, TakenOver, take_over};
use crate::worktree::Worktree;
use std::cell::OnceCell;
use std::path::PathBuf;

/// The variable that tells a pane which record it shows.
pub(crate) const RECORD: &str = "CREATEOS_SANDBOX_RECORD";
/// The variable that tells a pane that nobody has asked for it: Herdr was started again.
pub(crate) const RESTORED: &str = "CREATEOS_SANDBOX_RESTORED";
/// What that variable begins with where a person has named the pane; the name follows.
pub(crate) const PERSONS_NAME: &str = "name:";

/// Where an action was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Called {
    /// By Herdr, or for the pane that has the focus in it.
    InHerdr,
    /// In any terminal. Herdr is only asked where it can be, and nothing of it is needed.
    Anywhere,
}

/// One action's surroundings.
pub(crate) struct ActionContext {
    pub(crate) called: Called,
    /// Who called, and where.
    pub(crate) invocation: Invocation,
    pub(crate) herdr: Herdr,
    pub(crate) store: Store,
    pub(crate) paths: Paths,
    /// The part of a pane's key that tells sessions apart.
    pub(crate) socket: String,
    /// The action's name on the command line.
    pub(crate) action: &'static str,
    /// The box that the command line names.
    pub(crate) wanted: Option<String>,
    focus: OnceCell<Option<Pane>>,
}

impl ActionContext {
    /// From the environment. The state folder is opened, mappings of the earlier plugin are taken over.
    ///
    /// # Errors
    /// There is no home, no Herdr where it is needed, or the state folder cannot be written.
    pub(crate) fn open(called: Called) -> Result<Self> {
        let paths = Paths::from_env()?;
        let folder = state_folder(&paths);
        paths.refuse_foreign_home(&folder)?;
        let (invocation, herdr, socket, focus) = match called {
            Called::InHerdr => {
                let invocation = Invocation::from_env();
                let socket = invocation.socket.clone().unwrap_or_else(|| default_socket(&paths));
                (invocation, Herdr::new(program::herdr(&paths)?), socket, OnceCell::new())
            }
            Called::Anywhere => {
                let herdr = program::herdr(&paths).map_or_else(|_| Herdr::absent(), Herdr::new);
                (Invocation::typed(), herdr, String::new(), OnceCell::from(None))
            }
        };
        let context = Self {
            called,
            herdr,
            store: Store::open(&folder),
            invocation,
            paths,
            socket,
            action: "",
            wanted: None,
            focus,
        };
        context.take_over()?;
        Ok(context)
    }

    fn take_over(&self) -> Result<()> {
        let TakenOver { count, odd } = take_over(&self.store)?;
        for line in odd {
            crate::ui::note(format!("warning: {line}"));
        }
        if count > 0 {
            crate::ui::note(format!(
                "{} of the earlier plugin taken over",
                crate::ui::count(count as u64, "box")
            ));
        }
        if self.called == Called::InHerdr && self.store.read()?.records.iter().any(Record::may_be_proven) {
            // Where Herdr cannot be asked nothing is proven; whoever needs it says so.
            if let Ok(panes) = self.herdr.panes() {
                self.store.update(|state| Ok(state.prove(&self.socket, &panes)))?;
            }
        }
        Ok(())
    }

    /// The pane that has the focus, or in which a person typed; `None` when there is none.
    pub(crate) fn focus(&self) -> Result<Option<&Pane>> {
        if self.focus.get().is_none() {
            let pane = match &self.invocation.pane {
                Some(id) => match self.herdr.pane(id) {
                    Err(error) if error.is("pane_not_found") => None,
                    pane => Some(pane?),
                },
                None => match self.herdr.current_pane() {
                    Ok(pane) => Some(pane),
                    Err(HerdrError::Refused { .. }) => None,
                    Err(error) => return Err(error.into()),
                },
            };
            let _first = self.focus.set(pane);
        }
        Ok(self.focus.get().and_then(Option::as_ref))
    }

    /// The focused pane, which the action cannot do without.
    pub(crate) fn need_focus(&self) -> Result<&Pane> {
        self.focus()?.ok_or_else(|| {
            Error::failed("no pane has the focus in this Herdr session")
                .help("open a workspace in a git worktree, then press the key in its pane")
        })
    }

    /// Whether a pane that opens now takes the focus: only while it is still where the key was pressed, or the
    /// command typed. Who has gone on types elsewhere, and goes on typing there.
    pub(crate) fn focus_of_a_new_pane(&self) -> Focus {
        let still_here = match (self.focus(), self.herdr.focused_pane()) {
            (Ok(Some(own)), Ok(Some(focused))) => own.terminal == focused.terminal,
            (Ok(None), _) | (_, Ok(None)) => true,
            (Err(_), _) | (_, Err(_)) => false,
        };
        if still_here { Focus::Moves } else { Focus::Stays }
    }

    /// The folder that the action is about: the pane's.
    pub(crate) fn folder(&self) -> Result<PathBuf> {
        if let Some(folder) = &self.invocation.cwd {
            return Ok(folder.clone());
        }
        let pane = self.need_focus()?;
        pane.cwd
            .clone()
            .ok_or_else(|| Error::failed(format!("Herdr does not know the folder of pane {}", pane.id)))
    }

    pub(crate) fn worktree(&self) -> Result<Worktree> {
        Worktree::discover(&self.git()?, &self.folder()?)
    }

    pub(crate) fn git(&self) -> Result<PathBuf> {
        program::find("git", &self.paths)
    }

    /// The record that whoever opened this pane or popup named in its environment; `None` when it is forgotten.
    pub(crate) fn named_record(&self) -> Option<Record> {
        let id: RecordId = std::env::var(RECORD).ok()?.parse().ok()?;
        self.store.read().ok()?.record(&id).cloned()
    }

    /// # Errors
    /// They cannot be read, or hold something that is not a setting.
    pub(crate) fn config(&self) -> Result<Config> {
        Config::load(&self.config_file())
    }

    /// The file with the settings.
    pub(crate) fn config_file(&self) -> PathBuf {
        let folder = std::env::var_os("HERDR_PLUGIN_CONFIG_DIR").map(PathBuf::from);
        match folder.filter(|folder| folder.is_absolute()) {
            Some(folder) => folder.join("config.json"),
            None => self.paths.plugin_config(),
        }
    }

    /// The keys to which an action is bound.
    pub(crate) fn chords(&self, action: &str) -> Vec<Chord> {
        let text = crate::fs::read_regular(self.paths.herdr_config_file()).unwrap_or_default();
        crate::keys::chords_of(&text, &format!("{PLUGIN_ID}.{action}")).unwrap_or_default()
    }

    /// The program that makes boxes of this kind.
    pub(crate) fn provider(&self, kind: ProviderKind) -> Result<Provider> {
        Ok(match kind {
            ProviderKind::Createos => Provider::createos(program::find("createos", &self.paths)?),
            ProviderKind::Local => Provider::local(own_binary()?),
        })
    }

    /// A record's box at its provider.
    ///
    /// # Errors
    /// The provider's program is nowhere, or the box was never made.
    pub(crate) fn remote(&self, record: &Record) -> Result<ProviderBox> {
        Ok(ProviderBox::new(self.provider(record.provider)?, box_id(record)?))
    }
}

/// The folder in which the actions remember things.
pub(crate) fn state_folder(paths: &Paths) -> PathBuf {
    std::env::var_os("HERDR_PLUGIN_STATE_DIR")
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute())
        .unwrap_or_else(|| paths.plugin_state())
}

/// The id of a record's box.
pub(crate) fn box_id(record: &Record) -> Result<BoxId> {
    record.box_id.clone().ok_or_else(|| {
        Error::failed(format!("box {} is still being made", record.name))
            .help("wait for its pane, then try again")
    })
}

/// The socket that Herdr's own command line would use (docs/measured/herdr.md 8.1).
fn default_socket(paths: &Paths) -> String {
    let folder =
        match std::env::var("HERDR_SESSION").ok().filter(|name| !name.is_empty() && name != "default") {
            Some(name) => paths.herdr_config_dir().join("sessions").join(name),
            None => paths.herdr_config_dir().to_path_buf(),
        };
    folder.join("herdr.sock").display().to_string()
}
