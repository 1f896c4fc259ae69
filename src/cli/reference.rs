//! The whole command line as text, so that no option comes, goes or changes unnoticed.

use super::Cli;
use clap::{Command, CommandFactory};
use std::collections::BTreeMap;

/// The help of a command and of everything below it.
fn reference(command: &mut Command, text: &mut String) {
    let help = command.clone().term_width(100).render_long_help().to_string();
    let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
    text.push_str(&format!("$ {name} --help\n\n{}\n\n", help.trim_end()));
    for below in
        command.get_subcommands_mut().filter(|below| !below.is_hide_set() && below.get_name() != "help")
    {
        reference(below, text);
    }
}

/// One text for each command of the first level, and one for the program itself.
fn references() -> BTreeMap<String, String> {
    let mut root = Cli::command();
    root.build();
    let own = root.clone().term_width(100).render_long_help().to_string();
    let mut all = BTreeMap::from([("createos-sandbox".to_owned(), own)]);
    for command in root.get_subcommands_mut().filter(|command| command.get_name() != "help") {
        let mut text = String::new();
        reference(command, &mut text);
        all.insert(command.get_name().to_owned(), text);
    }
    all
}

#[test]
fn the_command_line_is_as_documented() {
    for (name, text) in references() {
        insta::assert_snapshot!(name, text);
    }
}

#[test]
fn every_command_and_option_says_what_it_is_for() {
    fn check(command: &Command, path: &str) {
        assert!(command.get_about().is_some(), "{path} has no description");
        for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(!help.is_empty(), "{path}: {} has no description", argument.get_id());
            assert!(
                !help.ends_with('.'),
                "{path}: {}: a description is a phrase, without a period",
                argument.get_id()
            );
        }
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            check(below, &format!("{path} {}", below.get_name()));
        }
    }
    check(&Cli::command(), "createos-sandbox");
}
