//! Words on the terminal; the only room that writes there.

mod ask;
mod colour;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has local boxes"))]
pub(crate) mod modes;
mod out;
mod pager;
mod progress;
mod steps;
pub(crate) mod terminal;
mod text;
mod wrap;

pub(crate) use ask::{Said, choose, confirm, is_asking, is_on_terminal, pick};
pub(crate) use colour::{Tone, coloured};
#[cfg(target_os = "linux")]
pub(crate) use out::stderr;
pub(crate) use out::stdout;
pub(crate) use pager::{Pager, Shade, Toned, Wish};
pub(crate) use progress::Progress;
pub(crate) use steps::Steps;
pub(crate) use terminal::columns;
pub(crate) use text::{bytes, count, is_hostile, seconds, some, visible, visible_line};
pub(crate) use wrap::{paragraph, wrap};

use crate::error::Error;
use crate::exit::Exit;
use anstream::stream::RawStream;
use std::io::Write;
use std::os::fd::AsFd;
use std::sync::OnceLock;

/// Why stdout could not be written: the first reason, kept until the process ends.
static LOST: OnceLock<std::io::Error> = OnceLock::new();

/// One line on stdout. A closed pipe is not an error: the reader has seen enough. Any other failure is
/// told by [`ending`].
pub(crate) fn line(text: impl AsRef<str>) {
    let stdout = std::io::stdout();
    let text = fit(&stdout, text.as_ref());
    let written = whole(stdout.lock(), text.as_bytes());
    if let Err(source) = unless_closed(written) {
        let _an_earlier_one_is_kept = LOST.set(source);
    }
}

/// The text as a line, without colours where the stream takes none.
fn fit(stream: &impl RawStream, text: &str) -> String {
    match anstream::AutoStream::choice(stream) {
        anstream::ColorChoice::Never => format!("{}\n", anstream::adapter::strip_str(text)),
        _ => format!("{text}\n"),
    }
}

/// After what others have written and not sent yet, as one piece.
fn whole(mut stream: impl Write + AsFd, bytes: &[u8]) -> std::io::Result<()> {
    stream.flush()?;
    out::write_all(stream.as_fd(), bytes)
}

/// Whether a line on stdout was lost.
pub(crate) fn lost_a_line() -> bool {
    LOST.get().is_some()
}

/// A write to a pipe that is not read any more counts as done.
///
/// # Errors
/// Every other failure of the write.
pub(crate) fn unless_closed(written: std::io::Result<()>) -> std::io::Result<()> {
    match written {
        Err(source) if source.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// The exit code of a process that wants to end with `code`: when a line of its output was lost, that is
/// said and is a failure.
pub(crate) fn ending(code: Exit) -> Exit {
    let Some(source) = LOST.get() else { return code };
    report(&Error::failed(format!("could not write to stdout: {source}")));
    code.max(Exit::FAILED)
}

pub(crate) fn note(text: impl AsRef<str>) {
    let stderr = std::io::stderr();
    let text = fit(&stderr, text.as_ref());
    let _closed_pipe = whole(stderr.lock(), text.as_bytes());
}

/// Raw bytes on stdout, for output that belongs to a program and not to us.
///
/// # Errors
/// Whatever the write reports, a closed pipe too: the caller decides.
pub(crate) fn raw(bytes: &[u8]) -> std::io::Result<()> {
    whole(std::io::stdout().lock(), bytes)
}

/// Raw bytes on stderr, for output of a program that a person watches.
///
/// # Errors
/// Whatever the write reports.
pub(crate) fn raw_note(bytes: &[u8]) -> std::io::Result<()> {
    whole(std::io::stderr().lock(), bytes)
}

pub(crate) fn report(error: &Error) {
    note(format_error(error));
}

/// An error as text: what happened, the facts aligned below it, then what to type.
pub(crate) fn format_error(error: &Error) -> String {
    let mut text = format!("error: {}", visible(error.message()));
    let width = error.facts().iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    for (label, value) in error.facts() {
        text.push_str(&format!("\n  {label:width$}   {}", visible(value)));
    }
    for hint in error.hints() {
        text.push_str(&format!("\nhelp: {}", visible(hint)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_shows_facts_aligned_and_hints_last() {
        let error = Error::failed("it broke").fact("host", "a").fact("reason", "b").help("mend it");
        assert_eq!(format_error(&error), "error: it broke\n  host     a\n  reason   b\nhelp: mend it");
    }

    #[test]
    fn a_hint_without_words_is_no_line() {
        assert_eq!(format_error(&Error::failed("it broke").help("").help(" \n")), "error: it broke");
    }

    #[test]
    fn hostile_bytes_in_an_error_are_made_visible() {
        let error = Error::failed("name \u{1b}[2J\u{7}");
        assert_eq!(format_error(&error), "error: name \\x1b[2J\\x07");
    }
}
