//! QUIC.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use quinn::rustls::RootCertStore;
use quinn::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use quinn::{ClientConfig, Connection, Endpoint, ServerConfig, TransportConfig, VarInt};

use super::Stop;
use crate::draw::Quic;
use crate::lab;
use crate::world::World;

/// A server and a client.
pub(super) struct Pair {
    /// All endpoints, which are closed at the end.
    endpoints: Endpoints,
}

type Endpoints = Arc<Mutex<Vec<Endpoint>>>;

fn add(endpoints: &Endpoints, endpoint: &Endpoint) {
    endpoints.lock().unwrap_or_else(PoisonError::into_inner).push(endpoint.clone());
}

impl Pair {
    pub(super) fn start(
        world: &World,
        quic: &Quic,
        at: SocketAddr,
        stop: &Stop,
        threads: &mut Vec<JoinHandle<()>>,
    ) -> Pair {
        let made = rcgen::generate_simple_self_signed(vec!["far".into()]).unwrap();
        let certificate = made.cert.der().clone();
        let key = PrivatePkcs8KeyDer::from(made.key_pair.serialize_der());
        let mut config =
            ServerConfig::with_single_cert(vec![certificate.clone()], key.into()).unwrap();
        let mut transport = transport();
        transport.receive_window(VarInt::from_u32(quic.window));
        transport.stream_receive_window(VarInt::from_u32(quic.window));
        config.transport_config(Arc::new(transport));
        let endpoints = Endpoints::default();
        let (listens, is_listening) = channel();
        let (to_close, pause) = (endpoints.clone(), quic.read_pause);
        threads.push(lab::on(&world.far, move || {
            runtime().block_on(async {
                let endpoint = Endpoint::server(config, at).unwrap();
                add(&to_close, &endpoint);
                listens.send(()).unwrap();
                serve(&endpoint, pause).await;
            });
        }));
        is_listening.recv().unwrap();
        let (to_close, bytes, stop) = (endpoints.clone(), quic.bytes, stop.clone());
        threads.push(lab::on(&world.pair.a, move || {
            while !stop.is_set() {
                runtime().block_on(async {
                    let any: SocketAddr = match at {
                        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
                        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
                    };
                    let endpoint = Endpoint::client(any).unwrap();
                    add(&to_close, &endpoint);
                    // A connection that breaks is followed by another one.
                    let _ = send(&endpoint, at, &certificate, bytes).await;
                    endpoint.close(0u8.into(), b"");
                });
                stop.sleep(Duration::from_millis(200));
            }
        }));
        Pair { endpoints }
    }

    pub(super) fn close(&self) {
        for endpoint in self.endpoints.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            endpoint.close(0u8.into(), b"");
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn transport() -> TransportConfig {
    let mut transport = TransportConfig::default();
    // Send each packet by itself, so that each has the level of its own offset.
    transport.enable_segmentation_offload(false);
    transport.max_idle_timeout(Some(Duration::from_secs(5).try_into().unwrap()));
    transport
}

/// Reads one stream of each connection, one connection after another.
async fn serve(endpoint: &Endpoint, pause: Duration) {
    while let Some(incoming) = endpoint.accept().await {
        if let Ok(connection) = incoming.await {
            let _ = read(&connection, pause).await;
            connection.close(0u8.into(), b"");
        }
    }
}

async fn read(connection: &Connection, pause: Duration) -> Option<()> {
    let mut stream = connection.accept_uni().await.ok()?;
    while stream.read_chunk(8 << 10, true).await.ok()?.is_some() {
        // The pause slows the whole server, including its acknowledgements.
        thread::sleep(pause);
    }
    Some(())
}

async fn send(
    endpoint: &Endpoint,
    to: SocketAddr,
    certificate: &CertificateDer<'static>,
    bytes: usize,
) -> Option<()> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).ok()?;
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots)).ok()?;
    config.transport_config(Arc::new(transport()));
    let connection = endpoint.connect_with(config, to, "far").ok()?.await.ok()?;
    let mut stream = connection.open_uni().await.ok()?;
    stream.write_all(&vec![7; bytes]).await.ok()?;
    stream.finish().ok()?;
    connection.closed().await;
    Some(())
}
