//! Words that somebody types where another command is meant.

use crate::command;
use clap::error::{ContextKind, ContextValue};
use std::ffi::OsString;

/// What a word of installers means here.
fn meant(word: &str) -> Vec<String> {
    let setup = command::setup;
    match word {
        "doctor" | "check" | "status" => vec![format!("to check the setup: {}", setup().flag("--doctor"))],
        "install" | "init" => vec![format!("to set Herdr up: {}", setup())],
        "uninstall" | "remove" => vec![
            format!("to take the setup back: {}", setup().flag("--undo")),
            format!("to take the last apply back: {}", command::own(["undo"])),
        ],
        _ => Vec::new(),
    }
}

/// Says what was meant, where clap does not know.
pub(super) fn advise(mut error: clap::Error, cli: &clap::Command, args: &[OsString]) -> clap::Error {
    let tips = match args.get(1).and_then(|word| word.to_str()) {
        Some("local") => in_local(&error, cli, args).into_iter().collect(),
        Some(word) => a_command(&error, cli, word),
        None => Vec::new(),
    };
    if !tips.is_empty() {
        let _similar = error.remove(ContextKind::SuggestedSubcommand);
        let tips = tips.into_iter().map(Into::into).collect();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

fn unknown_word(error: &clap::Error) -> Option<&str> {
    match error.get(ContextKind::InvalidSubcommand)? {
        ContextValue::String(word) => Some(word),
        _ => None,
    }
}

/// The command that is meant by an unknown first word: an installer's, or an action of the plugin.
fn a_command(error: &clap::Error, cli: &clap::Command, word: &str) -> Vec<String> {
    if unknown_word(error) != Some(word) {
        return Vec::new();
    }
    let tips = meant(word);
    let action = cli.find_subcommand("herdr").and_then(|herdr| herdr.find_subcommand(word));
    match action {
        Some(action) if tips.is_empty() => vec![command::action(action.get_name()).into()],
        _ => tips,
    }
}

/// What is meant behind `local`.
fn in_local(error: &clap::Error, cli: &clap::Command, args: &[OsString]) -> Option<String> {
    let is = |kind, text: &str| match error.get(kind) {
        Some(ContextValue::String(known)) => known == text,
        Some(ContextValue::Strings(known)) => known.iter().any(|known| known.starts_with(text)),
        _ => false,
    };
    let says = |words: &[&str]| args.iter().any(|arg| words.iter().any(|word| arg == word));
    if is(ContextKind::InvalidArg, "-f") && says(&["rm", "delete", "destroy"]) {
        return Some("--yes, or -y, deletes without a question".into());
    }
    if is(ContextKind::InvalidArg, "<REF>") {
        let list = command::own(["local", "sandbox", "list"]);
        return Some(format!("REF is a box; show them with: {list}"));
    }
    if is(ContextKind::InvalidArg, "--shape") {
        return Some("such as --shape s-2vcpu-4gb".into());
    }
    // A verb of `sandbox` stands right behind `local`.
    let area = cli.find_subcommand("local")?.find_subcommand("sandbox")?;
    let verb = area.find_subcommand(unknown_word(error).filter(|_| !says(&["sandbox", "sb"]))?)?;
    Some(command::own(["local", "sandbox", verb.get_name()]).into())
}
