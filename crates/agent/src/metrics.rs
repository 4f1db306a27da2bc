//! Counters for Prometheus: `GET /metrics`. Reads the pinned maps anew for each request.

mod format;
mod page;

use std::net::SocketAddr;
use std::thread;

use tiny_http::{Header, Response, Server};

use crate::error::AgentError;
use crate::pins::Places;
use page::producer;
pub(crate) use page::text;

/// Serves the metrics for as long as the process lives.
///
/// # Errors
/// If the address cannot be listened on.
pub(crate) fn serve(places: Places, address: SocketAddr) -> Result<(), AgentError> {
    let server = Server::http(address)
        .map_err(|e| AgentError::kernel(format!("serve metrics on {address}"), e))?;
    thread::spawn(move || {
        let mut page = producer(places);
        for request in server.incoming_requests() {
            let answer = match request.url() {
                "/metrics" => match page() {
                    Ok(text) => plain(text, 200),
                    Err(error) => plain(format!("{error}\n"), 503),
                },
                _ => plain("the metrics are at /metrics\n".into(), 404),
            };
            // A client that went away is no concern of ours.
            let _ = request.respond(answer);
        }
    });
    Ok(())
}

fn plain(text: String, code: u16) -> Response<std::io::Cursor<Vec<u8>>> {
    let response = Response::from_string(text).with_status_code(code);
    match Header::from_bytes("Content-Type", "text/plain; version=0.0.4") {
        Ok(header) => response.with_header(header),
        Err(()) => response,
    }
}
