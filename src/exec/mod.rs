//! Runs a program: argv, environment, folder, stdin, time limit; output captured or inherited.

mod ended;
mod ending;
mod run;
mod watch;

pub(crate) use ended::{Ended, ExecError, Heard, Hearing};
pub(crate) use ending::{end_together, stay_when_ending, tell_group};
pub(crate) use run::Run;

#[cfg(test)]
mod tests;
