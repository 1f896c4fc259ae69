//! What the command line asks for, parsed once: nothing is looked at and nothing is written before all of it
//! is valid.

pub(super) mod keys;
mod values;

pub(crate) use values::WantedPlugin;

use crate::cli::SetupArgs;
use crate::command::{self, Command};
use crate::config::Settings;
use crate::error::Result;
use crate::keys::{Chord, Wanted};
use keys::{key, wanted_keys};
use serde::Serialize;
use values::{egress, parse, parse_each, wanted_plugin};

/// What ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Command"))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Task {
    /// `--doctor`
    Doctor,
    /// a setup
    #[default]
    Setup,
    /// `--undo`
    Undo,
}

impl Task {
    /// The task of these two flags.
    pub(crate) fn asked(doctor: bool, undo: bool) -> Self {
        match (doctor, undo) {
            (true, _) => Self::Doctor,
            (_, true) => Self::Undo,
            _ => Self::Setup,
        }
    }
}

/// A valid command line.
#[derive(Debug, Clone)]
#[must_use]
pub(crate) struct Request {
    pub(crate) task: Task,
    pub(crate) plugin: WantedPlugin,
    /// The settings that the flags give.
    pub(crate) settings: Settings,
    /// What happens to an existing `config.json`.
    pub(crate) rewrite: Rewrite,
    pub(crate) keys: Vec<Wanted>,
    /// Whether `config.toml` may be edited.
    pub(crate) edit_keys: bool,
    /// Whether Herdr's notices are turned on.
    pub(crate) notices: bool,
    /// Actions whose chord the command line gives.
    pub(crate) chosen_keys: Vec<String>,
    pub(crate) yes: bool,
    /// Missing programs are installed without asking.
    pub(crate) install_missing: bool,
    pub(crate) json: bool,
    pub(crate) strict: bool,
    pub(crate) dry_run: bool,
    /// The setup that this command line asks for, to be typed: what it repeats is what decides what is set up.
    pub(crate) again: Command,
}

/// What happens to an existing `config.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rewrite {
    /// It is kept.
    No,
    /// Flags win, valid settings stay.
    Keep,
    /// The defaults, and the flags over them.
    Reset,
}

impl Request {
    /// Parses the options; `var` reads the environment.
    ///
    /// # Errors
    /// A value is not valid; the message says which flag or variable it came from.
    pub(crate) fn parse(args: &SetupArgs, var: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let or_variable = |flag: &Option<String>, name: &str| {
            flag.clone().or_else(|| var(name).filter(|value| !value.is_empty()))
        };
        let settings = Settings {
            agent: parse("--agent", or_variable(&args.settings.agent, "CREATEOS_AGENT"))?,
            agent_args: None,
            environment: None,
            home_files: None,
            agent_settings: None,
            unattended: args.settings.unattended.then_some(true),
            shape: parse("--shape", or_variable(&args.settings.shape, "CREATEOS_SHAPE"))?,
            rootfs: parse("--rootfs", or_variable(&args.settings.rootfs, "CREATEOS_ROOTFS"))?,
            auto_pause: parse("--auto-pause", args.settings.auto_pause.clone())?,
            remote_root: parse("--remote-root", args.settings.remote_root.clone())?,
            egress: egress(&args.settings.egress)?,
            network: parse("--network", args.settings.network.clone())?,
            excludes: parse_each("--exclude", &args.settings.exclude)?,
            sync_excludes: parse_each("--sync-exclude", &args.settings.sync_exclude)?,
            allow_secrets: None,
            allow_files: None,
            detach_key: None,
            provider: parse("--provider", args.settings.provider.clone())?,
            restore_panes: None,
        };
        let chosen = args.key.iter().map(|text| key(text)).collect::<Result<Vec<_>>>()?;
        Ok(Self {
            task: Task::asked(args.doctor, args.undo),
            plugin: wanted_plugin(args)?,
            settings,
            rewrite: match (args.reset, args.force) {
                (true, _) => Rewrite::Reset,
                (_, true) => Rewrite::Keep,
                _ => Rewrite::No,
            },
            keys: wanted_keys(&chosen),
            chosen_keys: chosen.into_iter().map(|(action, _)| action).collect(),
            edit_keys: !args.no_keys,
            notices: args.notices,
            yes: args.yes,
            install_missing: args.install_missing,
            json: args.json,
            strict: args.strict,
            dry_run: args.dry_run,
            again: again(args),
        })
    }

    /// The same setup, over an existing `config.json`.
    pub(crate) fn forced(&self) -> Command {
        let again = self.again.clone();
        if self.rewrite == Rewrite::Reset { again } else { again.flag("--force") }
    }

    /// The same command line, had it named this chord for an action.
    pub(crate) fn choosing(mut self, action: &str, chord: Chord) -> Self {
        self.again = self.with_key(action, &chord.to_string());
        for wanted in self.keys.iter_mut().filter(|wanted| wanted.action == action) {
            wanted.chord = chord;
        }
        self.chosen_keys.push(action.to_owned());
        self
    }

    /// The same command line, had it asked for Herdr's notices.
    pub(crate) fn with_notices(mut self) -> Self {
        self.again = self.again.flag("--notices");
        self.notices = true;
        self
    }

    /// The same setup, with this chord for an action.
    pub(crate) fn with_key(&self, action: &str, chord: &str) -> Command {
        let is_other = |value: &&str| value.split_once('=').is_none_or(|(named, _)| named != action);
        let others: Vec<&str> = self.again.values("--key").filter(is_other).collect();
        let again = self.again.clone().without("--no-keys").without("--key");
        others
            .into_iter()
            .fold(again, |again, key| again.with("--key", key))
            .with("--key", format!("{action}={chord}"))
    }
}

/// What decides which setup is wanted, without how it is to be shown or asked about.
fn again(args: &SetupArgs) -> Command {
    let local = args.local.as_ref().map(|folder| folder.to_string_lossy().into_owned());
    let once = [
        ("--local", &local),
        ("--source", &args.source),
        ("--agent", &args.settings.agent),
        ("--shape", &args.settings.shape),
        ("--rootfs", &args.settings.rootfs),
        ("--auto-pause", &args.settings.auto_pause),
        ("--remote-root", &args.settings.remote_root),
        ("--provider", &args.settings.provider),
        ("--network", &args.settings.network),
    ];
    let each = [
        ("--egress", &args.settings.egress),
        ("--exclude", &args.settings.exclude),
        ("--sync-exclude", &args.settings.sync_exclude),
        ("--key", &args.key),
    ];
    let alone = [
        ("--unattended", args.settings.unattended),
        ("--notices", args.notices),
        ("--no-keys", args.no_keys),
        ("--force", args.force),
        ("--reset", args.reset),
    ];
    let once = once.into_iter().flat_map(|(flag, value)| value.iter().map(move |value| (flag, value)));
    let each = each.into_iter().flat_map(|(flag, values)| values.iter().map(move |value| (flag, value)));
    let again = once.chain(each).fold(command::setup(), |again, (flag, value)| again.with(flag, value));
    let given = alone.into_iter().filter(|(_, given)| *given);
    given.fold(again, |again, (flag, _)| again.flag(flag))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: SetupArgs,
    }

    fn request(words: &[&str]) -> Result<Request> {
        let line = Line::parse_from([&["setup"], words].concat());
        Request::parse(&line.args, |name| (name == "CREATEOS_SHAPE").then(|| "s-1vcpu-1gb".into()))
    }

    #[test]
    fn a_variable_stands_in_for_its_flag_and_the_flag_wins() {
        assert_eq!(request(&[]).unwrap().settings.shape.unwrap().as_str(), "s-1vcpu-1gb");
        let given = request(&["--shape", "s-4vcpu-8gb"]).unwrap();
        assert_eq!(given.settings.shape.unwrap().as_str(), "s-4vcpu-8gb");
    }

    #[test]
    fn every_source_is_read() {
        let source = |text: &str| match request(&["--source", text]).unwrap().plugin {
            WantedPlugin::Github(source) => source.to_string(),
            other => format!("{other:?}"),
        };
        assert_eq!(source("bundled"), "Bundled");
        assert_eq!(source("github"), "NodeOps-app/createos-plugin/packages/herdr-plugin");
        assert_eq!(source("github@v1"), "NodeOps-app/createos-plugin/packages/herdr-plugin@v1");
        assert_eq!(source("github:me/fork/sub@feat/x"), "me/fork/sub@feat/x");
        for bad in
            ["gitlab:a/b", "github:a", "githubx", "github:a/../b", "github:a/b@", "github:a/b@-x", "npm"]
        {
            assert!(request(&["--source", bad]).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_empty_egress_list_is_asked_for_by_none_alone() {
        assert_eq!(request(&["--egress", "none"]).unwrap().settings.egress, Some(Vec::new()));
        assert_eq!(request(&[]).unwrap().settings.egress, None);
        assert!(request(&["--egress", "none", "--egress", "a.com"]).is_err());
    }

    #[test]
    fn a_chord_can_be_chosen_for_any_action() {
        let request = request(&["--key", "delete=prefix+alt+x", "--key", "pause=prefix+shift+e"]).unwrap();
        let keys: Vec<_> = request.keys.iter().map(|key| format!("{}={}", key.action, key.chord)).collect();
        assert_eq!(keys.len(), 7);
        assert_eq!(keys[5..], ["delete=prefix+alt+x", "pause=prefix+shift+e"]);
    }

    #[test]
    fn wrong_values_are_refused_with_their_flag() {
        let said = |words: &[&str]| {
            let error = request(words).unwrap_err();
            format!("{} {:?} {:?}", error.message(), error.facts(), error.hints())
        };
        assert!(said(&["--agent", "bash"]).contains("--agent"));
        assert!(said(&["--auto-pause", "2d"]).contains("--auto-pause"));
        assert!(said(&["--remote-root", "work"]).contains("--remote-root"));
        assert!(said(&["--key", "delte=prefix+x"]).contains("did you mean delete?"));
        assert!(said(&["--key", "delete=prefx+atl+x"]).contains("did you mean prefix+alt+x?"));
        assert!(said(&["--key", "delete=nonsense"]).contains("a chord looks like"));
        assert!(said(&["--key", "fly=prefix+x"]).contains("pick one of: start, start-menu, attach"));
        assert!(said(&["--key", "start=shift"]).contains("not a chord"));
        assert!(said(&["--key", "start"]).contains("ACTION=CHORD"));
        assert!(said(&["--exclude", "a*b"]).contains("--exclude"));
    }
}
