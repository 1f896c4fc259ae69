//! Runs a program: argv, environment, folder, stdin, time limit; output captured or inherited.

mod ended;
mod ending;
mod heard;
mod pump;
mod run;
mod watch;

pub(crate) use ended::{Ended, ExecError};
pub(crate) use ending::{end_together, stay_when_ending};
pub(crate) use heard::Heard;
pub(crate) use run::Run;

#[cfg(test)]
mod tests;
