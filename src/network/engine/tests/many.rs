//! Many connections at once, and those that do not do their part.

use super::*;
use smoltcp::socket::tcp::State;
use std::net::Ipv4Addr;

#[test]
fn five_hundred_connections_at_once_through_the_stack() {
    let port = server("127.0.0.1", echo);
    let (_running, mut inside) = run(Start { rules: opened(port), ..Start::default() });
    let sent = pattern(20_000);
    let handles: Vec<_> = (0..500).map(|_| inside.connect(Ipv4Addr::LOCALHOST, port)).collect();
    let mut taken = vec![Vec::new(); 500];
    let mut begun = [false; 500];
    inside.until("all of them", |inside| {
        let mut done = 0;
        for (at, handle) in handles.iter().enumerate() {
            let socket = inside.sockets.get_mut::<smoltcp::socket::tcp::Socket<'_>>(*handle);
            if !begun[at] && socket.may_send() {
                begun[at] = true;
                assert_eq!(socket.send_slice(&sent).unwrap(), sent.len());
                socket.close();
            }
            while socket.can_recv() {
                socket.recv(|come| (come.len(), taken[at].extend_from_slice(come))).unwrap();
            }
            done += usize::from(taken[at].len() == sent.len());
        }
        done == 500
    });
    assert!(taken.iter().all(|bytes| *bytes == sent));
}

#[test]
fn five_hundred_connections_at_once_through_the_proxy() {
    let port = server("127.0.0.1", echo);
    let (running, _inside) = run(Start { rules: opened(port), ..Start::default() });
    let sent = pattern(20_000);
    let mut streams: Vec<_> = (0..500)
        .map(|_| {
            let mut stream = TcpStream::connect(running.proxy).unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            write!(stream, "CONNECT good.example:{port} HTTP/1.1\r\n\r\n").unwrap();
            stream.write_all(&sent).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            stream
        })
        .collect();
    for stream in &mut streams {
        let mut got = Vec::new();
        stream.read_to_end(&mut got).unwrap();
        assert!(got.ends_with(&sent) && got.len() == sent.len() + 39);
    }
}

#[test]
fn those_who_never_read_hold_nobody_up_and_little_memory() {
    const EACH: usize = 20_000_000;
    let port = server("127.0.0.1", |mut stream| {
        let block = pattern(100_000);
        for _ in 0..EACH / block.len() {
            if stream.write_all(&block).is_err() {
                return;
            }
        }
    });
    let (_running, mut inside) = run(Start { rules: opened(port), ..Start::default() });
    let before = resident();
    let handles: Vec<_> = (0..200).map(|_| inside.connect(Ipv4Addr::LOCALHOST, port)).collect();
    inside.until("every buffer to be full", |inside| {
        handles.iter().all(|handle| {
            !inside.socket(*handle).can_send() || {
                let socket = inside.sockets.get::<smoltcp::socket::tcp::Socket<'_>>(*handle);
                socket.recv_queue() == socket.recv_capacity()
            }
        })
    });
    // The buffers of this side of the wire are in this process, too.
    let grown = resident().saturating_sub(before) / 200;
    assert!(grown < 700_000, "{grown} bytes for each that never reads");
    let other = inside.connected(Ipv4Addr::LOCALHOST, port);
    assert_eq!(inside.exchange(other, b"", false).len(), EACH);
    // One of them reads after all.
    assert_eq!(inside.exchange(handles[7], b"", false).len(), EACH);
    assert_eq!(inside.state(handles[8]), State::Established);
}

fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<usize>().unwrap() * 1024
}
