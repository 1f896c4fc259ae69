//! A program in a box tries whatever a hostile one would, as root's box and as an ordinary user's. What it is answered is
//! the table of docs/isolation.md.

mod attempts;

use super::Sandbox;
use crate::support::{Home, User};
use attempts::{Answer, Attempt, Host, attempts};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

/// What the scripts of the attempts use. `try` says number, exit code and what was said.
const RUNNER: &str = r#"
sc() { perl -e 'my @a = map { /^-?\d+$/ ? $_ + 0 : eval "\"$_\"" } @ARGV; my $n = shift @a; exit(syscall($n, @a) == -1 ? 1 : 0)' -- "$@"; }
errno() { perl -e '$! = 0; syscall($ARGV[0] + 0, -1, -1, -1, -1, -1); print $! + 0' -- "$@"; }
sock() { perl -e '$! = 0; print socket(my $s, $ARGV[0], $ARGV[1], $ARGV[2]) ? 0 : $! + 0' -- "$@"; }
ask() { exec 3<>/dev/tcp/127.0.0.1/3128 && printf "$1" >&3 && cat <&3; }
hello() { timeout 5 bash -c 'exec 3<>"/dev/tcp/$1/$2" && printf "GET / HTTP/1.0\r\n\r\n" >&3 && grep hello <&3' bash "$@"; }
try() {
  local said code
  said=$( (eval "$2") 2>/dev/null </dev/null | head -c 300 | tr '\n\000' '  '; exit "${PIPESTATUS[0]}"); code=$?
  printf '%s %s %s\n' "$1" "$code" "$said"
}
"#;

fn script<'a>(all: impl Iterator<Item = (usize, &'a Attempt)>) -> String {
    let each = all.map(|(number, one)| format!("try {number} '{}'\n", one.script.replace('\'', r"'\''")));
    RUNNER.chars().chain(each.collect::<String>().chars()).collect()
}

/// By number: the exit code, and what was said.
fn answers(said: &str) -> BTreeMap<usize, (i32, String)> {
    let one = |line: &str| {
        let (number, rest) = line.split_once(' ')?;
        let (code, said) = rest.split_once(' ')?;
        Some((number.parse().ok()?, (code.parse().ok()?, said.trim().to_owned())))
    };
    said.lines().filter_map(one).collect()
}

fn outside(home: &Home, script: &str) -> String {
    let mut command: Command = home.command_of(std::path::Path::new("bash"), &[]);
    let mut bash =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("bash");
    bash.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("it reads");
    String::from_utf8_lossy(&bash.wait_with_output().expect("it ends").stdout).into_owned()
}

fn holds(answer: &Answer, code: i32, said: &str) -> bool {
    match answer {
        Answer::Refused | Answer::Absent => code != 0,
        Answer::Empty => code == 0 && said.is_empty(),
        Answer::Says(words) => code == 0 && said == *words,
    }
}

/// A server of the host's that says hello; its port.
fn greeter() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let _asked = stream.read(&mut [0; 1024]);
                let _gone = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nhello\n");
            });
        }
    });
    port
}

fn table(all: &[Attempt]) -> String {
    let mut text = String::new();
    let mut wall = "";
    for one in all {
        if one.wall != wall {
            wall = one.wall;
            text.push_str(&format!("\n| {wall} | |\n|---|---|\n"));
        }
        text.push_str(&format!("| {} | {} |\n", one.what, one.answer));
    }
    text
}

/// Between these the page is the probe's.
const BEGIN: &str = "<!-- probe -->\n";
const END: &str = "\n<!-- end of probe -->";

#[test]
fn a_hostile_program_gets_the_answers_of_the_page_about_isolation() {
    use std::os::linux::net::SocketAddrExt;
    let port = greeter();
    let socket = format!("createos-sandbox-probe-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&socket).expect("a name");
    let _listener = std::os::unix::net::UnixListener::bind_addr(&address).expect("a socket");
    let mut page = None;
    for user in User::all() {
        let made = Sandbox::with(Home::of(user).var("HOST_TOKEN", "sentinel"), &[]);
        let secret = made.home().write("secret.txt", "the user's own").display().to_string();
        let mut sleeper =
            made.home().command_of(std::path::Path::new("sleep"), &["1000"]).spawn().expect("sleep");
        let host = Host { port, pid: sleeper.id(), secret, socket: socket.clone() };
        let all = attempts(&host);
        assert!(all.len() >= 150, "{}", all.len());
        let numbered = || all.iter().enumerate();

        let proofs = outside(made.home(), &script(numbered().filter(|(_, one)| one.bites)));
        let ran =
            made.run_with_input(&["exec", "--stream", "@", "--", "bash"], script(numbered()).as_bytes());
        sleeper.kill().expect("it runs");
        sleeper.wait().expect("it ends");
        let (proofs, ran) = (answers(&proofs), answers(&ran.stdout));
        let mut wrong = Vec::new();
        for (number, one) in numbered() {
            match ran.get(&number) {
                Some((code, said)) if holds(&one.answer, *code, said) => {}
                other => wrong.push(format!("{}: {} is not {other:?}", one.what, one.answer)),
            }
            let works = proofs.get(&number).is_some_and(|(code, _)| *code == 0);
            if one.bites && !works {
                wrong.push(format!(
                    "{}: it does not work outside either: {:?}",
                    one.what,
                    proofs.get(&number)
                ));
            }
        }
        assert!(wrong.is_empty(), "{user:?}, {} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n"));
        page = Some(table(&all));
    }
    let table = page.expect("somebody");
    let path = crate::documents::path("docs/isolation.md");
    let text = crate::documents::document("docs/isolation.md");
    let (head, rest) = text.split_once(BEGIN).expect("where it begins");
    let (old, tail) = rest.split_once(END).expect("where it ends");
    if old != table && std::env::var_os("UPDATE_PROBE").is_some() {
        std::fs::write(path, format!("{head}{BEGIN}{table}{END}{tail}")).expect("the page is written");
    } else {
        assert_eq!(
            old, table,
            "after a change that is meant: UPDATE_PROBE=1 cargo test -- a_hostile_program"
        );
    }
}
