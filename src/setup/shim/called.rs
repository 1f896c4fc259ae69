//! What a command line `createos …` asks for, and what becomes of it when it is us who were called.

use super::help;
use super::real::{depth, pass_on, real};
use crate::createos::{Own, PROGRAM_NAME};
use crate::error::{Error, Result};
use crate::exec::Run;
use crate::exit::Exit;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Global flags of the official program with a value, and the variable that means the same
/// (docs/measured/createos-cli.md 3.13, 3.12).
const WITH_VALUE: [(&[&str], &str); 5] = [
    (&["o", "output"], "CREATEOS_OUTPUT"),
    (&["api-url"], "CREATEOS_API_URL"),
    (&["sandbox-api-url"], "CREATEOS_SANDBOX_URL"),
    (&["sandbox-gateway"], "CREATEOS_SANDBOX_GATEWAY"),
    (&["api-key"], "CREATEOS_API_KEY"),
];

/// Global flags as the variables that mean the same.
type Variables = Vec<(&'static str, OsString)>;

/// What a command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// `[globals] sandbox setup herdr …`, with the globals as variables and what follows.
    Setup {
        env: Variables,
        args: Vec<OsString>,
    },
    /// `[globals] sandbox setup`, alone or with a word for help: the list of hosts, where there is one.
    Hosts,
    /// The same with flags and no host: the official program's, where it has a setup.
    Flags {
        env: Variables,
        args: Vec<OsString>,
    },
    /// `[globals] sandbox --help`, which gains a line.
    Help,
    Official,
}

impl Call {
    pub(super) fn parse(args: &[OsString]) -> Self {
        let mut env = Vec::new();
        let Some(rest) = word(args, &["sandbox", "sb"], &mut env) else { return Self::Official };
        let is_help = |rest: &[OsString]| matches!(rest, [only] if ["--help", "-help", "-h", "--h", "help"].iter().any(|help| only == help));
        if is_help(rest) {
            return Self::Help;
        }
        let Some(rest) = word(rest, &["setup"], &mut env) else { return Self::Official };
        let (args, names_herdr) = match rest.split_first() {
            Some((first, after)) if first == "herdr" => (after, true),
            _ if rest.is_empty() || is_help(rest) => return Self::Hosts,
            Some((first, _)) if first.as_bytes().starts_with(b"-") && first != "--" => (rest, false),
            // Another host: opencode, codex, …
            _ => return Self::Official,
        };
        let mut args = args.to_vec();
        // `-o json` is the official way to ask for a document.
        if env.iter().any(|(name, value)| *name == "CREATEOS_OUTPUT" && value == "json")
            && !args.iter().any(|arg| arg == "--json")
        {
            args.push("--json".into());
        }
        if names_herdr { Self::Setup { env, args } } else { Self::Flags { env, args } }
    }
}

/// Takes global flags and then one of `words` off the front; none when something else stands there.
fn word<'a>(mut args: &'a [OsString], words: &[&str], env: &mut Variables) -> Option<&'a [OsString]> {
    loop {
        let (first, rest) = args.split_first()?;
        if words.iter().any(|word| first == word) {
            return Some(rest);
        }
        args = global(first, rest, env)?;
    }
}

/// Takes one global flag and its value; none when it is no global flag.
fn global<'a>(first: &OsStr, rest: &'a [OsString], env: &mut Variables) -> Option<&'a [OsString]> {
    let bytes = first.as_bytes();
    let flag = bytes.strip_prefix(b"--").or_else(|| bytes.strip_prefix(b"-"))?;
    let (name, value) = match flag.iter().position(|byte| *byte == b'=') {
        Some(at) => (&flag[..at], Some(OsStr::from_bytes(&flag[at + 1..]).to_owned())),
        None => (flag, None),
    };
    if [&b"d"[..], b"debug"].contains(&name) {
        env.push(("CREATEOS_DEBUG", value.unwrap_or_else(|| "true".into())));
        return Some(rest);
    }
    let (_, variable) = WITH_VALUE.iter().find(|(names, _)| names.iter().any(|n| n.as_bytes() == name))?;
    let (value, rest) = match (value, rest.split_first()) {
        (Some(value), _) => (value, rest),
        (None, Some((value, rest))) => (value.clone(), rest),
        (None, None) => return None,
    };
    env.push((variable, value));
    Some(rest)
}

/// Whether this process was started under the official program's name.
pub(crate) fn is_called_as_createos(argv0: Option<&OsStr>) -> bool {
    argv0.and_then(|name| Path::new(name).file_name()) == Some(OsStr::new(PROGRAM_NAME))
}

/// Runs `createos <args>`. Comes back only for help and on errors.
///
/// # Errors
/// There is no official program to pass the call on to, or it only calls us back.
pub(crate) fn run_as_createos(args: &[OsString]) -> Result<Exit> {
    let nested = depth()?;
    match Call::parse(args) {
        Call::Setup { env, args } => Err(ours(args, &env)?),
        Call::Help => help::show(&real()?, args, &nested),
        Call::Hosts => match real() {
            Ok(official) if help::has_setup(&official, &nested)? => {
                help::show_hosts(&official, args, &nested)
            }
            _ => Err(ours(["--help".into()], &[])?),
        },
        Call::Flags { env, args: flags } => match real() {
            Ok(official) if help::has_setup(&official, &nested)? => Err(pass_on(official, args, &nested)),
            _ => Err(ours(flags, &env)?),
        },
        Call::Official => Err(pass_on(real()?, args, &nested)),
    }
}

/// Becomes our own `setup`; comes back with an error only.
fn ours(args: impl IntoIterator<Item = OsString>, env: &[(&'static str, OsString)]) -> Result<Error> {
    let own = Own::of_this_process().map_err(|error| error.help("call it once more"))?;
    let run = env.iter().fold(Run::new(own.path()), |run, (name, value)| run.env(*name, value));
    // Its own name, or we would be asked the same again.
    Ok(run.arg("setup").args(args).replace(Some(OsStr::new(env!("CARGO_PKG_NAME")))).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_that_of_the_file() {
        assert!(is_called_as_createos(Some(OsStr::new("/a/b/createos"))));
        assert!(is_called_as_createos(Some(OsStr::new("createos"))));
        assert!(!is_called_as_createos(Some(OsStr::new("createos-sandbox"))));
        assert!(!is_called_as_createos(None));
    }

    fn call(line: &str) -> Call {
        Call::parse(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    fn setup(env: &[(&'static str, &str)], args: &str) -> Call {
        Call::Setup {
            env: env.iter().map(|(name, value)| (*name, OsString::from(value))).collect(),
            args: args.split_whitespace().map(OsString::from).collect(),
        }
    }

    #[test]
    fn setup_of_herdr_is_ours_wherever_the_globals_stand() {
        assert_eq!(call("sandbox setup herdr"), setup(&[], ""));
        assert_eq!(call("sb setup herdr --doctor"), setup(&[], "--doctor"));
        for hosts in [
            "sandbox setup",
            "-o json sb setup",
            "sandbox setup --help",
            "sandbox setup -h",
            "sandbox setup help",
        ] {
            assert_eq!(call(hosts), Call::Hosts, "{hosts}");
        }
        let flags = ["--agent", "codex"].map(OsString::from).to_vec();
        assert_eq!(call("sandbox setup --agent codex"), Call::Flags { env: Vec::new(), args: flags });
        assert_eq!(call("sandbox setup herdr --help"), setup(&[], "--help"));
        assert_eq!(
            call("-o json --api-key=k -d sandbox --api-url https://x setup herdr --doctor"),
            setup(
                &[
                    ("CREATEOS_OUTPUT", "json"),
                    ("CREATEOS_API_KEY", "k"),
                    ("CREATEOS_DEBUG", "true"),
                    ("CREATEOS_API_URL", "https://x")
                ],
                "--doctor --json"
            )
        );
    }

    #[test]
    fn everything_else_is_the_official_programs() {
        for line in [
            "",
            "--version",
            "login",
            "sandbox",
            "sandbox list",
            "sandbox setup opencode",
            "sandbox setup codex --doctor",
            "sandbox exec setup -- herdr",
            "-- sandbox setup herdr",
            "sandbox -- setup herdr",
            "sandbox setup -- herdr",
            "--unknown x sandbox setup herdr",
            "--api-key",
            "-o sandbox setup herdr",
            "ask sandbox setup herdr",
        ] {
            assert_eq!(call(line), Call::Official, "{line}");
        }
    }

    #[test]
    fn only_the_help_of_sandbox_itself_gains_a_line() {
        assert_eq!(call("sandbox --help"), Call::Help);
        assert_eq!(call("-o table sb -h"), Call::Help);
        assert_eq!(call("sandbox list --help"), Call::Official);
        assert_eq!(call("sandbox --help list"), Call::Official);
    }
}
