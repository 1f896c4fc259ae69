//! A stored session that ends while several calls begin.

use super::*;
use crate::createos::account::KEY_VARIABLES;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// A CLI that renews an ending session before it answers. Two that do so at once lose it.
const RENEWS: &str = r#"d=$(dirname "$0")
ends=$(sed 's/.*"expires_at":\([0-9]*\).*/\1/' "$d/.createos/.oauth")
verb=get
case "$*" in *" list "*) verb=list ;; esac
if [ "$ends" -lt "$(($(date +%s) + 60))" ]; then
    mkdir "$d/renewing" 2>/dev/null || { echo "overlap" >>"$d/calls"; echo ' ERROR  session has expired'; exit 1; }
    sleep 0.3
    echo "renewed by $verb" >>"$d/calls"
    echo "{\"access_token\":\"new\",\"refresh_token\":\"new\",\"expires_at\":$(($(date +%s) + 3600))}" >"$d/new"
    mv "$d/new" "$d/.createos/.oauth"
    rmdir "$d/renewing"
else
    echo "$verb" >>"$d/calls"
fi
echo '{"id":"sb-1","status":"running"}'"#;

fn signed_in(folder: &Path, seconds_left: i64) -> Provider {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().cast_signed();
    std::fs::create_dir_all(folder.join(".createos")).unwrap();
    let ends = now + seconds_left;
    let session =
        format!(r#"{{"access_token":"old","refresh_token":"old","expires_at":{ends},"token_endpoint":"x"}}"#);
    std::fs::write(folder.join(".createos/.oauth"), session).unwrap();
    keyless(provider(folder, RENEWS)).env("HOME", folder)
}

fn keyless(provider: Provider) -> Provider {
    KEY_VARIABLES.into_iter().fold(provider, |provider, name| provider.env(name, ""))
}

fn calls(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("calls")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn get_at_once(provider: &Provider, how_many: usize) {
    let id: BoxId = "sb-1".parse().unwrap();
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..how_many).map(|_| scope.spawn(|| provider.get(&id).map(drop))).collect();
        calls.into_iter().for_each(|call| call.join().unwrap().unwrap());
    });
}

#[test]
fn calls_that_begin_together_find_a_session_that_one_of_them_has_renewed() {
    for left in [-600, 30, 61] {
        let dir = tempfile::tempdir().unwrap();
        get_at_once(&signed_in(dir.path(), left), 4);
        let mut calls = calls(dir.path());
        assert_eq!(calls.remove(0), "renewed by list", "{left} s: {calls:?}");
        assert_eq!(calls, ["get"; 4], "{left} s");
    }
}

#[test]
fn a_session_that_lasts_and_a_key_cost_no_call() {
    let dir = tempfile::tempdir().unwrap();
    let lasts = signed_in(dir.path(), 3_600);
    get_at_once(&lasts, 2);
    assert_eq!(calls(dir.path()), ["get"; 2]);
    let keyed = signed_in(dir.path(), 3_600).env("CREATEOS_API_KEY", "not a real key");
    get_at_once(&keyed, 1);
    assert_eq!(calls(dir.path()), ["get"; 3]);
}

#[test]
fn a_session_that_another_process_renews_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let ending = signed_in(dir.path(), 10);
    let other = ending.alone(&dir.path().join(".createos/.oauth")).expect("nobody renews it");
    std::thread::scope(|scope| {
        let call = scope.spawn(|| ending.get(&"sb-1".parse().unwrap()).map(drop));
        drop(signed_in(dir.path(), 3_600));
        drop(other);
        call.join().unwrap().unwrap();
    });
    assert_eq!(calls(dir.path()), ["get"]);
}

#[test]
fn a_session_that_cannot_be_renewed_is_not_tried_at_every_call() {
    let dir = tempfile::tempdir().unwrap();
    drop(signed_in(dir.path(), -10));
    let refuses =
        "echo \"$*\" >>\"$(dirname \"$0\")/calls\"; echo ' ERROR  your session has expired'; exit 1";
    let refuses = keyless(provider(dir.path(), refuses)).env("HOME", dir.path());
    for _ in 0..3 {
        assert_eq!(refuses.get(&"sb-1".parse().unwrap()).unwrap_err().refusal, Refusal::SignedOut);
    }
    let calls = calls(dir.path());
    assert_eq!(calls.iter().filter(|call| call.contains(" list ")).count(), 1, "{calls:?}");
}
