//! A host's network card: a TAP interface whose other end is a file of this process.
//!
//! The kernel hands over every packet by itself: without `IFF_VNET_HDR` a TAP interface has no
//! segmentation or checksum offload, so that packets are at most an MTU long and have their
//! checksums.
//!
//! AF_XDP over veth would be the other choice. Per frame it costs the machine a third more (`benches/lab-cables.md`,
//! from `examples/cables`), since it only moves work from the switch's read to the host's send.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use crate::error::LabError;
use crate::sys;

/// What every host calls its network card.
pub const INTERFACE: &str = "eth0";

const DEVICE: &str = "/dev/net/tun";

/// The switch's end of a host's cable: whole Ethernet frames, never blocking.
pub trait Cable {
    /// Reads the next frame that the host sent into `buffer`: its length, or `None` if there is
    /// none now.
    ///
    /// # Errors
    /// What the system says.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>>;

    /// Hands the host a frame. Whether the host took it: it has no room if it does not keep up.
    ///
    /// # Errors
    /// What the system says.
    fn send(&mut self, frame: &[u8]) -> io::Result<bool>;

    /// What becomes readable when the host sends.
    fn readable(&self) -> BorrowedFd<'_>;
}

impl Cable for Box<dyn Cable + '_> {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        (**self).receive(buffer)
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<bool> {
        (**self).send(frame)
    }

    fn readable(&self) -> BorrowedFd<'_> {
        (**self).readable()
    }
}

/// The other end of a TAP interface. The interface goes when this is dropped.
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

    fn send(&mut self, frame: &[u8]) -> io::Result<bool> {
        match self.file.write(frame) {
            Ok(length) => Ok(length == frame.len()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn readable(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
