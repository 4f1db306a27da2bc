//! QUIC between two hosts, by a library as applications use it: its packets are one UDP flow. Needs
//! root.

#[path = "support/agent.rs"]
mod agent;
#[path = "support/lab.rs"]
mod lab;
#[path = "support/seen.rs"]
mod seen;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use agent::Agent;
use lab::{Capture, Pair};
use quinn::rustls::RootCertStore;
use quinn::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use quinn::{ClientConfig, Endpoint, ServerConfig, TransportConfig};
use seen::Seen;

const SERVER: &str = "10.77.0.2:5001";
const CLIENT: &str = "10.77.0.1:4000";
const SENT: usize = 500_000;

fn level_at(offset: usize) -> u8 {
    [40, 20, 3][usize::from(offset > 20_000) + usize::from(offset > 100_000)]
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Receives one stream of one connection, and returns its length.
async fn serve(config: ServerConfig, listens: impl FnOnce()) -> usize {
    let endpoint = Endpoint::server(config, SERVER.parse().unwrap()).unwrap();
    listens();
    let connection = endpoint.accept().await.unwrap().await.unwrap();
    let mut stream = connection.accept_uni().await.unwrap();
    let bytes = stream.read_to_end(SENT).await.unwrap();
    connection.close(0u8.into(), b"");
    endpoint.wait_idle().await;
    bytes.len()
}

async fn send(certificate: CertificateDer<'static>) {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
    let mut transport = TransportConfig::default();
    // Send each packet by itself, so that each has the level of its own offset.
    transport.enable_segmentation_offload(false);
    config.transport_config(Arc::new(transport));
    let endpoint = Endpoint::client(CLIENT.parse::<SocketAddr>().unwrap()).unwrap();
    let to = SERVER.parse().unwrap();
    let connection = endpoint.connect_with(config, to, "far").unwrap().await.unwrap();
    let mut stream = connection.open_uni().await.unwrap();
    stream.write_all(&vec![7; SENT]).await.unwrap();
    stream.finish().unwrap();
    connection.closed().await;
    endpoint.wait_idle().await;
}

#[test]
fn a_quic_connection_is_tagged_as_one_flow() {
    if !lab::is_root("a_quic_connection_is_tagged_as_one_flow") {
        return;
    }
    let pair = Pair::new();
    let rule = "thresholds = \"20KB 100KB\"\ndscp = [40, 20, 3]\n[flows]\nidle = \"never\"\n";
    let agent = Agent::start(&pair, rule, &[]);
    let made = rcgen::generate_simple_self_signed(vec!["far".into()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(made.key_pair.serialize_der());
    let config = ServerConfig::with_single_cert(vec![certificate.clone()], key.into()).unwrap();
    let (listens, is_listening) = channel();
    let server =
        lab::on(&pair.b, move || runtime().block_on(serve(config, || listens.send(()).unwrap())));
    is_listening.recv_timeout(Duration::from_secs(30)).unwrap();
    let capture = Capture::start(&pair.b);
    lab::on(&pair.a, || runtime().block_on(send(certificate))).join().unwrap();
    assert_eq!(server.join().unwrap(), SENT);
    let frames = capture.end();
    let packets: Vec<Seen> = frames
        .iter()
        .filter_map(|frame| Seen::parse(frame))
        .filter(|packet| (packet.from, packet.to) == (4000, 5001))
        .collect();
    let mut offset = 0;
    for packet in &packets {
        assert_eq!(packet.dscp, level_at(offset), "offset {offset}");
        offset += packet.payload;
    }
    assert!(offset > SENT, "{offset} bytes were seen");
    // The library sets ECT(0) on its packets, and stops if they do not arrive with it.
    assert!(packets.iter().all(|packet| packet.ecn == 2), "the ECN bits are not its own");
    assert_eq!(agent.metric("flowsched_hash_flows_total"), 1);
}
