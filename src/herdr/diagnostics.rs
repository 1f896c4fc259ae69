//! What `herdr config check` says. Older complaints make it exit 1 too, so only the difference counts.

/// The diagnostics of one check, a line each; an entry that spans lines is several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Diagnostics {
    lines: Vec<String>,
}

impl Diagnostics {
    /// From the check's stdout; `config: ok` is none.
    pub(crate) fn parse(stdout: &str) -> Self {
        let lines =
            stdout.lines().filter(|line| !matches!(*line, "config: ok" | "config: issues found" | ""));
        Self { lines: lines.map(str::to_owned).collect() }
    }

    pub(crate) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Whether Herdr drops the whole file and runs on its defaults.
    pub(crate) fn drops_the_file(&self) -> bool {
        self.lines.iter().any(|line| line.ends_with("; using defaults") || line == "; using defaults")
    }

    /// What is said here and was not said `before`: each line counts as often as it is there. The number of a
    /// command is not compared: an entry that is put in or taken out moves those behind it.
    pub(crate) fn new_since(&self, before: &Self) -> Vec<String> {
        let mut old: Vec<String> = before.lines.iter().map(|line| without_numbers(line)).collect();
        let mut is_new = |line: &&String| match old.iter().position(|known| *known == without_numbers(line)) {
            Some(index) => {
                old.swap_remove(index);
                false
            }
            None => true,
        };
        self.lines.iter().filter(|line| is_new(line)).cloned().collect()
    }
}

/// The line with `keys.command[7]` and `keys.command.7` reduced to `keys.command`.
fn without_numbers(line: &str) -> String {
    const NAME: &str = "keys.command";
    let mut parts = line.split(NAME);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let number = part.trim_start_matches(['[', '.']);
        let rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
        text.push_str(NAME);
        text.push_str(if rest.len() < number.len() { rest.trim_start_matches(']') } else { part });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_complaints_are_not_new_ones() {
        let before = Diagnostics::parse("config: issues found\nunknown config key top; ignoring key\n");
        let after = Diagnostics::parse(
            "config: issues found\nunknown config key top; ignoring key\nprefix+x: kept a, disabled b\n",
        );
        assert_eq!(after.new_since(&before), ["prefix+x: kept a, disabled b"]);
        assert!(before.new_since(&after).is_empty());
        assert!(Diagnostics::parse("config: ok\n").lines().is_empty());
    }

    #[test]
    fn a_command_that_only_moved_is_no_new_complaint() {
        let complaint = |one: u32, two: u32| Diagnostics {
            lines: vec![
                format!("prefix+m: kept keys.command[{one}].key, disabled keys.command[{two}].key"),
                format!("unknown config key keys.command.{one}.bogus; ignoring key"),
            ],
        };
        assert!(complaint(0, 1).new_since(&complaint(6, 7)).is_empty());
        let other = Diagnostics { lines: vec!["prefix+x: kept keys.command[0].key, disabled keys.x".into()] };
        assert_eq!(other.new_since(&complaint(0, 1)).len(), 1);
    }

    #[test]
    fn the_same_complaint_twice_is_one_more() {
        let once = Diagnostics { lines: vec!["x".into()] };
        let twice = Diagnostics { lines: vec!["x".into(), "x".into()] };
        assert_eq!(twice.new_since(&once), ["x"]);
    }

    #[test]
    fn a_file_that_is_dropped_is_known() {
        let text = "config: issues found\nconfig parse error: TOML parse error at line 1, column 6\n  |\n; using defaults\n";
        assert!(Diagnostics::parse(text).drops_the_file());
        assert!(
            !Diagnostics::parse("config: issues found\nunknown config key a; ignoring key\n")
                .drops_the_file()
        );
    }
}
