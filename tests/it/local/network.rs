//! The network of a box: nothing of the host's is in it, and its way out keeps to the rules.

use super::Sandbox;
use crate::support::{Home, Outcome, User, binary, eventually, outcome};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// A server on the host's loopback that says hello to everybody; its port.
fn greeter() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut stream = stream;
                let _asked = stream.read(&mut [0; 4096]);
                let _gone = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nhello from the host\n");
            });
        }
    });
    port
}

/// A shell function that says something to a port of the box's loopback, and prints what comes.
const TALK: &str = "talk() { exec 3<>/dev/tcp/127.0.0.1/$1 && printf \"$2\" >&3 && cat <&3; }; ";

/// Runs a script of bash in the box.
fn bash(made: &Sandbox, script: &str) -> Outcome {
    made.run(&["exec", "--stream", "@", "--", "bash", "-c", &format!("{TALK}{script}")])
}

fn refused(made: &Sandbox) -> serde_json::Value {
    made.run(&["get", "@"]).success().json()["refused"].clone()
}

/// The processes that keep the network of this box: the one that has signed its lock, while it lives. What it has open is
/// nobody's to see.
fn keepers(made: &Sandbox) -> Vec<i32> {
    let lock =
        made.home().path().join(".local/share/createos-sandbox/boxes").join(made.id()).join("keeper.lock");
    let signed = std::fs::read_to_string(lock).unwrap_or_default();
    let pid = signed.split(' ').next().and_then(|pid| pid.parse().ok());
    let is_one = |pid: &i32| {
        std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.ends_with(b"\0local\0keep\0"))
    };
    pid.filter(is_one).into_iter().collect()
}

#[test]
fn nothing_of_the_host_s_network_is_in_a_box() {
    use std::os::linux::net::SocketAddrExt;
    let port = greeter();
    for user in User::all() {
        let made = Sandbox::with(Home::of(user), &[]);
        let name = format!("createos-sandbox-test-{}", made.id());
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
        std::os::unix::net::UnixStream::connect_addr(&address).expect("it can be reached from outside");
        let script = format!(
            "use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0); connect($s, pack_sockaddr_un(\"\\0{name}\")) \
             or die \"refused: $!\"; print \"connected\";"
        );
        let tried = made.run(&["exec", "--stream", "@", "--", "perl", "-e", &script]);
        let refusals = ["refused: Connection refused", "refused: Operation not permitted"];
        assert!(refusals.iter().any(|words| tried.stderr.contains(words)), "{user:?} {tried:?}");
        let tried = bash(&made, &format!("talk {port} 'GET / HTTP/1.0\\r\\n\\r\\n'"));
        assert!(tried.code != 0 && tried.stderr.contains("Connection refused"), "{user:?} {tried:?}");
        let devices = made.say("tail -n +3 /proc/net/dev | cut -d: -f1");
        assert!(devices.lines().all(|name| !name.trim().starts_with("eth")), "{devices}");
        assert!(!made.say("cat /proc/net/unix").contains('@'), "{user:?} sees names of the host's sockets");
        let host = std::fs::read_to_string("/proc/net/tcp").expect("the host's sockets");
        let listening = format!(":{port:04X} ");
        assert!(host.contains(&listening), "it bites outside of a box");
        assert!(!made.say("cat /proc/net/tcp /proc/net/tcp6").contains(&listening), "{user:?}");
    }
}

#[test]
fn a_refusal_is_answered_at_once_and_known_with_what_would_let_it_pass() {
    let port = greeter();
    for user in User::all() {
        let made = Sandbox::with(Home::of(user), &[]);
        let asked = |target: &str| {
            let said = bash(&made, &format!("talk 3128 'CONNECT {target} HTTP/1.1\\r\\n\\r\\n'")).success();
            said.stdout
        };
        for target in [format!("127.0.0.1:{port}"), format!("localhost:{port}"), "169.254.169.254:80".into()]
        {
            let answer = asked(&target);
            assert!(answer.starts_with("HTTP/1.1 403 "), "{user:?} {target}: {answer}");
            assert!(answer.contains(&target) && answer.contains("--egress"), "{answer}");
        }
        eventually("the refusals are told", PATIENCE, || {
            refused(&made).as_array().is_some_and(|all| all.len() == 3)
        });
        let _answer = asked("169.254.169.254:80");
        let metadata = || refused(&made)[2].clone();
        eventually("they are counted from keeper to keeper", PATIENCE, || metadata()["count"] == 2);
        assert_eq!(metadata()["target"], "169.254.169.254:80");
        assert_eq!(metadata()["egress"], serde_json::json!(["*", "169.254.169.254:80"]));
        assert_eq!(refused(&made)[0]["egress"], serde_json::json!(["*", format!("localhost:{port}")]));
    }
}

#[test]
fn what_a_rule_names_is_reached_and_nothing_beside_it() {
    let (port, other) = (greeter(), greeter());
    for user in User::all() {
        let rule = format!("localhost:{port}");
        let made = Sandbox::with(Home::of(user), &["--egress", &rule]);
        let direct = bash(&made, &format!("talk {port} 'GET / HTTP/1.0\\r\\n\\r\\n'"));
        assert!(direct.stdout.contains("hello from the host"), "{user:?} {direct:?}");
        let plain = format!("talk 3128 'GET http://localhost:{port}/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'");
        assert!(bash(&made, &plain).stdout.contains("hello from the host"), "{user:?}");
        let tunnel =
            format!("talk 3128 'CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\nGET / HTTP/1.0\\r\\n\\r\\n'");
        let tunnel = bash(&made, &tunnel);
        assert!(tunnel.stdout.starts_with("HTTP/1.1 200 "), "{user:?} {tunnel:?}");
        assert!(tunnel.stdout.contains("hello from the host"), "{user:?} {tunnel:?}");
        for target in [format!("127.0.0.1:{other}"), "example.org:443".into(), "1.1.1.1:443".into()] {
            let answer = bash(&made, &format!("talk 3128 'CONNECT {target} HTTP/1.1\\r\\n\\r\\n'"));
            assert!(answer.stdout.starts_with("HTTP/1.1 403 "), "{user:?} {target} {answer:?}");
        }
        let view = made.run(&["get", "@"]).success().json();
        assert_eq!((&view["network"], &view["egress"]), (&"own".into(), &serde_json::json!([rule])));
    }
}

#[test]
fn the_network_is_the_box_s_and_lasts_from_its_first_entry_to_its_last() {
    for user in User::all() {
        let made = Sandbox::with(Home::of(user), &[]);
        let script = "use IO::Socket::INET; my $l = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 5000, \
                      Listen => 5) or die $!; while (my $c = $l->accept) { print $c \"from the box\\n\"; close $c; }";
        let process = made.start(&["@", "--", "perl", "-e", script]);
        eventually("an entry reaches another by the loopback", PATIENCE, || {
            bash(&made, "talk 5000 ''").stdout == "from the box\n"
        });
        let keeper = keepers(&made);
        assert_eq!(keeper.len(), 1, "{user:?}");
        made.say("true");
        assert_eq!(keepers(&made), keeper, "{user:?}: the same one");
        made.run(&["process", "stop", "--yes", "--grace", "0s", "@", &process]).success();
        eventually("it goes with the last entry", PATIENCE, || keepers(&made).is_empty());
        made.say("true");
        eventually("it is there for an exec alone, and no longer", PATIENCE, || keepers(&made).is_empty());
    }
}

#[test]
fn without_its_keeper_a_box_ends_and_every_pane_says_so() {
    for user in User::all() {
        let made = Sandbox::with(Home::of(user), &[]);
        let pane = made.start(&["--pty", "@", "--", "sh", "-c", "echo ready; sleep 1000"]);
        let mut exec = made.command(&["exec", "--stream", "@", "--", "sh", "-c", "echo ready; sleep 1000"]);
        let mut exec = exec
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut ready = [0; 6];
        exec.stdout.as_mut().expect("a pipe").read_exact(&mut ready).expect("it runs");
        let keeper = keepers(&made);
        let [keeper] = keeper[..] else { panic!("{user:?}: one keeper, not {keeper:?}") };
        let killed = std::process::Command::new("kill").args(["-KILL", &keeper.to_string()]).status();
        assert!(killed.expect("kill runs").success());
        let ended = exec.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(137), "{user:?} {said}");
        assert!(said.contains("what kept the network of the box has ended"), "{user:?} {said}");
        eventually("the program in the pane ends", PATIENCE, || made.process(&pane)["state"] == "exited");
        let shown = made.run(&["process", "attach", "--no-follow", "--after", "0", "@", &pane]);
        assert!(shown.stdout.contains("what kept the network of the box has ended"), "{user:?} {shown:?}");
        assert_eq!(made.say("echo again"), "again\n", "{user:?}: the next entry begins anew");
    }
}

#[test]
fn a_keeper_has_no_rights_but_its_user_s() {
    for user in User::all() {
        let made = Sandbox::with(Home::of(user), &[]);
        let _stays = made.start(&["@", "--", "sleep", "1000"]);
        let keeper = keepers(&made);
        let [keeper] = keeper[..] else { panic!("{user:?}: one keeper, not {keeper:?}") };
        for thread in std::fs::read_dir(format!("/proc/{keeper}/task")).expect("its threads").flatten() {
            let status = std::fs::read_to_string(thread.path().join("status")).expect("its status");
            let field = |name: &str| {
                let line =
                    status.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}"));
                line.split_whitespace().nth(1).unwrap_or_default().trim_start_matches('0').to_owned()
            };
            for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
                assert_eq!(field(set), "", "{set} {user:?}");
            }
            if rustix::process::geteuid().is_root() {
                assert_eq!(field("CapBnd:"), "", "{user:?}");
            }
            assert_eq!(field("NoNewPrivs:"), "1", "{user:?}");
        }
    }
}

#[test]
fn another_version_of_this_program_enters_a_box_with_the_keeper_that_is_there() {
    for user in User::all() {
        let made = Sandbox::with(Home::of(user), &[]);
        let place = made.home().path().join("createos-sandbox");
        // By programs of their own: what this one has open for writing, another test could inherit, and it would not run.
        let install = |change: &str| {
            let script =
                format!("cp \"$0\" \"$1.new\"; {change}; chmod 755 \"$1.new\"; mv \"$1.new\" \"$1\"");
            let mut command = std::process::Command::new("sh");
            command.args(["-c", &script]).arg(binary()).arg(&place).env("LC_ALL", "C");
            assert!(command.status().expect("sh").success());
            made.home().own(&place);
        };
        let run = |args: &[&str]| outcome(made.home().command_of(&place, args));
        let version = || run(&["--version"]).success().stdout;
        let talk = |port: &str| {
            let script = format!("{TALK}talk {port} ''");
            run(&["local", "sandbox", "exec", "--stream", made.id(), "--", "bash", "-c", &script]).stdout
        };
        install("true");
        let first = version();
        let script = "use IO::Socket::INET; my $l = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 5000, \
                      Listen => 5) or die $!; while (my $c = $l->accept) { print $c \"from the box\\n\"; close $c; }";
        let started = run(&["local", "sandbox", "process", "start", made.id(), "--", "perl", "-e", script]);
        let process = started.success().json()["process_id"].as_str().expect("an id").to_owned();
        eventually("it listens", PATIENCE, || talk("5000") == "from the box\n");
        let keeper = keepers(&made);
        assert_eq!(keeper.len(), 1, "{user:?}");

        let number = first.trim().rsplit(' ').next().expect("a number").to_owned();
        let other = format!("{}9", &number[..number.len() - 1]);
        install(&format!("sed -i 's/{}/{other}/g' \"$1.new\"", number.replace('.', "\\.")));
        assert_eq!(version().trim(), first.trim().replace(&number, &other), "{user:?}: another version");
        assert_eq!(talk("5000"), "from the box\n", "{user:?}");
        assert_eq!(keepers(&made), keeper, "{user:?}: the same one");
        run(&["local", "sandbox", "process", "stop", "--yes", "--grace", "0s", made.id(), &process])
            .success();
        eventually("it goes with the last entry", PATIENCE, || keepers(&made).is_empty());
    }
}

#[test]
fn no_program_in_a_box_has_a_say_about_its_network() {
    for user in User::all() {
        let made = Sandbox::with(Home::of(user), &["--nested"]);
        let up = "ip link set lo up";
        let proof = made.sh(&format!("unshare -U -r -n {up}"));
        assert_eq!(proof.code, 0, "it bites in a network of the program's own: {user:?} {proof:?}");
        for tried in
            [up.to_owned(), format!("unshare -U -r {up}"), format!("nsenter --net=/proc/1/ns/net {up}")]
        {
            assert_ne!(made.sh(&tried).code, 0, "{user:?} {tried}");
        }
    }
}

#[test]
fn who_had_boxes_before_is_told_once_what_is_new() {
    let home = Home::new();
    let create = || home.run(&["local", "sandbox", "create", "--shape", "s-1vcpu-1gb"]).success();
    let remove = |made: &Outcome| {
        let id = made.json()["id"].as_str().expect("an id").to_owned();
        let _ = home.run(&["local", "sandbox", "rm", "--yes", &id]).success();
    };
    for _ in 0..2 {
        let made = create();
        remove(&made);
        assert_eq!(made.stderr, "", "nothing is new to who begins now");
    }
    let gone = ".local/share/createos-sandbox/boxes/destroyed.json";
    let mut records: serde_json::Value = serde_json::from_str(&home.read(gone)).expect("JSON");
    records[0].as_object_mut().expect("a record").remove("version");
    home.write(gone, records.to_string());
    let first = create();
    remove(&first);
    for words in ["has a network of its own now", "--egress '*' --egress localhost:5432", "--network host"] {
        assert!(first.stderr.contains(words), "{first:?}");
    }
    let second = create();
    remove(&second);
    assert_eq!(second.stderr, "", "once");
}

#[test]
fn a_box_of_an_earlier_version_says_once_that_its_network_is_its_own_now() {
    let made = Sandbox::with(Home::new(), &[]);
    let record =
        made.home().path().join(".local/share/createos-sandbox/boxes").join(made.id()).join("meta.json");
    let mut meta: serde_json::Value = serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap();
    let members = meta.as_object_mut().unwrap();
    members.retain(|name, _| name != "network" && name != "egress");
    members.insert("version".into(), 1.into());
    members.insert("network_none".into(), false.into());
    std::fs::write(&record, meta.to_string()).unwrap();
    let first = made.sh("tail -n +3 /proc/net/dev | grep -c eth").stderr;
    assert!(first.contains("has a network of its own now") && first.contains("--network host"), "{first}");
    assert!(first.contains("--egress '*' --egress localhost:5432"), "{first}");
    assert_eq!(made.sh("true").success().stderr, "");
    assert_eq!(made.run(&["get", "@"]).success().json()["network"], "own");
}
