//! Providers that hang, or are late.

use super::*;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

/// A provider whose every call runs this script.
fn provider(folder: &std::path::Path, script: &str) -> Provider {
    let (draft, path) = (folder.join("draft"), folder.join("createos"));
    std::fs::write(&draft, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&draft, std::fs::Permissions::from_mode(0o755)).unwrap();
    // A descriptor of ours that is open for writing would be inherited by what another test starts just now.
    assert!(std::process::Command::new("cp").arg("-p").arg(draft).arg(&path).status().unwrap().success());
    Provider::createos(path)
}

#[test]
fn a_provider_that_hangs_is_given_up_and_the_time_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let (hangs, limit) = (provider(dir.path(), "exec sleep 60"), Duration::from_secs(1));
    let id: BoxId = "sb-1".parse().unwrap();
    let process: ProcessId = "proc_1".parse().unwrap();
    // No call can be built without a limit; these take theirs from the caller.
    for failure in [
        hangs.exec(&id, "true", &[], limit).unwrap_err(),
        hangs.exec_streamed(&id, "true", &[], limit, |_| {}).unwrap_err(),
        hangs.attach_typing(&id, &process, "x", limit).unwrap_err(),
    ] {
        assert_eq!(failure.refusal, Refusal::TimedOut);
        let told = failure.to_string();
        assert!(told.contains("failed: createos did not finish within 1 s and was stopped"), "{told}");
    }
}

#[test]
fn a_box_that_does_not_come_up_is_given_up_with_its_status_and_the_time() {
    let dir = tempfile::tempdir().unwrap();
    let id: BoxId = "sb-1".parse().unwrap();
    let wait = |status: &str| {
        let answer = format!("echo '{{\"id\":\"sb-1\",\"status\":\"{status}\"}}'");
        provider(dir.path(), &answer).wait_running(&id, Duration::from_secs(1))
    };
    for status in ["creating", "resuming", "paused", "hibernating"] {
        let failure = wait(status).unwrap_err();
        assert_eq!(failure.refusal, Refusal::TimedOut);
        let told = failure.to_string();
        assert_eq!(told, format!("waiting for the sandbox failed: it is still {status} after 1 s"));
    }
    for status in ["failed", "error", "destroying", "destroyed"] {
        let failure = wait(status).unwrap_err();
        assert_eq!(failure.refusal, Refusal::Other, "nothing to wait for: {failure}");
    }
    wait("running").unwrap();
}

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
    // Cut after the first bytes, on either stream: the exit code is 0 (quirk Q5).
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
    // A program that does not know the word shows what it knows, and ends well (quirk Q15).
    let failure = exec("echo 'COMMANDS: sandbox'").unwrap_err();
    assert!(failure.words.contains("was not run, the answer is: COMMANDS: sandbox"), "{failure}");
}
