//! install.sh: what it must not be talked into, and what it says about where things are.

use crate::install_script::{
    BINARY, asset, install, listing, old_is_untouched, release, run, shells, tools, with_old,
};
use crate::support::{Answer, Home, PATH, User, binary, eventually, outcome, program};
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn no_user_name_makes_another_host_look_like_this_machine() {
    let home = Home::new();
    for shell in shells() {
        for url in [
            "http://127.0.0.1:80@evil.example",
            "http://localhost:1@evil.example/x",
            "http://[::1]:80@evil.example",
            "http://127.0.0.1:80.evil.example",
            "http://127.0.0.1:80x",
            "http://127.0.0.1:",
            "http://127.0.0.1\\@evil.example",
            "http://127.0.0.1?@evil.example",
            "http://127.0.0.1#@evil.example",
            "http://localhost.evil.example",
            "https://example.com@evil.example",
            "https:///x",
        ] {
            let refused = run(&home, &shell, &["--base-url", url, "--dry-run"]);
            assert_eq!(refused.code, 2, "{shell:?} {url}: {refused:?}");
        }
        for url in [
            "http://127.0.0.1",
            "http://127.0.0.1:80/x",
            "http://[::1]:8000",
            "https://example.com:8443/a-b_c",
        ] {
            let _ = run(&home, &shell, &["--base-url", url, "--dry-run"]).success();
        }
    }
}

/// A key, a certificate for this machine that it signs itself, and a server with both that answers everything with
/// what lies in the folder; its port. None without openssl.
fn tls(home: &Home) -> Option<(std::process::Child, u16)> {
    let openssl = which::which_in("openssl", Some(PATH), "/").ok()?;
    let folder = home.path().join("tls");
    let made = Command::new(&openssl)
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem"])
        .args([
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1",
        ])
        .current_dir(&folder)
        .output()
        .expect("openssl runs");
    assert!(made.status.success(), "{made:?}");
    let port =
        std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    let server = Command::new(&openssl)
        .args(["s_server", "-quiet", "-HTTP", "-key", "key.pem", "-cert", "cert.pem"])
        .args(["-accept", &format!("127.0.0.1:{port}")])
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    eventually("it listens", LIMIT, || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    Some((server, port))
}

#[test]
fn no_redirect_leaves_https() {
    let server = release();
    let home = with_old();
    for file in ["SHA256SUMS".to_owned(), asset()] {
        let to = server.url(&format!("/latest/download/{file}"));
        let answer = format!("HTTP/1.0 302 Found\r\nLocation: {to}\r\n\r\n");
        home.write(&format!("tls/latest/download/{file}"), answer);
    }
    let Some((mut tls, port)) = tls(&home) else { return };
    let certificate = home.path().join("tls/cert.pem").display().to_string();
    let home = home.var("CURL_CA_BUNDLE", &certificate).var("SSL_CERT_FILE", &certificate);
    let base = format!("https://localhost:{port}");
    // It would work: the redirect is followed by whoever does not mind.
    let mut careless =
        home.command_of(Path::new("curl"), &["-fsSL", &format!("{base}/latest/download/SHA256SUMS")]);
    careless.env_remove("TMPDIR");
    assert!(outcome(careless).success().stdout.contains(&asset()));
    let refused = run(&home, &["sh"], &["--base-url", &base]).fails(1, "it leads away from https");
    assert!(refused.stderr.contains("nothing was changed"), "{refused:?}");
    old_is_untouched(&home);
    tls.kill().unwrap();
    tls.wait().unwrap();
    // The same with each wget; which certificates they trust cannot be said to all of them, so the way there is plain.
    for wget in ["wget", "busybox"] {
        let Ok(real) = which::which_in(wget, Some(PATH), "/") else { continue };
        let home = with_old();
        let path = tools(&home, None);
        for file in ["SHA256SUMS".to_owned(), asset()] {
            let to = server.url(&format!("/latest/download/{file}"));
            server.at(&format!("/moved/latest/download/{file}"), Answer::redirect(&to));
        }
        let real =
            if wget == "busybox" { format!("{} wget", real.display()) } else { real.display().to_string() };
        let plain = server.url("/moved");
        let text = format!(
            "#!/bin/sh\nfor word; do shift; case $word in https://moved.example*) word={plain}${{word#https://moved.example}} ;; esac; \
             set -- \"$@\" \"$word\"; done\nexec {real} \"$@\"\n"
        );
        program(&home, "tools/wget", &text);
        let home = home.var("PATH", path.to_str().expect("text"));
        run(&home, &["sh"], &["--base-url", "https://moved.example"]).fails(1, "it leads away from https");
        old_is_untouched(&home);
    }
}

#[test]
fn the_users_settings_for_downloaders_are_left_out() {
    let server = release();
    for downloader in ["curl", "wget"] {
        if which::which_in(downloader, Some(PATH), "/").is_err() {
            continue;
        }
        let home = Home::new();
        let path = tools(&home, Some((downloader, downloader)));
        home.write(".curlrc", "proxy = http://127.0.0.1:1\n");
        home.write(".wgetrc", "http_proxy = http://127.0.0.1:1\nuse_proxy = on\n");
        let home = home.var("PATH", path.to_str().expect("text"));
        let _ = install(&home, &server, &[]).success();
        assert_eq!(home.read(".local/bin/createos-sandbox"), BINARY, "{downloader}");
    }
}

#[test]
fn what_the_server_says_is_passed_on() {
    let server = release();
    for downloader in [("curl", "curl"), ("wget", "wget"), ("wget", "busybox")] {
        if which::which_in(downloader.1, Some(PATH), "/").is_err() {
            continue;
        }
        let home = with_old();
        let path = tools(&home, Some(downloader));
        let home = home.var("PATH", path.to_str().expect("text"));
        for (status, said) in [
            (503, "the server cannot give it now (HTTP 503)"),
            (403, "the server refuses it (HTTP 403)"),
            (404, "the server does not have it"),
        ] {
            server.at("/download/v2.0.0/SHA256SUMS", Answer { status, ..Answer::ok("") });
            install(&home, &server, &["--version", "2.0.0"]).fails(1, said);
        }
        old_is_untouched(&home);
    }
}

#[test]
fn root_writes_nothing_into_somebodys_home() {
    if !User::all().contains(&User::Nobody) {
        return;
    }
    let server = release();
    let home = Home::of(User::Nobody);
    let as_root = |args: &[&str]| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("install.sh");
        let mut command = Command::new("sh");
        command.arg(script).args(["--base-url", &server.url("")]).args(args);
        command.env_clear().env("HOME", home.path()).env("PATH", PATH).current_dir(home.path());
        outcome(command)
    };
    for args in [&[][..], &["--dir", "bin"], &["--uninstall"]] {
        if args == ["--uninstall"] {
            program(&home, ".local/bin/createos-sandbox", BINARY);
        }
        let refused = as_root(args).fails(1, "HOME belongs to uid 65534");
        assert!(refused.stderr.contains("without sudo"), "{args:?}: {refused:?}");
    }
    assert_eq!(listing(&home), ["createos-sandbox"]);
    let elsewhere = tempfile::tempdir().unwrap();
    let _ = as_root(&["--dir", elsewhere.path().to_str().unwrap()]).success();
    assert!(elsewhere.path().join("createos-sandbox").exists());
    // So do the link and the boxes of this machine.
    for args in [
        &["shim", "install"][..],
        &["local", "sandbox", "create", "--shape", "s-1vcpu-1gb"],
        &["herdr", "info"],
    ] {
        let mut command = Command::new(binary());
        command.args(args).env_clear().env("HOME", home.path()).env("PATH", PATH).current_dir(home.path());
        let refused = outcome(command);
        // Actions and the provider have a code of their own for every refusal.
        assert_ne!(refused.code, 0, "{args:?}: {refused:?}");
        assert!(
            refused.stderr.contains("HOME belongs to uid 65534") || refused.stdout.contains("65534"),
            "{refused:?}"
        );
    }
    assert!(!home.path().join(".local/share").exists() && !home.path().join(".local/state").exists());
}

#[test]
fn the_folder_of_an_install_that_was_killed_goes_with_the_next_one() {
    for shell in shells() {
        let (home, server) = (with_old(), release());
        let file = format!("/latest/download/{}", asset());
        server.at(&file, Answer::stalled(&BINARY[..20], BINARY.len()));
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("install.sh");
        let url = server.url("");
        let args = [&shell[1..], &[script.to_str().expect("text"), "--base-url", &url]].concat();
        let mut command = home.command_of(Path::new(shell[0]), &args);
        // With its downloader, which would wait for the rest.
        let mut killed = command.process_group(0).spawn().expect("it starts");
        eventually("it downloads", LIMIT, || server.asked().contains(&file));
        kill_process_group(Pid::from_child(&killed), Signal::KILL).unwrap();
        killed.wait().unwrap();
        assert_eq!(listing(&home).len(), 2, "{shell:?}: its folder is left");
        // Not ours, however it is called; and one whose owner is still there.
        home.write(".local/bin/.createos-sandbox-notes1/notes.txt", "mine");
        home.write(".local/bin/.createos-sandbox-inuse1/pid", std::process::id().to_string());
        let server = release();
        let _ = run(&home, &shell, &["--base-url", &server.url("")]).success();
        let mut left = listing(&home);
        left.sort();
        assert_eq!(
            left,
            [".createos-sandbox-inuse1", ".createos-sandbox-notes1", "createos-sandbox"],
            "{shell:?}"
        );
    }
}

#[test]
fn the_line_for_path_is_read_back_by_every_shell() {
    let server = release();
    for shell in shells() {
        let home = Home::new();
        let dir = "it's $HOME `id` \"x\"/bin";
        let done = run(&home, &shell, &["--base-url", &server.url(""), "--dir", dir]).success();
        let line = done.stdout.lines().find_map(|line| line.strip_prefix("  export ")).expect("a line");
        let script = format!("export {line}; command -v createos-sandbox");
        let found = outcome(home.command_of(Path::new(shell[0]), &[&shell[1..], &["-c", &script]].concat()))
            .success();
        assert_eq!(
            found.stdout.trim_end(),
            home.path().join(dir).join("createos-sandbox").display().to_string()
        );
        // And so is the next command.
        let next = done.stdout.lines().last().and_then(|line| line.split_once(": ")).expect("a command").1;
        let ran =
            outcome(home.command_of(Path::new(shell[0]), &[&shell[1..], &["-c", next]].concat())).success();
        assert_eq!(ran.stdout, "createos-sandbox 9.9.9 setup herdr\n", "{shell:?}");
    }
}

#[test]
fn another_copy_that_comes_first_on_path_is_named() {
    let server = release();
    let home = Home::new();
    program(&home, "bin/createos-sandbox", "#!/bin/sh\necho old\n");
    let first = home.path().join("bin/createos-sandbox").display().to_string();
    let home = home.with_bin();
    let both = format!("{0}/bin:{0}/.local/bin:{PATH}", home.path().display());
    for path in [format!("{}/bin:{PATH}", home.path().display()), both] {
        let home_with = |command: &mut Command| {
            command.env("PATH", &path);
        };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("install.sh");
        let mut command =
            home.command_of(Path::new("sh"), &[script.to_str().unwrap(), "--base-url", &server.url("")]);
        home_with(&mut command);
        let done = outcome(command).success();
        assert!(done.stdout.contains(&format!("Another copy comes first on PATH: {first}\n")), "{done:?}");
        let next = done.stdout.lines().last().and_then(|line| line.split_once(": ")).expect("a command").1;
        assert!(next.starts_with(&format!("{}/.local/bin/", home.path().display())), "{done:?}");
    }
    // It is no other copy when a link leads to the same folder.
    std::fs::remove_file(home.path().join("bin/createos-sandbox")).unwrap();
    std::os::unix::fs::symlink(".local/bin", home.path().join("linked")).unwrap();
    let linked = format!("{0}/linked:{0}/.local/bin:{PATH}", home.path().display());
    let home = home.var("PATH", linked);
    let done = install(&home, &server, &[]).success();
    assert!(!done.stdout.contains("Another copy"), "{done:?}");
}
