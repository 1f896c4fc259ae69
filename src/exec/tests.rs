//! Programs that end, hang, fork, and do not read.

use super::run::DEFAULT_LIMIT;
use super::{ExecError, Run};
use rustix::process::{Pid, Signal, kill_process};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

#[test]
fn output_code_and_stdin_pass_through() {
    let ended = Run::new("sh").args(["-c", "cat; echo err >&2; exit 7"]).stdin_bytes("in").run().unwrap();
    assert_eq!((ended.code(), ended.stdout_text().as_str(), ended.stderr_text().as_str()), (7, "in", "err"));
}

#[test]
fn only_what_a_person_watches_runs_without_a_limit() {
    assert_eq!(Run::new("git").limit, Some(DEFAULT_LIMIT));
    assert_eq!(Run::new("createos").interactive().limit, None);
}

#[test]
fn a_program_that_takes_too_long_is_killed_with_its_children() {
    let started = Instant::now();
    let error = Run::new("sh").args(["-c", "sleep 60 & sleep 60"]).limit(Duration::from_millis(200)).run();
    assert!(matches!(error, Err(ExecError::TimedOut { .. })));
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_daemon_that_holds_the_streams_does_not_outlast_the_limit() {
    let dir = tempfile::tempdir().unwrap();
    let script = "setsid sleep 60 & echo $! >daemon; exit 0";
    let run = Run::new("sh").args(["-c", script]).cwd(dir.path()).limit(Duration::from_secs(2));
    assert!(matches!(run.run(), Err(ExecError::TimedOut { .. })));
    let daemon = std::fs::read_to_string(dir.path().join("daemon")).unwrap();
    let daemon = Pid::from_raw(daemon.trim().parse().unwrap()).unwrap();
    // It lives still, so nobody waited for it; and it must not stay behind.
    kill_process(daemon, Signal::KILL).unwrap();
}

#[test]
fn a_raised_flag_ends_a_program_at_once() {
    let raised = Arc::new(AtomicBool::new(true));
    let error = Run::new("sleep").arg("60").stop_when(raised).run().unwrap_err();
    assert!(matches!(error, ExecError::Interrupted { .. }), "{error}");
}

#[test]
fn a_child_that_does_not_read_is_no_error() {
    let ended = Run::new("true").stdin_bytes(vec![0; 1 << 20]).run().unwrap();
    assert!(ended.success());
}

#[test]
fn a_missing_program_is_named() {
    let error = Run::new("/nonexistent/prog").run().unwrap_err();
    assert!(error.to_string().contains("prog"), "{error}");
}

#[test]
fn a_detached_program_leads_a_session_and_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let script = "echo $$ >pid; mv pid done; exec sleep 60";
    Run::new("sh").args(["-c", script]).cwd(dir.path()).start_detached().unwrap();
    let done = dir.path().join("done");
    while !done.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = std::fs::read_to_string(done).unwrap().trim().parse().unwrap();
    let pid = Pid::from_raw(pid).unwrap();
    assert_eq!(rustix::process::getsid(Some(pid)).unwrap(), pid);
    kill_process(pid, Signal::KILL).unwrap();
    assert!(Run::new("/nonexistent/prog").start_detached().is_err());
}
