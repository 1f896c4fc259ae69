//! How a step of the isolation went.

use super::super::wire::spec::{Refused, Step};
use rustix::io::Errno;

/// A step of the isolation, or the reason why there is none.
pub(super) type Isolated<T> = Result<T, Refused>;

/// Names the step that a system call belongs to.
pub(super) trait During<T> {
    /// `detail` says what was being done: a path, a call.
    fn during(self, step: Step, detail: &str) -> Isolated<T>;
}

impl<T> During<T> for rustix::io::Result<T> {
    fn during(self, step: Step, detail: &str) -> Isolated<T> {
        self.map_err(|errno| Refused { step, detail: detail.into(), errno: errno.raw_os_error() })
    }
}

impl<T> During<T> for std::io::Result<T> {
    fn during(self, step: Step, detail: &str) -> Isolated<T> {
        self.map_err(|error| Refused {
            step,
            detail: detail.into(),
            errno: error.raw_os_error().unwrap_or(Errno::IO.raw_os_error()),
        })
    }
}
