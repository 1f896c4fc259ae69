//! A proposal for a person's eyes: the judgement first, then the patch. Everything from the box is
//! hostile text and is made visible; blocks of binary contents are summed up.

use super::fate::{Fate, Judged, Settled, What};
use super::proposal::{Outcome, Proposal};
use crate::error::{IoContext, Result};
use crate::ui::{self, Shade, Toned};
use std::fs::File;
use std::io::{BufRead, BufReader};

/// So much of a patch is shown; the whole is in the file.
const SHOWN: u64 = 4 * 1024 * 1024;

impl Proposal {
    /// The lines of a review.
    ///
    /// # Errors
    /// The patch cannot be read.
    pub(crate) fn review(&self) -> Result<Vec<Toned>> {
        let (mut lines, patch) = (self.judgement(), self.patch_lines()?);
        if !patch.is_empty() {
            lines.push(Toned::new(Shade::Plain, ""));
        }
        lines.extend(patch);
        Ok(lines)
    }

    /// The lines of the patch; none when it is empty.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn patch_lines(&self) -> Result<Vec<Toned>> {
        let mut lines = Vec::new();
        if self.patch.bytes > 0 {
            let path = &self.patch.path;
            let file = BufReader::new(File::open(path).at("open", path)?);
            patch_lines(file, &mut lines).at("read", path)?;
            if self.patch.bytes > SHOWN {
                let rest = format!("… {} of {} are shown", ui::bytes(SHOWN), ui::bytes(self.patch.bytes));
                lines.push(Toned::new(Shade::Warning, rest));
            }
        }
        Ok(lines)
    }

    fn judgement(&self) -> Vec<Toned> {
        let mut lines = vec![Toned::new(Shade::Heading, self.summary())];
        let word = |judged: &Judged| match &judged.fate {
            Fate::Take(What::Added) => ("new", Shade::Plain),
            Fate::Take(What::Changed) => ("changed", Shade::Plain),
            Fate::Take(What::Deleted) => ("deleted", Shade::Plain),
            Fate::Merged => ("merged", Shade::Plain),
            Fate::AlreadyHere => ("here", Shade::Dim),
            Fate::Conflict(_) => ("CLASH", Shade::Bad),
            Fate::Settled(Settled::Marked) => ("marked", Shade::Warning),
            Fate::Settled(Settled::Mine) => ("yours", Shade::Warning),
            Fate::Settled(Settled::Theirs) => ("box's", Shade::Warning),
            Fate::Dropped(_) => ("stays", Shade::Warning),
        };
        // What needs eyes comes first.
        let rank = |judged: &Judged| match (&judged.fate, judged.runs_code) {
            (Fate::Conflict(_), _) => 0,
            (_, Some(_)) => 1,
            (Fate::Dropped(_), _) => 2,
            (Fate::AlreadyHere, _) => 4,
            _ => 3,
        };
        let mut judged: Vec<&Judged> = self.judged.iter().collect();
        judged.sort_by_key(|judged| rank(judged));
        for one in judged {
            let (word, mut shade) = word(one);
            let mut text = format!("  {word:<8} {}", shown(&one.name));
            if let Fate::Conflict(why) | Fate::Dropped(why) = &one.fate {
                text.push_str(&format!("   {}", shown(why)));
            }
            if let Some(why) = one.runs_code {
                shade = Shade::Warning;
                text.push_str(&format!("   RUNS CODE HERE: {why}"));
            }
            lines.push(Toned::new(shade, text));
        }
        let besides = [
            (&self.nested, "a repository of its own, which stays in the box"),
            (&self.unreadable, "cannot be read by the box's user, and stays in the box"),
        ];
        for (paths, what) in besides {
            lines.extend(paths.iter().map(|path| {
                Toned::new(Shade::Warning, format!("  {:<8} {}   {what}", "stays", shown(&path.to_string())))
            }));
        }
        lines
    }

    fn summary(&self) -> String {
        let clashes = self.judged.iter().filter(|judged| matches!(judged.fate, Fate::Conflict(_))).count();
        match self.outcome() {
            Outcome::Conflict if clashes == 1 => "1 file clashes; nothing can be applied".into(),
            Outcome::Conflict => format!("{clashes} files clash; nothing can be applied"),
            Outcome::AlreadyApplied => "everything is here already".into(),
            Outcome::NoChanges => "nothing new in the box".into(),
            Outcome::Applied => format!(
                "{}, +{} -{}{}",
                ui::count(self.patch.files as u64, "file"),
                self.patch.lines.insertions,
                self.patch.lines.deletions,
                match self.deletions() {
                    0 => String::new(),
                    _ if self.deletes_most() =>
                        format!("; MORE THAN HALF OF THE FILES GO: {} deleted here", self.deletions()),
                    count => format!(", {count} deleted"),
                }
            ),
        }
    }
}

/// A name or reason in one line.
fn shown(text: &str) -> String {
    ui::visible(text).replace('\n', "\\n")
}

fn patch_lines(patch: impl BufRead, lines: &mut Vec<Toned>) -> std::io::Result<()> {
    let mut patch = patch.take(SHOWN);
    let (mut in_hunk, mut in_binary) = (false, false);
    let mut line = Vec::new();
    loop {
        line.clear();
        if patch.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(&line)).into_owned();
        // A hunk's lines begin with a sign, so no file can pose as the head of the next one.
        let shade = match text.as_bytes().first() {
            _ if text.starts_with("diff --git ") => {
                (in_hunk, in_binary) = (false, false);
                Shade::Heading
            }
            _ if text.starts_with("GIT binary patch") => {
                in_binary = true;
                Shade::Dim
            }
            _ if in_binary => match text.strip_prefix("literal ").and_then(|size| size.parse().ok()) {
                Some(size) => {
                    let text = format!("  binary contents, {}", ui::bytes(size));
                    lines.push(Toned::new(Shade::Dim, text));
                    continue;
                }
                None => continue,
            },
            // The names of git's objects tell a person nothing, and fill a row each.
            _ if text.starts_with("index ") && !in_hunk => continue,
            _ if text.starts_with("@@ ") => {
                in_hunk = true;
                Shade::Hunk
            }
            Some(b'+') if in_hunk => Shade::Added,
            Some(b'-') if in_hunk => Shade::Removed,
            Some(b' ') if in_hunk => Shade::Plain,
            _ => Shade::Dim,
        };
        lines.push(Toned::new(shade, ui::visible(&text.replace('\t', "    "))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(patch: &str) -> Vec<(Shade, String)> {
        let mut lines = Vec::new();
        patch_lines(patch.as_bytes(), &mut lines).unwrap();
        lines.into_iter().map(|line| (line.shade, line.text)).collect()
    }

    #[test]
    fn signs_give_the_tone_and_no_content_can_pose_as_a_head() {
        let lines =
            of("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-old\n+diff --git a/y b/y\n+@@ z\n");
        let shades: Vec<_> = lines.iter().map(|(shade, _)| *shade).collect();
        assert_eq!(
            shades,
            [Shade::Heading, Shade::Dim, Shade::Dim, Shade::Hunk, Shade::Removed, Shade::Added, Shade::Added]
        );
    }

    #[test]
    fn hostile_text_is_visible_and_binary_blocks_are_summed_up() {
        let lines = of("diff --git a/x b/x\n@@ -0,0 +1 @@\n+\u{1b}]52;c;x\u{7}\u{202e}\n\
                        diff --git a/b b/b\nGIT binary patch\nliteral 4096\nzcmV\nzzz\n\nliteral 0\nHcmV?d00001\n\n");
        assert_eq!(lines[2].1, "+\\x1b]52;c;x\\x07\\u{202e}");
        let binary: Vec<_> = lines[4..].iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(binary, ["GIT binary patch", "  binary contents, 4.1 kB", "  binary contents, 0 B"]);
    }
}
