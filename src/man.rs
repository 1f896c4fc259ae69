//! The manual pages: what clap knows of a command, and behind it what people look for in a page
//! (`templates/man.toml`).

use crate::cli::{Cli, ManArgs};
use crate::error::{IoContext, Result};
use crate::exit::Exit;
use crate::fs::{Mode, write_atomic};
use crate::{templates, ui};
use clap::builder::Resettable;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    exit: Vec<Named>,
    environment: Vec<Named>,
    file: Vec<Named>,
    example: Vec<Example>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
    means: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    /// The page's name, without its section.
    page: String,
    text: String,
    run: String,
}

/// Prints the manual page, or writes one for each command into a folder.
///
/// # Errors
/// The folder cannot be made or written.
pub(crate) fn man(args: &ManArgs) -> Result<Exit> {
    // Without `help` as a command of its own, which would repeat every other page.
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    let words = templates::read(include_str!("../templates/man.toml"));
    let Some(folder) = &args.out else {
        let _closed_pipe = ui::raw(&page(&root, &words)?.1);
        return Ok(Exit::DONE);
    };
    std::fs::create_dir_all(folder).at("create the folder", folder)?;
    let count = pages(&root, &words, folder)?;
    ui::line(format!("{count} pages in {}", folder.display()));
    Ok(Exit::DONE)
}

/// Writes the page of a command and of those below it; says how many.
fn pages(command: &Command, words: &Words, folder: &Path) -> Result<usize> {
    let (name, text) = page(command, words)?;
    write_atomic(&folder.join(name), &text, Mode::Shared)?;
    let mut count = 1;
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        count += pages(below, words, folder)?;
    }
    Ok(count)
}

/// The page of a command, with the name of its file.
fn page(command: &Command, words: &Words) -> Result<(String, Vec<u8>)> {
    let source = format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    // What stands below the help is told in sections of its own.
    let man = Man::new(command.clone().after_help(Resettable::Reset).after_long_help(Resettable::Reset))
        .source(source);
    let (name, mut text) = (man.get_filename(), Vec::new());
    let own = name.strip_suffix(".1").unwrap_or(&name);
    let is_root = own == env!("CARGO_PKG_NAME");
    let mut render = || -> std::io::Result<()> {
        man.render(&mut text)?;
        let mut more = Roff::new();
        let mut terms = |title: &str, terms: &[Named]| {
            more.control("SH", [title]);
            for Named { name, means } in terms {
                more.control("TP", []).text([bold(name)]).text([roman(means)]);
            }
        };
        terms("EXIT STATUS", &words.exit);
        if is_root {
            terms("ENVIRONMENT", &words.environment);
            terms("FILES", &words.file);
        }
        let mut examples = words.example.iter().filter(|example| example.page == own).peekable();
        if examples.peek().is_some() {
            more.control("SH", ["EXAMPLES"]);
        }
        for example in examples {
            more.control("PP", []).text([roman(&example.text)]);
            more.control("RS", ["4"]).text([bold(&example.run)]).control("RE", []);
        }
        if !is_root {
            more.control("SH", ["SEE ALSO"]).text([bold(env!("CARGO_PKG_NAME")), roman("(1)")]);
        }
        more.to_writer(&mut text)
    };
    render().at("render", Path::new(&name))?;
    Ok((name, text))
}
