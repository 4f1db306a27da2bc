//! For tests: light hosts. They follow announcements as agents do and serve metrics, but tag nothing.
//! Host `n` has the address 127.1.x.y; all hosts use one port.
#![allow(dead_code, reason = "each of the test programs that share this uses a part of it")]

use std::convert::Infallible;
use std::fmt::Write;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use flowsched_fleet::announcement::Heard;
use flowsched_fleet::follow::{Event, Identity, Place, Source, follow};
use flowsched_fleet::{Announcement, Levels, bins};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// The key of all light hosts' levels.
pub const LEVELS: &str = "thresholds = \"10B 20B\"";

/// The levels in all light hosts' files.
pub fn own() -> Levels {
    Levels::parse("10B 20B", None).unwrap()
}

/// The number of turns in which sizes change. Each turn has two sizes, both below those of the next turn. Two
/// thresholds can separate the sizes of two turns but not of five: whatever is in force, a later turn has better
/// thresholds.
const TURNS: usize = 5;

/// The state of a host.
#[derive(Debug, Default)]
pub struct Host {
    pub name: String,
    pub current: Option<Announcement>,
    pub applied_at: Option<Instant>,
    pub refused: u64,
    pub refusal: String,
    pub is_connected: bool,
    pub trouble: String,
    /// Every version that was ever in force.
    pub versions: Vec<u64>,
    /// Segments sent and retransmitted by `counted_at`, in milliseconds after the start.
    segments: u64,
    again: u64,
    counted_at: u64,
}

impl Host {
    fn is_canary(&self) -> bool {
        self.current.as_ref().is_some_and(|current| current.is_canary(&self.name))
    }

    /// Counts 400 segments per millisecond until `passed`. `losses` in a thousand are retransmitted. The number is
    /// exact, because segments come by the thousand.
    fn count(&mut self, passed: u64, losses: u64) {
        let passed = passed.next_multiple_of(5);
        let sent = 400 * passed.saturating_sub(self.counted_at);
        self.segments += sent;
        self.again += sent * losses / 1000;
        self.counted_at = self.counted_at.max(passed);
    }
}

/// Light hosts of one group.
#[derive(Clone)]
pub struct Fleet {
    pub group: String,
    pub port: u16,
    pub hosts: Arc<Vec<Mutex<Host>>>,
    /// The sizes change after this many seconds, so that other thresholds are best; 0: never.
    period: u64,
    /// Segments in a thousand that canaries lose in addition; other hosts lose one.
    pub harm: Arc<AtomicU64>,
    begun: Instant,
}

impl Fleet {
    pub fn new(group: &str, count: usize, port: u16, period: u64) -> Fleet {
        let host = |n| Mutex::new(Host { name: format!("light-{n}"), ..Host::default() });
        Fleet {
            group: group.into(),
            port,
            hosts: Arc::new((0..count).map(host).collect()),
            period,
            harm: Arc::default(),
            begun: Instant::now(),
        }
    }

    /// The URLs of the hosts' metrics.
    pub fn agents(&self) -> Vec<String> {
        let address = |n: usize| format!("http://{}:{}", address(n), self.port);
        (0..self.hosts.len()).map(address).collect()
    }

    /// The hosts' addresses, as Prometheus's targets.
    pub fn targets(&self) -> Vec<String> {
        self.agents().iter().map(|url| url.trim_start_matches("http://").to_owned()).collect()
    }

    /// Serves the metrics of all hosts. Never returns.
    pub async fn serve(self) {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, self.port)).await.unwrap();
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            let Ok(std::net::SocketAddr::V4(local)) = stream.local_addr() else { continue };
            let [_, _, high, low] = local.ip().octets();
            let (fleet, number) = (self.clone(), usize::from(high) * 256 + usize::from(low));
            tokio::spawn(async move {
                let answer = service_fn(|_: Request<hyper::body::Incoming>| {
                    let page = fleet.page(number);
                    async move { Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(page)))) }
                });
                // A process may have 20,000 files, and each host watches etcd too.
                let keep_alive = fleet.hosts.len() <= 5000;
                let mut server = http1::Builder::new();
                let stream = TokioIo::new(stream);
                let _ = server.keep_alive(keep_alive).serve_connection(stream, answer).await;
            });
        }
    }

    fn page(&self, number: usize) -> String {
        let Some(host) = self.hosts.get(number) else { return String::new() };
        let mut host = host.lock().unwrap();
        let passed = self.begun.elapsed().as_millis() as u64;
        let turn = (passed / 1000).checked_div(self.period).unwrap_or(0);
        let bin = 20 + 40 * (turn as usize % TURNS);
        let mut page = String::with_capacity(16 << 10);
        let les = bins::bounds().map(|bound| bound.to_string()).chain(["+Inf".into()]);
        for (place, le) in les.enumerate() {
            // Two sizes far apart, so that thresholds matter.
            let count = passed * (u64::from(place >= bin) + u64::from(place >= bin + 30));
            let _ = writeln!(page, "flowsched_message_bytes_bucket{{le=\"{le}\"}} {count}");
        }
        let labels = format!("{{group=\"{}\",host=\"{}\"}}", self.group, host.name);
        let version = host.current.as_ref().map_or(0, |current| current.version);
        let is_canary = host.is_canary();
        let harm = if is_canary { self.harm.load(Ordering::Relaxed) } else { 0 };
        host.count(passed, 1 + harm);
        let _ = write!(
            page,
            "flowsched_interface_bytes_total{{interface=\"eth0\"}} {}\n\
             flowsched_tcp_segments_sent_total {}\n\
             flowsched_tcp_segments_retransmitted_total {}\n\
             flowsched_thresholds_version{labels} {version}\n\
             flowsched_thresholds_canary{labels} {}\n\
             flowsched_announcements_refused_total{labels} {}\n",
            passed * 1_000_000,
            host.segments,
            host.again,
            u8::from(is_canary),
            host.refused,
        );
        page
    }

    /// Lets one host follow. Never returns.
    pub async fn follow(self, number: usize, place: Place, identity: Identity) {
        let name = self.hosts[number].lock().unwrap().name.clone();
        let source = Source { place, identity, group: self.group.clone(), host: name };
        let own = own();
        follow(&source, |event| {
            let mut host = self.hosts[number].lock().unwrap();
            match event {
                Event::InTouch => host.is_connected = true,
                Event::Trouble(trouble) => {
                    (host.is_connected, host.trouble) = (false, trouble);
                }
                Event::Announced(text) => {
                    let heard =
                        Announcement::hear(&text, &source.group, &own, host.current.as_ref());
                    match heard {
                        Ok(Heard::Same) => {}
                        Ok(Heard::Newer(newer)) => {
                            host.versions.push(newer.version);
                            host.applied_at = Some(Instant::now());
                            host.current = Some(newer);
                        }
                        Err(refused) => {
                            host.refused += 1;
                            host.refusal = refused.to_string();
                        }
                    }
                }
            }
        })
        .await;
    }

    /// The lowest version that any host has.
    pub fn lowest(&self) -> u64 {
        let version = |host: &Mutex<Host>| {
            host.lock().unwrap().current.as_ref().map_or(0, |current| current.version)
        };
        self.hosts.iter().map(version).min().unwrap_or(0)
    }

    /// Checks that versions never decreased on any host.
    pub fn check_versions(&self) {
        for host in self.hosts.iter() {
            let host = host.lock().unwrap();
            let rises = host.versions.windows(2).all(|pair| pair[0] < pair[1]);
            assert!(rises, "{}: {:?}", host.name, host.versions);
        }
    }
}

fn address(number: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 1, (number >> 8) as u8, (number & 255) as u8)
}
