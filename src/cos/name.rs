//! Our name, and command lines with it.

use crate::command::{self, Command};

/// The name under which this binary can be called.
pub(super) const NAME: &str = "cos";

/// A command line of ours, to be typed: by the name that this binary always has.
pub(super) fn command(verb: &str) -> Command {
    command::own([NAME, verb])
}
