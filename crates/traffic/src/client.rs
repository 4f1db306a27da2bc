//! The client: requests flows from servers at the planned times, and records when each flow ends.

mod connection;

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use flowsched_units::Time;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

use crate::config::Config;
use crate::error::TrafficError;
use crate::lines::Line;
use crate::plan::Plan;
use crate::settings::Settings;
use crate::transfer::CHUNK;
use connection::{Asked, Connection};

/// Connections to each server at the start (PIAS ToN 2017, V-A.1).
pub const FIRST_CONNECTIONS: usize = 5;
/// The time-out for opening each of the first connections.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest sleep in milliseconds, after which the client checks whether to stop.
const LONGEST_SLEEP: u8 = 20;
const BATCH: usize = 64;
/// The timer's number in epoll. Connections are numbered from 0.
const TIMER: u64 = u64::MAX;

/// Totals of the traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Requests made.
    pub requests: u64,
    /// Flows requested.
    pub flows: u64,
    /// Flows that finished.
    pub finished: u64,
    /// Flows whose connection broke or could not be opened.
    pub broken: u64,
    /// Connections opened.
    pub connections: u64,
    /// The longest delay of a request after its planned start.
    pub latest_start: Duration,
}

/// A client with its connections.
struct Client<'a, W> {
    config: &'a Config,
    connections: Vec<Connection>,
    /// Numbers of broken connections, which later ones get.
    free: Vec<usize>,
    /// Connections without a flow, by server.
    idle: Vec<Vec<usize>>,
    epoll: Epoll,
    timer: TimerFd,
    /// When the traffic starts.
    epoch: Instant,
    lines: W,
    under_way: u64,
    totals: Totals,
    buffer: Vec<u8>,
}

/// Generates the traffic, and writes a line to `lines` when a flow ends. Flows that are unfinished at the
/// end get their lines then. The same configuration and seed give the same requests.
///
/// # Errors
/// [`TrafficError::NoServer`] if a server cannot be reached before the start, or an error of the system.
pub fn run<W: Write>(
    config: &Config,
    settings: &Settings,
    lines: W,
    stop: &AtomicBool,
) -> Result<Totals, TrafficError> {
    let mut client = Client::open(config, lines)?;
    client.play(settings, stop)?;
    client.note_unfinished()?;
    Ok(client.totals)
}

impl<'a, W: Write> Client<'a, W> {
    /// Opens the first connections.
    fn open(config: &'a Config, lines: W) -> Result<Client<'a, W>, TrafficError> {
        let refused = |error: nix::Error| TrafficError::system("set a timer", error);
        let timer =
            TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK).map_err(refused)?;
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(refused)?;
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, TIMER)).map_err(refused)?;
        let mut client = Client {
            config,
            connections: Vec::new(),
            free: Vec::new(),
            idle: vec![Vec::new(); config.servers.len()],
            epoll,
            timer,
            epoch: Instant::now(),
            lines,
            under_way: 0,
            totals: Totals::default(),
            buffer: vec![0; CHUNK],
        };
        for (server, address) in config.servers.iter().enumerate() {
            for _ in 0..FIRST_CONNECTIONS {
                let opened = Connection::open_within(*address, PATIENCE);
                let no_server =
                    |source| TrafficError::NoServer { server: address.to_string(), source };
                let number = client.add(opened.map_err(no_server)?.to(server))?;
                client.idle[server].push(number);
            }
        }
        client.epoch = Instant::now();
        Ok(client)
    }

    /// Registers a connection, and returns its number.
    fn add(&mut self, connection: Connection) -> Result<usize, TrafficError> {
        let number = self.free.last().copied().unwrap_or(self.connections.len());
        let flags = EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT | EpollFlags::EPOLLET;
        let watched = connection.watch(&self.epoll, EpollEvent::new(flags, number as u64));
        watched.map_err(|error| TrafficError::system("wait for connections", error))?;
        match self.free.pop() {
            Some(number) => self.connections[number] = connection,
            None => self.connections.push(connection),
        }
        self.totals.connections += 1;
        Ok(number)
    }

    fn now(&self) -> Time {
        let passed = self.epoch.elapsed().as_nanos();
        Time::from_ns(u64::try_from(passed).unwrap_or(u64::MAX))
    }

    /// Makes all requests, and waits for their flows.
    fn play(&mut self, settings: &Settings, stop: &AtomicBool) -> Result<(), TrafficError> {
        let mut plan = Plan::new(self.config, settings).peekable();
        let mut events = [EpollEvent::empty(); BATCH];
        let mut last_request = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            while let Some(planned) = plan.next_if(|planned| planned.at <= self.now()) {
                last_request = Instant::now();
                let late = last_request
                    .duration_since(self.epoch)
                    .saturating_sub(Duration::from_nanos(planned.at.as_ps() / 1_000));
                self.totals.latest_start = self.totals.latest_start.max(late);
                for server in &planned.servers {
                    self.totals.flows += 1;
                    let line = Line {
                        bytes: planned.bytes,
                        fct: None,
                        dscp: planned.dscp,
                        rate_mbps: planned.rate_mbps,
                        flow: self.totals.flows as u32,
                        request: self.totals.requests,
                        server: *server,
                        start: planned.at,
                        rtt_us: 0,
                        out_of_order: 0,
                    };
                    self.ask(line)?;
                }
                self.totals.requests += 1;
            }
            let is_over = plan.peek().is_none();
            if is_over && (self.under_way == 0 || last_request.elapsed() > settings.wait) {
                break;
            }
            if let Some(planned) = plan.peek() {
                self.wake_at(planned.at)?;
            }
            let count = match self.epoll.wait(&mut events, EpollTimeout::from(LONGEST_SLEEP)) {
                Ok(count) => count,
                Err(nix::Error::EINTR) => 0,
                Err(error) => return Err(TrafficError::system("wait for connections", error)),
            };
            for event in events[..count].iter().filter(|event| event.data() != TIMER) {
                self.handle(event.data() as usize)?;
            }
        }
        Ok(())
    }

    fn wake_at(&mut self, at: Time) -> Result<(), TrafficError> {
        let wait = at.saturating_sub(self.now()).max(Time::from_ns(1));
        let wait = TimeSpec::from_duration(Duration::from_nanos(wait.as_ps() / 1_000));
        let set = self.timer.set(Expiration::OneShot(wait), TimerSetTimeFlags::empty());
        set.map_err(|error| TrafficError::system("set a timer", error))
    }

    /// Requests a flow, on an idle or a new connection.
    fn ask(&mut self, line: Line) -> Result<(), TrafficError> {
        self.under_way += 1;
        let number = match self.idle[line.server].pop() {
            Some(number) => number,
            None => match Connection::open(self.config.servers[line.server]) {
                Ok(connection) => self.add(connection.to(line.server))?,
                Err(_) => return self.broke(&line),
            },
        };
        self.connections[number].ask(line);
        self.handle(number)
    }

    /// Handles a connection that can be read or written.
    fn handle(&mut self, number: usize) -> Result<(), TrafficError> {
        let connection = &mut self.connections[number];
        match connection.go_on(&mut self.buffer) {
            Ok(Asked::Waits) => Ok(()),
            Ok(Asked::Came(mut line)) => {
                line.fct = Some(self.now().saturating_sub(line.start));
                self.idle[line.server].push(number);
                self.totals.finished += 1;
                self.end(&line)
            }
            Err(_) => {
                // A closed socket reports no more events.
                let (server, line) = connection.close();
                self.idle[server].retain(|idle| *idle != number);
                self.free.push(number);
                line.map_or(Ok(()), |line| self.broke(&line))
            }
        }
    }

    /// Counts a flow whose connection broke or could not be opened.
    fn broke(&mut self, line: &Line) -> Result<(), TrafficError> {
        self.totals.broken += 1;
        self.end(line)
    }

    fn end(&mut self, line: &Line) -> Result<(), TrafficError> {
        self.under_way -= 1;
        self.write(line)
    }

    fn write(&mut self, line: &Line) -> Result<(), TrafficError> {
        writeln!(self.lines, "{line}").map_err(|e| TrafficError::system("write the flows", e))
    }

    /// Writes the lines of the flows that are unfinished.
    fn note_unfinished(&mut self) -> Result<(), TrafficError> {
        let left: Vec<Line> = self.connections.iter().filter_map(Connection::asked).collect();
        left.iter().try_for_each(|line| self.write(line))?;
        self.lines.flush().map_err(|e| TrafficError::system("write the flows", e))
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread;

    use super::*;

    #[test]
    fn broken_connections_take_no_room() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || listener.incoming().for_each(drop));
        let path = tempfile::NamedTempFile::new().unwrap();
        let text = format!("server 127.0.0.1 {port}\nreq_size_dist fixed 1KB\n");
        std::fs::write(path.path(), text).unwrap();
        let config = Config::read(path.path()).unwrap();
        let settings = Settings {
            seed: 1,
            load: flowsched_units::Rate::from_bps(8_000_000),
            requests: Some(200),
            duration: None,
            wait: Duration::from_secs(100),
        };
        let mut client = Client::open(&config, Vec::new()).unwrap();
        client.play(&settings, &AtomicBool::new(false)).unwrap();
        let Totals { broken, connections, .. } = client.totals;
        assert!(broken == 200 && connections > 100, "{broken} broken of {connections}");
        assert!(client.connections.len() < 100, "{} are kept", client.connections.len());
    }
}
