//! A small HTTP client: one GET at a time on a connection that is kept open, with or without TLS.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use flowsched_fleet::follow::{causes, roots};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;

/// The time-out of a request for a page, including the time to connect.
pub const PAGE: Duration = Duration::from_secs(10);
/// The longest answer in bytes: enough for an answer of Prometheus about 10,000 hosts.
const MOST: usize = 64 << 20;

type Sender = http1::SendRequest<Empty<Bytes>>;

/// A server, and the open connection to it if there is one.
pub struct Server {
    uri: Uri,
    tls: Option<Arc<ClientConfig>>,
    token: Option<String>,
    patience: Duration,
    sender: Option<Sender>,
}

impl Server {
    /// A server at `url`. HTTPS needs `tls`; `token` is sent as a bearer token. An answer that takes
    /// longer than `patience`, including the time to connect, is an error.
    ///
    /// # Errors
    /// If `url` is not a URL or has no host.
    pub fn new(
        url: &str,
        tls: Option<Arc<ClientConfig>>,
        token: Option<String>,
        patience: Duration,
    ) -> Result<Server, String> {
        let uri: Uri = url.parse().map_err(|e| format!("{url} is no address: {e}"))?;
        if uri.host().is_none() {
            return Err(format!("{url} has no host"));
        }
        Ok(Server { uri, tls, token, patience, sender: None })
    }

    /// The path of the server's address without a slash at its end. Pages may be below this path.
    pub fn path(&self) -> &str {
        self.uri.path().trim_end_matches('/')
    }

    /// The body of the page at `path`.
    ///
    /// # Errors
    /// If the server cannot be reached, answers with an error status, or takes longer than its patience.
    pub async fn get(&mut self, path: &str) -> Result<String, String> {
        let answered = timeout(self.patience, self.attempt(path)).await;
        let result = match answered {
            Ok(result) => result,
            Err(_) => Err(format!("no answer within {} s", self.patience.as_secs())),
        };
        if result.is_err() {
            self.sender = None;
        }
        result.map_err(|error| format!("{}: {error}", self.uri))
    }

    async fn attempt(&mut self, path: &str) -> Result<String, String> {
        let kept = match self.sender.take() {
            Some(mut sender) => sender.ready().await.is_ok().then_some(sender),
            None => None,
        };
        let mut sender = match kept {
            Some(sender) => sender,
            None => self.connect().await?,
        };
        let authority = self.uri.authority().map_or("", |authority| authority.as_str());
        let mut request = Request::get(path).header("host", authority);
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(Empty::new()).map_err(|e| e.to_string())?;
        let response = sender.send_request(request).await.map_err(|e| causes(&e))?;
        let status = response.status();
        let body = Limited::new(response.into_body(), MOST).collect().await;
        let body = body.map_err(|e| e.to_string())?.to_bytes();
        self.sender = Some(sender);
        let text = String::from_utf8_lossy(&body).into_owned();
        if status.is_success() { Ok(text) } else { Err(format!("{status}: {}", text.trim())) }
    }

    async fn connect(&self) -> Result<Sender, String> {
        let host = self.uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let is_tls = self.uri.scheme_str() == Some("https");
        let port = self.uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let stream = TcpStream::connect((host.as_str(), port)).await.map_err(|e| e.to_string())?;
        if !is_tls {
            return speak(stream).await;
        }
        let tls = self.tls.clone().ok_or("`collect.ca` is missing, which HTTPS needs")?;
        let name = ServerName::try_from(host).map_err(|e| e.to_string())?;
        let tls = TlsConnector::from(tls).connect(name, stream).await;
        speak(tls.map_err(|e| e.to_string())?).await
    }
}

async fn speak<S>(stream: S) -> Result<Sender, String>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|e| causes(&e))?;
    tokio::spawn(connection);
    Ok(sender)
}

/// A TLS client that trusts the authority whose certificates are in the file `ca`.
///
/// # Errors
/// If the file cannot be read or a certificate in it is invalid.
pub fn trust(ca: &Path) -> Result<Arc<ClientConfig>, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", ca.display());
    let roots = roots(ca)?;
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|e| wrong(&e))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}
