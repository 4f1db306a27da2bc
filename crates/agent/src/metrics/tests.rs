//! The server as its clients see it. The page is a closure here: no kernel is needed.

use std::collections::VecDeque;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rcgen::CertifiedKey;
use tempfile::TempDir;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::server::{Limits, MAX_HEAD, Server};
use crate::config::{Metrics, TlsFiles};
use crate::error::AgentError;

const PAGE: &str = "flowsched_build_info 1\n";

/// A server on any free port of this host.
fn plain() -> Metrics {
    Metrics { address: "127.0.0.1:0".parse().unwrap(), tls: None, token_file: None }
}

fn serve(settings: &Metrics, limits: Limits) -> SocketAddr {
    serve_page(settings, limits, || Ok(PAGE.to_owned()))
}

fn serve_page(
    settings: &Metrics,
    limits: Limits,
    page: fn() -> Result<String, AgentError>,
) -> SocketAddr {
    let mut server = Server::bind(settings).unwrap();
    server.limits = limits;
    let place = server.run(page).unwrap();
    let (scheme, rest) = place.split_once("://").unwrap();
    assert_eq!(scheme == "https", settings.tls.is_some());
    rest.strip_suffix("/metrics").unwrap().parse().unwrap()
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    // A server that never answers fails the test instead of hanging it.
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

/// The answer to a request with this line and these headers.
fn ask(address: SocketAddr, line: &str, headers: &str) -> String {
    ask_on(connect(address), line, headers).unwrap()
}

fn ask_on(mut stream: impl Read + Write, line: &str, headers: &str) -> std::io::Result<String> {
    write!(stream, "{line}\r\nHost: a\r\nConnection: close\r\n{headers}\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

#[test]
fn only_the_page_is_served_and_only_to_get_and_head() {
    let address = serve(&plain(), Limits::default());
    let cases = [
        ("GET /metrics HTTP/1.1", "HTTP/1.1 200 ", PAGE),
        ("GET /metrics?x HTTP/1.1", "HTTP/1.1 200 ", PAGE),
        ("GET /metrics HTTP/1.0", "HTTP/1.0 200 ", PAGE),
        ("GET http://a/metrics HTTP/1.1", "HTTP/1.1 200 ", PAGE),
        ("HEAD /metrics HTTP/1.1", "HTTP/1.1 200 ", ""),
        ("POST /metrics HTTP/1.1", "HTTP/1.1 405 ", "use GET or HEAD\n"),
        ("OPTIONS /metrics HTTP/1.1", "HTTP/1.1 405 ", "use GET or HEAD\n"),
        ("GET / HTTP/1.1", "HTTP/1.1 404 ", "the metrics are at /metrics\n"),
        ("GET /metrics/x HTTP/1.1", "HTTP/1.1 404 ", "the metrics are at /metrics\n"),
        ("GET", "HTTP/1.1 400 ", ""),
    ];
    for (line, status, body) in cases {
        let answer = ask(address, line, "");
        assert!(answer.starts_with(status), "{line}\n{answer}");
        assert!(answer.ends_with(&format!("\r\n\r\n{body}")), "{line}\n{answer}");
    }
    let head = ask(address, "HEAD /metrics HTTP/1.1", "").to_lowercase();
    assert!(head.contains(&format!("\r\ncontent-length: {}\r\n", PAGE.len())), "{head}");
    assert!(head.contains("\r\ncontent-type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    let refused = ask(address, "DELETE /metrics HTTP/1.1", "").to_lowercase();
    assert!(refused.contains("\r\nallow: get, head\r\n"), "{refused}");
}

#[test]
fn a_page_that_cannot_be_made_is_unavailable() {
    let failing = || Err(AgentError::Missing("no tagger is installed".into()));
    let address = serve_page(&plain(), Limits::default(), failing);
    let answer = ask(address, "GET /metrics HTTP/1.1", "");
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(answer.ends_with("\r\n\r\nno tagger is installed\n"), "{answer}");
}

#[test]
fn a_scraper_gets_through_beside_thousands_of_half_open_connections() {
    // The patience is so long that only the limit on their number closes connections.
    let limits = Limits { connections: 32, patience: Duration::from_secs(86_400) };
    let address = serve(&plain(), limits);
    let mut open = VecDeque::new();
    for attempt in 0..5_000 {
        let mut stream = connect(address);
        // The server may have closed it already, to make room for a later one.
        let _ = stream.write_all(b"GET /metrics HT");
        open.push_back(stream);
        if open.len() > 506 {
            open.pop_front();
        }
        if attempt % 1_000 == 999 {
            assert!(ask(address, "GET /metrics HTTP/1.1", "").ends_with(PAGE));
        }
    }
    for mut evicted in open.into_iter().take(506 - limits.connections) {
        let read = evicted.read(&mut [0]).map_err(|error| error.kind());
        assert!(matches!(read, Ok(0) | Err(ErrorKind::ConnectionReset)), "{read:?}");
    }
}

#[test]
fn silence_ends_a_connection() {
    let limits = Limits { patience: Duration::from_millis(50), ..Limits::default() };
    let folder = TempDir::new().unwrap();
    let (settings, _) = with_tls(folder.path());
    let whole = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";
    for (address, sent) in [
        (serve(&plain(), limits), ""),
        (serve(&plain(), limits), "GET /metrics HTTP/1.1\r\nHost:"),
        (serve(&plain(), limits), whole),
        (serve(&settings, limits), ""),
    ] {
        let mut stream = connect(address);
        stream.write_all(sent.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(answer.ends_with(PAGE), sent == whole, "{answer}");
    }
}

#[test]
fn a_connection_serves_several_requests() {
    let address = serve(&plain(), Limits::default());
    let mut stream = connect(address);
    let mut answer = vec![0; 4096];
    for _ in 0..3 {
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        let mut length = 0;
        while !answer[..length].ends_with(PAGE.as_bytes()) {
            length += match stream.read(&mut answer[length..]).unwrap() {
                0 => panic!("closed after {:?}", String::from_utf8_lossy(&answer[..length])),
                more => more,
            };
        }
    }
}

#[test]
fn a_head_that_is_too_long_is_refused_when_the_limit_is_reached() {
    let address = serve(&plain(), Limits::default());
    let line = format!("GET /{}", "a".repeat(MAX_HEAD));
    let headers = format!("GET /metrics HTTP/1.1\r\nHost: {}", "a".repeat(MAX_HEAD));
    let many = format!("GET /metrics HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(200));
    for head in [&line[..MAX_HEAD], &headers[..MAX_HEAD], &many] {
        let mut stream = connect(address);
        stream.write_all(head.as_bytes()).unwrap();
        // The answer does not wait for the request's end.
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 431", "{} bytes", head.len());
    }
}

fn with_token(folder: &Path, token: &str) -> (Metrics, PathBuf) {
    let file = folder.join("token");
    fs::write(&file, token).unwrap();
    (Metrics { token_file: Some(file.clone()), ..plain() }, file)
}

/// The status of the answer to a client with this token.
fn status_with(address: SocketAddr, token: &str) -> u16 {
    let header = format!("Authorization: Bearer {token}\r\n");
    let answer = ask(address, "GET /metrics HTTP/1.1", &header);
    answer["HTTP/1.1 ".len()..][..3].parse().unwrap()
}

#[test]
fn the_page_takes_the_token_where_there_is_one() {
    let folder = TempDir::new().unwrap();
    let (settings, _) = with_token(folder.path(), "s3cret\n");
    let address = serve(&settings, Limits::default());
    assert_eq!(status_with(address, "s3cret"), 200);
    for wrong in ["", "s3cre", "s3crets", "S3cret"] {
        assert_eq!(status_with(address, wrong), 401, "{wrong}");
    }
    for (line, header) in [
        ("GET /metrics HTTP/1.1", ""),
        ("GET /metrics HTTP/1.1", "Authorization: Basic s3cret\r\n"),
        // Without the token, not even the existence of a page may be learned.
        ("GET / HTTP/1.1", ""),
        ("POST /metrics HTTP/1.1", ""),
    ] {
        let answer = ask(address, line, header);
        assert!(answer.starts_with("HTTP/1.1 401 "), "{line}\n{answer}");
        let answer = answer.to_lowercase();
        assert!(answer.contains("\r\nwww-authenticate: bearer realm="), "{answer}");
    }
}

#[test]
fn a_new_token_is_in_force_at_once_and_a_broken_one_never() {
    let folder = TempDir::new().unwrap();
    let (settings, file) = with_token(folder.path(), "first");
    let address = serve(&settings, Limits::default());
    assert_eq!(status_with(address, "first"), 200);
    fs::write(&file, "other").unwrap();
    assert_eq!((status_with(address, "first"), status_with(address, "other")), (401, 200));
    for broken in ["", "two\nlines\n"] {
        fs::write(&file, broken).unwrap();
        assert_eq!((status_with(address, "other"), status_with(address, "")), (200, 401));
    }
    fs::remove_file(&file).unwrap();
    assert_eq!(status_with(address, "other"), 200);
    fs::write(&file, "third").unwrap();
    assert_eq!((status_with(address, "other"), status_with(address, "third")), (401, 200));
}

fn certificate() -> CertifiedKey {
    rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap()
}

fn write_pem(files: &TlsFiles, made: &CertifiedKey) {
    fs::write(&files.certificate, made.cert.pem()).unwrap();
    fs::write(&files.key, made.key_pair.serialize_pem()).unwrap();
}

fn with_tls(folder: &Path) -> (Metrics, CertifiedKey) {
    let files = TlsFiles { certificate: folder.join("cert.pem"), key: folder.join("key.pem") };
    let made = certificate();
    write_pem(&files, &made);
    (Metrics { tls: Some(files), ..plain() }, made)
}

/// The answer to a client that trusts only this certificate.
fn ask_trusting(address: SocketAddr, trusted: &CertifiedKey) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.cert.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    ask_on(StreamOwned::new(client, connect(address)), "GET /metrics HTTP/1.1", "")
}

#[test]
fn the_page_is_served_over_tls() {
    let folder = TempDir::new().unwrap();
    let (settings, made) = with_tls(folder.path());
    let address = serve(&settings, Limits::default());
    let answer = ask_trusting(address, &made).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with(PAGE), "{answer}");
    assert!(ask_trusting(address, &certificate()).is_err(), "any certificate is trusted");
    let unencrypted = ask_on(connect(address), "GET /metrics HTTP/1.1", "");
    assert!(!unencrypted.is_ok_and(|answer| answer.contains(PAGE)));
}

#[test]
fn a_new_certificate_is_in_force_when_its_key_is_there() {
    let folder = TempDir::new().unwrap();
    let (settings, old) = with_tls(folder.path());
    let address = serve(&settings, Limits::default());
    let new = certificate();
    let files = settings.tls.unwrap();
    fs::write(&files.certificate, new.cert.pem()).unwrap();
    assert!(ask_trusting(address, &old).unwrap().ends_with(PAGE), "with half of what is new");
    write_pem(&files, &new);
    assert!(ask_trusting(address, &new).unwrap().ends_with(PAGE));
    assert!(ask_trusting(address, &old).is_err(), "the old certificate is still shown");
    fs::write(&files.key, "").unwrap();
    assert!(ask_trusting(address, &new).unwrap().ends_with(PAGE), "without a key");
}

#[test]
fn what_cannot_be_served_is_refused_at_the_start() {
    let folder = TempDir::new().unwrap();
    let refusal = |settings: &Metrics| Server::bind(settings).err().unwrap().to_string();
    let path = |name: &str| folder.path().join(name).display().to_string();

    let (settings, file) = with_token(folder.path(), "\n");
    assert!(refusal(&settings).starts_with(&format!("{}: the file is empty", path("token"))));
    fs::remove_file(&file).unwrap();
    assert!(refusal(&settings).starts_with(&format!("{}: No such file", path("token"))));
    fs::create_dir(&file).unwrap();
    assert!(refusal(&settings).starts_with(&format!("{}: this is not a reg", path("token"))));

    let (settings, _) = with_tls(folder.path());
    let files = settings.tls.clone().unwrap();
    fs::write(&files.key, certificate().key_pair.serialize_pem()).unwrap();
    let mismatch = refusal(&settings);
    assert!(mismatch.starts_with(&path("cert.pem")), "{mismatch}");
    assert!(mismatch.contains(&path("key.pem")) && mismatch.contains("KeyMismatch"), "{mismatch}");
    fs::write(&files.key, "hello").unwrap();
    assert!(refusal(&settings).starts_with(&format!("{}: the file has no priv", path("key.pem"))));
    fs::write(&files.certificate, "hello").unwrap();
    assert!(refusal(&settings).starts_with(&format!("{}: the file has no cert", path("cert.pem"))));

    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let settings = Metrics { address: taken.local_addr().unwrap(), ..plain() };
    let refused = refusal(&settings);
    assert!(refused.contains("metrics.listen") && refused.contains("in use"), "{refused}");
}
