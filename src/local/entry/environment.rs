//! The environment of a program in a box: an allow-list, and what the box was made with.

use crate::config::EgressRule;
use crate::error::Error;
use crate::local::boxes::meta::Meta;
use crate::local::failure::Result;
use crate::local::wire::spec::{Bytes, Network};
use crate::network;

/// Where programs are looked for; agents install themselves in the home folder.
const PATH: &str = "/home/agent/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Variables of the starter that a box may see, if they look harmless.
const PASSED: [&str; 3] = ["LANG", "TERM", "TZ"];

/// Just what finds a program.
pub(crate) fn bare() -> Vec<(Bytes, Bytes)> {
    vec![(b"PATH".to_vec(), PATH.into())]
}

/// A box's rules.
///
/// # Errors
/// One of them is none.
pub(crate) fn rules(egress: &[String]) -> crate::error::Result<Vec<EgressRule>> {
    egress.iter().map(|rule| rule.parse()).collect()
}

/// What makes programs ask our proxy. `ALL_PROXY` is HTTP's too, although ours speaks SOCKS at the same port: there are
/// libraries that refuse to begin where that variable names SOCKS and an optional part of theirs is missing. What is the
/// box itself, in all its spellings, is reached without.
fn proxy(rules: &[EgressRule], hostname: &str) -> Vec<(String, String)> {
    let url = format!("http://127.0.0.1:{}", network::proxy(rules));
    let direct = format!("localhost,.localhost,127.0.0.1,127.0.0.0/8,0.0.0.0,::1,[::1],{hostname}");
    let named = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].map(|name| (name, url.clone()));
    let named = named.into_iter().chain([("NO_PROXY", direct)]);
    let both = named
        .flat_map(|(name, value)| [(name.to_owned(), value.clone()), (name.to_ascii_lowercase(), value)]);
    both.chain([("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned())]).collect()
}

/// The whole environment. `own` is the process's, over the box's, over ours.
pub(crate) fn of_a_process(meta: &Meta, own: &[(String, String)]) -> Vec<(Bytes, Bytes)> {
    let shell = if std::path::Path::new("/bin/bash").exists() { "/bin/bash" } else { "/bin/sh" };
    let mut env: Vec<(String, String)> = [
        ("HOME", "/home/agent"),
        ("USER", "agent"),
        ("LOGNAME", "agent"),
        ("SHELL", shell),
        ("PATH", PATH),
        ("LANG", "C.UTF-8"),
        ("TERM", "xterm-256color"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    if meta.network() == Network::Own {
        // A record with a rule of a later version has no entry that gets so far.
        env.extend(proxy(&rules(&meta.egress).unwrap_or_default(), meta.name.as_str()));
    }
    let passed = PASSED.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)));
    let passed: Vec<_> = passed.filter(|(_, value)| is_harmless(value)).collect();
    for (name, value) in passed.iter().chain(&meta.env).chain(own) {
        match env.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => old.clone_from(value),
            None => env.push((name.clone(), value.clone())),
        }
    }
    env.into_iter().map(|(name, value)| (name.into_bytes(), value.into_bytes())).collect()
}

/// Such as `de_DE.UTF-8`, `xterm-256color`, `Europe/Berlin`: no path, no control.
fn is_harmless(value: &str) -> bool {
    (1..=64).contains(&value.len())
        && value.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !value.contains("..")
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._+-@/".contains(&byte))
}

/// `KEY=VALUE` of a command line.
///
/// # Errors
/// It has no `=`, no proper name, or is larger than CreateOS takes (docs/measured/createos-cli.md 4.4).
pub(crate) fn parse(entries: &[String]) -> Result<Vec<(String, String)>> {
    if entries.len() > 64 {
        return Err(Error::usage("more than 64 --env entries").into());
    }
    entries.iter().map(|entry| one(entry)).collect()
}

fn one(entry: &str) -> Result<(String, String)> {
    let Some((name, value)) = entry.split_once('=') else {
        return Err(Error::usage(format!("--env \"{entry}\" is missing '=' (expected KEY=VALUE)")).into());
    };
    let proper = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name.starts_with(|c: char| !c.is_ascii_digit());
    if !proper {
        return Err(Error::usage(format!("--env \"{name}\" is not the name of a variable")).into());
    }
    if value.contains(',') {
        return Err(Error::usage(format!("the value of --env {name} has a comma"))
            .help("the createos command line would split it there: put the value into a file instead")
            .into());
    }
    if value.len() > 4096 {
        return Err(Error::usage(format!("the value of --env {name} is longer than 4 KiB")).into());
    }
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_or_refused() {
        let read = parse(&["A=b=c".into(), "_X=".into()]).unwrap();
        assert_eq!(read, [("A".into(), "b=c".into()), ("_X".into(), String::new())]);
        for bad in ["A", "=b", "1A=b", "A B=c", "A=b,c"] {
            assert!(parse(&[bad.into()]).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_box_itself_is_reached_without_the_proxy() {
        let set = proxy(&[], "calm-otter");
        let value = |name: &str| set.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        assert_eq!(value("HTTPS_PROXY"), Some("http://127.0.0.1:3128"));
        assert_eq!(value("NO_PROXY"), value("no_proxy"));
        let direct: Vec<_> = value("NO_PROXY").unwrap().split(',').collect();
        for own in ["localhost", ".localhost", "127.0.0.1", "127.0.0.0/8", "0.0.0.0", "::1", "calm-otter"] {
            assert!(direct.contains(&own), "{own}");
        }
    }

    #[test]
    fn only_harmless_values_pass() {
        assert!(is_harmless("Europe/Berlin") && is_harmless("xterm-256color"));
        for bad in ["", "/etc/shadow", "a\nb", ":/etc/localtime", "../x", "a/../../b"] {
            assert!(!is_harmless(bad), "{bad}");
        }
    }
}
