//! What a box process gives up for good before anything of the box runs.

use super::super::wire::spec::Step;
use super::outcome::{During, Isolated};
use super::{fence, filter, privileges};
use rustix::process::{DumpableBehavior, Resource, Rlimit};
use std::path::Path;

/// Gives up everything. Afterwards this process can do no more than the program that it will start.
pub(super) fn confine(nested: bool) -> Isolated<()> {
    // One byte is the limit with which the kernel starts no handler of the host's either (core(5)); with none it does.
    let none = Rlimit { current: Some(1), maximum: Some(1) };
    rustix::process::setrlimit(Resource::Core, none).during(Step::Confine, "RLIMIT_CORE")?;
    privileges::take_no_new()?;
    // A program with a sandbox of its own mounts in it, which this would refuse.
    fence::shut((!nested).then_some(Path::new("/")));
    filter::install(nested).during(Step::Confine, "seccomp")?;
    privileges::give_up_capabilities()?;
    undumpable()
}

/// Shuts `/proc/PID/` of this process, which runs our own program, to the box.
pub(super) fn undumpable() -> Isolated<()> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).during(Step::Confine, "dumpable")
}
