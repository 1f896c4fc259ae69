//! What a box can ask of the kernel that it shares with the host.

use super::Sandbox;
use crate::support::{Home, Outcome, User, outcome, skipped};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

/// What `perl -e script` says, outside and in the box; both as the same user.
fn outside(made: &Sandbox, script: &str) -> Outcome {
    outcome(made.home().command_of(Path::new("perl"), &["-e", script]))
}

fn inside(made: &Sandbox, script: &str) -> Outcome {
    made.run(&["exec", "--stream", "@", "--", "perl", "-e", script])
}

fn errno(call: libc::c_long) -> String {
    format!("$! = 0; syscall({call}, -1, -1, -1, -1, -1); print $! + 0;")
}

#[test]
fn the_host_s_keys_and_the_kernel_s_own_parts_are_not_there() {
    for user in User::all() {
        let made = Sandbox::of(user);
        let missing = libc::ENOSYS.to_string();
        for call in [
            libc::SYS_keyctl,
            libc::SYS_add_key,
            libc::SYS_request_key,
            libc::SYS_bpf,
            libc::SYS_perf_event_open,
            libc::SYS_userfaultfd,
            libc::SYS_open_by_handle_at,
            libc::SYS_init_module,
            libc::SYS_kexec_load,
            libc::SYS_io_uring_setup,
            libc::SYS_io_uring_enter,
            libc::SYS_io_uring_register,
            libc::SYS_fanotify_init,
        ] {
            assert_eq!(inside(&made, &errno(call)).success().stdout, missing, "{user:?} {call}");
        }
        assert_ne!(outside(&made, &errno(libc::SYS_keyctl)).stdout, missing, "the kernel has keys");
        #[cfg(target_arch = "x86_64")]
        assert_eq!(
            inside(&made, &errno(0x4000_0000 + libc::SYS_keyctl)).stdout,
            missing,
            "by its x32 number"
        );
        let socket = |family: libc::c_int| format!("print socket(my $s, {family}, 2, 0) ? 0 : $! + 0;");
        let unknown = libc::EAFNOSUPPORT.to_string();
        for family in
            [libc::AF_VSOCK, libc::AF_ALG, libc::AF_PACKET, libc::AF_KEY, libc::AF_TIPC, libc::AF_CAN, 42, 43]
        {
            assert_eq!(inside(&made, &socket(family)).success().stdout, unknown, "{user:?} {family}");
        }
        for family in [libc::AF_UNIX, libc::AF_INET] {
            assert_eq!(inside(&made, &socket(family)).success().stdout, "0", "{user:?} {family}");
        }
        // Words typed into a terminal by somebody else; no terminal is needed to be refused.
        let tiocsti = "ioctl(STDIN, 0x5412, my $letter = 'x'); print $! + 0";
        assert_eq!(outside(&made, tiocsti).stdout, libc::ENOTTY.to_string());
        assert_eq!(inside(&made, tiocsti).stdout, libc::EPERM.to_string(), "{user:?}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_program_with_other_numbers_for_the_same_calls_is_ended() {
    use std::os::unix::fs::PermissionsExt;
    // A program for i386 that ends with code 7.
    let code = [0xb8, 1, 0, 0, 0, 0xbb, 7, 0, 0, 0, 0xcd, 0x80];
    let mut program = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x03\0".to_vec();
    let start: u32 = 0x0804_8000;
    let length = 52 + 32 + code.len() as u32;
    for word in [1, start + 84, 52, 0, 0, 0x0020_0034, 1, 0, 1, 0, start, start, length, length, 5, 0x1000] {
        program.extend(u32::to_le_bytes(word));
    }
    program.extend(code);
    for user in User::all() {
        let made = Sandbox::of(user);
        let file = made.home().write("foreign", &program);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        let ran = made.home().command_of(Path::new("sh"), &["-c", "./foreign"]);
        if outcome(ran).code != 7 {
            return; // This kernel runs no such programs at all.
        }
        let _done = made.run(&["push", "@", file.to_str().unwrap(), "/tmp/foreign"]).success();
        let ran = made.sh("chmod +x /tmp/foreign; /tmp/foreign");
        assert_eq!(ran.code, 128 + libc::SIGSYS, "{user:?} {ran:?}");
    }
}

#[test]
fn a_box_is_entered_when_its_user_s_keys_are_used_up() {
    // Root's own quota is a million.
    let user = User::all().pop().expect("somebody");
    let made = Sandbox::of(user);
    let (keyctl, add_key) = (libc::SYS_keyctl, libc::SYS_add_key);
    let script = format!(
        "syscall({keyctl}, 1, 0); my $n = 0; while (1) {{ my ($t, $d, $p) = ('user', 'k' . $n++, 'x'); \
         last if syscall({add_key}, $t, $d, $p, 1, -3) < 0 }} $| = 1; print $! + 0, \"\\n\"; <STDIN>"
    );
    let mut command = made.home().command_of(Path::new("perl"), &["-e", &script]);
    let mut filler = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(filler.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said.trim(), libc::EDQUOT.to_string(), "the quota is used up");
    let ran = made.sh("echo entered");
    filler.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(filler.wait().unwrap().success());
    assert_eq!(ran.success().stdout, "entered\n", "{user:?}");
}

#[test]
fn a_box_leaves_the_host_most_of_its_user_s_watches() {
    for user in User::all() {
        let made = Sandbox::of(user);
        let name = "/proc/sys/user/max_inotify_instances";
        let limited = format!("echo 5 > {name}");
        let proven = made.home().command_of(Path::new("unshare"), &["-U", "-r", "sh", "-c", &limited]);
        if outcome(proven).code != 0 {
            continue; // This machine has no such limits, or lets nobody set them.
        }
        let host: u64 = std::fs::read_to_string(name).unwrap().trim().parse().unwrap();
        let script = format!("my $n = 0; $n++ while syscall({}, 0) >= 0; print $n", libc::SYS_inotify_init1);
        let taken: u64 = inside(&made, &script).success().stdout.parse().unwrap();
        assert!(taken > 0 && taken <= host / 4, "{user:?} took {taken} of {host}");
    }
}

#[test]
fn a_box_cannot_reach_the_host_s_cgroups() {
    for user in User::all() {
        let made = Sandbox::nested(user);
        let limited = "echo 1 > /proc/sys/user/max_cgroup_namespaces";
        let host = |script: &str| {
            outcome(made.home().command_of(Path::new("unshare"), &["-U", "-r", "sh", "-c", script]))
        };
        if host(limited).code != 0 {
            skipped(&format!("for {user:?}: this machine has no such limit, or lets nobody set it"));
            continue;
        }
        // A mount of the tree is what makes its `cgroup.kill` and `cgroup.freeze` reachable.
        let mount = "unshare -U -r -m -C sh -c 'mount -t cgroup2 none /mnt && echo mounted'";
        let proof = host(mount);
        assert_eq!(proof.stdout, "mounted\n", "it bites outside of a box: {proof:?}");
        let tried = made.sh(mount);
        assert_eq!((tried.stdout.as_str(), tried.code == 0), ("", false), "{user:?} {tried:?}");
        // Programs with a sandbox of their own have the other namespaces.
        assert_eq!(made.say("unshare -U -r -m sh -c 'echo nested'"), "nested\n", "{user:?}");
    }
}

#[test]
fn a_root_that_was_shut_from_inside_opens_again() {
    for user in User::all() {
        let made = Sandbox::with(Home::of(user), &["--network", "none"]);
        let _done = made.run(&["exec", "@", "--", "chmod", "000", "/"]);
        assert_eq!(made.say("stat -c %a /; touch /here && echo written"), "755\nwritten\n", "{user:?}");
    }
}

#[test]
fn no_program_in_a_box_makes_a_namespace_unless_the_box_was_made_for_it() {
    for user in User::all() {
        let made = Sandbox::of(user);
        let (nested, host) = (Sandbox::nested(user), |script: &str| outside(&made, script));
        let proof = outcome(made.home().command_of(Path::new("unshare"), &["-U", "-r", "-m", "true"]));
        assert_eq!(proof.code, 0, "it bites outside of a box: {user:?} {proof:?}");
        for kind in ["-U", "-U -r -m", "-U -r -n", "-U -r -p -f", "-m", "-n", "-i", "-u", "-p -f", "-C", "-T"]
        {
            let tried = made.sh(&format!("unshare {kind} true"));
            assert_ne!(tried.code, 0, "{user:?} unshare {kind}");
        }
        assert_eq!(nested.say("unshare -U -r -m echo nested"), "nested\n", "{user:?}");
        let call = |number: libc::c_long, first: i64| {
            format!(
                "$! = 0; my $pid = syscall({number}, {first}, 0, 0, 0, 0); exit if defined $pid && $pid == 0; print $! + 0;"
            )
        };
        let user_namespace = i64::from(libc::CLONE_NEWUSER | libc::SIGCHLD);
        let refused = libc::EPERM.to_string();
        assert_eq!(host(&call(libc::SYS_clone, user_namespace)).stdout, "0", "{user:?}");
        assert_eq!(inside(&made, &call(libc::SYS_clone, user_namespace)).stdout, refused, "{user:?}");
        assert_eq!(inside(&made, &call(libc::SYS_unshare, 0x80)).stdout, refused, "{user:?}");
        assert_eq!(inside(&made, &call(libc::SYS_setns, -1)).stdout, refused, "{user:?}");
        let missing = libc::ENOSYS.to_string();
        assert_eq!(inside(&made, &errno(libc::SYS_clone3)).stdout, missing, "{user:?}");
        assert_ne!(inside(&nested, &errno(libc::SYS_clone3)).stdout, missing, "{user:?}");

        let limited = "echo 0 > /proc/sys/user/max_user_namespaces";
        if outcome(made.home().command_of(Path::new("unshare"), &["-U", "-r", "sh", "-c", limited])).code != 0
        {
            skipped(&format!("for {user:?}: this machine has no such limits, or lets nobody set them"));
            continue;
        }
        let limit = |made: &Sandbox, kind: &str| {
            made.say(&format!("cat /proc/sys/user/max_{kind}_namespaces"))
                .trim()
                .parse::<u64>()
                .expect("a number")
        };
        for (kind, most) in
            [("user", 0), ("mnt", 1), ("pid", 1), ("ipc", 1), ("uts", 1), ("net", 1), ("cgroup", 1)]
        {
            assert_eq!(limit(&made, kind), most, "{user:?} {kind}");
        }
        assert_eq!((limit(&nested, "cgroup"), limit(&nested, "user") > 1), (1, true), "{user:?}");
    }
}

#[test]
fn a_limit_for_core_dumps_is_taken_as_set_and_stays() {
    for user in User::all() {
        let made = Sandbox::of(user);
        let said =
            made.say("ulimit -c 0 && echo taken; grep core /proc/self/limits; ulimit -n 64 && ulimit -n");
        let words: Vec<&str> = said.split_whitespace().collect();
        assert_eq!(words[0], "taken", "programs that want none go on: {said}");
        assert!(said.contains(" 1 ") && words.ends_with(&["64"]), "{user:?} {said}");
    }
}

#[test]
fn a_crash_in_a_box_starts_no_handler_of_the_host() {
    const PATTERN: &str = "/proc/sys/kernel/core_pattern";
    struct Restored(String);
    impl Drop for Restored {
        fn drop(&mut self) {
            std::fs::write(PATTERN, &self.0).expect("the pattern as it was");
        }
    }
    let before = std::fs::read_to_string(PATTERN).expect("a pattern");
    if std::fs::write(PATTERN, &before).is_err() {
        skipped("only root can say what handles a crash");
        return;
    }
    let home = Home::new();
    let seen = home.path().join("seen");
    std::fs::create_dir(&seen).expect("a folder");
    let script = format!("#!/bin/sh\ncat > /dev/null\ntouch {}/$1\n", seen.display());
    let handler = home.write("handler", script);
    std::fs::set_permissions(&handler, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    let boxes: Vec<Sandbox> = User::all().into_iter().map(Sandbox::of).collect();
    let restored = Restored(before);
    std::fs::write(PATTERN, format!("|{} %e", handler.display())).expect("a pattern");
    let crash = |name: &str| {
        format!(
            "cp /bin/sleep /tmp/{name}; /tmp/{name} 100 & sleep 0.2; kill -SEGV $!; wait $!; rm /tmp/{name}"
        )
    };
    for (number, made) in boxes.iter().enumerate() {
        for limit in ["true", "ulimit -c 0", "ulimit -S -c 0"] {
            let _crashed = made.sh(&format!("{limit}; {}", crash(&format!("inside{number}"))));
        }
    }
    // The one outside comes last, so that those before have had the time.
    let outside = format!("ulimit -c 0; {}", crash(&format!("outside{}", std::process::id())));
    let _ended = outcome(home.command_of(Path::new("sh"), &["-c", &outside]));
    let handled = || {
        std::fs::read_dir(&seen)
            .expect("the folder")
            .flatten()
            .map(|entry| entry.file_name())
            .collect::<Vec<_>>()
    };
    crate::support::eventually("it bites outside of a box", std::time::Duration::from_secs(30), || {
        !handled().is_empty()
    });
    drop(restored);
    let handled = handled();
    assert!(handled.iter().all(|name| name.to_string_lossy().starts_with("outside")), "{handled:?}");
}
