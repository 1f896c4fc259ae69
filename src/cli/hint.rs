//! Words that somebody types where another command is meant.

use crate::command;
use clap::error::{ContextKind, ContextValue};

/// What a word of installers means here.
fn meant(word: &str) -> Vec<String> {
    let setup = command::setup;
    match word {
        "doctor" | "check" | "status" => vec![format!("to check the setup: {}", setup().flag("--doctor"))],
        "install" | "init" => vec![format!("to set Herdr up: {}", setup())],
        "undo" | "uninstall" | "remove" => vec![
            format!("to take the setup back: {}", setup().flag("--undo")),
            format!("to take the last apply back: {}", command::action("undo")),
        ],
        _ => Vec::new(),
    }
}

/// Names the command that is meant by an unknown first word: an installer's, or an action of the plugin.
pub(super) fn name_the_command(
    mut error: clap::Error,
    cli: &clap::Command,
    word: Option<&str>,
) -> clap::Error {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    if Some(unknown.as_str()) != word {
        return error;
    }
    let mut tips = meant(unknown);
    let action = cli.find_subcommand("herdr").and_then(|herdr| herdr.find_subcommand(unknown));
    match action {
        Some(action) if tips.is_empty() => tips.push(command::action(action.get_name()).into()),
        None if tips.is_empty() => return error,
        _ => {}
    }
    let _similar = error.remove(ContextKind::SuggestedSubcommand);
    let tips = tips.into_iter().map(Into::into).collect();
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    error
}
