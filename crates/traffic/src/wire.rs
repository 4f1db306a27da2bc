//! The protocol between client and server, which is that of the PIAS authors' generator.
//!
//! A request consists of four 32-bit numbers: the flow's number, its size in bytes, the type of service
//! (four times the DSCP), and the rate in Mbps (0 means no limit). The byte order is the machine's, which
//! both ends must share. The server echoes the request, and then sends that many bytes. Flow number 0 asks
//! the server to close the connection.

use std::io::{self, ErrorKind, Read, Write};

/// Bytes of a request.
pub(crate) const LENGTH: usize = 16;

/// A request for a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    /// The flow's number, from 1; 0 asks the server to close the connection.
    pub(crate) flow: u32,
    pub(crate) bytes: u32,
    pub(crate) dscp: u8,
    pub(crate) rate_mbps: u32,
}

impl Request {
    pub(crate) fn to_bytes(self) -> [u8; LENGTH] {
        let Request { flow, bytes, dscp, rate_mbps } = self;
        let words = [flow, bytes, u32::from(dscp) << 2, rate_mbps];
        let mut all = [0; LENGTH];
        for (place, word) in all.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        all
    }

    /// Parses a request; `None` if the type of service is above 255.
    pub(crate) fn from_bytes(all: [u8; LENGTH]) -> Option<Request> {
        let word = |at: usize| u32::from_ne_bytes([all[at], all[at + 1], all[at + 2], all[at + 3]]);
        let dscp = u8::try_from(word(8)).ok()? >> 2;
        Some(Request { flow: word(0), bytes: word(4), dscp, rate_mbps: word(12) })
    }
}

/// A request that is partly read or written, on a non-blocking socket.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passing {
    bytes: [u8; LENGTH],
    done: usize,
}

impl Passing {
    /// A request to write.
    pub(crate) fn of(request: Request) -> Passing {
        Passing { bytes: request.to_bytes(), done: 0 }
    }

    /// Writes until the kernel would block. Returns whether the whole request is written.
    pub(crate) fn write<S>(&mut self, mut socket: &S) -> io::Result<bool>
    where
        for<'a> &'a S: Write,
    {
        while self.done < LENGTH {
            match socket.write(&self.bytes[self.done..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(bytes) => self.done += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Reads until the kernel would block. Returns the request when it is complete.
    pub(crate) fn read<S>(&mut self, mut socket: &S) -> io::Result<Option<Request>>
    where
        for<'a> &'a S: Read,
    {
        while self.done < LENGTH {
            match socket.read(&mut self.bytes[self.done..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(bytes) => self.done += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let bytes = std::mem::take(self).bytes;
        Request::from_bytes(bytes).map(Some).ok_or_else(|| ErrorKind::InvalidData.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_it_was_written_and_a_wrong_service_refused() {
        let request = Request { flow: 7, bytes: 3_000_000_000, dscp: 46, rate_mbps: 500 };
        let bytes = request.to_bytes();
        assert_eq!(bytes[8..12], 184_u32.to_ne_bytes());
        assert_eq!(Request::from_bytes(bytes), Some(request));
        let mut wrong = bytes;
        wrong[8..12].copy_from_slice(&256_u32.to_ne_bytes());
        assert_eq!(Request::from_bytes(wrong), None);
    }
}
