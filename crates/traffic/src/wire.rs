//! What client and server say to each other: that of the PIAS authors' generator.
//!
//! A request is four numbers of 32 bits in the byte order of the machine, which both ends share: the
//! flow's number, its size in bytes, the type of service (four times the DSCP) and the rate in Mbps, 0
//! for no limit. The server sends the request back, and then as many bytes as it asks for. Number 0 asks
//! to end the connection.

use std::io::{self, ErrorKind, Read, Write};

/// Bytes of a request.
pub(crate) const LENGTH: usize = 16;

/// A request for a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    /// The flow's number, from 1; 0: the connection ends.
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

    /// `None` if the type of service is none.
    pub(crate) fn from_bytes(all: [u8; LENGTH]) -> Option<Request> {
        let word = |at: usize| u32::from_ne_bytes([all[at], all[at + 1], all[at + 2], all[at + 3]]);
        let dscp = u8::try_from(word(8)).ok()? >> 2;
        Some(Request { flow: word(0), bytes: word(4), dscp, rate_mbps: word(12) })
    }
}

/// A request that is being read or written, on a socket that never blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passing {
    bytes: [u8; LENGTH],
    done: usize,
}

impl Passing {
    /// To be written.
    pub(crate) fn of(request: Request) -> Passing {
        Passing { bytes: request.to_bytes(), done: 0 }
    }

    /// Writes what the kernel takes: whether all of it is written.
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

    /// Reads what has come: the request, once it is whole.
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
