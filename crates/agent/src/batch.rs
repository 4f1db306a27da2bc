//! Reads all entries of a map, many per system call. The iterator of libbpf-rs ends at the first
//! batch that is not full, but any batch of a hash map may be partly filled.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use libbpf_rs::{MapCore, MapHandle};

/// The number of entries that a call asks for. It is doubled while a bucket of the hash has more entries.
const ENTRIES: usize = 4096;
/// The number of entries per call at which doubling ends. No bucket has this many.
const MOST: usize = 1 << 22;

/// Calls `visit` with the key and value of every entry of a map that is not per processor. May miss an entry that is
/// added or removed meanwhile.
///
/// # Errors
/// If the map cannot be read.
pub(crate) fn for_each(map: &MapHandle, mut visit: impl FnMut(&[u8], &[u8])) -> io::Result<()> {
    let mut reader = Reader::new(map, ENTRIES);
    loop {
        let (count, is_last) = match reader.next() {
            // A bucket has more entries than there is room for.
            Err(error) if error.raw_os_error() == Some(libc::ENOSPC) && reader.room < MOST => {
                reader.enlarge();
                continue;
            }
            result => result?,
        };
        for entry in 0..count {
            let (key, value) = reader.entry(entry);
            visit(key, value);
        }
        if is_last {
            return Ok(());
        }
    }
}

/// The state of reading a map.
struct Reader<'a> {
    map: &'a MapHandle,
    key_size: usize,
    value_size: usize,
    room: usize,
    keys: Vec<u8>,
    values: Vec<u8>,
    /// Where the kernel continues. As long as a key or the kernel's own counter, whichever is longer.
    place: Option<Vec<u8>>,
}

impl<'a> Reader<'a> {
    fn new(map: &'a MapHandle, room: usize) -> Reader<'a> {
        let (key_size, value_size) = (map.key_size() as usize, map.value_size() as usize);
        let (keys, values) = (vec![0; room * key_size], vec![0; room * value_size]);
        Reader { map, key_size, value_size, room, keys, values, place: None }
    }

    fn enlarge(&mut self) {
        self.room *= 2;
        self.keys.resize(self.room * self.key_size, 0);
        self.values.resize(self.room * self.value_size, 0);
    }

    /// Reads the next entries. Returns how many there are, and whether they are the last.
    fn next(&mut self) -> io::Result<(usize, bool)> {
        let mut next = vec![0u8; self.key_size.max(8)];
        let from = self.place.as_mut().map_or(std::ptr::null_mut(), |place| place.as_mut_ptr());
        let mut count = self.room as u32;
        // SAFETY: the buffers have room for `count` entries and outlive the call, as do both places,
        // which are as long as a key and as the kernel's counter.
        let result = unsafe {
            libbpf_sys::bpf_map_lookup_batch(
                self.map.as_fd().as_raw_fd(),
                from.cast(),
                next.as_mut_ptr().cast(),
                self.keys.as_mut_ptr().cast(),
                self.values.as_mut_ptr().cast(),
                &raw mut count,
                std::ptr::null(),
            )
        };
        let is_last = result == -libc::ENOENT;
        if result != 0 && !is_last {
            return Err(io::Error::from_raw_os_error(-result));
        }
        self.place = Some(next);
        Ok((count as usize, is_last))
    }

    fn entry(&self, index: usize) -> (&[u8], &[u8]) {
        let key = &self.keys[index * self.key_size..][..self.key_size];
        (key, &self.values[index * self.value_size..][..self.value_size])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use libbpf_rs::{MapFlags, MapType};

    use super::*;

    #[test]
    fn every_entry_is_read_once() {
        if !nix::unistd::geteuid().is_root() {
            eprintln!("skipped: maps need root");
            return;
        }
        let options = libbpf_sys::bpf_map_create_opts {
            sz: size_of::<libbpf_sys::bpf_map_create_opts>() as libbpf_sys::size_t,
            ..Default::default()
        };
        for kind in [MapType::LruHash, MapType::Hash, MapType::Array] {
            let map = MapHandle::create(kind, Some("numbers"), 4, 12, 60_000, &options).unwrap();
            // For hashes, not a multiple of the batch size. An array always has all its entries.
            let filled = if kind == MapType::Array { 60_000 } else { 20_123u32 };
            for number in 0..filled {
                let value = [number.to_ne_bytes(), [7; 4], [9; 4]].concat();
                map.update(&number.to_ne_bytes(), &value, MapFlags::ANY).unwrap();
            }
            let (mut seen, mut count) = (BTreeSet::new(), 0);
            for_each(&map, |key, value| {
                assert_eq!((key, &value[4..12]), (&value[..4], &[7, 7, 7, 7, 9, 9, 9, 9][..]));
                seen.insert(u32::from_ne_bytes(key.try_into().unwrap()));
                count += 1;
            })
            .unwrap();
            assert_eq!((seen.len() as u32, count), (filled, filled), "{kind:?}");
        }
    }
}
