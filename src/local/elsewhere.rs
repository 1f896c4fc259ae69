//! The embedded provider on systems without boxes: every command says so and ends with exit code 2.

#[allow(dead_code, reason = "only Linux has local boxes")]
mod failure;
#[allow(dead_code, reason = "only Linux has local boxes")]
mod output;
mod reach;

pub(crate) use output::wrong_use;
pub(crate) use reach::Reach;

use crate::error::Error;
use crate::exit::Exit;
use output::OutputMode;

/// Runs a command of the provider; there are no boxes on this system.
pub(crate) fn run(args: crate::cli::LocalArgs) -> Exit {
    let error = Error::cannot_run("local boxes need Linux; nothing was run").help(format!(
        "use CreateOS instead: {} && {}",
        crate::command::createos(["login"]),
        crate::command::setup()
    ));
    OutputMode::from_flag(args.output.as_deref()).fail(&error.into())
}

/// Whether this machine can isolate a box: only Linux can.
///
/// # Errors
/// Always.
pub(crate) fn probe() -> crate::error::Result<Reach> {
    Err(Error::cannot_run("local boxes need Linux; nothing was run")
        .help(crate::command::setup().with("--provider", "createos").flag("--force")))
}

/// There are no boxes here about which there could be news.
///
/// # Errors
/// None.
pub(crate) fn news(_paths: &crate::paths::Paths) -> crate::error::Result<Option<String>> {
    Ok(None)
}

/// There are no boxes here that could have a shape.
///
/// # Errors
/// None.
pub(crate) fn knows_shape(_text: &str) -> Result<(), &'static [&'static str]> {
    Ok(())
}
