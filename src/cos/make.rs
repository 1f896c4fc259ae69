//! A box of a call's own: made under a name that is on record before, found again whatever becomes of the call, and
//! deleted.

use super::clean_up;
use super::refused::{refused, to_make, with_ways};
use super::say::say;
use super::state::{BoxRecord, Owned, Phase, StateFolder};
use crate::cli::BoxArgs;
use crate::config::Network;
use crate::config::{Rootfs, Shape};
use crate::createos::{BoxId, BoxName, CreateSpec, Provider, Refusal};
use crate::error::{Error, Result};
use crate::random;
use std::time::Duration;

/// After so long without activity a box pauses itself.
const AUTO_PAUSE: &str = "30m";
/// How often a taken name is replaced by another.
const NAMES: usize = 5;
/// How long a new box may take to run.
const UP: Duration = Duration::from_secs(60);
/// Where the image is not said.
const ROOTFS: &str = "devbox:1";

/// What a box should be.
#[derive(Debug, Clone)]
pub(super) struct Wish {
    pub(super) shape: Shape,
    pub(super) rootfs: Rootfs,
    /// Hosts that it may reach; empty for all.
    pub(super) egress: Vec<String>,
    pub(super) env: Vec<(String, String)>,
}

impl Wish {
    /// From the command line; `shape` is the default.
    ///
    /// # Errors
    /// A value is none.
    pub(super) fn read(
        args: &BoxArgs,
        shape: &str,
        egress: Vec<String>,
        env: Vec<(String, String)>,
    ) -> Result<Self> {
        Ok(Self {
            shape: args.shape.as_deref().unwrap_or(shape).parse()?,
            rootfs: args.rootfs.as_deref().unwrap_or(ROOTFS).parse()?,
            egress,
            env,
        })
    }

    /// Says where the box may connect to, when that is not everywhere.
    pub(super) fn tell_of_egress(&self) {
        if !self.egress.is_empty() {
            say(format!("the box reaches only {}; names take about 30 s to work", self.egress.join(", ")));
        }
    }

    /// What the create call is told.
    pub(super) fn spec(&self, name: &BoxName) -> CreateSpec {
        CreateSpec {
            name: name.clone(),
            shape: self.shape.as_str().into(),
            rootfs: Some(self.rootfs.as_str().into()),
            auto_pause: Some(AUTO_PAUSE.into()),
            egress: self.egress.clone(),
            env: self.env.clone(),
            network: Network::Own,
            nested: false,
        }
    }
}

/// `START-<process>-<random>`, at most 22 characters.
///
/// # Errors
/// None that a start of ours brings about.
pub(super) fn name(start: &str) -> Result<BoxName> {
    name_behind(format!("{start}-{}-", std::process::id()))
}

/// The same with a number of the call's own in it.
///
/// # Errors
/// None that a start of ours brings about.
pub(super) fn numbered_name(start: &str, number: usize) -> Result<BoxName> {
    name_behind(format!("{start}-{}-{number}-", std::process::id()))
}

fn name_behind(head: String) -> Result<BoxName> {
    let room = 22_usize.saturating_sub(head.len()).min(6);
    format!("{head}{}", random::letters(room)).parse().map_err(|error| Error::failed(format!("{error}")))
}

/// Why a box was not made.
pub(super) struct Unmade {
    pub(super) error: Error,
    /// There are as many boxes as the account may have.
    pub(super) is_cap: bool,
}

impl From<Error> for Unmade {
    fn from(error: Error) -> Self {
        Self { error, is_cap: false }
    }
}

impl From<Unmade> for Error {
    fn from(unmade: Unmade) -> Self {
        unmade.error
    }
}

/// A box that this call has.
pub(super) struct Made {
    pub(super) provider: Provider,
    pub(super) id: BoxId,
    pub(super) owned: Owned,
    state: StateFolder,
}

/// Makes a box for a new record, and waits until it runs. When it cannot be, nothing is left of it, or the clean-up looks
/// for it. `on_name` hears each name before there can be a box of it.
///
/// # Errors
/// The provider's refusal, or the record cannot be written.
pub(super) fn make(
    provider: &Provider,
    state: &StateFolder,
    record: BoxRecord,
    start: &str,
    wish: &Wish,
    on_name: &dyn Fn(&BoxName),
) -> Result<Made, Unmade> {
    on_name(&record.name);
    let mut owned = state.own_new(record)?;
    for _ in 0..NAMES {
        if let Err(error) = owned.change(|record| record.create_called = true) {
            // Nothing was called: there is no box to look for.
            owned.forget()?;
            return Err(error.into());
        }
        match provider.create(&wish.spec(&owned.record.name)) {
            Ok(id) => {
                owned.change(|record| record.id = Some(id.clone()))?;
                let up = provider.wait_running(&id, UP);
                let made = Made { provider: provider.clone(), id, owned, state: state.clone() };
                return match up {
                    Ok(()) => Ok(made),
                    Err(failure) => Err(made.failed(refused(failure)).into()),
                };
            }
            Err(failure) if failure.refusal == Refusal::NameTaken => {
                let other = name(start)?;
                on_name(&other);
                owned = owned.rename(other)?;
            }
            Err(failure) if failure.may_have_happened() => {
                let error = to_make(failure, wish.shape.as_str());
                let name = owned.record.name.clone();
                drop(owned);
                clean_up::start(state, &name)?;
                let late = format!("{name} may still come: it is looked for, and deleted then");
                return Err(error.fact("box", late).into());
            }
            Err(failure) => {
                owned.forget()?;
                let is_cap = matches!(failure.refusal, Refusal::Cap | Refusal::DailyCap);
                return Err(Unmade { is_cap, error: to_make(failure, wish.shape.as_str()) });
            }
        }
    }
    owned.forget()?;
    Err(Error::failed(format!("{NAMES} box names in a row were taken")).help("do it again").into())
}

impl Made {
    /// Deletes the box and its record.
    ///
    /// # Errors
    /// It is still there: the clean-up goes on with it, and the error names it.
    pub(super) fn delete(self) -> Result<()> {
        let Self { provider, id, mut owned, state } = self;
        match provider.delete(&id, || state.ours()) {
            Ok(()) => owned.forget(),
            Err(failure) => {
                owned.change(|record| record.phase = Phase::Leftover)?;
                let name = owned.record.name.clone();
                drop(owned);
                clean_up::start(&state, &name)?;
                let error = Error::failed(format!("box {name} could not be deleted: {}", failure.words));
                Err(with_ways(error.help("it is tried again in a moment"), &provider, id.as_str()))
            }
        }
    }

    /// Leaves the box to a person.
    ///
    /// # Errors
    /// The record cannot be written.
    pub(super) fn keep(mut self) -> Result<()> {
        self.owned.change(|record| record.phase = Phase::Kept)
    }

    /// The failure of what was to be done in the box, which is deleted, with what became of it.
    pub(super) fn failed(self, error: Error) -> Error {
        match self.delete() {
            Ok(()) => error,
            Err(left) => error.fact("and", left.message()).because(&left),
        }
    }
}
