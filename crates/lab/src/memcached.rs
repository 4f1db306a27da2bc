//! memcached on the hosts, and queries of it: an application beside the traffic.
//!
//! The flows of one part of the workload are values that a client gets. Each source of such a flow runs a
//! real memcached, which has a value of the flow's size. The flow's destination asks for the value when
//! the flow starts, on a connection that it keeps. Flows that start together are a multi-get query
//! (PIAS ToN 2017, V-A.2), whose latency is that of its last value.
//!
//! What may not live here: the flows of the other parts, and how memcached's packets travel.

mod get;
mod servers;

use std::collections::HashMap;
use std::io;
use std::sync::atomic::Ordering;

use flowsched_schemes::world::{FlowOutcome, Progress, Uncounted};
use flowsched_topology::HostId;
use flowsched_units::Time;
use flowsched_workload::Flow;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};

use crate::clock::Clock;
use crate::error::LabError;
use crate::hosts::Hosts;
use crate::played::Played;
use crate::precedence::{Precedence, Rank, refused};
use crate::schedule::Schedule;
use get::Get;
pub use servers::Servers;

/// The clients of memcached, which ask for the values of these flows.
#[derive(Debug)]
pub struct Queries<'a> {
    flows: &'a [Flow],
    hosts: &'a Hosts,
    connections: Vec<Get>,
    /// Connections without a request under way, by client and server.
    idle: HashMap<(HostId, HostId), Vec<usize>>,
    epoll: Epoll,
    /// The outcome of each flow.
    outcomes: Vec<FlowOutcome>,
    ended: usize,
}

impl<'a> Queries<'a> {
    /// Opens a connection from each client to each server that it asks. The number of a flow is its place
    /// in `flows`.
    ///
    /// # Errors
    /// If the system refuses a request.
    pub fn new(flows: &'a [Flow], hosts: &'a Hosts) -> Result<Queries<'a>, LabError> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)
            .map_err(|error| LabError::system("wait for memcached", error))?;
        let mut queries = Queries {
            flows,
            hosts,
            connections: Vec::new(),
            idle: HashMap::new(),
            epoll,
            outcomes: vec![FlowOutcome::default(); flows.len()],
            ended: 0,
        };
        for flow in flows {
            let pair = (flow.dst, flow.src);
            if !queries.idle.contains_key(&pair) {
                let number = queries.open(pair)?;
                queries.idle.insert(pair, vec![number]);
            }
        }
        Ok(queries)
    }

    /// Sends all requests and reads the answers, until all have come, `progress` says to stop, or the time
    /// `until` has passed.
    ///
    /// # Errors
    /// If a connection fails, or an answer is not the value.
    pub fn play(
        mut self,
        clock: Clock,
        until: Time,
        progress: &Progress,
    ) -> Result<Played, LabError> {
        let mut schedule = Schedule::new(self.flows, clock, &self.epoll)?;
        let mut precedence = Precedence::take(Rank::Hosts).map_err(refused)?;
        while self.ended < self.outcomes.len() && !progress.stop.load(Ordering::Relaxed) {
            precedence.keep().map_err(refused)?;
            let now = clock.now();
            if now > until {
                break;
            }
            let before = self.ended;
            while let Some(flow) = schedule.next_due(now) {
                self.ask(flow, clock)?;
            }
            for word in schedule.wait(&self.epoll)? {
                self.handle(word as usize, clock)?;
            }
            let ended = (self.ended - before) as u64;
            progress.finished_flows.fetch_add(ended, Ordering::Relaxed);
        }
        // The sockets that send are memcached's own.
        let has_values = !self.outcomes.is_empty();
        let uncounted = Uncounted {
            retransmissions: has_values,
            timeouts: has_values,
            arrivals: has_values,
            ..Uncounted::default()
        };
        let starts = schedule.starts();
        Ok(Played { flows: self.outcomes, starts, uncounted, ..Played::default() })
    }

    fn ask(&mut self, flow: &Flow, clock: Clock) -> Result<(), LabError> {
        let pair = (flow.dst, flow.src);
        let idle = self.idle.get_mut(&pair).and_then(Vec::pop);
        let number = idle.map_or_else(|| self.open(pair), Ok)?;
        self.outcomes[flow.id as usize].connection = number as u32;
        self.connections[number].ask(flow);
        self.handle(number, clock)
    }

    fn handle(&mut self, number: usize, clock: Clock) -> Result<(), LabError> {
        let get = &mut self.connections[number];
        let failed = |error: io::Error| LabError::system("ask memcached", error);
        if let Some(flow) = get.go_on().map_err(failed)? {
            let now = Some(clock.now());
            let outcome = &mut self.outcomes[flow as usize];
            (outcome.finished_at_receiver, outcome.finished_at_sender) = (now, now);
            self.ended += 1;
            self.idle.entry(get.pair()).or_default().push(number);
        }
        Ok(())
    }

    /// Begins to open a connection.
    fn open(&mut self, pair: (HostId, HostId)) -> Result<usize, LabError> {
        let refused = |error: io::Error| LabError::system("open a connection to memcached", error);
        let missing = || refused(io::ErrorKind::NotFound.into());
        let namespace = self.hosts.namespace(pair.0).ok_or_else(missing)?;
        let get = namespace.run(|| Get::open(pair).map_err(refused))?;
        let number = self.connections.len();
        let flags = EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT | EpollFlags::EPOLLET;
        let event = EpollEvent::new(flags, number as u64);
        self.epoll.add(get.socket(), event).map_err(|e| refused(e.into()))?;
        self.connections.push(get);
        Ok(number)
    }
}
