//! Long polling of the controller: each request waits until the group's version differs from the last
//! version that this host has seen.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::causes::causes;
use super::source::{Event, PATIENCE, POLL, Source};
use crate::announcement::{Announcement, MAX_BYTES};

type Sender = http1::SendRequest<Empty<Bytes>>;

/// Follows until something fails. Returns the error.
pub(super) async fn follow(source: &Source, url: &str, report: &mut impl FnMut(Event)) -> String {
    let error = attempt(source, url, report).await.err().unwrap_or_default();
    format!("{url}: {error}")
}

async fn attempt(source: &Source, url: &str, report: &mut impl FnMut(Event)) -> Result<(), String> {
    let uri: Uri = url.parse().map_err(|e| format!("this is no address ({e})"))?;
    let host = uri.host().ok_or("this address has no host")?.to_owned();
    let mut sender = connect(source, &uri, &host).await?;
    let mut seen = None;
    loop {
        let wait = seen.map_or(String::new(), |version: u64| format!("?not={version}"));
        let request = Request::get(format!("/v1/groups/{}{wait}", source.group))
            .header("host", &host)
            .body(Empty::new())
            .map_err(|e| format!("no request can be made of this group's name ({e})"))?;
        let response = within(POLL + PATIENCE, sender.send_request(request)).await?;
        let (status, body) = read(response).await?;
        match status {
            StatusCode::OK => {
                // An invalid announcement counts as version 0, so that the next poll waits for another one.
                seen = Some(Announcement::parse(&body).map_or(0, |heard| heard.version));
                report(Event::InTouch);
                report(Event::Announced(body));
            }
            StatusCode::NO_CONTENT => {
                report(Event::InTouch);
                seen = seen.or(Some(0));
            }
            status => return Err(format!("{status}: {}", String::from_utf8_lossy(&body).trim())),
        }
    }
}

async fn connect(source: &Source, uri: &Uri, host: &str) -> Result<Sender, String> {
    let config = source.identity.client()?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let name = ServerName::try_from(host.to_owned()).map_err(|e| e.to_string())?;
    let address = (host, uri.port_u16().unwrap_or(443));
    let stream = within(PATIENCE, TcpStream::connect(address)).await?;
    let tls = TlsConnector::from(Arc::new(config));
    let stream = within(PATIENCE, tls.connect(name, stream)).await?;
    let (sender, connection) = within(PATIENCE, http1::handshake(TokioIo::new(stream))).await?;
    tokio::spawn(connection);
    Ok(sender)
}

async fn read(response: Response<hyper::body::Incoming>) -> Result<(StatusCode, Vec<u8>), String> {
    let (head, body) = response.into_parts();
    let body = within(PATIENCE, Limited::new(body, MAX_BYTES + 1).collect()).await?;
    Ok((head.status, body.to_bytes().to_vec()))
}

async fn within<T, E: Into<Box<dyn Error + Send + Sync>>>(
    patience: Duration,
    action: impl Future<Output = Result<T, E>>,
) -> Result<T, String> {
    match timeout(patience, action).await {
        Ok(result) => result.map_err(|e| causes(&*e.into())),
        Err(_) => Err(format!("no answer within {} s", patience.as_secs())),
    }
}
