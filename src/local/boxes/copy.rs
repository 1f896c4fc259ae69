//! Copies a tree that a box has written: no link is followed, no depth and no mode stops it.

use crate::error::{Error, IoContext, Result};
use rustix::fs::{
    AtFlags, Dir, FileType, Gid, Mode, OFlags, RawMode, Stat, Timespec, Timestamps, Uid, fchmod, fchown,
    fstat, futimens, mkdirat, openat, readlinkat, statat, symlinkat,
};
use rustix::io::Errno;
use std::cell::RefCell;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Copies the folder `name` in `from` to `to`, where there is none of that name, with contents shared where the file
/// system can. Everything belongs to `uid` when that is said. Pipes and sockets stay behind: nobody has them open.
///
/// # Errors
/// Something could not be copied; what is there of the copy is the caller's to remove.
pub(super) fn copy_tree(from: &Path, to: &Path, name: &str, uid: Option<u32>) -> Result<()> {
    let source = rustix::fs::open(from, FOLDER, Mode::empty()).at("open", from)?;
    let target = rustix::fs::open(to, FOLDER, Mode::empty()).at("open", to)?;
    let owner = uid.map(|uid| (Uid::from_raw(uid), Gid::from_raw(uid)));
    let name = CString::new(name).expect("names of ours hold no NUL");
    let copy = Copy { source, target, owner, lifted: RefCell::default() };
    copy.all(vec![name]).map_err(|(path, source)| {
        let shown = path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
        Error::io("copy", &from.join(shown), &source)
    })
}

struct Copy {
    source: OwnedFd,
    target: OwnedFd,
    owner: Option<(Uid, Gid)>,
    /// Folders of the source that were opened to their owner for this, and their own modes.
    lifted: RefCell<Vec<(OwnedFd, Mode)>>,
}

/// A place below both ends. Each step is opened by itself: no path is too long, and few descriptors are open.
type Place = Vec<CString>;
type Outcome = std::result::Result<(), (Place, io::Error)>;

impl Copy {
    fn all(&self, top: Place) -> Outcome {
        let at = |place: &Place, error: Errno| (place.clone(), io::Error::from(error));
        // Folders that were made, which get their own mode and times when all below them is there.
        let (mut waiting, mut made) = (vec![top], Vec::new());
        while let Some(place) = waiting.pop() {
            let wrong = |error: Errno| at(&place, error);
            let entered = |at: &OwnedFd, name: &CString| self.enter(at, name).map(|(folder, _)| folder);
            let source_above = walk(&self.source, &place, &entered).map_err(wrong)?;
            let target_above = walk(&self.target, &place, &plainly).map_err(wrong)?;
            let name = place.last().expect("a place has a name");
            let (folder, stat) = self.enter(&source_above, name).map_err(wrong)?;
            mkdirat(&target_above, name.as_c_str(), Mode::RWXU).map_err(wrong)?;
            let target = openat(&target_above, name.as_c_str(), FOLDER, Mode::empty()).map_err(wrong)?;
            for entry in Dir::read_from(&folder).map_err(wrong)? {
                let entry = entry.map_err(wrong)?;
                let child = entry.file_name();
                if child == c"." || child == c".." {
                    continue;
                }
                let mut inner = place.clone();
                inner.push(child.to_owned());
                let stat =
                    statat(&folder, child, AtFlags::SYMLINK_NOFOLLOW).map_err(|error| at(&inner, error))?;
                match FileType::from_raw_mode(stat.st_mode) {
                    FileType::Directory => waiting.push(inner),
                    FileType::RegularFile => {
                        self.file(&folder, &target, &inner).map_err(|error| (inner.clone(), error))?;
                    }
                    FileType::Symlink => {
                        let link = || {
                            let to = readlinkat(&folder, child, Vec::new())?;
                            symlinkat(&to, &target, child)?;
                            if let Some((uid, gid)) = self.owner {
                                rustix::fs::chownat(
                                    &target,
                                    child,
                                    Some(uid),
                                    Some(gid),
                                    AtFlags::SYMLINK_NOFOLLOW,
                                )?;
                            }
                            Ok(())
                        };
                        link().map_err(|error| at(&inner, error))?;
                    }
                    _ => {}
                }
            }
            made.push((place.clone(), stat));
        }
        for (place, stat) in made.iter().rev() {
            let finish = || {
                let above = walk(&self.target, place, &plainly)?;
                let name = place.last().expect("a place has a name");
                let folder = openat(&above, name.as_c_str(), FOLDER, Mode::empty())?;
                self.dress(&folder, stat)
            };
            finish().map_err(|error| at(place, error))?;
        }
        Ok(())
    }

    /// Opens a folder of the source, with what it is. One that its owner may not read is opened to him meanwhile: what is
    /// in it cannot be reached otherwise.
    fn enter(&self, at: &OwnedFd, name: &CString) -> rustix::io::Result<(OwnedFd, Stat)> {
        let look = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let place = openat(at, name.as_c_str(), look, Mode::empty())?;
        let stat = fstat(&place)?;
        let (mode, needed) = (Mode::from_raw_mode(stat.st_mode), Mode::RUSR | Mode::XUSR);
        if !mode.contains(needed) && !rustix::process::geteuid().is_root() {
            rustix::fs::chmod(way_to(&place), mode | needed)?;
            self.lifted.borrow_mut().push((place, mode));
        }
        Ok((openat(at, name.as_c_str(), FOLDER, Mode::empty())?, stat))
    }

    fn file(&self, folder: &OwnedFd, target: &OwnedFd, place: &Place) -> io::Result<()> {
        let name = place.last().expect("a place has a name");
        let source = File::from(open_file(folder, name)?);
        let stat = fstat(&source)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = File::from(openat(target, name.as_c_str(), flags, Mode::RUSR | Mode::WUSR)?);
        if rustix::fs::ioctl_ficlone(&made, &source).is_err() {
            // The kernel copies where it can.
            io::copy(&mut &source, &mut &made)?;
        }
        Ok(self.dress(&made, &stat)?)
    }

    /// Owner, mode and times, in this order: the first takes bits off the second.
    fn dress(&self, made: impl AsFd, stat: &Stat) -> rustix::io::Result<()> {
        if let Some((uid, gid)) = self.owner {
            fchown(&made, Some(uid), Some(gid))?;
        }
        fchmod(&made, Mode::from_raw_mode(stat.st_mode & 0o7777 as RawMode))?;
        let time = |seconds: i64, nanoseconds: u64| Timespec {
            tv_sec: seconds,
            tv_nsec: nanoseconds.try_into().unwrap_or_default(),
        };
        let times = Timestamps {
            last_access: time(stat.st_atime, stat.st_atime_nsec),
            last_modification: time(stat.st_mtime, stat.st_mtime_nsec),
        };
        futimens(&made, &times)
    }
}

impl Drop for Copy {
    /// Gives the folders of the source back what was taken off their modes.
    fn drop(&mut self) {
        for (folder, mode) in self.lifted.borrow_mut().drain(..).rev() {
            let _gone = rustix::fs::chmod(way_to(&folder), mode);
        }
    }
}

/// The folder that a place is in, step by step.
fn walk(
    from: &OwnedFd,
    place: &Place,
    enter: &dyn Fn(&OwnedFd, &CString) -> rustix::io::Result<OwnedFd>,
) -> rustix::io::Result<OwnedFd> {
    let mut folder = from.try_clone().map_err(|_| Errno::MFILE)?;
    for name in &place[..place.len() - 1] {
        folder = enter(&folder, name)?;
    }
    Ok(folder)
}

fn plainly(at: &OwnedFd, name: &CString) -> rustix::io::Result<OwnedFd> {
    openat(at, name.as_c_str(), FOLDER, Mode::empty())
}

/// An O_PATH descriptor takes no fchmod; its link in /proc leads to exactly this file.
fn way_to(place: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", place.as_raw_fd())
}

/// Opens a file of a box's, also one that its owner may not read: its mode is as it was afterwards.
fn open_file(at: &OwnedFd, name: &CString) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match openat(at, name.as_c_str(), flags, Mode::empty()) {
        Err(Errno::ACCESS) => {}
        opened => return opened,
    }
    let look = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = openat(at, name.as_c_str(), look, Mode::empty())?;
    let mode = Mode::from_raw_mode(fstat(&place)?.st_mode);
    rustix::fs::chmod(way_to(&place), mode | Mode::RUSR)?;
    let opened = openat(at, name.as_c_str(), flags, Mode::empty());
    rustix::fs::chmod(way_to(&place), mode)?;
    opened
}
