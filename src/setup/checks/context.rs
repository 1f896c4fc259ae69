//! What the checks judge, and a plan is made from.

use crate::command::Command;
use crate::config::{Config, ProviderKind, Settings};
use crate::paths::Paths;
use crate::setup::observe::{Observed, provider};
use crate::setup::request::Request;
use crate::setup::template::{self, Template};
use crate::ui;

/// An observation, and what it is judged for.
pub(in crate::setup) struct Context<'a> {
    pub(in crate::setup) template: &'static Template,
    pub(in crate::setup) request: &'a Request,
    pub(in crate::setup) observed: &'a Observed,
    pub(in crate::setup) paths: &'a Paths,
    pub(in crate::setup) provider: ProviderKind,
    /// Whether a person is there to type into what we propose.
    pub(super) on_terminal: bool,
}

impl<'a> Context<'a> {
    pub(in crate::setup) fn new(request: &'a Request, observed: &'a Observed, paths: &'a Paths) -> Self {
        let provider = provider(&request.settings, &observed.config);
        let (template, on_terminal) = (&*template::HERDR, ui::is_on_terminal());
        Self { template, request, observed, paths, provider, on_terminal }
    }

    /// The setup that this command line asks for, to be typed.
    pub(super) fn setup(&self) -> Command {
        self.request.again.clone()
    }

    /// The same setup, over an existing `config.json`.
    pub(super) fn forced(&self) -> Command {
        self.request.forced()
    }

    /// Whether a setup was done here.
    pub(super) fn is_set_up(&self) -> bool {
        matches!(self.observed.plugin, Ok(Some(_))) || matches!(self.observed.receipt, Ok(Some(_)))
    }

    /// The settings as they will be used, as far as they are valid.
    pub(super) fn config(&self) -> Config {
        let (kept, _dropped) = Settings::salvage(self.observed.config.contents());
        self.request.settings.clone().over(kept).resolve()
    }
}
