//! Boxes that are not up at once: `create` and `resume` answer, and for some time the box is on its way
//! (docs/measured/createos-cli.md 4.1).

use crate::control::Control;

/// Where a box is on its way.
pub(crate) struct Way {
    /// `creating` or `resuming`; at the end whatever the test says.
    pub(crate) status: String,
    /// It is so new that `get` does not find it.
    pub(crate) unknown: bool,
}

impl Control {
    /// A box sets out with this status.
    pub(crate) fn sets_out(&self, id: &str, status: &str) {
        for used in (0..).map(|n| self.file(&format!("way-{id}.{n}"))) {
            if std::fs::remove_file(used).is_err() {
                break;
            }
        }
        if self.slow > 0 || self.ends_as.is_some() {
            std::fs::write(self.file(&format!("way-{id}")), status).expect("a note");
        }
    }

    /// It goes nowhere any more.
    pub(crate) fn ends_its_way(&self, id: &str) {
        let _arrived = std::fs::remove_file(self.file(&format!("way-{id}")));
    }

    /// Where the box is; `None` when it is up. A look of `get` brings it one step on.
    pub(crate) fn way(&self, id: &str, step: bool) -> Option<Way> {
        let status = std::fs::read_to_string(self.file(&format!("way-{id}"))).ok()?;
        // Files count, since calls are processes.
        let open = (0..self.slow).find(|n| {
            let mark = self.file(&format!("way-{id}.{n}"));
            if step {
                return std::fs::File::options().write(true).create_new(true).open(mark).is_ok();
            }
            !mark.exists()
        });
        match open {
            Some(n) => Some(Way { unknown: n == 0 && status == "creating", status }),
            None if self.ends_as.is_none() => {
                self.ends_its_way(id);
                None
            }
            None => self.ends_as.clone().map(|status| Way { status, unknown: false }),
        }
    }
}
