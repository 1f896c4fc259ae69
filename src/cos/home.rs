//! What comes home from /work: one file or folder, as an archive that is judged as hostile.

use super::refused::refused;
use crate::createos::{BoxId, Provider};
use crate::error::{Error, IoContext, Result};
use crate::journey::ProviderBox;
use crate::merge::{Delivery, Remote};
use crate::random;
use crate::worktree::RelPath;
use std::path::Path;

/// Packs `$1` of /work into `$2`; 44 when there is none. A file with two names comes as two where tar can do that.
const PACK: &str = r#"cd /work || exit 1
[ -e "$1" ] || [ -L "$1" ] || exit 44
h=; tar --hard-dereference --version >/dev/null 2>&1 && h=--hard-dereference
x=; [ "$1" != . ] || x=--exclude=./.git
tar -czf "$2" $h $x -- "$1""#;
const ABSENT: i32 = 44;

/// How much comes home, packed and unpacked, in bytes.
const PACKED: u64 = 500 * 1024 * 1024;
const UNPACKED: u64 = 2_000_000_000;

/// What of /work comes home.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    /// As it was written, for people.
    pub(super) text: String,
    /// Below /work; all of it when there is none.
    path: Option<RelPath>,
}

impl Wanted {
    /// Reads a path below /work, from there on or absolute.
    ///
    /// # Errors
    /// It leads out of it.
    pub(super) fn read(text: &str) -> Result<Self> {
        let below = text.strip_prefix("/work/").or_else(|| (text == "/work").then_some("."));
        let inner = below.unwrap_or(text);
        let inner = inner.strip_prefix("./").unwrap_or(inner).trim_end_matches('/');
        let path = match inner {
            "." => None,
            inner => Some(RelPath::new(inner.as_bytes()).map_err(|why| {
                Error::usage(format!("-o {text}: that is {why}")).help("name a file or folder below /work")
            })?),
        };
        Ok(Self { text: text.into(), path })
    }

    fn name(&self) -> String {
        self.path.as_ref().map_or_else(|| ".".into(), ToString::to_string)
    }
}

/// Brings it into the folder `dir`, whole or not at all; how many files, or `None` when the box has none of that name.
/// The archive lies in `folder` meanwhile.
///
/// # Errors
/// The box cannot be asked, the archive is no good, or what is here is in the way.
pub(super) fn bring(
    provider: &Provider,
    id: &BoxId,
    wanted: &Wanted,
    dir: &Path,
    folder: &Path,
) -> Result<Option<usize>> {
    let place = format!("/tmp/.cos-{}.tgz", random::hex(12));
    let mut remote = ProviderBox::new(provider.clone(), id.clone());
    let packed = remote.exec_long(PACK, &[&wanted.name(), &place], &mut |_| {})?;
    match packed.code {
        0 => {}
        ABSENT => return Ok(None),
        code => {
            let said = packed.stdout.trim();
            return Err(Error::failed(format!(
                "{} could not be packed in the box: exit code {code}",
                wanted.text
            ))
            .fact("it said", said));
        }
    }
    let mut archive = tempfile::NamedTempFile::new_in(folder).at("create a file in", folder)?;
    provider.pull(id, &place, archive.as_file_mut(), PACKED).map_err(refused)?;
    let delivery = Delivery::read(archive.path(), dir, wanted.path.as_ref(), UNPACKED)?;
    delivery.put(dir)?;
    Ok(Some(delivery.count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_below_work_come_home() {
        for (text, name) in [
            ("dist", "dist"),
            ("./dist/", "dist"),
            ("/work/a/b", "a/b"),
            ("/work", "."),
            (".", "."),
            ("a b", "a b"),
        ] {
            assert_eq!(Wanted::read(text).unwrap().name(), name);
        }
        for bad in ["/etc/passwd", "../x", "a/../../x", "", "/", "a//b", ".git/config"] {
            assert_eq!(Wanted::read(bad).unwrap_err().exit().code(), 2, "{bad}");
        }
    }
}
