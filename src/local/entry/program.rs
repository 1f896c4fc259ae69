//! Our own program as the first process of a box runs it. A box may get hold of the executable of its PID 1: it must
//! be one that the box cannot change, by its contents or by its mode.

use crate::error::{Error, Result};
use rustix::fs::{Access, AtFlags, CWD, MemfdFlags, SealFlags};
use rustix::io::Errno;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

/// This process's own executable.
const OWN: &str = "/proc/self/exe";
/// Others may write to the file.
const WRITABLE: u32 = 0o022;
/// Who runs it becomes another user or group.
const SET_ID: u32 = 0o6000;
/// Others may run it, as the uid of a box has to.
const FOR_ALL: u32 = 0o005;
/// How long the kernel may hold a page of a copy.
const HELD: Duration = Duration::from_secs(5);

/// The program for a box whose processes have this uid on the host, by default our own. The installed file, where
/// that belongs to another user and is shut to the box; else a sealed copy in memory, which costs a few milliseconds and the
/// program's size for as long as the box process lives.
///
/// # Errors
/// It cannot be read, or there is no memory for it.
pub(super) fn for_a_box(uid: Option<u32>) -> Result<File> {
    let found = || -> io::Result<File> {
        let own = File::open(OWN)?;
        match is_out_of_reach(&own, uid)? {
            true => Ok(own),
            false => sealed_copy(own),
        }
    };
    found().map_err(|source| Error::cannot_run(format!("could not copy the own program: {source}")))
}

/// Whether the box can run the file and change neither it nor its mode. What raises the rights of those who run it is
/// copied, too: a copy raises none.
fn is_out_of_reach(own: &File, uid: Option<u32>) -> io::Result<bool> {
    let box_uid = uid.unwrap_or_else(|| rustix::process::geteuid().as_raw());
    // Where the box is us, what the file system says counts, whatever the mode looks like. As root we may write all.
    let is_writable =
        uid.is_none() && rustix::fs::accessat(CWD, OWN, Access::WRITE_OK, AtFlags::EACCESS).is_ok();
    Ok(!is_writable && is_shut(&own.metadata()?, box_uid) && !has_capabilities(own)?)
}

fn is_shut(file: &Metadata, box_uid: u32) -> bool {
    file.uid() != box_uid && file.mode() & (WRITABLE | SET_ID | FOR_ALL) == FOR_ALL
}

fn has_capabilities(own: &File) -> io::Result<bool> {
    match rustix::fs::fgetxattr(own, "security.capability", &mut [0_u8; 0]) {
        Ok(size) => Ok(size > 0),
        Err(Errno::NODATA | Errno::NOTSUP) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

fn sealed_copy(mut own: File) -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let memory = match rustix::fs::memfd_create("createos-sandbox", flags | MemfdFlags::EXEC) {
        // Linux before 6.3 does not know the flag and needs none.
        Err(Errno::INVAL) => rustix::fs::memfd_create("createos-sandbox", flags),
        made => made,
    }?;
    let mut memory = File::from(memory);
    io::copy(&mut own, &mut memory)?;
    seal(&memory)?;
    // What is open for writing cannot be run.
    File::open(format!("/proc/self/fd/{}", memory.as_raw_fd()))
}

/// The kernel refuses while it holds a page of the memory itself, as for a scan, and waits a fraction of a second only.
fn seal(memory: &File) -> io::Result<()> {
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    let began = Instant::now();
    loop {
        match rustix::fs::fcntl_add_seals(memory, seals) {
            Err(Errno::BUSY) if began.elapsed() < HELD => std::thread::sleep(Duration::from_millis(20)),
            sealed => return Ok(sealed?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_a_file_of_another_user_that_is_shut_is_run_as_it_is() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let owner = file.as_file().metadata().unwrap().uid();
        let shut = |mode, uid| {
            file.as_file().set_permissions(std::fs::Permissions::from_mode(mode)).unwrap();
            is_shut(&file.as_file().metadata().unwrap(), uid)
        };
        assert!(shut(0o755, owner + 1) && shut(0o555, owner + 1));
        assert!(!shut(0o755, owner), "its owner may change its mode");
        for mode in [0o775, 0o757, 0o4755, 0o2755, 0o750, 0o754, 0o711] {
            assert!(!shut(mode, owner + 1), "{mode:o}");
        }
    }

    #[test]
    fn a_copy_is_sealed() {
        let copy = sealed_copy(File::open(OWN).unwrap()).unwrap();
        let seals = rustix::fs::fcntl_get_seals(&copy).unwrap();
        assert!(seals.contains(SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL));
        let mut opened =
            File::options().write(true).open(format!("/proc/self/fd/{}", copy.as_raw_fd())).unwrap();
        assert_eq!(opened.write(b"x").unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn memory_of_which_the_kernel_holds_a_page_is_sealed_once_it_lets_go() {
        let memory = File::from(rustix::fs::memfd_create("test", MemfdFlags::ALLOW_SEALING).unwrap());
        memory.set_len(4096).unwrap();
        let (access, shared, fd) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, memory.as_raw_fd());
        // SAFETY: a new mapping, which nothing else knows.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), 4096, access, shared, fd, 0) };
        assert_ne!(page, libc::MAP_FAILED);
        assert_eq!(rustix::fs::fcntl_add_seals(&memory, SealFlags::WRITE), Err(Errno::BUSY), "it bites");
        let page = page as usize;
        let lets_go = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            // SAFETY: the mapping from above, which nothing reads or writes.
            unsafe { libc::munmap(page as *mut libc::c_void, 4096) }
        });
        seal(&memory).unwrap();
        assert_eq!(lets_go.join().unwrap(), 0);
        assert!(rustix::fs::fcntl_get_seals(&memory).unwrap().contains(SealFlags::WRITE));
    }
}
