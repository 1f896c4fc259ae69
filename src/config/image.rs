//! What a box is made of: its size and its image.

use super::names::asks_for_help;
use crate::command;
use crate::error::Error;
use crate::text_type::text_type;

text_type! {
    /// A machine size such as `s-2vcpu-4gb`. Which sizes exist is the account's affair.
    pub(crate) Shape: shape => Error
}

text_type! {
    /// An image or template such as `devbox:1`.
    pub(crate) Rootfs: rootfs => Error
}

/// Longer names than this are a mistake.
const LONGEST: usize = 128;

fn shape(text: &str) -> Result<&str, Error> {
    if is_name(text, "._-") && !asks_for_help(text) {
        return Ok(text);
    }
    Err(Error::usage(format!("shape \"{text}\" is not a size")).help(format!(
        "a size looks like s-2vcpu-4gb; list yours with: {}",
        command::createos(["sandbox", "shapes"])
    )))
}

fn rootfs(text: &str) -> Result<&str, Error> {
    let (name, tag) = text.split_once(':').map_or((text, None), |(name, tag)| (name, Some(tag)));
    let name_is_good = is_name(name, "._-/") && name.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if name_is_good && !asks_for_help(text) && tag.is_none_or(|tag| is_name(tag, "._-")) {
        return Ok(text);
    }
    Err(Error::usage(format!("rootfs \"{text}\" is not an image name")).help(format!(
        "an image looks like devbox:1; list them with: {}",
        command::createos(["sandbox", "rootfs"])
    )))
}

/// Letters, digits and `extra`, beginning with a letter or a digit, so that it is never taken for a flag.
fn is_name(text: &str, extra: &str) -> bool {
    text.len() <= LONGEST
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || extra.contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_in_the_field_are_accepted() {
        for good in ["s-0.25vcpu-512mb", "s-8vcpu-16gb"] {
            assert_eq!(good.parse::<Shape>().unwrap().as_str(), good);
        }
        for good in ["devbox:1", "ubuntu:26.04", "my-template", "acme/base:v1"] {
            assert_eq!(good.parse::<Rootfs>().unwrap().as_str(), good);
        }
    }

    #[test]
    fn flags_blanks_and_odd_characters_are_refused() {
        for bad in ["", "-x", "s 2", "s;x", "s\n", "help", "-h", "--help"] {
            assert!(bad.parse::<Shape>().is_err(), "{bad}");
        }
        for bad in ["", "-x", "a:", ":1", "a:b:c", "a//b", "a/../b", "a b", "$(x)", "help"] {
            assert!(bad.parse::<Rootfs>().is_err(), "{bad}");
        }
    }
}
