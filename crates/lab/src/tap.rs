//! A host's network card: a TAP interface whose other end is a file of this process.
//!
//! The kernel hands over every packet by itself. Without `IFF_VNET_HDR` a TAP interface has no segmentation or
//! checksum offload, so packets are at most an MTU long and have their checksums.
//!
//! The alternative would be AF_XDP over veth. It costs the machine a third more per frame (`benches/lab-cables.md`,
//! from `examples/cables`), because it only moves work from the switch's read to the host's send.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use crate::error::LabError;
use crate::sys;

/// The name of every host's network card.
pub const INTERFACE: &str = "eth0";

const DEVICE: &str = "/dev/net/tun";

/// The switch's end of a host's cable. It carries whole Ethernet frames and never blocks.
pub trait Cable {
    /// Reads the next frame that the host sent into `buffer`. Returns its length, or `None` if there is none now.
    ///
    /// # Errors
    /// If the system cannot read.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>>;

    /// What the host gets of a frame that has arrived; `None` if that is nothing.
    fn arrive(&mut self, frame: Vec<u8>) -> Option<Vec<u8>> {
        Some(frame)
    }

    /// The file that becomes readable when the host sends, and to which frames for the host are written.
    fn file(&self) -> BorrowedFd<'_>;
}

impl Cable for Box<dyn Cable + '_> {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        (**self).receive(buffer)
    }

    fn arrive(&mut self, frame: Vec<u8>) -> Option<Vec<u8>> {
        (**self).arrive(frame)
    }

    fn file(&self) -> BorrowedFd<'_> {
        (**self).file()
    }
}

/// The other end of a TAP interface. The interface ends when this is dropped.
#[derive(Debug)]
pub struct Tap {
    file: File,
}

impl Tap {
    /// Makes the interface [`INTERFACE`] in the namespace of the calling thread.
    ///
    /// # Errors
    /// [`LabError::NeedsRoot`] without the right to do so; [`LabError::System`] if the kernel has no
    /// TAP interfaces.
    pub fn new() -> Result<Tap, LabError> {
        let mut options = OpenOptions::new();
        let opened = options.read(true).write(true).custom_flags(libc::O_NONBLOCK).open(DEVICE);
        let file = opened.map_err(|e| LabError::system(format!("open {DEVICE}"), e))?;
        sys::make_tap(&file, INTERFACE).map_err(|e| LabError::system("make a TAP interface", e))?;
        Ok(Tap { file })
    }
}

impl Cable for Tap {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.file.read(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
