//! The metrics server of a running agent, with clients that try to disable it. Needs root.

#[path = "support/agent.rs"]
mod agent;
#[path = "support/lab.rs"]
mod lab;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use agent::Agent;
use lab::Pair;

const RULE: &str = "thresholds = \"20KB\"\n[metrics]\nlisten = \"127.0.0.1:9487\"\n";

/// More connections than the server allows, and fewer than the 1024 files that a process may open
/// by default.
const HALF_OPEN: usize = 600;

fn connect() -> TcpStream {
    let stream = TcpStream::connect("127.0.0.1:9487").unwrap();
    // A server that never answers fails the test instead of hanging it.
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

fn ask(head: &str) -> String {
    let mut stream = connect();
    stream.write_all(format!("{head}\r\nHost: a\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// The peak memory of a process in KiB.
fn peak_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn half_open_connections_do_not_keep_a_scraper_out() {
    if !lab::is_root("half_open_connections_do_not_keep_a_scraper_out") {
        return;
    }
    let pair = Pair::new();
    let agent = Agent::start(&pair, RULE, &[]);
    // The limit that systemd and most shells set.
    lab::sh(&format!("prlimit --pid {} --nofile=1024:1024", agent.pid()));
    let scraped = lab::on(&pair.a, || {
        let half_open: Vec<TcpStream> = (0..HALF_OPEN)
            .map(|_| {
                let mut stream = connect();
                stream.write_all(b"GET /metrics HT").unwrap();
                stream
            })
            .collect();
        let page = ask("GET /metrics?x HTTP/1.1");
        drop(half_open);
        page
    });
    let page = scraped.join().unwrap();
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    let families = |page: &str| -> Vec<String> {
        page.lines().filter(|line| line.starts_with("# ")).map(str::to_owned).collect()
    };
    assert_eq!(families(&page), families(&agent.ok("metrics")));
}

#[test]
fn a_giant_request_takes_little_memory() {
    if !lab::is_root("a_giant_request_takes_little_memory") {
        return;
    }
    let pair = Pair::new();
    let agent = Agent::start(&pair, RULE, &[]);
    lab::on(&pair.a, || ask("GET /metrics HTTP/1.1")).join().unwrap();
    let before = peak_memory(agent.pid());
    let sent = lab::on(&pair.a, || {
        let mut stream = connect();
        stream.write_all(b"GET /").unwrap();
        let megabyte = vec![b'a'; 1 << 20];
        (0..64).take_while(|_| stream.write_all(&megabyte).is_ok()).count()
    });
    let sent = sent.join().unwrap();
    let grown = peak_memory(agent.pid()) - before;
    assert!(sent < 64, "the whole request was read");
    assert!(grown < 1024, "{grown} KiB more for {sent} MiB of a request");
    let page = lab::on(&pair.a, || ask("GET /metrics HTTP/1.1")).join().unwrap();
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
}
