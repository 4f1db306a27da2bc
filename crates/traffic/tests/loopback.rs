//! Client and server over the loopback interface.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use flowsched_experiment::results::{Folder, Program};
use flowsched_traffic::client::{self, Totals};
use flowsched_traffic::config::Config;
use flowsched_traffic::server::Server;
use flowsched_traffic::tables::{self, Head};
use flowsched_traffic::{Settings, TrafficError};

/// A server in a thread, which stops when this is dropped.
struct Running {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// Starts serving after `delay`. The kernel accepts connections at once.
    fn after(delay: Duration) -> Running {
        let mut server = Server::listen(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = server.address().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let until = stop.clone();
        let serve = move || {
            thread::sleep(delay);
            server.serve(&until).unwrap();
        };
        Running { address, stop, thread: Some(thread::spawn(serve)) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

fn settings(seed: u64, config: &Config, wait: Duration) -> Settings {
    let Config { load, requests, .. } = *config;
    Settings { seed, load: load.unwrap(), requests, duration: None, wait }
}

/// Runs a client. Returns its totals and its lines, split into words.
fn measure(servers: &[SocketAddr], rest: &str, wait: Duration) -> (Totals, Vec<Vec<String>>) {
    let text: String =
        servers.iter().map(|at| format!("server {} {}\n", at.ip(), at.port())).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.txt");
    fs::write(&path, text + rest).unwrap();
    let config = Config::read(&path).unwrap();
    let settings = settings(5, &config, wait);
    let mut lines = Vec::new();
    let totals = client::run(&config, &settings, &mut lines, &AtomicBool::new(false)).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    let words = |line: &str| line.split(' ').map(str::to_owned).collect();
    (totals, lines.lines().map(words).collect())
}

const LONG: Duration = Duration::from_secs(100);
const FANS: &str = "req_size_dist fixed 30KB\nload 2000Mbps\nnum_reqs 300\ndscp 0 1\ndscp 8 1\n\
    rate 0Mbps 1\nrate 100Mbps 1\nfanout 1 1\nfanout 3 1\n";

#[test]
fn every_request_gets_its_flows_and_the_same_seed_the_same_requests() {
    let servers = [Running::after(Duration::ZERO), Running::after(Duration::ZERO)];
    let addresses = servers.each_ref().map(|server| server.address);
    let (totals, mut lines) = measure(&addresses, FANS, LONG);
    assert_eq!((totals.requests, totals.finished, totals.broken), (300, totals.flows, 0));
    assert_eq!(lines.len() as u64, totals.flows);
    assert!((500..700).contains(&totals.flows), "{}", totals.flows);
    assert!(totals.connections >= 10, "five to each server at first");
    let count =
        |column: usize, value: &str| lines.iter().filter(|line| line[column] == value).count();
    assert_eq!(count(0, "30000") + count(0, "10000"), lines.len(), "a third each for three");
    assert_eq!(count(2, "0") + count(2, "8"), lines.len());
    assert!(count(2, "8") > 100 && count(3, "100") > 100 && count(6, "1") > 100);
    let planned = |line: &Vec<String>| {
        let number: u64 = line[4].parse().unwrap();
        (number, [0, 2, 3, 5, 6, 7].map(|column| line[column].clone()))
    };
    let mut again = measure(&addresses, FANS, LONG).1;
    for lines in [&mut lines, &mut again] {
        lines.sort_by_key(|line| planned(line).0);
    }
    assert_eq!(
        lines.iter().map(planned).collect::<Vec<_>>(),
        again.iter().map(planned).collect::<Vec<_>>()
    );
}

/// The server sleeps until all requests are made. No request waits for an earlier one, and every
/// completion time includes the stall.
#[test]
fn a_server_that_stalls_makes_every_flow_longer() {
    const STALL: Duration = Duration::from_secs(2);
    let rest = "req_size_dist fixed 1KB\nload 10Mbps\nnum_reqs 100\n";
    let server = Running::after(STALL);
    let (totals, lines) = measure(&[server.address], rest, LONG);
    assert_eq!((totals.finished, totals.connections), (100, 100), "more on demand");
    let ns = |line: &[String], column: usize| line[column].parse::<u64>().unwrap();
    let last = lines.iter().map(|line| ns(line, 7)).max().unwrap();
    assert!(lines.iter().all(|line| ns(line, 7) + ns(line, 8) > last), "{lines:?}");
}

#[test]
fn flows_that_do_not_come_are_unfinished() {
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let rest = "req_size_dist fixed 1KB\nload 1000Mbps\nnum_reqs 20\n";
    let wait = Duration::from_millis(50);
    let (totals, lines) = measure(&[silent.local_addr().unwrap()], rest, wait);
    assert_eq!((totals.flows, totals.finished, totals.broken), (20, 0, 0));
    assert!(lines.iter().all(|line| line[1] == "unfinished" && line[8] == "unfinished"));
    assert_eq!(lines.len(), 20);
    let address = silent.local_addr().unwrap();
    drop(silent);
    let path = tempfile::NamedTempFile::new().unwrap();
    fs::write(&path, format!("server 127.0.0.1 {}\n{rest}", address.port())).unwrap();
    let config = Config::read(path.path()).unwrap();
    let settings = settings(1, &config, wait);
    let refused = client::run(&config, &settings, Vec::new(), &AtomicBool::new(false));
    assert!(matches!(refused, Err(TrafficError::NoServer { .. })), "{refused:?}");
}

/// The PIAS authors' client reads the echoed request, then the flow, and ends with flow number 0.
#[test]
fn the_server_speaks_the_authors_protocol_and_refuses_nonsense() {
    let server = Running::after(Duration::ZERO);
    let request = |words: [u32; 4]| words.map(u32::to_ne_bytes).concat();
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(&request([7, 5_000, 32, 0])).unwrap();
    let mut answer = vec![0; 16 + 5_000];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer[..16], request([7, 5_000, 32, 0]));
    stream.write_all(&request([0, 100, 0, 0])).unwrap();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert_eq!(rest.len(), 116);
    let mut other = TcpStream::connect(server.address).unwrap();
    other.write_all(&request([1, 5_000, 300, 0])).unwrap();
    assert_eq!(other.read_to_end(&mut rest).unwrap(), 0, "no such type of service");
}

#[test]
fn the_tables_of_two_hosts_are_put_together() {
    let server = Running::after(Duration::ZERO);
    let SocketAddr::V4(address) = server.address else { panic!("IPv4") };
    let all = tempfile::tempdir().unwrap();
    let folders = [1, 2].map(|host| all.path().join(format!("host-{host}")));
    for (host, folder) in (1..).zip(&folders) {
        let path = all.path().join("config.txt");
        let rest = "req_size_dist fixed 1KB\nload 1000Mbps\nnum_reqs 40\ndscp 0 1\ndscp 8 1\n";
        fs::write(&path, format!("server 127.0.0.1 {}\n{rest}", address.port())).unwrap();
        let config = Config::read(&path).unwrap();
        let settings = settings(1, &config, LONG);
        let client = Ipv4Addr::new(10, 0, 0, host);
        let lines = Head::now("cubic", 1, client, &config.servers).create(folder).unwrap();
        client::run(&config, &settings, lines, &AtomicBool::new(false)).unwrap();
        tables::write(std::slice::from_ref(folder), folder, Program::default()).unwrap();
    }
    let out = all.path().join("all");
    let summary = tables::write(&folders, &out, Program::default()).unwrap();
    assert_eq!(summary.runs.len(), 1);
    assert_eq!((summary.runs[0].flows, summary.runs[0].finished), (80, 80));
    let mut rows = Vec::new();
    Folder::open(&out).unwrap().flows(|run| rows.extend(run.flows)).unwrap();
    assert_eq!(rows.iter().map(|row| row.flow).collect::<Vec<_>>(), (0..80).collect::<Vec<_>>());
    assert!(rows.is_sorted_by_key(|row| row.start));
    for host in [0, 2] {
        assert_eq!(rows.iter().filter(|row| row.dst == host && row.src == 1).count(), 40);
    }
    fs::write(folders[0].join(tables::LINES), "# flowsched traffic\nnonsense\n").unwrap();
    let error = tables::write(&folders, &out, Program::default()).unwrap_err().to_string();
    assert!(error.contains("flows.txt:2"), "{error}");
}
