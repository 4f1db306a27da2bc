//! A server whose process can open no more files. The limit applies to the whole process, so this test is
//! alone.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use flowsched_traffic::server::Server;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// The number of files that the process may open beside those that it has open.
const ROOM: u64 = 2;
const CLIENTS: usize = 8;

#[test]
fn connections_wait_until_others_are_closed() {
    let mut server = Server::listen(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = server.address().unwrap();
    let clients: Vec<TcpStream> =
        (0..CLIENTS).map(|_| TcpStream::connect(address).unwrap()).collect();
    let last = clients.iter().map(|client| client.as_raw_fd() as u64).max().unwrap();
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, last + 1 + ROOM, most).unwrap();

    let stop = Arc::new(AtomicBool::new(false));
    let until = stop.clone();
    let serving = thread::spawn(move || server.serve(&until));
    for (number, mut client) in (1u32..).zip(clients) {
        let request = [number, 1_000, 0, 0].map(u32::to_ne_bytes).concat();
        client.write_all(&request).unwrap();
        let mut answer = vec![0; request.len() + 1_000];
        client.read_exact(&mut answer).unwrap();
        assert_eq!(answer[..request.len()], request);
    }
    stop.store(true, Ordering::Relaxed);
    serving.join().unwrap().unwrap();
}
