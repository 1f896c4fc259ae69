//! What a box process gives up for good before anything of the box runs.

use super::super::wire::spec::Step;
use super::filter;
use super::outcome::{During, Isolated};
use rustix::process::{DumpableBehavior, Resource, Rlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};

/// Gives up everything. Afterwards this process can do no more than the program that it will start.
pub(super) fn confine() -> Isolated<()> {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    rustix::process::setrlimit(Resource::Core, none).during(Step::Confine, "RLIMIT_CORE")?;
    rustix::thread::set_no_new_privs(true).during(Step::Confine, "no_new_privs")?;
    scope();
    filter::install().during(Step::Confine, "seccomp")?;
    for capability in CapabilitySet::all().iter() {
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            // The kernel is older than this capability.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(errno) => return Err(errno).during(Step::Confine, "the bounding set"),
        }
    }
    match rustix::thread::clear_ambient_capability_set() {
        Ok(()) | Err(rustix::io::Errno::INVAL) => {}
        Err(errno) => return Err(errno).during(Step::Confine, "the ambient set"),
    }
    let empty = CapabilitySet::empty();
    let sets = CapabilitySets { effective: empty, permitted: empty, inheritable: empty };
    rustix::thread::set_capabilities(None, sets).during(Step::Confine, "capset")?;
    undumpable()
}

/// Shuts `/proc/PID/` of this process, which runs our own program, to the box.
pub(super) fn undumpable() -> Isolated<()> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).during(Step::Confine, "dumpable")
}

/// Where the network namespace is the host's, so are its abstract sockets (X11, D-Bus). Landlock shuts them off from
/// Linux 6.12 on; before that this does nothing. A namespace of the box's own has none of them on any kernel.
fn scope() {
    use landlock::{CompatLevel, Compatible, Ruleset, RulesetAttr, Scope};
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .scope(Scope::AbstractUnixSocket | Scope::Signal);
    let _best_effort =
        ruleset.and_then(|ruleset| ruleset.create()).and_then(|created| created.restrict_self());
}
