//! Tests that the memory of client and server does not grow with the number of flows.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use flowsched_traffic::Settings;
use flowsched_traffic::client;
use flowsched_traffic::config::Config;
use flowsched_traffic::server::Server;
use flowsched_units::Rate;

/// The resident memory of this process in bytes.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1_024
}

#[test]
fn memory_does_not_grow_with_the_number_of_flows() {
    let mut server = Server::listen(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = server.address().unwrap().port();
    let stop = AtomicBool::new(false);
    let (few, many) = thread::scope(|scope| {
        scope.spawn(|| server.serve(&stop).unwrap());
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = format!("server 127.0.0.1 {port}\nreq_size_dist fixed 100B\n");
        fs::write(file.path(), text).unwrap();
        let config = Config::read(file.path()).unwrap();
        let measure = |requests| {
            // 3,000 flows per second, so that few flows are unfinished at a time.
            let settings = Settings {
                seed: 1,
                load: Rate::from_bps(2_549_000),
                requests: Some(requests),
                duration: None,
                wait: Duration::from_secs(100),
            };
            let totals = client::run(&config, &settings, io::sink(), &stop).unwrap();
            assert_eq!((totals.flows, totals.finished), (requests, requests));
            resident()
        };
        let measured = (measure(5_000), measure(100_000));
        stop.store(true, Ordering::Relaxed);
        measured
    });
    let grown = many.saturating_sub(few);
    println!("{few} B after 5,000 flows, {grown} B more after 100,000");
    assert!(grown < 1 << 20, "{grown} B more: 10 B a flow");
}
