//! A connection to a port of the box's own loopback, for a person who has asked for it outside. It is as confined as any
//! program of the box.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, TcpStream};

/// Connects stdin and stdout with the port; the exit code. The reason goes to stderr, which the host reads.
pub(super) fn dial(port: u16) -> i32 {
    match connect(port).and_then(relay) {
        Ok(()) => 0,
        Err(error) => {
            let _host_gone = write!(io::stderr(), "{error}");
            1
        }
    }
}

fn connect(port: u16) -> io::Result<TcpStream> {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).or_else(|error| {
        // What the first one says is what counts: IPv6 may not be there at all.
        TcpStream::connect((Ipv6Addr::LOCALHOST, port)).map_err(|_| error)
    })
}

/// Not by splice(2), which keeps a pipe locked while it waits for a socket.
fn copy(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<u64> {
    io::copy(from, to)
}

/// Each side may end while the other goes on.
fn relay(stream: TcpStream) -> io::Result<()> {
    let (mut inward, mut outward) = (stream.try_clone()?, stream);
    let feed = std::thread::Builder::new().spawn(move || {
        let _server_reads_no_more = copy(&mut io::stdin().lock(), &mut inward);
        let _gone = inward.shutdown(Shutdown::Write);
    })?;
    let told = copy(&mut outward, &mut io::stdout().lock());
    // The pipe is this process's alone: so the other end hears of the end.
    let null = std::fs::File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&null)?;
    let _joined = feed.join();
    told.map(drop)
}
