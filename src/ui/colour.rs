//! Colour for words that carry a verdict. It decorates: anstream takes it away for pipes, `NO_COLOR` and
//! `TERM=dumb`.

/// What a word says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it should be.
    Good,
    /// Worth a look.
    Careful,
    /// Wrong.
    Bad,
    /// Beside the point.
    Faint,
}

/// `text` in the colour of `tone`.
pub(crate) fn coloured(tone: Tone, text: &str) -> String {
    let code = match tone {
        Tone::Good => 32,
        Tone::Careful => 33,
        Tone::Bad => 31,
        Tone::Faint => 2,
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}
