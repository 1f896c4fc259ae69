//! What stays of a box that is gone: its patches, and what an undo of its applies needs, under its name.

use super::store::Store;
use crate::createos::BoxId;
use crate::fs::{Mode, read_regular, write_atomic};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The file with the box's name.
const NAME: &str = "name";
/// What outlives the box, and the lock under which it is taken back.
const STAYS: [&str; 4] = ["patches", "applies", "lock", NAME];
/// So many boxes that are gone can have their applies taken back, the newest. Patches stay for ever.
const KEPT: usize = 100;

/// A box that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PastBox {
    pub(crate) name: String,
    /// The folder of its ledger.
    pub(crate) folder: PathBuf,
    at: SystemTime,
}

impl Store {
    /// Forgets what was in step with a box that is gone.
    pub(crate) fn forget_base(&self, id: &BoxId, name: &str) {
        let folder = self.folder().join("boxes").join(id.as_str());
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            if !STAYS.iter().any(|stays| entry.file_name() == OsStr::new(stays)) {
                remove(&entry.path());
            }
        }
        let holds = |name: &str| {
            std::fs::read_dir(folder.join(name)).is_ok_and(|mut entries| entries.next().is_some())
        };
        if holds("applies") || holds("patches") {
            // Without its name its patches are there all the same.
            let _no_undo_by_name = write_atomic(&folder.join(NAME), name.as_bytes(), Mode::Private);
            for past in self.past().into_iter().skip(KEPT) {
                for entry in ["applies", "lock", NAME] {
                    remove(&past.folder.join(entry));
                }
            }
        } else {
            remove(&folder);
        }
    }

    /// The boxes that are gone and of which something can still be taken back, the newest first.
    pub(crate) fn past(&self) -> Vec<PastBox> {
        let mut found: Vec<PastBox> = std::fs::read_dir(self.folder().join("boxes"))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let folder = entry.path();
                let name = folder.join(NAME);
                let at = std::fs::symlink_metadata(&name).and_then(|found| found.modified()).ok()?;
                let name = String::from_utf8(read_regular(&name).ok()?).ok()?;
                Some(PastBox { name, folder, at })
            })
            .collect();
        found.sort_by_key(|past| std::cmp::Reverse(past.at));
        found
    }
}

fn remove(path: &Path) {
    let _already_gone = match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(path),
        _ => std::fs::remove_file(path),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_undo_needs_outlives_the_box_for_the_newest_hundred() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path());
        let make = |n: usize, keeps: &str| {
            let id: BoxId = format!("sb-{n:026}").parse().unwrap();
            let folder = store.box_folder(&id).unwrap();
            for name in ["base", "base-start", "lock", "named-before-delete"] {
                std::fs::write(folder.join(name), "x").unwrap();
            }
            std::fs::create_dir_all(folder.join(keeps).join("000001")).unwrap();
            (id, folder)
        };
        let (id, gone) = make(0, "nothing");
        store.forget_base(&id, "hd-nothing");
        assert!(!gone.exists());
        for n in 1..=KEPT + 2 {
            let (id, folder) = make(n, "applies");
            std::fs::create_dir(folder.join("patches")).unwrap();
            store.forget_base(&id, &format!("hd-{n}"));
            let at = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(n as u64);
            std::fs::File::options().write(true).open(folder.join(NAME)).unwrap().set_modified(at).unwrap();
        }
        let (id, last) = make(999, "applies");
        store.forget_base(&id, "hd-last");
        let past = store.past();
        assert_eq!((past.len(), past[0].name.as_str()), (KEPT, "hd-last"));
        let names = |folder: &Path| {
            let mut names: Vec<_> =
                std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(names(&last), ["applies", "lock", "name"]);
        assert_eq!(names(&dir.path().join("boxes").join(format!("sb-{:026}", 1))), ["patches"]);
    }
}
