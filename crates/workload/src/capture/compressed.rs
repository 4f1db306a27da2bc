//! Decompresses captures. The first bytes of a file tell its format, whatever its name.

use std::io::{self, Cursor, Read};

use flate2::read::MultiGzDecoder;
use zstd::stream::read::Decoder;

use super::error::CaptureError;

/// The longest of the marks below.
const LONGEST_MARK: u64 = 6;
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const BZIP2: &[u8] = b"BZh";
const XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];

/// The capture itself. Decompresses `file` if it is gzip or zstd, and reads it as it is if it is
/// not compressed.
///
/// # Errors
/// [`CaptureError::Compressed`] for xz and bzip2, [`CaptureError::Unreadable`] if the first bytes
/// cannot be read.
pub(super) fn decompress<'a>(
    mut file: impl Read + Send + 'a,
) -> Result<Box<dyn Read + Send + 'a>, CaptureError> {
    let mut start = Vec::new();
    let read = file.by_ref().take(LONGEST_MARK).read_to_end(&mut start);
    let unreadable = |error: io::Error| CaptureError::Unreadable(error.to_string());
    read.map_err(unreadable)?;
    let is = |mark: &[u8]| start.starts_with(mark);
    let compressed = |format, command| Err(CaptureError::Compressed { format, command });
    if is(XZ) {
        return compressed("xz", "unxz");
    }
    if is(BZIP2) {
        return compressed("bzip2", "bunzip2");
    }
    let (is_gzip, is_zstd) = (is(GZIP), is(ZSTD));
    let whole = Cursor::new(start).chain(file);
    Ok(if is_gzip {
        Box::new(Filled::new(MultiGzDecoder::new(whole)))
    } else if is_zstd {
        Box::new(Filled::new(Decoder::new(whole).map_err(unreadable)?))
    } else {
        Box::new(Filled::new(whole))
    })
}

/// Fills the whole buffer at each read, unless the end comes first. The parser of captures takes
/// the first read for the beginning of the file, and decompressors return a few bytes at a time.
struct Filled<R> {
    reader: R,
    /// An error that came after bytes that have to be returned first. Decompressors report a wrong
    /// checksum only once.
    error: Option<io::Error>,
}

impl<R> Filled<R> {
    fn new(reader: R) -> Filled<R> {
        Filled { reader, error: None }
    }
}

impl<R: Read> Read for Filled<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let mut filled = 0;
        while filled < buffer.len() {
            match self.reader.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if filled > 0 => {
                    self.error = Some(error);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}
