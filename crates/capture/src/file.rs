//! The files of a run's captures: one per port.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use flowsched_topology::{Network, PortId};
use flowsched_units::Time;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, PcapError};

use crate::error::CaptureError;
use crate::port_name::find_ports;

/// The number of bytes kept of each frame: all headers and the beginning of the payload.
pub const SNAP_LENGTH: usize = 128;
/// Timestamps are in 10^-9 s.
const NANOSECONDS: u8 = 9;

/// The captures of one run. The default captures no port.
#[derive(Debug, Default)]
pub struct Captures {
    files: BTreeMap<PortId, CaptureFile>,
    failure: Option<CaptureError>,
}

struct CaptureFile {
    path: PathBuf,
    writer: PcapNgWriter<BufWriter<File>>,
}

impl Captures {
    /// Creates a file in `folder` for each port of `network` in `names`, such as `leaf0-3.pcapng` for
    /// `leaf0:3`. Replaces existing files.
    ///
    /// # Errors
    /// Those of [`find_ports`] before any file is created, or [`CaptureError::Write`].
    pub fn create(
        folder: &Path,
        network: &Network,
        names: &[String],
    ) -> Result<Captures, CaptureError> {
        let ports = find_ports(network, names)?;
        let failed = |source| CaptureError::Write { path: folder.to_owned(), source };
        fs::create_dir_all(folder).map_err(failed)?;
        let mut files = BTreeMap::new();
        for (name, port) in names.iter().zip(ports) {
            let letters = name.chars().filter(|c| !c.is_whitespace());
            let file: String =
                letters.map(|c| if matches!(c, ':' | '/') { '-' } else { c }).collect();
            let path = folder.join(format!("{file}.pcapng"));
            files.insert(port, CaptureFile::create(path, name)?);
        }
        Ok(Captures { files, failure: None })
    }

    /// Whether this port is captured.
    pub fn wants(&self, port: PortId) -> bool {
        self.files.contains_key(&port)
    }

    /// Writes a frame whose first bit leaves `port` at `at`. `frame` may be only the beginning; `length` is
    /// its length on the wire in bytes. After a failure nothing more is written, and [`Captures::finish`]
    /// returns the error.
    pub fn write(&mut self, port: PortId, at: Time, frame: &[u8], length: usize) {
        let Some(file) = self.files.get_mut(&port).filter(|_| self.failure.is_none()) else {
            return;
        };
        if let Err(error) = file.write(at, frame, length) {
            self.failure = Some(error);
        }
    }

    /// Flushes all files.
    ///
    /// # Errors
    /// The first failure of a write.
    pub fn finish(&mut self) -> Result<(), CaptureError> {
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => self.files.values_mut().try_for_each(CaptureFile::finish),
        }
    }
}

impl fmt::Debug for CaptureFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CaptureFile").field("path", &self.path).finish_non_exhaustive()
    }
}

impl CaptureFile {
    fn create(path: PathBuf, name: &str) -> Result<CaptureFile, CaptureError> {
        let interface = InterfaceDescriptionBlock {
            linktype: DataLink::ETHERNET,
            snaplen: SNAP_LENGTH as u32,
            options: vec![
                InterfaceDescriptionOption::IfName(Cow::Borrowed(name)),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ],
        };
        let create = || {
            let file = BufWriter::new(File::create(&path)?);
            let mut writer = PcapNgWriter::new(file).map_err(into_io)?;
            writer.write_pcapng_block(interface).map_err(into_io)?;
            Ok(writer)
        };
        match create() {
            Ok(writer) => Ok(CaptureFile { path, writer }),
            Err(source) => Err(CaptureError::Write { path, source }),
        }
    }

    fn write(&mut self, at: Time, frame: &[u8], length: usize) -> Result<(), CaptureError> {
        let block = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_nanos(at.as_ps() / 1_000),
            original_len: length as u32,
            data: Cow::Borrowed(frame.get(..SNAP_LENGTH).unwrap_or(frame)),
            options: Vec::new(),
        };
        let written = self.writer.write_pcapng_block(block);
        written.map(|_| ()).map_err(|error| self.failed(into_io(error)))
    }

    fn finish(&mut self) -> Result<(), CaptureError> {
        self.writer.get_mut().flush().map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> CaptureError {
        CaptureError::Write { path: self.path.clone(), source }
    }
}

fn into_io(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other.to_string()),
    }
}
