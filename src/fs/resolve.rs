//! The real file behind a chain of links, whether or not it exists yet.

use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// More links than any sane chain has; Linux gives up at 40.
const MAX_LINKS: usize = 40;

/// Follows every link of `path`'s last component, also to a file that does not exist.
/// The folders on the way are left as they are written.
///
/// # Errors
/// A loop of links, or a folder on the way that cannot be read.
pub(crate) fn resolve(path: &Path) -> Result<PathBuf> {
    let mut current = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match std::fs::read_link(&current) {
            Ok(target) => {
                current = match current.parent() {
                    Some(folder) => folder.join(target),
                    None => target,
                };
            }
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => return Ok(current),
            // Not a link: EINVAL on Linux and macOS alike.
            Err(source) if source.kind() == std::io::ErrorKind::InvalidInput => return Ok(current),
            Err(source) => return Err(Error::io("follow the link", &current, &source)),
        }
    }
    Err(Error::failed(format!("{} is a loop of links", path.display())).help("look at it with: ls -l"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_dangling_chain_ends_at_the_missing_file() {
        let dir = tempfile::tempdir().unwrap();
        symlink("b", dir.path().join("a")).unwrap();
        symlink("sub/../c", dir.path().join("b")).unwrap();
        assert_eq!(resolve(&dir.path().join("a")).unwrap(), dir.path().join("sub/../c"));
    }

    #[test]
    fn a_loop_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        symlink("b", dir.path().join("a")).unwrap();
        symlink("a", dir.path().join("b")).unwrap();
        assert!(resolve(&dir.path().join("a")).is_err());
    }
}
