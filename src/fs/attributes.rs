//! Extended attributes, access lists among them: the file that replaces another one has exactly the old one's.

use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr, getxattr, listxattr};
use rustix::io::{Errno, Result};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::path::Path;

/// Longer than any list and any value on Linux.
const ROOM: usize = 64 * 1024;

/// What speaks of the old contents, and so must not be said of the new ones.
const ABOUT_CONTENTS: [&str; 3] = ["security.ima", "security.evm", "security.capability"];

/// Gives `new` the attributes of the file at `old`, and no others.
///
/// # Errors
/// One that belongs to the user cannot be read or set. One that belongs to the system, such as a label that the
/// kernel's policy gives, stays as the system made it.
pub(super) fn take_over(old: &Path, new: &File) -> Result<()> {
    let there = names(|room| listxattr(old, room))?;
    for name in names(|room| flistxattr(new, room))?.iter().filter(|name| !there.contains(name)) {
        unless_the_systems(name, fremovexattr(new, name.as_c_str()))?;
    }
    for name in &there {
        unless_the_systems(name, copy(old, new, name))?;
    }
    Ok(())
}

fn copy(old: &Path, new: &File, name: &CStr) -> Result<()> {
    let value = value(|room| getxattr(old, name, room))?;
    if value_is(new, name, &value) {
        return Ok(());
    }
    fsetxattr(new, name, &value, XattrFlags::empty())
}

fn value_is(file: &File, name: &CStr, value: &[u8]) -> bool {
    self::value(|room| fgetxattr(file, name, room)).is_ok_and(|now| now == value)
}

/// The names in a list. A file system without attributes has none.
fn names(list: impl FnOnce(&mut [u8]) -> Result<usize>) -> Result<Vec<CString>> {
    let bytes = match value(list) {
        Err(Errno::NOTSUP) => Vec::new(),
        listed => listed?,
    };
    let names = bytes.split_inclusive(|byte| *byte == 0);
    let names = names.filter_map(|name| CStr::from_bytes_with_nul(name).ok());
    let is_about_contents =
        |name: &&CStr| ABOUT_CONTENTS.iter().any(|known| name.to_bytes() == known.as_bytes());
    Ok(names.filter(|name| !is_about_contents(name)).map(CStr::to_owned).collect())
}

fn value(read: impl FnOnce(&mut [u8]) -> Result<usize>) -> Result<Vec<u8>> {
    let mut bytes = vec![0; ROOM];
    let length = read(&mut bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}

fn unless_the_systems(name: &CStr, done: Result<()>) -> Result<()> {
    let the_systems = [&b"security."[..], b"trusted.", b"com.apple."];
    match done {
        Err(_) if the_systems.iter().any(|space| name.to_bytes().starts_with(space)) => Ok(()),
        done => done,
    }
}
