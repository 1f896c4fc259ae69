//! Words that somebody types where another command is meant.

use clap::error::{ContextKind, ContextValue};

/// Words of installers, and what they mean here.
const MEANT: [(&[&str], &[&str]); 3] = [
    (&["doctor", "check", "status"], &["to check the setup: createos-sandbox setup herdr --doctor"]),
    (&["install", "init"], &["to set Herdr up: createos-sandbox setup herdr"]),
    (
        &["undo", "uninstall", "remove"],
        &[
            "to take the setup back: createos-sandbox setup herdr --undo",
            "to take the last apply back: createos-sandbox herdr undo",
        ],
    ),
];

/// Names the command that is meant by an unknown first word: an installer's, or an action of the plugin.
pub(super) fn name_the_command(
    mut error: clap::Error,
    command: &clap::Command,
    word: Option<&str>,
) -> clap::Error {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    if Some(unknown.as_str()) != word {
        return error;
    }
    let meant = MEANT.iter().find(|(words, _)| words.contains(&unknown.as_str()));
    let action = command.find_subcommand("herdr").and_then(|herdr| herdr.find_subcommand(unknown));
    let tips: Vec<String> = match (meant, action) {
        (Some((_, tips)), _) => tips.iter().map(|tip| (*tip).to_owned()).collect(),
        (None, Some(action)) => vec![format!("createos-sandbox herdr {}", action.get_name())],
        (None, None) => return error,
    };
    let _similar = error.remove(ContextKind::SuggestedSubcommand);
    let tips = tips.into_iter().map(Into::into).collect();
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    error
}
