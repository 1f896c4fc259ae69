//! Scripts in a box of a main-line CLI, whole and cut, short and long.

use super::*;
use crate::exec::Heard;

/// A box of a main-line CLI: `exec` prints what the program prints, raw, whatever `-o` says, and ends with its
/// code. Here the program runs on this machine, without its startup files.
const RAW: &str = r#"verb=
for word; do case $word in exec) verb=exec ;; --) break ;; esac; done
[ "$verb" = exec ] || { echo " ERROR  not in this test"; exit 1; }
while [ "$1" != -- ]; do shift; done
shift 3
exec bash --noprofile --norc -c "$@""#;

#[test]
fn a_cli_that_prints_the_output_of_exec_raw_is_understood() {
    let dir = tempfile::tempdir().unwrap();
    let raw = provider(dir.path(), RAW);
    let id: BoxId = "sb-1".parse().unwrap();
    let said = raw.exec(&id, "echo \"$1\"; echo words >&2; exit 3", &["--help"], Duration::from_secs(60));
    let said = said.unwrap();
    assert_eq!((said.code, said.stderr.trim()), (3, "words"));
    assert_eq!(AsRef::<[u8]>::as_ref(&said.stdout), b"--help\n");
}

#[test]
fn output_of_a_script_arrives_byte_for_byte_whatever_a_profile_prints_around_it() {
    let dir = tempfile::tempdir().unwrap();
    // A profile that greets, and a program that says more when all is done.
    let noisy = RAW.replace("exec bash", "echo hello; echo greetings >&2; bash") + "; echo bye; echo bye >&2";
    let (noisy, id) = (provider(dir.path(), &noisy), "sb-1".parse().unwrap());
    for (script, bytes) in [
        ("printf 'no line end'", &b"no line end"[..]),
        (r"printf 'lat\351in \377\0zero\n\n\n'", b"lat\xe9in \xff\0zero\n\n\n"),
        ("exit 0", b""),
        ("head -c 3000000 /dev/zero", &[0; 3_000_000]),
    ] {
        let said = noisy.exec(&id, script, &[], Duration::from_secs(60)).unwrap();
        assert!(said.stdout == bytes, "{script}: {} bytes", said.stdout.len());
        assert_eq!((said.code, said.stderr.trim()), (0, ""));
    }
}

#[test]
fn an_unfinished_script_is_told_from_a_box_without_bash_and_from_an_error_of_the_service() {
    let dir = tempfile::tempdir().unwrap();
    let exec = |program: &str| {
        let id = "sb-1".parse().unwrap();
        provider(dir.path(), program).exec(&id, "echo one; echo two; cat", &[], Duration::from_secs(60))
    };
    // Cut after the first bytes, on either stream: the exit code is 0 (docs/measured/createos-cli.md 3.4).
    let cut = |marks: &str| RAW.replace("exec bash", "bash") + marks;
    for program in [cut(" | sed '/>0$/d'"), cut(" 2>&1 >/dev/null | sed '/>0$/d' >&2"), "exit 0".to_owned()] {
        let failure = exec(&program).unwrap_err();
        assert_eq!(failure.refusal, Refusal::Cut, "{failure}");
        let told = failure.to_string();
        assert!(told.contains("the connection to the box ended before the script did"), "{told}");
    }
    let told = exec(&cut(" | sed '/>0$/d'")).unwrap_err().words;
    assert!(told.ends_with("so far it had said: one; two"), "{told}");

    let frame = |words: &str| format!("{} | sed '/>0$/d'; printf ' ERROR  {words}\\n'", cut(""));
    let failure = exec(&frame("the host was lost")).unwrap_err();
    assert!(failure.words.starts_with("the host was lost; so far it had said: one"), "{failure}");

    let no_bash = r#"exec: "bash": executable file not found in $PATH"#;
    for program in [
        format!("echo ' ERROR  {no_bash}'"),
        format!("echo ' ERROR  {no_bash}' >&2"),
        format!("echo 'ERROR: {no_bash}'; exit 1"),
        format!("echo '{no_bash}' >&2; exit 127"),
    ] {
        assert_eq!(exec(&program).unwrap_err().refusal, Refusal::NoBash, "{program}");
    }
    // A program that does not know the word shows what it knows, and ends well (docs/measured/createos-cli.md 3.11).
    let failure = exec("echo 'COMMANDS: sandbox'").unwrap_err();
    assert!(failure.words.contains("was not run, the answer is: COMMANDS: sandbox"), "{failure}");
}

/// The same with processes, which go on by themselves. Each call but the first start may fail as often as the file
/// `lose` has lines; the answer of a start is lost as often as `lose-start` has.
const LONG: &str = r#"d=$(dirname "$0")
lose() { [ -s "$d/$1" ] && sed -i 1d "$d/$1"; }
case "$*" in
*"process start"*)
    while [ "$1" != -- ]; do shift; done
    shift 3
    n=$(ls "$d" | grep -c '^started')
    touch "$d/started$n"
    { bash --noprofile --norc -c "$@"; echo "$?" >"$d/ended$n"; } </dev/null >/dev/null 2>&1 &
    lose lose-start && { echo ' ERROR  request failed with status 502'; exit 1; }
    echo "{\"process_id\":\"proc_$n\",\"state\":\"running\"}" ;;
*"process get"*)
    lose lose && { echo ' ERROR  dial tcp 192.0.2.1:443: i/o timeout'; exit 1; }
    for id; do :; done
    n=${id#proc_}
    if [ -f "$d/ended$n" ]; then
        echo "{\"process_id\":\"$id\",\"state\":\"exited\",\"exit_code\":$(cat "$d/ended$n")}"
    else
        echo "{\"process_id\":\"$id\",\"state\":\"running\"}"
    fi ;;
*" exec "*)
    lose lose && { echo 'half of the'; exit 0; }
    while [ "$1" != -- ]; do shift; done
    shift 3
    exec bash --noprofile --norc -c "$@" ;;
esac"#;

/// Runs a script for long; its end, and what was heard of it.
fn run_long(folder: &std::path::Path, script: &str, args: &[&str]) -> (Result<i32, Failure>, Vec<u8>, usize) {
    let id = "sb-1".parse().unwrap();
    let (mut output, mut lost) = (Vec::new(), 0);
    let ended =
        provider(folder, LONG).run_long(
            &id,
            script,
            args,
            Duration::from_secs(120),
            &mut |heard| match heard {
                Heard::Output(bytes) => output.extend_from_slice(bytes),
                Heard::Lost => lost += 1,
            },
        );
    (ended, output, lost)
}

#[test]
fn long_work_outlives_lost_connections_and_is_done_once() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("lose"), "\n\n\n").unwrap();
    std::fs::write(dir.path().join("lose-start"), "\n").unwrap();
    let script = r#"echo "$1" >>"$2/done"; printf 'lat\351in\n'; echo err >&2; exit 7"#;
    let here = dir.path().display().to_string();
    let (ended, output, lost) = run_long(dir.path(), script, &["--help", &here]);
    assert_eq!(ended.unwrap(), 7);
    assert_eq!(output, b"lat\xe9in\nerr\n");
    assert_eq!(lost, 3, "each loss is told");
    assert_eq!(std::fs::read_to_string(dir.path().join("done")).unwrap(), "--help\n", "it ran once");
    let starts = std::fs::read_dir(dir.path()).unwrap().flatten();
    let starts = starts.filter(|file| file.file_name().to_string_lossy().starts_with("started"));
    assert_eq!(starts.count(), 2, "the start whose answer was lost was repeated");
}

#[test]
fn output_of_any_length_arrives_and_far_too_much_is_cut_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let (ended, output, _) = run_long(dir.path(), "head -c 2500000 /dev/zero; echo end", &[]);
    assert_eq!((ended.unwrap(), output.len()), (0, 2_500_004));
    let (ended, output, _) = run_long(dir.path(), "head -c 9000000 /dev/zero; echo end", &[]);
    assert_eq!(ended.unwrap(), 0);
    assert!(output.len() < 9_000_000 && output.ends_with(b"\0end\n"), "{}", output.len());
}

#[test]
fn work_that_is_killed_in_the_box_or_takes_too_long_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let (ended, ..) = run_long(dir.path(), "kill -9 $PPID", &[]);
    let told = ended.unwrap_err().to_string();
    assert!(told.contains("it was ended in the box with exit code 137 before it was done"), "{told}");

    let id = "sb-1".parse().unwrap();
    // It ends with the folder.
    let waits = format!("while [ -d '{}' ]; do sleep 0.05; done", dir.path().display());
    let limit = Duration::from_millis(300);
    let ended = provider(dir.path(), LONG).run_long(&id, &waits, &[], limit, &mut |_| {});
    assert_eq!(ended.unwrap_err().refusal, Refusal::TimedOut);
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let ended = provider(dir.path(), LONG).stop_when(stop).run_long(&id, "true", &[], limit, &mut |_| {});
    assert_eq!(ended.unwrap_err().refusal, Refusal::Interrupted);
}
