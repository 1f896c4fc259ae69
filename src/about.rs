//! What the binary says about itself: completions, version.

use crate::cli::{Cli, CompletionsArgs, VersionArgs};
use crate::command;
use crate::config::{Agent, ProviderKind};
use crate::exit::Exit;
use crate::ui;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;
use serde_json::json;

/// Prints the completion script of a shell.
pub(crate) fn completions(args: &CompletionsArgs) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(
        args.shell,
        &mut with_values(Cli::command()),
        env!("CARGO_PKG_NAME"),
        &mut script,
    );
    // clap_complete 4.6 spells a hyphen in our name one way where its bash script sets the command and
    // another way where it asks for it, so that nothing below the first level would be completed.
    let script = String::from_utf8_lossy(&script).replace("createos__subcmd__sandbox", "createos__sandbox");
    let script = with_boxes(args.shell, &script);
    let _closed_pipe = ui::raw(script.as_bytes());
    Exit::DONE
}

/// What stands for the names of boxes until a shell asks for them.
const BOXES: &str = "@BOXES@";

/// The command line with the values that can be completed; this process ends when they are printed: agents, providers, boxes, actions to bind.
fn with_values(command: Command) -> Command {
    let values = |arg: &Arg| -> Vec<&'static str> {
        match arg.get_id().as_str() {
            "agent" => Agent::all().map(Agent::name).collect(),
            "provider" => ProviderKind::ALL.map(ProviderKind::word).to_vec(),
            "key" => actions().map(|action| -> &str { format!("{action}=").leak() }).collect(),
            "name" if arg.is_positional() => vec![BOXES],
            _ => Vec::new(),
        }
    };
    let command = command.mut_args(|arg| match values(&arg) {
        values if values.is_empty() => arg,
        values => arg.value_parser(PossibleValuesParser::new(values)),
    });
    command.mut_subcommands(with_values)
}

/// What a key can be bound to: the actions, and a start of each agent.
fn actions() -> impl Iterator<Item = String> {
    let herdr = Cli::command().find_subcommand("herdr").cloned();
    let verbs: Vec<String> =
        herdr.iter().flat_map(Command::get_subcommands).map(|verb| verb.get_name().into()).collect();
    let typed_only = |verb: &String| !["upload", "prune", "help"].contains(&verb.as_str());
    verbs.into_iter().filter(typed_only).chain(Agent::all().map(|agent| format!("start-{agent}")))
}

/// The script that asks for boxes when they are to be completed.
fn with_boxes(shell: Shell, script: &str) -> String {
    let ask = format!("{} 2>/dev/null", command::action("box-names"));
    match shell {
        Shell::Bash => script.replace(BOXES, &format!("$({ask})")),
        Shell::Zsh => script.replace(&format!("({BOXES})"), &format!("{{compadd -- ${{(f)\"$({ask})\"}}}}")),
        Shell::Fish => script.replace(BOXES, &format!("({ask})")),
        _ => script.replace(BOXES, ""),
    }
}

/// Prints the version, as one line or as one JSON document.
pub(crate) fn version(args: &VersionArgs) -> Exit {
    let [name, version] = [env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")];
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    ui::line(match args.json {
        true => format!(
            "{:#}",
            json!({ "schemaVersion": 1, "name": name, "version": version, "os": os, "arch": arch })
        ),
        false => format!("{name} {version} ({os} {arch})"),
    });
    Exit::DONE
}
