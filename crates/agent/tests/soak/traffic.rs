//! Senders and receivers. What they send is known beforehand. They do not check what happens to it
//! on the way.

#[path = "traffic/datagrams.rs"]
mod datagrams;
#[path = "traffic/quic.rs"]
mod quic;
#[path = "traffic/stream.rs"]
mod stream;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::draw::Case;
use crate::lab;
use crate::world::World;

/// The receiver's ports, which distinguish the kinds of traffic.
pub mod port {
    pub const BULK: u16 = 5100;
    pub const STARVED: u16 = 5150;
    pub const CONVERSATION: u16 = 5200;
    pub const DATAGRAMS: u16 = 5300;
    pub const QUIC: u16 = 5400;

    /// The index of the conversation that uses this port.
    pub fn conversation(to: u16) -> Option<usize> {
        (CONVERSATION..DATAGRAMS).contains(&to).then(|| usize::from(to - CONVERSATION))
    }

    pub fn is_udp(to: u16) -> bool {
        (DATAGRAMS..=QUIC).contains(&to)
    }
}

/// Tells senders and receivers when to end.
#[derive(Clone, Debug, Default)]
struct Stop(Arc<AtomicBool>);

impl Stop {
    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Sleeps for `time`, but not beyond the end.
    fn sleep(&self, time: Duration) {
        let start = Instant::now();
        while !self.is_set() && start.elapsed() < time {
            thread::sleep((time - start.elapsed().min(time)).min(Duration::from_millis(100)));
        }
    }
}

/// All senders and receivers of a case. They end when the value is dropped.
pub struct Traffic {
    stop: Stop,
    threads: Vec<JoinHandle<()>>,
    quic: Option<quic::Pair>,
}

impl Traffic {
    /// Starts the receivers, and then the senders.
    pub fn start(world: &World, case: &Case) -> Traffic {
        let stop = Stop::default();
        let mut threads = Vec::new();
        let mut run = |host: &str, action: Box<dyn FnOnce() + Send>| {
            threads.push(lab::on(host, action));
        };
        for (number, bulk) in case.bulks.iter().enumerate() {
            let to = world.address(port::BULK + number as u16);
            let (reader, writer, stops) =
                (bulk.clone(), bulk.clone(), [stop.clone(), stop.clone()]);
            let [at_reader, at_writer] = stops;
            run(&world.far, Box::new(move || stream::read_slowly(to, &reader, &at_reader)));
            run(&world.pair.a, Box::new(move || stream::write_at_once(to, &writer, &at_writer)));
        }
        if let Some(starved) = &case.starved {
            let to = world.address(port::STARVED);
            let (reader, writer) = (starved.stream.clone(), starved.clone());
            let [at_reader, at_writer] = [stop.clone(), stop.clone()];
            run(&world.far, Box::new(move || stream::read_slowly(to, &reader, &at_reader)));
            run(&world.pair.a, Box::new(move || stream::write_late(to, &writer, &at_writer)));
        }
        for (number, conversation) in case.conversations.iter().enumerate() {
            let to = world.address(port::CONVERSATION + number as u16);
            let (answers, asks) = (conversation.clone(), conversation.clone());
            let [at_server, at_client] = [stop.clone(), stop.clone()];
            run(&world.far, Box::new(move || stream::answer(to, &answers, &at_server)));
            run(&world.pair.a, Box::new(move || stream::ask(to, &asks, &at_client)));
        }
        for (number, flows) in case.datagrams.iter().enumerate() {
            let to = world.address(port::DATAGRAMS + number as u16);
            let (flows, stop) = (flows.clone(), stop.clone());
            run(&world.pair.a, Box::new(move || datagrams::send(to, &flows, &stop)));
        }
        let quic = case.quic.as_ref().map(|quic| {
            quic::Pair::start(world, quic, world.address(port::QUIC), &stop, &mut threads)
        });
        Traffic { stop, threads, quic }
    }

    /// Ends all senders and receivers, and waits for them.
    pub fn end(mut self) {
        self.tell();
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
    }

    fn tell(&self) {
        self.stop.0.store(true, Ordering::Relaxed);
        if let Some(quic) = &self.quic {
            quic.close();
        }
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        self.tell();
    }
}
