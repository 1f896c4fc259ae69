//! Root in somebody's home, as `sudo` leaves it, would write what its owner cannot change any more.

use super::{machine, tree};
use crate::support::{Herdr, User, binary, outcome};

#[test]
fn root_in_somebodys_home_is_refused_before_anything_is_written() {
    if !User::all().contains(&User::Nobody) {
        return;
    }
    let home = machine(User::Nobody);
    let _herdr = Herdr::in_home(&home);
    home.own(home.path());
    let as_root = |args: &[&str]| {
        let seen = home.command(args);
        let mut command = std::process::Command::new(binary());
        command.args(args).env_clear().current_dir(home.path());
        command.envs(seen.get_envs().filter_map(|(name, value)| Some((name, value?))));
        outcome(command)
    };
    let before = tree(home.path());
    for args in [&["setup"][..], &["setup", "--undo"]] {
        let refused = as_root(args).fails(2, "HOME belongs to uid 65534");
        assert!(refused.stderr.contains("without sudo"), "{}", refused.stderr);
    }
    assert_eq!(tree(home.path()), before);
    let doctor = as_root(&["setup", "--doctor"]);
    assert!(doctor.stdout.contains("warn  home-owner"), "{}", doctor.stdout);
    // Root asked the stand-in too, whose record is root's now.
    home.own(home.path());
    let _ = home.run(&["setup"]).success();
}
