//! Calls that a CLI refuses with text: a box that does not run, nobody signed in, an answer of another shape.

use super::*;

/// A box that is paused until `resume` is called; a push and an exec work then.
const PAUSED: &str = r#"d=$(dirname "$0")
echo "$*" >>"$d/calls"
case "$*" in
*" resume "*) touch "$d/up"; echo '{"id":"sb-1","status":"running"}' ;;
*" get "*) echo '{"id":"sb-1","status":"running"}' ;;
*)
    [ -f "$d/up" ] || {
        printf ' ERROR  sandbox hd-a is paused\n\n  Resume it first:\n    createos sandbox resume hd-a\n\n'
        printf '  Then retry your command\n'
        exit 1
    }
    case "$*" in
    *" push "*) cat >"$d/pushed" ;;
    *" pull "*) cat "$d/pushed" ;;
    *"process start"*) echo '{"process_id":"proc_1","state":"running"}' ;;
    *) while [ "$1" != -- ]; do shift; done; shift 3; exec bash --noprofile --norc -c "$@" ;;
    esac ;;
esac"#;

#[test]
fn a_box_that_has_paused_by_itself_is_resumed_and_the_call_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let (box_, id) = (provider(dir.path(), PAUSED), "sb-1".parse::<BoxId>().unwrap());
    let sleeps = || std::fs::remove_file(dir.path().join("up"));
    assert_eq!(box_.exec(&id, "exit 4", &[], Duration::from_secs(60)).unwrap().code, 4);
    sleeps().unwrap();
    // What had left for the paused box is sent again.
    let contents: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).take(150_000).collect();
    box_.push(&id, &mut contents.as_slice(), "/tmp/x").unwrap();
    assert!(std::fs::read(dir.path().join("pushed")).unwrap() == contents);
    sleeps().unwrap();
    let mut pulled = Vec::new();
    box_.pull(&id, "/tmp/x", &mut pulled, 1 << 20).unwrap();
    assert!(pulled == contents, "the refusal on stdout is no part of the file: {} bytes", pulled.len());
    sleeps().unwrap();
    let spec = StartSpec {
        cwd: "/".into(),
        folder: "/".into(),
        variables: vec![],
        rows: 24,
        cols: 80,
        program: "/bin/sh".into(),
        args: vec![],
    };
    box_.process_start(&id, &spec).unwrap();
    let calls = std::fs::read_to_string(dir.path().join("calls")).unwrap();
    assert_eq!(calls.matches(" resume ").count(), 4, "{calls}");
}

#[test]
fn words_that_name_nothing_mean_signed_out_where_there_is_nothing_to_sign_in_with() {
    let dir = tempfile::tempdir().unwrap();
    let id: BoxId = "sb-1".parse().unwrap();
    let get = |words: &str| {
        let refuses = provider(dir.path(), &format!("echo ' ERROR  {words}'; exit 1"));
        let keyless = ["CREATEOS_API_KEY", "CREATEOS_PLAN_API_KEY", "CREATEOS_PROJECT_API_KEY"]
            .into_iter()
            .fold(refuses.env("HOME", dir.path()), |provider, name| provider.env(name, ""));
        keyless.get(&id).unwrap_err().refusal
    };
    assert_eq!(get("Something went wrong. Please try again."), Refusal::SignedOut);
    assert_eq!(get("dial tcp 192.0.2.1: timeout"), Refusal::Other, "this one names something");
    std::fs::create_dir(dir.path().join(".createos")).unwrap();
    std::fs::write(dir.path().join(".createos/.token"), "x").unwrap();
    assert_eq!(get("Something went wrong. Please try again."), Refusal::Other, "there is a login");
}

#[test]
fn only_a_list_is_a_usable_session() {
    let dir = tempfile::tempdir().unwrap();
    let session = |program: &str| provider(dir.path(), program).session();
    for good in ["echo null", "echo '[]'", "echo '[{\"id\":\"sb-1\"}]'"] {
        session(good).unwrap();
    }
    for other in
        ["echo 'createos version v0.0.29'", "true", "echo '{\"version\":\"1.2.3\"}'", "echo 'COMMANDS: x'"]
    {
        assert_ne!(session(other).unwrap_err().refusal, Refusal::SignedOut, "{other}");
    }
}
