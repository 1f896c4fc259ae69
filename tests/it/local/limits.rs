//! What a box may take of the machine.

use super::Sandbox;
use crate::support::{Home, User, eventually};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn a_box_that_multiplies_stops_at_its_shape_and_disturbs_nobody() {
    for user in User::all() {
        let home = Home::of(user);
        let made = home.run(&["local", "sandbox", "create", "--shape", "s-0.25vcpu-512mb"]).success().json();
        let small = made["id"].as_str().expect("an id").to_owned();
        let (most, counted) =
            (made["limits"]["processes"].as_u64().expect("a number"), &made["limits"]["processes_of"]);
        assert_eq!((most, counted), (1152, &"box".into()), "{made}");
        // The other box keeps the home, and goes with all boxes in it.
        let other = Sandbox::with(home, &[]);
        let bomb = "$| = 1; my $n = 1; while (1) { my $p = fork; last unless defined $p; if (!$p) { sleep 1000; exit } $n++ } \
                    print \"$n\\n\"; sleep 1000";
        let mut command = other.command(&["exec", "--stream", &small, "--", "perl", "-e", bomb]);
        let mut bomb = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let mut said = String::new();
        BufReader::new(bomb.stdout.take().expect("a pipe")).read_line(&mut said).expect("it stops");
        let reached: u64 = said.trim().parse().expect("a number");
        assert!(reached <= most && reached > most / 2, "{user:?}: {reached} of {most}");

        let began = Instant::now();
        assert_eq!(other.say("echo works"), "works\n", "{user:?}: another box");
        assert!(std::process::Command::new("true").status().expect("it starts").success(), "the host");
        let full = other.run(&["exec", &small, "--", "true"]);
        assert!(full.code != 0 && full.stderr.contains("as many processes as it may"), "{user:?} {full:?}");
        assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
        bomb.kill().expect("it runs");
        bomb.wait().expect("it ends");
        eventually("there is room again", PATIENCE, || other.run(&["exec", &small, "--", "true"]).code == 0);
    }
}

#[test]
fn memory_of_a_process_and_shared_memory_end_at_the_shape() {
    for user in User::all() {
        let home = Home::of(user);
        let made = home.run(&["local", "sandbox", "create", "--shape", "s-1vcpu-256mb"]).success().json();
        let small = made["id"].as_str().expect("an id").to_owned();
        assert_eq!(
            (&made["limits"]["shm_mib"], &made["limits"]["memory_of"]),
            (&128.into(), &"process".into())
        );
        let other = Sandbox::with(home, &[]);
        let sh = |script: &str| other.run(&["exec", "--stream", &small, "--", "sh", "-c", script]);
        let fill = "head -c 200000000 /dev/zero > /dev/shm/x; stat -c %s /dev/shm/x";
        let filled = sh(fill);
        assert!(filled.stderr.contains("No space left"), "{user:?} {filled:?}");
        assert_eq!(filled.stdout.trim(), (128 * 1024 * 1024).to_string(), "{user:?}");
        let take =
            |mib: u32| sh(&format!("perl -e 'my $x = \"x\" x ({mib} * 1024 * 1024); print length $x'"));
        assert_eq!(take(50).success().stdout, (50 * 1024 * 1024).to_string(), "{user:?}");
        let refused = take(300);
        assert!(refused.code != 0 && refused.stderr.contains("Out of memory"), "{user:?} {refused:?}");
        assert_eq!(other.say("echo works"), "works\n");
    }
}
