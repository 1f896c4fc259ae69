//! `ports`, which is also `tunnel`: what listens in a box, and one of it on this machine's loopback, for as long as the
//! person who asks for it wants it.

use crate::cli::PortsArgs;
use crate::config::Network;
use crate::error::Error;
use crate::exit::Exit;
use crate::local::boxes::local_box::LocalBox;
use crate::local::boxes::running::RunPurpose;
use crate::local::boxes::store::{BoxStore, LiveOrGone};
use crate::local::entry::enter::{self, Start};
use crate::local::entry::environment;
use crate::local::failure::Result;
use crate::local::output::{self, OutputMode};
use crate::local::wire::spec::Task;
use crate::{network, ui};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Between two looks whether the box is still there.
const LOOK: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
/// So many connections at once.
const MOST: usize = 64;
/// What the kernel calls a socket that listens (proc(5), /proc/net/tcp).
const LISTENS: &str = "0A";

pub(super) fn ports(store: &BoxStore, args: &PortsArgs, mode: OutputMode) -> Result<Exit> {
    let mut found = store.live(&args.reference)?;
    found.must_run()?;
    match (found.meta.network(), args.port) {
        (Network::Own, _) => {}
        (Network::Host, Some(port)) => {
            let words = format!(
                "the network of {} is this machine's: what listens there is at 127.0.0.1:{port}",
                found.meta.name
            );
            return Err(Error::usage(words).into());
        }
        (Network::Host | Network::None, _) => {
            let words = format!("{} has no network of its own, whose ports could be told", found.meta.name);
            return Err(Error::usage(words).help("a box that is made without --network has one").into());
        }
    }
    match args.port {
        None => {
            let all = listening(&mut found)?;
            mode.show(&json!(all.iter().map(|port| json!({ "port": port })).collect::<Vec<_>>()), || {
                let rows: Vec<_> = all.iter().map(|port| vec![port.to_string()]).collect();
                if rows.is_empty() {
                    "Nothing listens in this box.".into()
                } else {
                    output::table(&["PORT"], &rows)
                }
            });
            Ok(Exit::DONE)
        }
        Some(port) => publish(store, &found, port, args.local, mode),
    }
}

/// The ports of TCP at which programs in the box listen, without those of its way out.
fn listening(found: &mut LocalBox) -> Result<BTreeSet<u16>> {
    let rules = environment::rules(&found.meta.egress)?;
    let ours: BTreeSet<u16> =
        network::localhost(&rules).into_iter().chain([network::proxy(&rules)]).collect();
    let argv = ["cat", "/proc/net/tcp", "/proc/net/tcp6"].map(|word| word.as_bytes().to_vec()).to_vec();
    let task = Task::Run { argv, cwd: b"/".to_vec(), terminal: None };
    let env = environment::of_a_process(&found.meta, &[]);
    let Start::Running(mut entry) = enter::enter(found, env, task, false, RunPurpose::Foreground)? else {
        return Err(Error::failed("the box's ports cannot be read").into());
    };
    let mut said = Vec::new();
    let stdout = entry.stdout.take().expect("a program without a terminal has pipes");
    stdout
        .take(4 * 1024 * 1024)
        .read_to_end(&mut said)
        .map_err(|source| Error::failed(source.to_string()))?;
    Ok(parse(&String::from_utf8_lossy(&said)).difference(&ours).copied().collect())
}

/// The ports of those lines whose socket listens.
fn parse(table: &str) -> BTreeSet<u16> {
    let port = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let (_, port) = words.next()?.rsplit_once(':')?;
        (words.nth(1)? == LISTENS).then(|| u16::from_str_radix(port, 16).ok())?
    };
    table.lines().filter_map(port).collect()
}

fn publish(
    store: &BoxStore,
    found: &LocalBox,
    port: u16,
    local: Option<u16>,
    mode: OutputMode,
) -> Result<Exit> {
    let wrong = |source: io::Error| {
        let words = format!("could not listen on 127.0.0.1:{}: {source}", local.unwrap_or_default());
        Error::failed(words).help("leave the second port out, and a free one is taken")
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, local.unwrap_or_default())).map_err(wrong)?;
    let local = listener.local_addr().map_err(wrong)?.port();
    let name = &found.meta.name;
    let document = json!({ "id": found.meta.id, "name": name, "port": port, "local": local });
    mode.show(&document, || {
        format!("127.0.0.1:{local} is port {port} of {name}, until Ctrl-C or the box's end.")
    });
    let open = Arc::new(AtomicUsize::new(0));
    loop {
        match poll(&mut [PollFd::new(&listener, PollFlags::IN)], Some(&LOOK)) {
            Ok(1..) => {}
            Ok(0) | Err(rustix::io::Errno::INTR) if is_there(store, found)? => continue,
            _ => {
                ui::note(format!("{name} is gone, and its port with it"));
                return Ok(Exit::DONE);
            }
        }
        let Ok((stream, _)) = listener.accept() else { continue };
        if open.fetch_add(1, Ordering::Relaxed) >= MOST {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (found, open) = (found.clone(), Arc::clone(&open));
        std::thread::spawn(move || {
            if let Err(failure) = serve(found, stream, port) {
                ui::note(format!("warning: {}", ui::visible(failure.error().message())));
            }
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

fn is_there(store: &BoxStore, found: &LocalBox) -> Result<bool> {
    Ok(matches!(store.find(found.meta.id.as_str()), Ok(LiveOrGone::Live(_))))
}

/// One connection, by a program of ours in the box. Until it is over this thread stays, for that program ends with it.
fn serve(mut found: LocalBox, mut stream: TcpStream, port: u16) -> Result<()> {
    let env = environment::of_a_process(&found.meta, &[]);
    let Start::Running(mut entry) =
        enter::enter(&mut found, env, Task::Dial { port }, true, RunPurpose::Foreground)?
    else {
        return Err(Error::failed("the box cannot be connected to").into());
    };
    let wrong = |source: io::Error| Error::failed(format!("a connection was lost: {source}"));
    let mut up = stream.try_clone().map_err(wrong)?;
    let mut stdin = entry.stdin.take().expect("stdin was asked for");
    let mut stdout = entry.stdout.take().expect("a program without a terminal has pipes");
    let mut stderr = entry.stderr.take().expect("a program without a terminal has pipes");
    let upward = std::thread::spawn(move || {
        let _either_is_gone = copy(&mut up, &mut stdin);
    });
    let _client_gone = copy(&mut stdout, &mut stream);
    let mut said = String::new();
    let refused = stderr.by_ref().take(1024).read_to_string(&mut said).is_ok() && !said.is_empty();
    let _gone = stream.shutdown(if refused { Shutdown::Both } else { Shutdown::Write });
    let _joined = upward.join();
    if refused {
        return Err(Error::failed(format!("port {port} of {}: {said}", found.meta.name)).into());
    }
    Ok(())
}

/// By reads and writes. Between a socket and a pipe the library would take splice(2), which keeps the pipe locked while
/// it waits for the socket: the program at the other end could not even end.
fn copy(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<u64> {
    io::copy(from, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_listens_is_a_port() {
        let table = "  sl  local_address rem_address   st tx_queue\n\
                     0: 0100007F:1388 00000000:0000 0A 00000000\n\
                     1: 0100007F:0C38 00000000:0000 01 00000000\n\
                     0: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 0\n\
                     nonsense\n 2: x:zz y 0A\n";
        assert_eq!(parse(table), BTreeSet::from([5000, 8080]));
    }
}
