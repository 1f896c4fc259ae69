//! How a process of ours ends, as docs/exit-codes.md has it.

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Exit(u8);

impl Exit {
    pub(crate) const DONE: Self = Self(0);
    pub(crate) const FAILED: Self = Self(1);
    /// Wrong use, or it cannot run at all on this machine.
    pub(crate) const UNUSABLE: Self = Self(2);
    /// The relay's, for a program that said that it was detached; it ends with no other meaning of this one.
    pub(crate) const DETACHED: Self = Self(3);
    /// A person pressed Ctrl-C at a question, as a shell reports it.
    pub(crate) const INTERRUPTED: Self = Self(130);

    pub(crate) fn failed_if(failed: bool) -> Self {
        if failed { Self::FAILED } else { Self::DONE }
    }

    /// That of another program, as ours.
    pub(crate) fn of_program(code: impl TryInto<u8>) -> Self {
        code.try_into().map_or(Self::FAILED, Self)
    }

    pub(crate) fn code(self) -> u8 {
        self.0
    }
}
