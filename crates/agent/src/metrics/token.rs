//! The bearer token that a client must show (RFC 6750).

use std::path::PathBuf;

use hyper::header::HeaderValue;
use subtle::ConstantTimeEq;

use super::reloaded::Reloaded;
use crate::error::AgentError;

/// The token in a file, read again when the file changes.
pub(super) struct Token(Reloaded<Vec<u8>, 1>);

impl Token {
    /// Reads the token.
    ///
    /// # Errors
    /// If the file cannot be read, or holds anything but one line of visible ASCII characters.
    pub(super) fn read(path: PathBuf) -> Result<Token, AgentError> {
        Reloaded::read([path], parse).map(Token)
    }

    /// Whether an `Authorization` header shows the token. The time it takes tells nothing but the
    /// token's length.
    pub(super) fn is_shown_by(&mut self, header: Option<&HeaderValue>) -> bool {
        let expected = self.0.current();
        let shown = header.and_then(|value| bearer(value.as_bytes()));
        shown.is_some_and(|shown| shown.ct_eq(expected).into())
    }
}

fn bearer(header: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = header.split_at_checked("bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| token.trim_ascii())
}

fn parse([path]: &[PathBuf; 1], [content]: &[Vec<u8>; 1]) -> Result<Vec<u8>, AgentError> {
    let token = content.trim_ascii_end();
    let wrong = if token.is_empty() {
        "the file is empty. Write a token to it, such as `openssl rand -hex 32` prints"
    } else if !token.iter().all(u8::is_ascii_graphic) {
        "a token is one line of visible ASCII characters"
    } else {
        return Ok(token.to_vec());
    };
    Err(AgentError::file(path, std::io::Error::other(wrong)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(content: &[u8]) -> Result<Vec<u8>, String> {
        let path = PathBuf::from("/etc/flowsched/token");
        parse(&[path], &[content.to_vec()]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_token_is_one_line() {
        assert_eq!(parsed(b"s3cret==\r\n").unwrap(), b"s3cret==");
        for content in [&b""[..], b"\n", b" \r\n"] {
            let error = parsed(content).unwrap_err();
            assert!(error.starts_with("/etc/flowsched/token: the file is empty"), "{error}");
        }
        for content in [&b"two\nlines"[..], b"two words", b"\xff"] {
            assert!(parsed(content).unwrap_err().contains("one line"), "{content:?}");
        }
    }

    #[test]
    fn only_a_bearer_shows_a_token() {
        assert_eq!(bearer(b"Bearer abc"), Some(&b"abc"[..]));
        assert_eq!(bearer(b"bearer  abc"), Some(&b"abc"[..]));
        assert_eq!(bearer(b"Bearer "), Some(&b""[..]));
        for header in [&b"Basic abc"[..], b"Bearerabc", b"Bear", b""] {
            assert_eq!(bearer(header), None);
        }
    }
}
