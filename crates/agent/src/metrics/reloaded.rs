//! A value that is made from files, such as a certificate, and made again when they change.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::AgentError;
use crate::log;

/// The largest size of a certificate, key or token file.
const MAX_BYTES: u64 = 1 << 20;

/// A value that is made from `N` files.
pub(super) struct Reloaded<T, const N: usize> {
    paths: [PathBuf; N],
    contents: [Vec<u8>; N],
    make: Make<T, N>,
    value: T,
    /// The last error, which is logged only once.
    complaint: Option<String>,
}

/// Makes the value from the files' contents. The paths are for errors.
type Make<T, const N: usize> = fn(&[PathBuf; N], &[Vec<u8>; N]) -> Result<T, AgentError>;

impl<T, const N: usize> Reloaded<T, N> {
    /// Reads the files and makes the value.
    ///
    /// # Errors
    /// If a file cannot be read, or `make` fails.
    pub(super) fn read(paths: [PathBuf; N], make: Make<T, N>) -> Result<Self, AgentError> {
        let contents = read_all(&paths)?;
        let value = make(&paths, &contents)?;
        Ok(Reloaded { paths, contents, make, value, complaint: None })
    }

    /// The value of the files as they are now, or of their last valid contents.
    ///
    /// Compares contents, not times: a file may change twice within a tick of the file system's
    /// clock, and these files are small.
    pub(super) fn current(&mut self) -> &T {
        match self.refresh() {
            Ok(()) => self.complaint = None,
            Err(error) => {
                let complaint = format!("{error}; the server keeps what it read before");
                if self.complaint.as_ref() != Some(&complaint) {
                    log::error(&complaint);
                    self.complaint = Some(complaint);
                }
            }
        }
        &self.value
    }

    fn refresh(&mut self) -> Result<(), AgentError> {
        let contents = read_all(&self.paths)?;
        if contents != self.contents {
            self.value = (self.make)(&self.paths, &contents)?;
            self.contents = contents;
            log::info(format_args!("{} is in force", self.paths[0].display()));
        }
        Ok(())
    }
}

fn read_all<const N: usize>(paths: &[PathBuf; N]) -> Result<[Vec<u8>; N], AgentError> {
    let mut contents = [const { Vec::new() }; N];
    for (content, path) in contents.iter_mut().zip(paths) {
        *content = read(path).map_err(|e| AgentError::file(path, e))?;
    }
    Ok(contents)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    // Reading a pipe would block the server.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("this is not a regular file"));
    }
    let mut content = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut content)?;
    if content.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("the file is larger than 1 MiB"));
    }
    Ok(content)
}
