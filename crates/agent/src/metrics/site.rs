//! Answers requests: with the page for clients that may see it, with an error for all others.

use hyper::header::{ALLOW, AUTHORIZATION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Method, Request, Response, StatusCode};

use super::token::Token;
use crate::error::AgentError;

const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const EXPOSITION: HeaderValue =
    HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// Everything that is served: one page.
pub(super) struct Site {
    page: Box<dyn FnMut() -> Result<String, AgentError> + Send>,
    token: Option<Token>,
}

impl Site {
    pub(super) fn new(
        page: impl FnMut() -> Result<String, AgentError> + Send + 'static,
        token: Option<Token>,
    ) -> Site {
        Site { page: Box::new(page), token }
    }

    /// The response to one request. The server strips the body for HEAD.
    pub(super) fn answer<B>(&mut self, request: &Request<B>) -> Response<String> {
        let shown = request.headers().get(AUTHORIZATION);
        if self.token.as_mut().is_some_and(|token| !token.is_shown_by(shown)) {
            let text = "this page needs the bearer token of metrics.bearer-token-file\n";
            let challenge = HeaderValue::from_static("Bearer realm=\"flowsched\"");
            let mut response = plain(StatusCode::UNAUTHORIZED, text);
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
            return response;
        }
        if request.uri().path() != "/metrics" {
            return plain(StatusCode::NOT_FOUND, "the metrics are at /metrics\n");
        }
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "use GET or HEAD\n");
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        match (self.page)() {
            Ok(text) => response(StatusCode::OK, EXPOSITION, text),
            Err(error) => plain(StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")),
        }
    }
}

fn plain(status: StatusCode, text: impl Into<String>) -> Response<String> {
    response(status, PLAIN, text.into())
}

fn response(status: StatusCode, kind: HeaderValue, text: String) -> Response<String> {
    let mut response = Response::new(text);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
