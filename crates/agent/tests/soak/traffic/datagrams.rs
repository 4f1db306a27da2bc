//! Sends UDP. No process receives it: the packets that arrive at the router count.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use super::Stop;
use crate::draw::Datagrams;

/// Sends flows, one after another.
pub(super) fn send(to: SocketAddr, flows: &Datagrams, stop: &Stop) {
    while !stop.is_set() {
        let any: SocketAddr = match to {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = UdpSocket::bind(any).unwrap();
        send_flow(&socket, to, flows, stop);
        if let Some(pause) = flows.pause {
            stop.sleep(pause);
            send_flow(&socket, to, flows, stop);
        }
    }
}

fn send_flow(socket: &UdpSocket, to: SocketAddr, flows: &Datagrams, stop: &Stop) {
    let packet = vec![7; flows.size];
    for _ in 0..flows.bytes.div_ceil(flows.size * flows.at_once) {
        for _ in 0..flows.at_once {
            // This fails while there is no interface.
            let _ = socket.send_to(&packet, to);
        }
        stop.sleep(flows.gap);
        if stop.is_set() {
            return;
        }
    }
}
