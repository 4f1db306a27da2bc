//! The endpoint that agents poll: HTTPS with mutual TLS. An agent's certificate names its group, and
//! the agent can read only that group's announcement.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flowsched_fleet::follow::{Identity, POLL, roots};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;

use crate::board::Board;
use crate::certificates;
use crate::error::ControllerError;
use crate::log;

/// The maximum number of open connections.
const CONNECTIONS: usize = 4096;
/// The time-out of a TLS handshake and of a request's head.
const PATIENCE: Duration = Duration::from_secs(10);
/// The certificates are read again at most this often.
const REFRESH: Duration = Duration::from_secs(10);
/// The longest request head in bytes.
const MAX_HEAD: usize = 16 << 10;

/// Reads the certificates and listens on `address`.
///
/// # Errors
/// If the certificates cannot be used, or if listening fails.
pub async fn bind(
    address: SocketAddr,
    identity: &Identity,
) -> Result<(TcpListener, Acceptor), ControllerError> {
    let acceptor = Acceptor::read(identity)?;
    let listener = TcpListener::bind(address)
        .await
        .map_err(|e| ControllerError::Failed(format!("cannot serve agents on {address}: {e}")))?;
    Ok((listener, acceptor))
}

/// Serves agents. Never returns.
pub async fn serve(listener: TcpListener, mut acceptor: Acceptor, board: Arc<Board>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let Ok((stream, who)) = listener.accept().await else {
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        let (acceptor, board) = (acceptor.current(), board.clone());
        tokio::spawn(async move {
            connection(stream, who, acceptor, board).await;
            drop(place);
        });
    }
}

async fn connection(stream: TcpStream, who: SocketAddr, acceptor: TlsAcceptor, board: Arc<Board>) {
    let stream = match timeout(PATIENCE, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return board.refuse(who, error),
        Err(_) => {
            return board.refuse(who, format_args!("no handshake within {} s", PATIENCE.as_secs()));
        }
    };
    let peer = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
    let group = peer.and_then(|certificate| certificates::group_of(certificate));
    let answer = service_fn(|request: Request<hyper::body::Incoming>| {
        let (group, board) = (group.clone(), board.clone());
        async move {
            let response = answer(&request, group.as_deref(), &board).await;
            if response.status() == StatusCode::FORBIDDEN {
                board.refuse(who, format_args!("{} is of another group", request.uri().path()));
            }
            Ok::<_, Infallible>(response)
        }
    });
    // Errors here are the client's: it disconnected, timed out or sent an invalid request.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), answer)
        .await;
}

async fn answer<B>(
    request: &Request<B>,
    own: Option<&str>,
    board: &Board,
) -> Response<Full<Bytes>> {
    let Some(group) = request.uri().path().strip_prefix("/v1/groups/") else {
        return plain(StatusCode::NOT_FOUND, "announcements are at /v1/groups/GROUP\n");
    };
    if request.method() != Method::GET {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "use GET\n");
    }
    if own != Some(group) {
        return plain(
            StatusCode::FORBIDDEN,
            "this certificate is not one of an agent of the group\n",
        );
    }
    let Some(mut published) = board.subscribe(group) else {
        return plain(StatusCode::NOT_FOUND, "the controller has no such group\n");
    };
    let query = request.uri().query().unwrap_or_default();
    if let Some(seen) = query.strip_prefix("not=") {
        let Ok(seen) = seen.parse::<u64>() else {
            return plain(StatusCode::BAD_REQUEST, "`not` is a version\n");
        };
        let _ = timeout(POLL, published.wait_for(|published| published.version != seen)).await;
        if published.borrow().version == seen {
            return plain(StatusCode::NO_CONTENT, "");
        }
    }
    let published = published.borrow().clone();
    match published.version {
        0 => plain(StatusCode::NO_CONTENT, ""),
        _ => Response::new(Full::new(published.text)),
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    response
}

/// A TLS acceptor that reads the certificates again from time to time, so that renewed ones take
/// effect.
pub struct Acceptor {
    identity: Identity,
    current: TlsAcceptor,
    read_at: Instant,
}

impl Acceptor {
    fn read(identity: &Identity) -> Result<Acceptor, ControllerError> {
        let current = acceptor(identity)?;
        Ok(Acceptor { identity: identity.clone(), current, read_at: Instant::now() })
    }

    fn current(&mut self) -> TlsAcceptor {
        if self.read_at.elapsed() >= REFRESH {
            self.read_at = Instant::now();
            match acceptor(&self.identity) {
                Ok(acceptor) => self.current = acceptor,
                Err(error) => log::warn(format_args!("{error}; the certificates stay as they are")),
            }
        }
        self.current.clone()
    }
}

fn acceptor(identity: &Identity) -> Result<TlsAcceptor, ControllerError> {
    let read =
        |path: &std::path::Path| std::fs::read(path).map_err(|e| ControllerError::file(path, e));
    let roots = roots(&identity.ca).map_err(ControllerError::Failed)?;
    let wrong = |error: &dyn std::fmt::Display| ControllerError::file(&identity.certificate, error);
    let chain = CertificateDer::pem_slice_iter(&read(&identity.certificate)?)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| wrong(&e))?;
    let key = PrivateKeyDer::from_pem_slice(&read(&identity.key)?)
        .map_err(|e| ControllerError::file(&identity.key, e))?;
    let provider = Arc::new(ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .build()
        .map_err(|e| ControllerError::file(&identity.ca, e))?;
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| wrong(&e))?
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, key)
        .map_err(|e| wrong(&e))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
