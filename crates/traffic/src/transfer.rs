//! The two ends of a flow: meaningless bytes, written to and read from non-blocking sockets.

use std::io::{self, ErrorKind, Read, Write};

/// The maximum number of bytes per system call.
pub(crate) const CHUNK: usize = 1 << 18;
static ZEROS: [u8; CHUNK] = [0; CHUNK];

/// The sender's end of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outgoing {
    unsent: u64,
}

impl Outgoing {
    /// A flow of this many bytes.
    pub fn new(bytes: u64) -> Outgoing {
        Outgoing { unsent: bytes }
    }

    /// Bytes that the kernel has not taken.
    pub fn unsent(self) -> u64 {
        self.unsent
    }

    /// Writes until the kernel would block. Returns the number of bytes written. Calls `around` with true
    /// before each write that includes the last byte, and with false after it.
    ///
    /// # Errors
    /// If the system refuses for another reason than a full socket buffer.
    pub fn write<S>(
        &mut self,
        socket: &S,
        mut around: impl FnMut(&S, bool) -> io::Result<()>,
    ) -> io::Result<u64>
    where
        for<'a> &'a S: Write,
    {
        let before = self.unsent;
        while self.unsent > 0 {
            let chunk = self.unsent.min(CHUNK as u64) as usize;
            let is_last = chunk as u64 == self.unsent;
            if is_last {
                around(socket, true)?;
            }
            let mut end = socket;
            let written = end.write(&ZEROS[..chunk]);
            if is_last {
                around(socket, false)?;
            }
            match written {
                Ok(bytes) => self.unsent -= bytes as u64,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(before - self.unsent)
    }
}

/// The receiver's end of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Incoming {
    to_come: u64,
}

impl Incoming {
    /// A flow of this many bytes.
    pub fn new(bytes: u64) -> Incoming {
        Incoming { to_come: bytes }
    }

    /// Bytes that have not been read.
    pub fn to_come(self) -> u64 {
        self.to_come
    }

    /// Reads into `buffer` until the kernel would block or the flow ends. Returns whether this call read the
    /// last byte.
    ///
    /// # Errors
    /// [`ErrorKind::UnexpectedEof`] if the connection ended early, or an error of the system.
    pub fn read<S>(&mut self, socket: &S, buffer: &mut [u8]) -> io::Result<bool>
    where
        for<'a> &'a S: Read,
    {
        while self.to_come > 0 {
            let room = self.to_come.min(buffer.len() as u64) as usize;
            let mut end = socket;
            match end.read(&mut buffer[..room]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(bytes) => self.to_come -= bytes as u64,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if self.to_come == 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
