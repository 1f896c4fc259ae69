//! What a program in a box can neither see nor do.

use super::Sandbox;
use crate::support::{Home, User, binary, outcome, skipped};

/// A box whose home holds a secret, with words that a test can look for.
fn guarded(user: User) -> Sandbox {
    Sandbox::with(Home::of(user).var("HOST_TOKEN", "sentinel-of-the-host"), &["--network", "none"])
}

#[test]
fn the_host_s_files_are_out_of_reach() {
    for user in User::all() {
        let made = guarded(user);
        let secret = made.home().write("secret.txt", "the host's own");
        let mut command = std::process::Command::new("cat");
        assert!(command.arg(&secret).output().unwrap().status.success(), "the file can be read outside");
        for path in [
            secret.to_str().unwrap(),
            "/etc/shadow",
            "/etc/gshadow",
            "/etc/sudoers",
            "/etc/ssl/private",
            "/root",
            "/boot",
            "/sys/kernel",
            "/dev/sda",
            "/dev/vda",
            "/dev/mem",
            "/dev/kmsg",
            "/run/dbus",
            "/var/run/docker.sock",
            "/proc/1/root/etc/shadow",
            "/proc/self/root/../etc/shadow",
        ] {
            let tried = made.sh(&format!("cat '{path}' 2>/dev/null || ls '{path}' 2>/dev/null"));
            assert_ne!(tried.code, 0, "{user:?} {path}: {tried:?}");
        }
        let root = made.say("ls -a /");
        assert!(!root.contains("root\n"), "{root}");
        assert!(!made.say("find / -xdev -name secret.txt 2>/dev/null; true").contains("secret"));
        assert_eq!(made.say("cat /etc/passwd").lines().count(), 3, "three accounts, none of the host's");
    }
}

#[test]
fn a_home_among_the_host_s_programs_is_not_seen() {
    for user in User::all() {
        let Ok(place) = tempfile::Builder::new().prefix("cs-").tempdir_in("/usr/local") else {
            return; // Only root can have one there.
        };
        std::fs::set_permissions(place.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let secret = place.path().join("kept-at-home.txt");
        std::fs::write(&secret, "the host's own").unwrap();
        let other = guarded(user);
        other.home().own(place.path());
        let read = format!("cat {}", secret.display());
        assert_eq!(other.say(&read), "the host's own", "what lies there is seen otherwise");

        let home = Home::of(user).var("HOME", place.path().to_str().unwrap());
        let made = Sandbox::with(home, &["--network", "none"]);
        let look = format!("ls -A {}; {read}", place.path().display());
        let tried = made.sh(&look);
        assert_ne!(tried.code, 0, "{user:?}");
        assert_eq!(tried.stdout, "", "{user:?}");
        assert_ne!(made.sh(&format!("touch {}/x", place.path().display())).code, 0);
        assert_eq!(made.say("find /usr/local -name meta.json 2>/dev/null; true"), "", "no box sees another");
        let id = made.start(&["@", "--", "sh", "-c", &format!("{look} || echo shut; sleep 1000")]);
        crate::support::eventually("it has looked", std::time::Duration::from_secs(60), || {
            made.run(&["process", "attach", "--no-follow", "@", &id]).stdout == "shut\n"
        });
        // The same through another variable, and through a link.
        let link = other.home().path().join("link");
        std::os::unix::fs::symlink(place.path(), &link).unwrap();
        for variable in ["XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "TMPDIR"] {
            let mut command = other.command(&["exec", "--stream", "@", "--", "sh", "-c", &read]);
            command.env(variable, &link);
            assert_ne!(outcome(command).code, 0, "{user:?} {variable}");
        }
        let mut command = other.command(&["exec", "@", "--", "touch", "/tmp/ran"]);
        command.env("TMPDIR", "/usr/lib");
        let _said = outcome(command).fails(2, "TMPDIR is /usr/lib");
        assert_ne!(other.sh("test -e /tmp/ran").code, 0, "nothing was run");
    }
}

#[test]
fn settings_of_the_host_among_its_programs_are_not_seen() {
    let place = tempfile::Builder::new().prefix("cs-").tempdir_in("/usr/local/etc");
    let Ok(place) = place else {
        skipped("only root can put settings there, and not every machine has the folder");
        return;
    };
    std::fs::set_permissions(place.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::write(place.path().join("npmrc"), "token").unwrap();
    for user in User::all() {
        let made = guarded(user);
        assert_eq!(made.say("ls -A /usr/local/etc; ls -A /usr/etc 2>/dev/null; true"), "", "{user:?}");
        assert_ne!(made.sh(&format!("cat {}/npmrc", place.path().display())).code, 0, "{user:?}");
    }
}

#[test]
fn the_program_is_nobody_special() {
    for user in User::all() {
        let made = guarded(user);
        assert_eq!(
            made.say("id -u; id -g; id -un").split_whitespace().collect::<Vec<_>>(),
            ["1000", "1000", "agent"]
        );
        let status = made.say("cat /proc/self/status");
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}"));
            line.split_whitespace().nth(1).unwrap_or_default().to_owned()
        };
        for set in ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
            assert_eq!(field(set).trim_start_matches('0'), "", "{set} {user:?}");
        }
        assert_eq!(field("NoNewPrivs:"), "1");
        // The host's uid 0 is not in the box: what it owns is nobody's.
        let map = made.say("cat /proc/self/uid_map");
        let map: Vec<u64> = map.split_whitespace().map(|number| number.parse().unwrap()).collect();
        assert_eq!((map[0], map[2]), (1000, 1));
        assert_ne!(map[1], 0, "{user:?}");
        let limits = made.say("cat /proc/self/limits");
        let core = limits.lines().find(|line| line.starts_with("Max core file size")).expect("a limit");
        assert_eq!(core.split_whitespace().skip(4).collect::<Vec<_>>(), ["1", "1", "bytes"], "{core}");
    }
}

#[test]
fn the_kernel_s_switches_cannot_be_moved() {
    for user in User::all() {
        let made = guarded(user);
        for path in [
            "/proc/sys/kernel/core_pattern",
            "/proc/sys/kernel/modprobe",
            "/proc/sys/vm/drop_caches",
            "/proc/sys/kernel/hostname",
            "/proc/sys/user/max_user_namespaces",
            "/proc/irq/default_smp_affinity",
        ] {
            let tried = made.sh(&format!("test -e {path} || exit 9; echo 1 > {path}"));
            assert_ne!(tried.code, 0, "{path}");
        }
        // Masked files are there, and empty.
        assert_eq!(
            made.say("cat /proc/kcore /proc/kallsyms /proc/keys /proc/timer_list 2>/dev/null | wc -c").trim(),
            "0"
        );
        assert_ne!(made.sh("echo b > /proc/sysrq-trigger && test -s /proc/sysrq-trigger").code, 0);
        assert_eq!(made.say("ls /sys | wc -l").trim(), "0");
        assert!(made.sh("touch /usr/x /etc/x /dev/x /bin/x").stderr.matches("Read-only").count() >= 4);
    }
}

#[test]
fn neither_environment_nor_descriptors_of_the_host_come_in() {
    for user in User::all() {
        let made = guarded(user);
        // An open file of the host, inherited on purpose.
        let secret = made.home().write("secret.txt", "the host's own");
        let script = format!("exec 7<'{}'; exec \"$@\"", secret.display());
        let exec =
            made.command(&["exec", "--stream", "@", "--", "sh", "-c", "env; ls /proc/self/fd; cat <&7"]);
        let mut args = vec!["-c".to_owned(), script, "sh".into()];
        args.push(exec.get_program().to_str().unwrap().to_owned());
        args.extend(exec.get_args().map(|arg| arg.to_str().unwrap().to_owned()));
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let said = outcome({
            let mut command = std::process::Command::new("sh");
            command.args(&args).env_clear();
            for (name, value) in exec.get_envs() {
                command.env(name, value.unwrap_or_default());
            }
            command
        });
        assert!(!said.stdout.contains("sentinel"), "{said:?}");
        assert!(said.stdout.contains("HOME=/home/agent"), "it ran: {said:?}");
        assert!(!said.stdout.contains("the host's own"), "{said:?}");
        assert!(!said.stdout.lines().any(|line| line == "7"), "the descriptor is not there: {said:?}");
        let names = made.say("env | cut -d= -f1 | sort");
        let allowed = ["HOME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "SHLVL", "TERM", "TZ", "USER", "_"];
        assert!(names.lines().all(|name| allowed.contains(&name)), "{names}");
        // PID 1 holds nothing, and what it holds cannot be read.
        let one = made.sh("cat /proc/1/environ; readlink /proc/1/exe; ls /proc/1/fd; cat /proc/1/cmdline");
        assert_eq!(one.stdout.replace('\0', " ").trim(), "createos-sandbox local enter", "{one:?}");
        // All environments that can be read at all.
        let all = made.say("cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null; true");
        assert!(!all.contains("sentinel"));
    }
}

#[test]
fn only_the_box_s_processes_can_be_seen_or_signalled() {
    for user in User::all() {
        let made = guarded(user);
        let pids = made.say("ls /proc | grep -c '^[0-9]'");
        assert!(pids.trim().parse::<u32>().unwrap() <= 6, "{pids}");
        let me = std::process::id();
        assert_ne!(made.sh(&format!("kill -0 {me}")).code, 0, "a host process of the same number space");
        // Signals to everybody reach the box only: this test goes on.
        let _done = made.sh("trap '' TERM; kill -TERM -1; true").success();
        assert_ne!(made.sh("kill -KILL 1; sleep 0.2; kill -0 1; exit 3").code, 0);
    }
}

#[test]
fn the_host_name_stays_inside() {
    let made = Sandbox::with(Home::new(), &["--name", "inner-name"]);
    assert_eq!(made.say("hostname; cat /proc/sys/kernel/hostname"), "inner-name\ninner-name\n");
    assert_ne!(made.sh("hostname other").code, 0);
    let outside = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert_ne!(outside.trim(), "inner-name");
}

#[test]
fn a_nested_namespace_undoes_nothing() {
    for user in User::all() {
        let made = Sandbox::nested(user);
        // Root of a namespace of its own inside, with every capability there.
        let nested = |script: &str| {
            made.run(&[
                "exec",
                "--stream",
                "@",
                "--",
                "unshare",
                "-Urmpf",
                "--mount-proc=/mnt",
                "sh",
                "-c",
                script,
            ])
        };
        assert_ne!(nested("true").code, 0, "a fresh /proc would be unmasked, so it is refused");
        let nested =
            |script: &str| made.run(&["exec", "--stream", "@", "--", "unshare", "-Urm", "sh", "-c", script]);
        let proven = nested("id -u; mount -t tmpfs t /mnt && echo mounted");
        if proven.code != 0 {
            // This machine forbids nesting: nothing can be undone by it.
            continue;
        }
        assert_eq!(proven.stdout, "0\nmounted\n", "the nested root is a real one");
        for script in [
            "umount /proc/sys",
            "umount /proc/kallsyms",
            "umount /etc",
            "umount /usr",
            "umount /dev/null",
            "mount -o remount,rw /usr",
            "mount -o remount,rw,bind /proc/sys",
            "echo x > /proc/sys/kernel/core_pattern",
            "mount -t proc p /mnt",
            "mount -t sysfs s /mnt",
            "mount --bind / /mnt && umount /mnt/proc",
            "mknod /tmp/sda b 8 0",
            "chroot /proc/1/root cat /etc/shadow",
            "cat /etc/shadow",
        ] {
            let tried = nested(script);
            assert_ne!(tried.code, 0, "{user:?} {script}: {tried:?}");
        }
    }
}

#[test]
fn setuid_programs_and_device_nodes_give_nothing() {
    for user in User::all() {
        let made = guarded(user);
        let mounts = made.say("cat /proc/self/mountinfo");
        for line in mounts.lines() {
            let options = line.split(' ').nth(5).unwrap();
            assert!(options.contains("nosuid"), "{line}");
            let device = line.split(' ').nth(4).unwrap().starts_with("/dev/");
            let null = line.contains("devtmpfs") || line.contains(" - devpts ") || line.contains(" - tmpfs ");
            assert!(options.contains("nodev") || device || null, "{line}");
        }
        assert_ne!(made.sh("mknod /tmp/null c 1 3").code, 0);
        let found = made.say("cp /usr/bin/id /tmp/id; chmod 4755 /tmp/id; /tmp/id -u");
        assert_eq!(found.trim(), "1000");
        assert_ne!(made.sh("su -c id root </dev/null").code, 0);
    }
}

#[test]
fn our_own_program_cannot_be_changed_from_inside() {
    use std::fs::Metadata;
    use std::os::unix::fs::MetadataExt;
    use std::process::Command;
    for user in User::all() {
        let made = guarded(user);
        // The installed program, which runs as it is where it is not the box's, and one that belongs to the user.
        let own = made.home().path().join("own-createos-sandbox");
        assert!(Command::new("cp").arg(binary()).arg(&own).status().unwrap().success());
        made.home().own(&own);
        for program in [binary(), own] {
            let exec = |argv: &[&str]| {
                let args = [&["local", "sandbox", "exec", "--stream", made.id(), "--"], argv].concat();
                outcome(made.home().command_of(&program, &args))
            };
            let before = std::fs::metadata(&program).unwrap();
            // The classic: make the starter run itself, then reach for what it runs.
            exec(&["sh", "-c", "chmod 04777 /proc/1/exe; chmod 04777 /proc/$$/exe; true"]).success();
            exec(&["/proc/self/exe", "--version"]);
            let reach = "for p in /proc/[0-9]*; do chmod 0 $p/exe; : > $p/exe; done";
            let script = format!(
                "printf '#!/proc/self/exe local enter\\n' > /tmp/x; chmod +x /tmp/x; (sleep 1 | /tmp/x & {reach}; \
                 unshare --user --map-root-user sh -c '{reach}') 2>/dev/null; true"
            );
            exec(&["sh", "-c", &script]).success();
            let after = std::fs::metadata(&program).unwrap();
            let facts = |file: &Metadata| (file.mode(), file.len(), file.mtime(), file.uid());
            assert_eq!(facts(&before), facts(&after), "{user:?} {}", program.display());
        }
    }
}

#[test]
fn an_empty_network_has_only_itself() {
    for user in User::all() {
        let made = guarded(user);
        let devices = made.say("cat /proc/net/dev | tail -n +3 | cut -d: -f1");
        let known = [
            "lo", "tunl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0", "sit0", "ip6tnl0", "ip6gre0",
        ];
        assert!(devices.lines().all(|name| known.contains(&name.trim())), "{devices}");
        assert_eq!(made.say("cat /proc/net/route | wc -l").trim(), "1", "no route anywhere");
    }
}

#[test]
fn sockets_without_a_path_are_out_of_reach_on_the_shared_network() {
    use landlock::{CompatLevel, Compatible, Ruleset, RulesetAttr, Scope};
    use std::os::linux::net::SocketAddrExt;
    let known = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .scope(Scope::AbstractUnixSocket)
        .and_then(Ruleset::create);
    if known.is_err() {
        return; // The kernel is older than 6.12, or has no Landlock: the manual says so.
    }
    for user in User::all() {
        let made = Sandbox::with(Home::of(user), &["--network", "host"]);
        let name = format!("createos-sandbox-test-{}", made.id());
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
        std::os::unix::net::UnixStream::connect_addr(&address).expect("it can be reached from outside");
        let script = format!(
            "use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0); connect($s, pack_sockaddr_un(\"\\0{name}\")) \
             or die \"refused: $!\"; print \"connected\";"
        );
        let tried = made.run(&["exec", "--stream", "@", "--", "perl", "-e", &script]);
        assert!(tried.stderr.contains("refused: Operation not permitted"), "{user:?} {tried:?}");
    }
}
