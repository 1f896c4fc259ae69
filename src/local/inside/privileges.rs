//! Giving up every right that a process has beyond those of its user, for good.

use super::outcome::{During, Isolated};
use crate::local::wire::spec::Step;
use rustix::thread::{CapabilitySet, CapabilitySets};

/// No new rights by what is run from now on.
pub(crate) fn take_no_new() -> Isolated<()> {
    rustix::thread::set_no_new_privs(true).during(Step::Confine, "no_new_privs")
}

/// Every capability goes, of this thread and of those that it will start.
pub(crate) fn give_up_capabilities() -> Isolated<()> {
    let has_none = rustix::thread::capabilities(None).is_ok_and(|sets| sets.permitted.is_empty());
    for capability in CapabilitySet::all().iter() {
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            // The kernel is older than this capability.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            // An ordinary user has none that could be bounded, and gets none any more.
            Err(rustix::io::Errno::PERM) if has_none => {}
            Err(errno) => return Err(errno).during(Step::Confine, "the bounding set"),
        }
    }
    match rustix::thread::clear_ambient_capability_set() {
        Ok(()) | Err(rustix::io::Errno::INVAL) => {}
        Err(errno) => return Err(errno).during(Step::Confine, "the ambient set"),
    }
    let empty = CapabilitySet::empty();
    let sets = CapabilitySets { effective: empty, permitted: empty, inheritable: empty };
    rustix::thread::set_capabilities(None, sets).during(Step::Confine, "capset")
}
