//! The network of a case: a tagged host, a router behind its cable, and a receiver behind the
//! router. Packets are captured at the router. The network is removed when the value is dropped.

use std::net::{IpAddr, SocketAddr};
use std::process::{Command, Stdio};

use crate::draw::{Case, Link};
use crate::lab::{Pair, sh};

/// The network.
pub struct World {
    /// The tagged host and the router.
    pub pair: Pair,
    /// The receiver's namespace.
    pub far: String,
    link: Link,
    /// The rate of the link for acknowledgements, in bits per second.
    acknowledgements: Option<u64>,
    ipv6: bool,
}

impl World {
    pub fn new(case: &Case) -> World {
        let pair = Pair::new();
        let far = format!("{}c", pair.b);
        let acknowledgements = case.starved.as_ref().map(|starved| starved.acknowledgements);
        let world = World { pair, far, link: case.link, acknowledgements, ipv6: case.ipv6 };
        let (router, far) = (&world.pair.b, &world.far);
        sh(&format!(
            "ip netns add {far} && ip -n {far} link set lo up && \
             ip link add south netns {router} type veth peer name north netns {far} && \
             ip -n {router} addr add 10.79.0.1/24 dev south && \
             ip -n {router} addr add fd79::1/64 dev south nodad && \
             ip -n {far} addr add 10.79.0.2/24 dev north && \
             ip -n {far} addr add fd79::2/64 dev north nodad && \
             ip -n {router} link set south up && ip -n {far} link set north up && \
             ip -n {far} route add default via 10.79.0.1 && \
             ip -n {far} -6 route add default via fd79::1 && \
             nsenter --net=/run/netns/{far} \
                 ethtool -K north tx off tso off gso off gro off >/dev/null && \
             nsenter --net=/run/netns/{router} \
                 ethtool -K south tx off tso off gso off gro off >/dev/null && \
             nsenter --net=/run/netns/{router} \
                 sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1"
        ));
        world.route();
        if let Link::Away(rate, queue) = world.link {
            narrow(router, "south", rate, queue);
        }
        world
    }

    /// Adds the routes of the tagged interface, its queue if the link is [`Link::Here`], and the narrow
    /// link for acknowledgements if there is one. All of these are lost with the interface.
    fn route(&self) {
        let host = &self.pair.a;
        sh(&format!(
            "ip -n {host} route add 10.79.0.0/24 via 10.77.0.2 && \
             ip -n {host} -6 route add fd79::/64 via fd77::2"
        ));
        if let Link::Here(rate, queue) = self.link {
            narrow(host, "east", rate, queue);
        }
        if let Some(rate) = self.acknowledgements {
            sh(&format!(
                "tc -n {} qdisc add dev west root tbf rate {rate}bit burst 1600 limit 20000",
                self.pair.b
            ));
        }
    }

    /// The receiver's address.
    pub fn address(&self, port: u16) -> SocketAddr {
        let address: IpAddr = if self.ipv6 { "fd79::2" } else { "10.79.0.2" }.parse().unwrap();
        SocketAddr::new(address, port)
    }

    /// Removes the tagged interface.
    pub fn remove_interface(&self) {
        self.pair.disconnect();
    }

    /// Makes another interface with the same name and addresses.
    pub fn restore_interface(&self) {
        self.pair.connect();
        self.route();
    }

    /// Makes another interface with the same name and addresses, and with this index.
    pub fn restore_interface_with_index(&self, index: u32) {
        self.pair.connect_with_index(index);
        self.route();
    }

    /// The tagged interface's index.
    pub fn index(&self) -> u32 {
        let text = sh(&format!("ip -n {} -oneline link show dev east", self.pair.a));
        text.split(':').next().unwrap().parse().unwrap()
    }
}

fn narrow(host: &str, interface: &str, rate: u64, queue: u64) {
    // The bytes that are sent between two ticks of the kernel's clock, but at least one packet.
    let burst = (rate / 8 / 100).max(5_000);
    sh(&format!(
        "tc -n {host} qdisc add dev {interface} root tbf rate {rate}bit burst {burst}b \
         limit {queue}b"
    ));
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.far]).stderr(Stdio::null()).status();
    }
}
