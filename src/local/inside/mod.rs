//! What runs on the way into a box and in it: a fresh, single-threaded process with an empty
//! environment, whose executable is a copy of ours in memory.

mod child;
mod confine;
mod devices;
mod etc;
mod files;
mod filter;
mod freezer;
mod init;
mod limits;
mod mounts;
mod proc;
mod root;
mod stage;
mod sys;

pub(super) use files::LARGEST_CHUNK;
pub(super) use root::SYSTEM;
pub(super) use stage::main;
pub(super) use sys::close_inherited;

use super::wire::spec::{Refused, Step};
use rustix::io::Errno;

/// A step of the isolation, or the reason why there is none.
type Outcome<T> = Result<T, Refused>;

/// Names the step that a system call belongs to.
trait During<T> {
    /// `detail` says what was being done: a path, a call.
    fn during(self, step: Step, detail: &str) -> Outcome<T>;
}

impl<T> During<T> for rustix::io::Result<T> {
    fn during(self, step: Step, detail: &str) -> Outcome<T> {
        self.map_err(|errno| Refused { step, detail: detail.into(), errno: errno.raw_os_error() })
    }
}

impl<T> During<T> for std::io::Result<T> {
    fn during(self, step: Step, detail: &str) -> Outcome<T> {
        self.map_err(|error| Refused {
            step,
            detail: detail.into(),
            errno: error.raw_os_error().unwrap_or(Errno::IO.raw_os_error()),
        })
    }
}
