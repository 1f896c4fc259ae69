//! What `createos …` means when it is us who were called.

use super::help;
use crate::command::{self, Command};
use crate::createos::{Own, PROGRAM_NAME, official};
use crate::error::{Error, Result};
use crate::exec::Run;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Set for whatever we start under the name `createos`: `<process id>:<depth>`. exec keeps the process id, so
/// meeting our own means that somebody passed the call straight back.
pub(super) const LOOP: &str = "CREATEOS_SANDBOX_SHIM";
/// How many of us may call each other through other programs; scripts nest a few levels at most.
const DEEPEST: u32 = 16;

/// Global flags of the official program with a value, and the variable that means the same
/// (contract `createos-cli.md` 1.3 and 2).
const WITH_VALUE: [(&[&str], &str); 5] = [
    (&["o", "output"], "CREATEOS_OUTPUT"),
    (&["api-url"], "CREATEOS_API_URL"),
    (&["sandbox-api-url"], "CREATEOS_SANDBOX_URL"),
    (&["sandbox-gateway"], "CREATEOS_SANDBOX_GATEWAY"),
    (&["api-key"], "CREATEOS_API_KEY"),
];

/// Whether this process was started under the official program's name.
pub(crate) fn is_called_as_createos(argv0: Option<&OsStr>) -> bool {
    argv0.and_then(|name| Path::new(name).file_name()) == Some(OsStr::new(PROGRAM_NAME))
}

/// Runs `createos <args>`. Comes back only for help and on errors.
///
/// # Errors
/// There is no official program to pass the call on to, or it only calls us back.
pub(crate) fn run_as_createos(args: &[OsString]) -> Result<u8> {
    let nested = depth()?;
    match Call::of(args) {
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
    let own = Own::of_this_process().ok_or_else(|| {
        Error::cannot_run("this binary was moved or removed while it ran").help("call it once more")
    })?;
    let run = env.iter().fold(Run::new(own.path()), |run, (name, value)| run.env(*name, value));
    // Its own name, or we would be asked the same again.
    Ok(run.arg("setup").args(args).replace(Some(OsStr::new(env!("CARGO_PKG_NAME")))).into())
}

/// Becomes the official program; comes back with an error only.
fn pass_on(official: std::path::PathBuf, args: &[OsString], nested: &str) -> Error {
    Run::new(official).args(args).env(LOOP, nested).replace(Some(OsStr::new(PROGRAM_NAME))).into()
}

/// What a command line asks for.
#[derive(Debug, PartialEq, Eq)]
enum Call {
    /// `[globals] sandbox setup herdr …`, with the globals as variables and what follows.
    Setup { env: Vec<(&'static str, OsString)>, args: Vec<OsString> },
    /// `[globals] sandbox setup`, alone or with a word for help: the list of hosts, where there is one.
    Hosts,
    /// The same with flags and no host: the official program's, where it has a setup.
    Flags { env: Vec<(&'static str, OsString)>, args: Vec<OsString> },
    /// `[globals] sandbox --help`, which gains a line.
    Help,
    /// Anything else.
    Official,
}

impl Call {
    fn of(args: &[OsString]) -> Self {
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
fn word<'a>(
    mut args: &'a [OsString],
    words: &[&str],
    env: &mut Vec<(&'static str, OsString)>,
) -> Option<&'a [OsString]> {
    loop {
        let (first, rest) = args.split_first()?;
        if words.iter().any(|word| first == word) {
            return Some(rest);
        }
        args = global(first, rest, env)?;
    }
}

/// Takes one global flag and its value; none when it is no global flag.
fn global<'a>(
    first: &OsStr,
    rest: &'a [OsString],
    env: &mut Vec<(&'static str, OsString)>,
) -> Option<&'a [OsString]> {
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

/// The official program.
fn real() -> Result<std::path::PathBuf> {
    official(&std::env::var_os("PATH").unwrap_or_default()).ok_or_else(|| {
        Error::cannot_run("the official createos program is not on PATH; only createos-sandbox's own link is")
            .help(format!("to install it: {}", install_official()))
            .help(format!("to remove the link: {}", command::own(["shim", "remove"])))
    })
}

/// The setup that brings the official program.
pub(super) fn install_official() -> Command {
    command::setup().with("--provider", "createos").flag("--install-missing")
}

/// The value of [`LOOP`] for what we start.
fn depth() -> Result<String> {
    let pid = std::process::id();
    let seen = std::env::var(LOOP).unwrap_or_default();
    let (seen_pid, depth) = seen.split_once(':').unwrap_or_default();
    let depth: u32 = depth.parse().unwrap_or(0);
    if seen_pid == pid.to_string() || depth >= DEEPEST {
        return Err(Error::cannot_run("the createos further on PATH calls this one again")
            .help("look at them: type -a createos")
            .help(format!("or remove this one: {}", command::own(["shim", "remove"]))));
    }
    Ok(format!("{pid}:{}", depth + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> Call {
        Call::of(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
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

    #[test]
    fn the_name_is_that_of_the_file() {
        assert!(is_called_as_createos(Some(OsStr::new("/a/b/createos"))));
        assert!(is_called_as_createos(Some(OsStr::new("createos"))));
        assert!(!is_called_as_createos(Some(OsStr::new("createos-sandbox"))));
        assert!(!is_called_as_createos(None));
    }
}
