//! The key of file sync: a pair of its own, made when it is first needed.

use crate::action::mapping::context::ActionContext;
use crate::action::mapping::program;
use crate::error::{Error, IoContext, Result};
use crate::exec::{Ended, Run};
use crate::fs::{Lock, Mode, write_atomic};
use std::path::{Path, PathBuf};

/// The file of the private key, mode 0600 in the state folder; the public one lies beside it as `.pub`.
///
/// The official CLI appends a public key to `authorized_keys` in the box, and needs a pair without a passphrase
/// (docs/measured/createos-cli.md 3.9): a person's own key is often neither meant for a box nor open.
///
/// # Errors
/// There is no ssh-keygen, it cannot make a pair, or the one that is there cannot be used.
pub(crate) fn sync_key(context: &ActionContext) -> Result<PathBuf> {
    let keygen = program::find("ssh-keygen", None, context.paths.home()).map_err(|error| {
        error.help("file sync needs OpenSSH: install its client, with ssh and ssh-keygen")
    })?;
    let folder = context.store.folder();
    let _one_makes_it = Lock::wait(&folder.join("sync-key.lock"))?;
    let key = folder.join("sync-key");
    if key.symlink_metadata().is_err() {
        make(&keygen, &folder.join("sync-key.new"), &key)?;
    }
    let opened = run(&keygen, &["-y", "-P", "", "-f"], &key)?;
    if !opened.success() {
        let shown = context.paths.show(&key);
        return Err(Error::failed(format!("the key of file sync cannot be used: {}", opened.stderr_text()))
            .help(format!("delete it, and the next sync makes another: rm {shown}")));
    }
    let public = folder.join("sync-key.pub");
    if crate::fs::read_regular(&public).ok().as_ref() != Some(&opened.stdout) {
        write_atomic(&public, &opened.stdout, Mode::Shared)?;
    }
    Ok(key)
}

/// Makes the pair under another name first: what is cut short leaves no half of one.
fn make(keygen: &Path, staged: &Path, key: &Path) -> Result<()> {
    let public = staged.with_extension("new.pub");
    for left in [staged, &public] {
        let _none_is_left = std::fs::remove_file(left);
    }
    let made = run(keygen, &["-q", "-t", "ed25519", "-N", "", "-C", "createos-sandbox sync", "-f"], staged)?;
    if !made.success() {
        return Err(Error::failed(format!("no key for file sync could be made: {}", made.stderr_text()))
            .help("see what is wrong with: ssh-keygen -t ed25519 -N '' -f /tmp/key"));
    }
    let _written_anew_from_the_key = std::fs::remove_file(&public);
    std::fs::rename(staged, key).at("rename", staged)
}

fn run(keygen: &Path, words: &[&str], key: &Path) -> Result<Ended> {
    Ok(Run::new(keygen).args(words).arg(key).cwd("/").run()?)
}
