//! Values that reach a box by `push` only: none of them stands in an argv or in the text of a script.

use super::remote::ProviderBox;
use crate::command;
use crate::error::{Error, Result};
use crate::merge::Remote;

/// Makes the folder, closed to everybody else, has each login shell read the file in it, and says where it is.
const MAKE: &str = r#"umask 077
d=$HOME/.createos-sandbox/environment
mkdir -p -- "$d" && chmod 700 "$HOME/.createos-sandbox" "$d" || exit 1
for p in .bash_profile .bash_login .profile; do [ ! -e "$HOME/$p" ] || break; done
line='[ ! -r ~/.createos-sandbox/environment/values ] || . ~/.createos-sandbox/environment/values'
grep -qxF -e "$line" "$HOME/$p" 2>/dev/null || printf '\n%s\n' "$line" >>"$HOME/$p" || exit 1
printf 'PLACE %s\n' "$d""#;

/// Puts what was pushed into the folder `$1` in the place of what was there.
const PUT: &str = r#"chmod 600 -- "$1/pushed" && mv -f -- "$1/pushed" "$1/values""#;

/// Forgets earlier values.
const FORGET: &str = r#"rm -f -- "$HOME/.createos-sandbox/environment/values""#;

/// Gives the box these variables, in place of those that it had.
///
/// # Errors
/// The box's home cannot be written, or the transfer fails.
pub(crate) fn deliver(remote: &mut ProviderBox, values: &[(String, String)]) -> Result<()> {
    let failed = || {
        Error::failed("the variables of \"environment\" could not be put into the box")
            .help("use an image whose user may write its own home")
    };
    if values.is_empty() {
        return if remote.exec(FORGET, &[])?.code == 0 { Ok(()) } else { Err(failed()) };
    }
    let said = remote.exec(MAKE, &[])?;
    let place = said.stdout.lines().find_map(|line| line.strip_prefix("PLACE "));
    // A path from a box is only ever used in that same box.
    let plain =
        |path: &&str| path.starts_with('/') && path.len() < 1000 && !path.chars().any(char::is_control);
    let place = place.filter(|_| said.code == 0).filter(plain).ok_or_else(failed)?;
    let text: String =
        values.iter().map(|(name, value)| format!("export {name}={}\n", command::quoted(value))).collect();
    remote.push(&mut text.as_bytes(), &format!("{place}/pushed"))?;
    if remote.exec(PUT, &[place])?.code == 0 { Ok(()) } else { Err(failed()) }
}
