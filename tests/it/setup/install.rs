//! Installing what is missing or too old, when the user says yes. Everything comes from a server here.

use super::{CONFIG, createos, machine, tree};
use crate::support::{Answer, Herdr, Home, Pty, Server, User, program};
use sha2::Digest as _;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// The release's asset for this machine.
fn asset() -> String {
    let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let processor = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    format!("/latest/download/createos-{system}-{processor}")
}

/// A server with a createos that is new enough, which the home has not got.
fn release() -> (Server, String) {
    let server = Server::new();
    let other = Home::new();
    createos(&other, "v0.0.30", true);
    let binary = other.read("bin/createos");
    let sum: String = sha2::Sha256::digest(&binary).iter().map(|byte| format!("{byte:02x}")).collect();
    server.at(&asset(), Answer::ok(binary.as_bytes()));
    server.at(&format!("{}.sha256", asset()), Answer::ok(format!("{sum}\n")));
    (server, binary)
}

/// A home whose createos is too old.
fn outdated(server: &Server) -> (Home, String) {
    let home = machine(User::Me).var("CREATEOS_RELEASES_URL", server.url(""));
    std::fs::remove_file(home.path().join("bin/createos")).expect("the good one goes");
    createos(&home, "v0.0.20", true);
    let old = home.read("bin/createos");
    (home, old)
}

#[test]
fn an_outdated_createos_is_replaced_and_kept() {
    let (server, new) = release();
    let (home, old) = outdated(&server);
    let _herdr = Herdr::in_home(&home);
    let setup = home.run(&["setup", "herdr", "--install-missing"]).success();
    assert!(setup.stdout.contains("Installing createos:"), "{}", setup.stdout);
    assert!(setup.stdout.contains("Installed createos to ~/bin/createos"), "{}", setup.stdout);
    assert_eq!(home.read("bin/createos"), new);
    assert_eq!(home.read("bin/createos.before-createos-sandbox"), old);
    assert!(home.path().join(CONFIG).exists(), "the setup went on");
}

#[test]
fn a_missing_createos_is_put_where_the_user_says() {
    for user in User::all() {
        let (server, new) = release();
        let home = machine(user);
        std::fs::remove_file(home.path().join("bin/createos")).expect("it goes");
        let tools = home.path().join("tools").display().to_string();
        let home = home.var("CREATEOS_RELEASES_URL", server.url("")).var("CREATEOS_INSTALL_DIR", &tools);
        let _herdr = Herdr::in_home(&home);
        let setup = home.run(&["setup", "herdr", "--install-missing"]).success();
        assert!(setup.stdout.contains("~/tools is not on PATH yet"), "{}", setup.stdout);
        assert_eq!(home.read("tools/createos"), new);
        // It is used by its own path, also by the doctor.
        let doctor = home.run(&["setup", "--doctor", "--json"]).success().json();
        let check =
            doctor["checks"].as_array().unwrap().iter().find(|check| check["id"] == "createos").unwrap();
        assert_eq!((&check["status"], &check["found"]), (&"ok".into(), &"0.0.30".into()), "{check}");
    }
}

#[test]
fn a_good_createos_is_never_touched() {
    let (server, _) = release();
    let home = machine(User::Me).var("CREATEOS_RELEASES_URL", server.url(""));
    let good = home.read("bin/createos");
    let _herdr = Herdr::in_home(&home);
    let _ = home.run(&["setup", "herdr", "--install-missing"]).success();
    assert_eq!(home.read("bin/createos"), good);
    assert!(server.asked().is_empty());
}

#[test]
fn a_good_copy_further_on_path_is_used_and_nothing_is_downloaded() {
    let (server, _) = release();
    let (home, old) = outdated(&server);
    let good = Home::new();
    createos(&good, "v0.0.28", true);
    let path = format!(
        "{}:{}:{}",
        home.path().join("bin").display(),
        good.path().join("bin").display(),
        crate::support::PATH
    );
    let home = home.var("PATH", path);
    let _herdr = Herdr::in_home(&home);
    let _ = home.run(&["setup", "herdr", "--install-missing"]).success();
    assert_eq!(home.read("bin/createos"), old);
    assert!(server.asked().is_empty());
    let recorded: serde_json::Value =
        serde_json::from_str(&home.read(&format!("{}/programs.json", super::BUNDLE))).unwrap();
    assert_eq!(recorded["createos"], good.path().join("bin/createos").to_str().unwrap());
}

#[test]
fn without_a_yes_nothing_is_installed_and_the_way_is_named() {
    let (server, _) = release();
    let (home, _) = outdated(&server);
    let _herdr = Herdr::in_home(&home);
    let before = tree(home.path());
    let refused = home.run(&["setup", "herdr", "--yes"]).fails(1, "createos 0.0.20 is too old");
    assert!(refused.stderr.contains(
        "have createos installed, and Herdr set up: createos-sandbox setup herdr --install-missing\n"
    ));
    let shown = home.run(&["setup", "herdr", "--dry-run"]);
    assert!(shown.stdout.contains("Would install createos (--install-missing):"), "{}", shown.stdout);
    assert!(shown.stdout.contains("keep the one that is there as createos.before-createos-sandbox"));
    assert_eq!(tree(home.path()), before);
    assert!(server.asked().is_empty());
}

#[test]
fn a_person_is_asked_after_seeing_what_will_happen() {
    let (server, new) = release();
    let (home, old) = outdated(&server);
    let _herdr = Herdr::in_home(&home);
    let ask = || {
        let terminal = Pty::spawn(home.command(&["setup", "herdr"]), 40, 120);
        terminal.expect("Install createos?", PATIENCE);
        if cfg!(target_os = "linux") {
            let text = terminal.text();
            assert!(text.contains("createos-sandbox setup herdr --provider local"), "{text}");
        }
        assert!(terminal.text().contains("and its .sha256, and compare them"), "{}", terminal.text());
        terminal
    };
    let mut no = ask();
    no.send("n");
    assert_eq!(no.wait(PATIENCE).code(), Some(1), "{}", no.text());
    assert_eq!(home.read("bin/createos"), old);
    assert!(server.asked().is_empty());

    let mut yes = ask();
    yes.send("y");
    yes.expect("Continue?", PATIENCE);
    yes.send("n");
    yes.wait(PATIENCE);
    assert_eq!(home.read("bin/createos"), new);
}

#[test]
fn a_failed_download_leaves_everything_as_it_was() {
    let (server, _) = release();
    let (home, _) = outdated(&server);
    let _herdr = Herdr::in_home(&home);
    server.at(&asset(), Answer::ok("#!/bin/sh\necho createos version v9.9.9\n"));
    let before = tree(&home.path().join("bin"));
    home.run(&["setup", "herdr", "--install-missing"]).fails(1, "the checksum of");
    let document = home.run(&["setup", "herdr", "--install-missing", "--json"]);
    assert_eq!(document.code, 1);
    assert!(document.json()["error"].to_string().contains("the checksum of"), "{}", document.stdout);
    assert_eq!(tree(&home.path().join("bin")), before);
    assert!(!home.path().join(CONFIG).exists());
}

#[test]
fn proxy_variables_are_respected() {
    let (proxy, _) = release();
    let (home, _) = outdated(&proxy);
    let home =
        home.var("CREATEOS_RELEASES_URL", "http://127.0.0.1:9/releases").var("HTTP_PROXY", proxy.url(""));
    let _herdr = Herdr::in_home(&home);
    home.run(&["setup", "herdr", "--install-missing"]).fails(1, "could not download http://127.0.0.1:9/");
    assert!(proxy.asked().iter().any(|asked| asked.contains("127.0.0.1:9")), "{:?}", proxy.asked());
}

#[test]
fn herdr_comes_by_its_own_installer() {
    let server = Server::new();
    let home = machine(User::Me);
    // What the installer brings is there already, but not where anybody looks.
    let herdr = Herdr::in_home(&home);
    std::fs::rename(home.path().join("bin/herdr"), home.path().join("herdr")).expect("it moves away");
    for tool in ["curl", "awk"] {
        program(&home, &format!("bin/{tool}"), "#!/bin/sh\n");
    }
    server.at(
        "/install.sh",
        Answer::ok("echo installing >&2; mkdir -p ~/.local/bin && mv ~/herdr ~/.local/bin/herdr\n"),
    );
    let mut shown = home.command(&["setup", "herdr", "--dry-run"]);
    shown.env("HERDR_INSTALL_URL", server.url("/install.sh"));
    let shown = crate::support::outcome(shown);
    let exactly =
        format!("herdr (--install-missing):\n  download {}\n  run it with", server.url("/install.sh"));
    assert!(shown.stdout.contains(&exactly), "{shown:?}");
    assert!(server.asked().is_empty(), "nothing was downloaded");
    let home_var = |name: &str, value: &str| {
        let mut command = home.command(&["setup", "herdr", "--install-missing", "--json"]);
        command.env(name, value);
        crate::support::outcome(command)
    };
    let done = home_var("HERDR_INSTALL_URL", &server.url("/install.sh")).success();
    assert!(done.stderr.contains("installing"), "{done:?}");
    assert_eq!(done.json()["error"], serde_json::Value::Null);
    assert!(home.path().join(CONFIG).exists());
    drop(herdr);
}

#[test]
fn after_a_failed_installation_an_acceptable_program_that_is_there_is_used_and_that_is_said() {
    let server = Server::new();
    let (home, _) = outdated(&server);
    let good = Home::new();
    createos(&good, "v0.0.28", true);
    // It brings a good one and then fails, as by a step after its work.
    let script = format!(
        "cp -p {} \"$HOME/bin/new\" && mv \"$HOME/bin/new\" \"$HOME/bin/createos\"; exit 3\n",
        good.path().join("bin/createos").display()
    );
    server.at("/mine.sh", Answer::ok(script));
    let home = home.var("CREATEOS_INSTALL_URL", server.url("/mine.sh"));
    let _herdr = Herdr::in_home(&home);
    let done = home.run(&["setup", "herdr", "--install-missing"]).success();
    assert!(done.stderr.contains("warning: the installer of createos failed"), "{done:?}");
    assert!(done.stderr.contains("used instead: createos 0.0.28   ~/bin/createos"), "{done:?}");
    assert!(home.path().join(CONFIG).exists(), "the setup went on");
}

#[test]
fn an_empty_or_missing_installer_is_a_failure_and_nothing_is_run() {
    let server = Server::new();
    let (home, old) = outdated(&server);
    let home = home.var("CREATEOS_INSTALL_URL", server.url("/mine.sh"));
    let _herdr = Herdr::in_home(&home);
    for (answer, why) in [
        (Answer { status: 404, ..Answer::ok("exit 0") }, "the server does not have it (404)"),
        (Answer::ok(""), "it is empty"),
        (Answer::cut("touch \"$HOME/half\"\n", 5_000), "it broke off"),
    ] {
        server.at("/mine.sh", answer);
        let failed = home.run(&["setup", "herdr", "--install-missing"]).fails(1, "could not download");
        assert!(failed.stderr.contains(why), "{why}: {failed:?}");
        assert_eq!(home.read("bin/createos"), old);
        assert!(!home.path().join("half").exists() && !home.path().join(CONFIG).exists());
    }
}

#[test]
fn no_host_curl_is_needed_for_the_official_cli() {
    let (server, new) = release();
    let (home, _) = outdated(&server);
    // A PATH of one folder: Herdr, git, what the stand-in for createos is made of, and nothing to download with.
    for tool in ["git", "sh", "cat"] {
        let path = which::which_in(tool, Some(crate::support::PATH), "/").expect("a tool");
        std::os::unix::fs::symlink(path, home.path().join("bin").join(tool)).expect("a link");
    }
    let bin = home.path().join("bin").display().to_string();
    let home = home.var("PATH", bin);
    let _herdr = Herdr::in_home(&home);
    let _ = home.run(&["setup", "herdr", "--install-missing"]).success();
    assert_eq!(home.read("bin/createos"), new);
}

/// A download that takes longer than a second shows how far it is, on stderr, to a person only.
#[test]
fn a_bar_is_shown_to_a_person_and_to_nobody_else() {
    let (server, new) = release();
    server.at(&asset(), Answer::slow(new.as_bytes(), Duration::from_millis(1_500)));
    let install = ["setup", "herdr", "--install-missing", "--yes"];

    let (home, _) = outdated(&server);
    let _herdr = Herdr::in_home(&home);
    let piped = home.run(&install).success();
    assert_eq!(piped.stderr, "", "nobody watches");
    assert!(!piped.stdout.contains("=="), "{piped:?}");

    // stdout is a file: the bar is on the other one.
    let (home, _) = outdated(&server);
    let _herdr = Herdr::in_home(&home);
    let script = r#"exec "$0" "$@" > out"#;
    let binary = crate::support::binary();
    let all = [&["-c", script, binary.to_str().expect("text")][..], &install].concat();
    let mut terminal = Pty::spawn(home.command_of(std::path::Path::new("sh"), &all), 24, 100);
    terminal.expect("=====", PATIENCE);
    assert!(terminal.wait(PATIENCE).success(), "{}", terminal.text());
    assert!(!home.read("out").contains("=="), "{}", home.read("out"));
    assert_eq!(home.read("bin/createos"), new);
}
