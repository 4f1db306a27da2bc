//! Identifies the file of a table by length and checksum.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The length and checksum of a table's file. Equal runs give equal values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFile {
    /// Its length in bytes.
    pub bytes: u64,
    /// Its CRC-32 (IEEE).
    pub crc32: u32,
}

impl TableFile {
    /// Describes the file at `path`.
    pub(super) fn describe(path: &Path) -> io::Result<TableFile> {
        let mut file = File::open(path)?;
        let mut hasher = crc32fast::Hasher::new();
        let mut bytes = 0;
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(TableFile { bytes, crc32: hasher.finalize() }),
                Ok(length) => {
                    bytes += length as u64;
                    hasher.update(&buffer[..length]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl fmt::Display for TableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes with checksum {:08x}", self.bytes, self.crc32)
    }
}

/// The tables of a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tables {
    /// `flows.parquet`.
    pub flows: TableFile,
    /// `ports.parquet`.
    pub ports: TableFile,
    /// `probe_flows.parquet`, where the experiment has a probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe_flows: Option<TableFile>,
    /// `probe_ports.parquet`, where the experiment has a probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe_ports: Option<TableFile>,
}
