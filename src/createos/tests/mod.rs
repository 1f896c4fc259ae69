//! Providers that hang, or are late; and in the rooms below those that print raw output, lose connections, or refuse.

mod refused;
mod renewed;
mod scripts;

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
        assert_eq!(told, format!("waiting for the box failed: it is still {status} after 1 s"));
    }
    for status in ["failed", "error", "destroying", "destroyed"] {
        let failure = wait(status).unwrap_err();
        assert_eq!(failure.refusal, Refusal::Other, "nothing to wait for: {failure}");
    }
    wait("running").unwrap();
}
