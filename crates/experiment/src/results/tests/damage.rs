use std::cell::Cell;
use std::fs;
use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::rc::Rc;

use proptest::prelude::*;
use tempfile::tempdir;

use super::super::read::TableReader;
use super::super::table::{Sink, TableWriter};
use super::*;

/// A disk that is full after `room` bytes.
struct Disk {
    content: Cursor<Vec<u8>>,
    room: Rc<Cell<u64>>,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.room.get().saturating_sub(self.content.position()) as usize;
        if left == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.content.write(&bytes[..bytes.len().min(left)])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Disk {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.content.seek(to)
    }
}

impl Sink for Disk {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.content.get_mut().truncate(length as usize);
        Ok(())
    }
}

fn many_flows() -> Vec<FlowRow> {
    (0..2_000).map(|i| flow(i, i * 7_919 % 30_000_000 + 1, 20 + i * 31 % 9_973)).collect()
}

#[test]
fn a_full_disk_leaves_the_runs_before() {
    let room = Rc::new(Cell::new(60_000));
    let disk = Disk { content: Cursor::new(Vec::new()), room: room.clone() };
    let mut table = TableWriter::new(disk, &[], FLOWS).unwrap();
    let mut kept = 0;
    let error = loop {
        let run = run("tcp", kept, many_flows());
        match table.append(&run.point, &run, run.flows.len()) {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert!(kept > 0, "not even one run fits: the test's disk is too small");
    table.keep(kept as usize).unwrap();
    assert!(table.append(&Point::default(), &run("tcp", 99, vec![flow(0, 1, 1)]), 1).is_err());

    room.set(room.get() + 10_000); // the reserve is removed
    let disk = table.finish().unwrap();
    let dir = tempdir().unwrap();
    let path = dir.path().join("flows.parquet");
    fs::write(&path, disk.content.into_inner()).unwrap();
    let table = TableReader::open(&path, TableFile::describe(&path).unwrap(), Vec::new()).unwrap();
    assert_eq!(table.groups() as u64, kept);
    let last = table.group(table.groups() - 1).unwrap().flows().unwrap().unwrap();
    assert_eq!((last.run.seed, last.flows), (kept - 1, many_flows()));
}

#[test]
fn a_run_taken_back_leaves_no_trace() {
    let table_of = |added: u64, kept: usize| {
        let disk = Disk { content: Cursor::new(Vec::new()), room: Rc::new(Cell::new(u64::MAX)) };
        let mut table = TableWriter::new(disk, &[], FLOWS).unwrap();
        for seed in 0..added {
            table.append(&Point::default(), &run("tcp", seed, many_flows()), 2_000).unwrap();
        }
        table.keep(kept).unwrap();
        table.finish().unwrap().content.into_inner()
    };
    assert_eq!(table_of(3, 2), table_of(2, 2));
}

/// Opens the folder and reads all its tables.
fn read_all(dir: &std::path::Path) -> Result<(), ResultsError> {
    let folder = Folder::open(dir)?;
    folder.flows(drop)?;
    folder.ports(drop)
}

#[test]
fn what_is_not_ours_is_refused_in_words() {
    let dir = tempdir().unwrap();
    let refusal = |path: &std::path::Path| read_all(path).unwrap_err().to_string();
    assert!(refusal(&dir.path().join("nowhere")).contains("does not exist"));
    assert!(refusal(dir.path()).contains("there is no summary.json"));
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(refusal(&file).contains("not a folder"));

    write_all(dir.path(), &meta(), [run("tcp", 1, many_flows())]).unwrap();
    read_all(dir.path()).unwrap();
    let flows = dir.path().join("flows.parquet");
    let content = fs::read(&flows).unwrap();
    fs::write(&flows, &content[..content.len() / 2]).unwrap();
    assert!(refusal(dir.path()).contains("flows.parquet is damaged"), "{}", refusal(dir.path()));
    fs::copy(dir.path().join("ports.parquet"), &flows).unwrap();
    assert!(refusal(dir.path()).contains("flows.parquet is damaged"));
    fs::remove_file(&flows).unwrap();
    assert!(refusal(dir.path()).contains("cannot read"));
    fs::write(dir.path().join("summary.json"), "{\"name\": 3}").unwrap();
    assert!(refusal(dir.path()).contains("summary.json is damaged"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_damage_panics(
        changes in prop::collection::vec((0.0..1.0f64, any::<u8>()), 1..6), file in 0usize..3,
    ) {
        let dir = tempdir().unwrap();
        write_all(dir.path(), &meta(), [run("tcp", 1, many_flows().split_off(1_900))]).unwrap();
        let path = dir.path().join(["flows.parquet", "ports.parquet", "summary.json"][file]);
        let mut content = fs::read(&path).unwrap();
        for (at, byte) in changes {
            let at = (at * content.len() as f64) as usize;
            content[at] = byte;
        }
        fs::write(&path, content).unwrap();
        let _ = read_all(dir.path());
    }
}
