//! This binary under the name `createos`.

use crate::support::{Home, Outcome, PATH, binary, outcome, program};
use std::os::unix::fs::symlink;
use std::path::Path;

/// An official program that says how it was called.
const OFFICIAL: &str = r#"#!/bin/sh
echo "official [$*]"
echo "noise" >&2
case "$1" in
    code) exit "$2" ;;
    signal) kill -TERM $$ ;;
    input) cat ;;
esac
"#;

/// A home with the link in `shim/` and an official program in `bin/`.
struct Shimmed {
    home: Home,
}

impl Shimmed {
    fn new(official: &str) -> Self {
        let home = Home::new();
        program(&home, "bin/createos", official);
        std::fs::create_dir(home.path().join("shim")).expect("a folder");
        symlink(binary(), home.path().join("shim/createos")).expect("a link");
        Self { home }
    }

    fn path(&self, folders: &[&str]) -> String {
        let folders: Vec<_> =
            folders.iter().map(|folder| self.home.path().join(folder).display().to_string()).collect();
        format!("{}:{PATH}", folders.join(":"))
    }

    fn run_on(&self, path: &str, args: &[&str]) -> Outcome {
        let mut command = self.home.command_of(&self.home.path().join("shim/createos"), args);
        command.env("PATH", path);
        outcome(command)
    }

    fn run(&self, args: &[&str]) -> Outcome {
        self.run_on(&self.path(&["shim", "bin"]), args)
    }
}

#[test]
fn everything_but_setup_goes_on_to_the_official_program() {
    let shimmed = Shimmed::new(OFFICIAL);
    let listed = shimmed.run(&["-o", "json", "sandbox", "list", "a  b", "*"]).success();
    assert_eq!(listed.stdout, "official [-o json sandbox list a  b *]\n");
    assert_eq!(listed.stderr, "noise\n");
    assert_eq!(shimmed.run(&["code", "77"]).code, 77);
    assert_eq!(shimmed.run(&["signal"]).code, 128 + 15);
    assert_eq!(shimmed.run(&["sandbox", "setup", "opencode"]).stdout, "official [sandbox setup opencode]\n");
    assert_eq!(shimmed.run(&[]).stdout, "official []\n");
}

#[test]
fn input_passes_through() {
    let shimmed = Shimmed::new(OFFICIAL);
    let input = shimmed.home.write("input", "typed\n");
    let mut command = shimmed.home.command_of(&shimmed.home.path().join("shim/createos"), &["input"]);
    command.env("PATH", shimmed.path(&["shim", "bin"])).stdin(std::fs::File::open(input).unwrap());
    assert_eq!(outcome(command).stdout, "official [input]\ntyped\n");
}

#[test]
fn links_and_copies_of_ourselves_are_passed_over() {
    let shimmed = Shimmed::new(OFFICIAL);
    for folder in ["link", "chain", "copy", "hard"] {
        std::fs::create_dir(shimmed.home.path().join(folder)).unwrap();
    }
    let own = shimmed.home.path().join("own");
    std::fs::copy(binary(), &own).unwrap();
    let at = |name: &str| shimmed.home.path().join(name).join("createos");
    symlink(&own, at("link")).unwrap();
    symlink("../link/createos", at("chain")).unwrap();
    std::fs::copy(&own, at("copy")).unwrap();
    std::fs::hard_link(&own, at("hard")).unwrap();
    for folder in ["link", "chain", "copy", "hard"] {
        assert!(at(folder).exists());
    }
    let path = shimmed.path(&["shim", "link", "chain", "copy", "hard", "bin"]);
    assert_eq!(shimmed.run_on(&path, &["x"]).success().stdout, "official [x]\n");
    let none = shimmed.path(&["shim", "link", "chain", "copy", "hard"]);
    shimmed.run_on(&none, &["x"]).fails(2, "the official createos program is not on PATH");
}

#[test]
fn a_program_that_calls_us_back_is_a_loop_and_not_a_storm() {
    for script in ["#!/bin/sh\nexec createos \"$@\"\n", "#!/bin/sh\ncreateos \"$@\"\n"] {
        let shimmed = Shimmed::new(script);
        shimmed.run(&["x"]).fails(2, "calls this one again");
    }
}

#[test]
fn the_official_program_may_call_itself_by_name() {
    let shimmed = Shimmed::new("#!/bin/sh\n[ \"$1\" = inner ] && { echo inner; exit 3; }\ncreateos inner\n");
    let outer = shimmed.run(&["outer"]);
    assert_eq!((outer.code, outer.stdout.as_str()), (3, "inner\n"));
}

#[test]
fn setup_of_herdr_is_ours_and_so_is_all_of_it_where_the_official_program_has_none() {
    let shimmed = Shimmed::new(OFFICIAL);
    for args in [
        &["sandbox", "setup", "herdr", "--help"][..],
        &["-o", "table", "sb", "setup", "--help"],
        &["sandbox", "setup"],
        &["sandbox", "setup", "help"],
    ] {
        let help = shimmed.run(args).success();
        assert!(help.stdout.contains("createos-sandbox setup"), "{help:?}");
    }
    // Without an official program, too; and flags alone are ours then.
    let none = shimmed.path(&["shim"]);
    let help = shimmed.run_on(&none, &["sandbox", "setup"]).success();
    assert!(help.stdout.contains("createos-sandbox setup"), "{help:?}");
    let doctor = shimmed.run_on(&none, &["sandbox", "setup", "--doctor"]);
    assert!(doctor.stdout.contains("createos-sandbox setup herdr --doctor"), "{doctor:?}");
}

/// An official program with a setup of its own for several hosts.
const WITH_HOSTS: &str = r#"#!/bin/sh
case "$*" in
'sandbox --help') printf 'COMMANDS:\n   list      Show all\n   setup     Set a host up\n' ;;
'sandbox setup' | 'sandbox setup --help' | 'sandbox setup -h') printf 'COMMANDS:\n   claude-code, claude  Claude Code\n   herdr                Herdr\n   opencode             OpenCode\n' ;;
*) echo "official [$*]" ;;
esac
"#;

#[test]
fn the_official_hosts_stay_in_sight_with_our_word_on_herdrs_line() {
    let shimmed = Shimmed::new(WITH_HOSTS);
    for args in [&["sandbox", "setup"][..], &["sandbox", "setup", "--help"], &["sandbox", "setup", "-h"]] {
        let hosts = shimmed.run(args).success();
        assert_eq!(
            hosts.stdout,
            "COMMANDS:\n   claude-code, claude  Claude Code\n   herdr                Herdr (by createos-sandbox)\n   \
             opencode             OpenCode\n",
            "{args:?}"
        );
    }
    let help = shimmed.run(&["sandbox", "setup", "herdr", "--help"]).success();
    assert!(help.stdout.contains("createos-sandbox setup"), "{help:?}");
    for args in [&["sandbox", "setup", "--doctor"][..], &["sandbox", "setup", "claude-code", "--doctor"]] {
        assert_eq!(shimmed.run(args).stdout, format!("official [{}]\n", args.join(" ")));
    }
}

#[test]
fn the_help_of_sandbox_gains_setup() {
    let help = "COMMANDS:\n   create, c  Make one\n   help, h    Show help\n";
    let shimmed = Shimmed::new(&format!("#!/bin/sh\ncat <<'E'\n{help}E\nexit 4\n"));
    let shown = shimmed.run(&["sandbox", "--help"]);
    assert_eq!(shown.code, 4, "the exit code is the official one");
    assert_eq!(
        shown.stdout,
        "COMMANDS:\n   create, c  Make one\n   setup      Set up Herdr for sandboxed agents, or check the setup \
         (createos-sandbox)\n   help, h    Show help\n"
    );
}

#[test]
fn install_and_remove_keep_the_link() {
    let home = Home::new().var("SHELL", "/usr/bin/zsh");
    let made = home.run(&["shim", "install"]).success();
    let link = home.path().join(".local/share/createos-sandbox/shim/createos");
    assert!(std::fs::read_link(&link).unwrap().is_absolute());
    let folder = link.parent().unwrap().display().to_string();
    assert!(made.stdout.contains(&format!("export PATH={folder}:\"$PATH\"")), "{made:?}");
    assert!(made.stdout.contains("~/.zshrc"), "{made:?}");
    let absent = which::which_in("createos", Some(PATH), "/").is_err();
    assert_eq!(made.stdout.contains("The official createos is not on PATH"), absent, "{made:?}");
    // A setup with boxes on this machine needs no createos, and would install none.
    let install = "createos-sandbox setup herdr --provider createos --install-missing";
    assert_eq!(made.stdout.contains(install), absent, "{made:?}");
    program(&home, "bin/createos", OFFICIAL);
    let mut with_official = home.command(&["shim", "install"]);
    with_official.env("PATH", format!("{}/bin:{PATH}", home.path().display()));
    assert!(!outcome(with_official).success().stdout.contains("The official createos"));

    let mut first = home.command(&["shim", "install"]);
    first.env("PATH", format!("{folder}:{PATH}"));
    assert!(outcome(first).success().stdout.contains("comes first on PATH"));
    assert!(runs_as_createos(&link, &home));

    home.run(&["shim", "remove"]).success();
    assert!(!link.parent().unwrap().exists());
    assert!(home.run(&["shim", "remove"]).success().stdout.contains("no link to remove"));
}

fn runs_as_createos(link: &Path, home: &Home) -> bool {
    outcome(home.command_of(link, &["sandbox", "setup", "herdr", "--help"]))
        .success()
        .stdout
        .contains("setup")
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let home = Home::new();
    home.write(".local/share/createos-sandbox/shim/createos", "mine");
    home.run(&["shim", "install"]).fails(1, "is not a link of ours");
    home.run(&["shim", "remove"]).fails(1, "is not a link of ours");
    assert_eq!(home.read(".local/share/createos-sandbox/shim/createos"), "mine");
}
