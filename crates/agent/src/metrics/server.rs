//! Connections of the metrics server, with limits on their number, time and size.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::task::{self, JoinHandle, LocalSet};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::site::Site;
use super::tls::Tls;
use super::token::Token;
use crate::config::Metrics;
use crate::error::AgentError;

/// The longest request line with its headers, in bytes.
pub(super) const MAX_HEAD: usize = 16 << 10;

/// The pause after accepting a connection has failed, for example because too many files are open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Limits on clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Connections at a time. A new connection replaces the oldest one: a scraper sends its request
    /// at once, whereas half-open connections grow old.
    pub(super) connections: usize,
    /// The time for a TLS handshake, for a request's head, and between two requests.
    pub(super) patience: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { connections: 256, patience: Duration::from_secs(10) }
    }
}

/// A server that listens. It answers once it runs.
pub(crate) struct Server {
    listener: TcpListener,
    tls: Option<Tls>,
    token: Option<Token>,
    pub(super) limits: Limits,
}

impl Server {
    /// Reads certificate and token, and listens on the address.
    ///
    /// # Errors
    /// If a file is invalid, or if listening fails.
    pub(crate) fn bind(settings: &Metrics) -> Result<Server, AgentError> {
        let tls = settings.tls.as_ref().map(Tls::read).transpose()?;
        let token = settings.token_file.clone().map(Token::read).transpose()?;
        let address = settings.address;
        let listen = || {
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        let listener = listen().map_err(|e: io::Error| {
            AgentError::kernel(format!("serve metrics on {address} (metrics.listen)"), e)
        })?;
        Ok(Server { listener, tls, token, limits: Limits::default() })
    }

    /// Answers with `page` for as long as the process lives, in a thread of its own. Returns the
    /// URL.
    ///
    /// # Errors
    /// If no thread can be started.
    pub(crate) fn run(
        self,
        page: impl FnMut() -> Result<String, AgentError> + Send + 'static,
    ) -> Result<String, AgentError> {
        let failed = |e: io::Error| AgentError::kernel("start the metrics server", e);
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let place = self.listener.local_addr().map_err(failed)?;
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let listener = {
            let _context = runtime.enter();
            tokio::net::TcpListener::from_std(self.listener).map_err(failed)?
        };
        let site = Site::new(page, self.token);
        thread::Builder::new()
            .name("metrics".into())
            .spawn(move || {
                let serving = serve(listener, self.tls, site, self.limits);
                LocalSet::new().block_on(&runtime, serving);
            })
            .map_err(failed)?;
        Ok(format!("{scheme}://{place}/metrics"))
    }
}

async fn serve(
    listener: tokio::net::TcpListener,
    mut tls: Option<Tls>,
    site: Site,
    limits: Limits,
) {
    let site = Rc::new(RefCell::new(site));
    let mut open: VecDeque<JoinHandle<()>> = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        open.retain(|connection| !connection.is_finished());
        if open.len() >= limits.connections
            && let Some(oldest) = open.pop_front()
        {
            oldest.abort();
        }
        let acceptor = tls.as_mut().map(Tls::acceptor);
        let connection = connection(stream, acceptor, site.clone(), limits.patience);
        open.push_back(task::spawn_local(connection));
        // A request that has arrived is answered before further connections are accepted.
        task::yield_now().await;
    }
}

/// Serves one connection, inside TLS if there is a certificate.
async fn connection(
    stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
    site: Rc<RefCell<Site>>,
    patience: Duration,
) {
    let Some(acceptor) = acceptor else { return talk(stream, &site, patience).await };
    if let Ok(Ok(stream)) = timeout(patience, acceptor.accept(stream)).await {
        talk(stream, &site, patience).await;
    }
}

async fn talk(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    site: &RefCell<Site>,
    patience: Duration,
) {
    let answer = service_fn(|request| {
        let response = site.borrow_mut().answer(&request);
        async move { Ok::<_, Infallible>(response) }
    });
    // Errors here are the client's: it disconnected, timed out or sent an invalid request.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), answer)
        .await;
}
