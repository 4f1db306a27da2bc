//! Reads tables one row group at a time, and only the columns that the caller needs. A row group belongs
//! to one run.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use flowsched_units::{Bytes, Rate, Time};
use flowsched_workload::FlowParts;
use parquet::basic::Type as Physical;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;

use super::error::ResultsError;
use super::probed::{ProbedFlow, ProbedFlows, ProbedPort, ProbedPorts};
use super::record::{FlowRow, PortRecord, PortRow, PortsOfRun, RunKey};
use super::table::{Sink, TableWriter};
use super::varied::{self, Cell};
use super::{Point, TableFile};

/// The flows of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowsOfRun {
    /// The run.
    pub run: RunKey,
    /// Its flows, in the order in which they were written.
    pub flows: Vec<FlowRow>,
    /// The part of the workload that each flow belongs to.
    pub parts: FlowParts,
}

/// A table that can be read.
pub(super) struct TableReader {
    path: PathBuf,
    file: SerializedFileReader<File>,
    /// The points that its runs may have.
    points: Vec<Point>,
}

impl TableReader {
    /// Opens the table at `path`. Its file must be exactly as `expected`, because the Parquet library
    /// trusts the end of a file too much to be given a damaged one. Each of its runs has one of
    /// `points`.
    pub(super) fn open(
        path: &Path,
        expected: TableFile,
        points: Vec<Point>,
    ) -> Result<TableReader, ResultsError> {
        let path = path.to_owned();
        let found = match TableFile::describe(&path) {
            Ok(found) => found,
            Err(source) => return Err(ResultsError::Read { path, source }),
        };
        if found != expected {
            let reason = format!("it has {found}, summary.json says {expected}");
            return Err(ResultsError::Damaged { path, reason });
        }
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(source) => return Err(ResultsError::Read { path, source }),
        };
        let file =
            SerializedFileReader::new(file).map_err(|error| ResultsError::damaged(&path, error))?;
        Ok(TableReader { path, file, points })
    }

    /// The number of row groups.
    pub(super) fn groups(&self) -> usize {
        self.file.num_row_groups()
    }

    /// Appends all its row groups to another table with the same columns.
    pub(super) fn copy_to<S: Sink, R>(&self, table: &mut TableWriter<S, R>) -> io::Result<()> {
        let file = File::open(&self.path)?;
        table.append_all(&file, self.file.metadata().row_groups())
    }

    /// The columns of row group `index`.
    pub(super) fn group(&self, index: usize) -> Result<Rows<'_>, ResultsError> {
        let group = self
            .file
            .get_row_group(index)
            .map_err(|error| ResultsError::damaged(&self.path, error))?;
        let names = self.file.metadata().file_metadata().schema_descr().columns();
        let columns =
            names.iter().map(|column| (column.name().to_owned(), column.physical_type())).collect();
        Ok(Rows { path: &self.path, group, columns, points: &self.points })
    }
}

/// A column's name, and the setter of its value in a flow's row.
type Field<T> = (&'static str, fn(&mut FlowRow, T));

/// The columns of whole numbers that every table of flows has.
const COUNTS: [Field<u64>; 6] = [
    ("flow", |row, flow| row.flow = flow),
    ("size_bytes", |row, bytes| row.size = Bytes::new(bytes)),
    ("start_ps", |row, time| row.start = Time::from_ps(time)),
    ("ideal_fct_ps", |row, time| row.ideal_fct = Time::from_ps(time)),
    ("retransmissions", |row, count| row.retransmissions = count),
    ("timeouts", |row, count| row.timeouts = count),
];

/// The columns of what happened to each flow's packets. Older tables do not have them.
const COUNTS_OF_PACKETS: [Field<u64>; 8] = [
    ("packets_arrived", |row, count| row.packets.arrived = count),
    ("packets_marked", |row, count| row.packets.marked = count),
    ("packets_marked_again", |row, count| row.packets.marked_again = count),
    ("packets_reordered", |row, count| row.packets.reordered = count),
    ("packets_lost", |row, count| row.packets.lost = count),
    ("acks", |row, count| row.packets.acks = count),
    ("duplicate_acks", |row, count| row.packets.duplicate_acks = count),
    ("third_duplicate_acks", |row, count| row.packets.third_duplicate_acks = count),
];

/// The columns of times that may be null.
const TIMES_OR_NULL: [Field<Option<Time>>; 3] = [
    ("fct_ps", |row, time| row.fct = time),
    ("fct_receiver_ps", |row, time| row.receiver_fct = time),
    ("deadline_ps", |row, time| row.deadline = time),
];

fn fill<T>(
    rows: &mut [FlowRow],
    values: impl IntoIterator<Item = T>,
    set: impl Fn(&mut FlowRow, T),
) {
    rows.iter_mut().zip(values).for_each(|(row, value)| set(row, value));
}

/// The columns of one row group.
pub(super) struct Rows<'a> {
    path: &'a Path,
    group: Box<dyn RowGroupReader + 'a>,
    columns: Vec<(String, Physical)>,
    points: &'a [Point],
}

impl Rows<'_> {
    fn damaged(&self, reason: impl ToString) -> ResultsError {
        ResultsError::damaged(self.path, reason)
    }

    /// The run that the rows belong to; `None` if there are no rows.
    fn key(&self) -> Result<Option<RunKey>, ResultsError> {
        let mut cells = Vec::new();
        for (key, physical) in self.columns.iter().take_while(|(name, _)| *name != "scheme") {
            let Some(cell) = self.first_cell(key, *physical)? else { return Ok(None) };
            cells.push((key.clone(), cell));
        }
        let Some(scheme) = self.texts("scheme", 1)?.pop() else { return Ok(None) };
        let Some(seed) = self.first::<Int64Type>("seed", 1)?.pop() else { return Ok(None) };
        let seed = self.unsigned(seed)?;
        Ok(Some(RunKey { point: varied::point(cells, self.points), scheme, seed }))
    }

    /// The first value of a varied key's column; `None` if there are no rows.
    fn first_cell(&self, key: &str, physical: Physical) -> Result<Option<Cell>, ResultsError> {
        Ok(match physical {
            Physical::INT64 => self.first::<Int64Type>(key, 1)?.pop().map(Cell::Count),
            Physical::DOUBLE => self.first::<DoubleType>(key, 1)?.pop().map(Cell::Number),
            _ => self.texts(key, 1)?.pop().map(Cell::Text),
        })
    }

    /// The flows.
    pub(super) fn flows(&self) -> Result<Option<FlowsOfRun>, ResultsError> {
        let Some(run) = self.key()? else { return Ok(None) };
        let flows = self.flow_rows()?;
        let parts = match self.has("part") {
            true => self.texts("part", self.rows())?,
            false => vec![String::new(); self.rows()],
        };
        let parts = FlowParts::from_names(parts.iter().map(String::as_str));
        Ok(Some(FlowsOfRun { run, flows, parts }))
    }

    /// One row per flow. Rows are filled in column by column, so that memory holds only one column
    /// besides the rows.
    fn flow_rows(&self) -> Result<Vec<FlowRow>, ResultsError> {
        let mut rows = vec![FlowRow::default(); self.rows()];
        for (name, set) in COUNTS {
            fill(&mut rows, self.counts(name)?, set);
        }
        for (name, set) in COUNTS_OF_PACKETS.iter().filter(|(name, _)| self.has(name)) {
            fill(&mut rows, self.counts(name)?, set);
        }
        for (name, set) in TIMES_OR_NULL {
            let times = self.maybe_counts(name)?.into_iter().map(|time| time.map(Time::from_ps));
            fill(&mut rows, times, set);
        }
        fill(&mut rows, self.smalls("src")?, |row, src| row.src = src);
        fill(&mut rows, self.smalls("dst")?, |row, dst| row.dst = dst);
        if self.has("gave_up") {
            fill(&mut rows, self.all::<BoolType>("gave_up")?, |row, it| row.gave_up = it);
        }
        fill(&mut rows, self.all::<BoolType>("measured")?, |row, it| row.measured = it);
        Ok(rows)
    }

    /// The ports and their samples.
    pub(super) fn ports(&self) -> Result<Option<PortsOfRun>, ResultsError> {
        let Some(run) = self.key()? else { return Ok(None) };
        let time = self.counts("time_ps")?;
        let queue_bytes = self.counts("queue_bytes")?;
        let queue_packets = self.counts("queue_packets")?;
        let tx_bytes = self.counts("tx_bytes")?;
        let tx_packets = self.counts("tx_packets")?;
        let drops = self.counts("drops")?;
        let ecn_marks = self.counts("ecn_marks")?;
        let number = self.counts("port")?;
        let sample = |(row, port): (usize, u64)| {
            Ok(PortRow {
                time: Time::from_ps(time[row]),
                port: self.small(port)?,
                queue_bytes: queue_bytes[row],
                queue_packets: queue_packets[row],
                tx_bytes: tx_bytes[row],
                tx_packets: tx_packets[row],
                drops: drops[row],
                ecn_marks: ecn_marks[row],
            })
        };
        let samples = number.into_iter().enumerate().map(sample).collect::<Result<Vec<_>, _>>()?;
        Ok(Some(PortsOfRun { run, ports: self.port_names(&samples)?, samples }))
    }

    /// Each port once, sorted by number.
    fn port_names(&self, samples: &[PortRow]) -> Result<Vec<PortRecord>, ResultsError> {
        let mut first = BTreeMap::new();
        for (row, sample) in samples.iter().enumerate() {
            first.entry(sample.port).or_insert(row);
        }
        if first.keys().zip(0..).any(|(port, expected)| *port != expected) {
            return Err(self.damaged("a port has no rows"));
        }
        // The first sample names every port. Later rows repeat the names.
        let rows = first.values().max().map_or(0, |row| row + 1);
        let owner = self.first::<ByteArrayType>("owner", rows)?;
        let peer = self.first::<ByteArrayType>("peer", rows)?;
        let class = self.first::<ByteArrayType>("class", rows)?;
        let rate = self.first::<Int64Type>("rate_bps", rows)?;
        if [owner.len(), peer.len(), class.len(), rate.len()] != [rows; 4] {
            return Err(self.damaged("a port has no name"));
        }
        let port = |row: &usize| {
            Ok(PortRecord {
                owner: self.text(&owner[*row])?,
                peer: self.text(&peer[*row])?,
                class: self.text(&class[*row])?,
                rate: Rate::from_bps(self.unsigned(rate[*row])?),
            })
        };
        first.values().map(port).collect()
    }

    /// Whether the table has this column. Older tables lack the columns that were added later.
    fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|(column, _)| column == name)
    }

    /// Reads what a probe recorded of flows.
    pub(super) fn probed_flows(&self) -> Result<Option<ProbedFlows>, ResultsError> {
        let Some(run) = self.key()? else { return Ok(None) };
        let time = self.counts("time_ps")?;
        let window = self.maybe_counts("window_bytes")?;
        let rate = self.maybe_numbers("rate_bps")?;
        let alpha = self.maybe_numbers("alpha")?;
        let priority = self.maybe_counts("priority")?;
        let in_flight = self.maybe_counts("in_flight_bytes")?;
        let row = |(row, flow): (usize, u64)| ProbedFlow {
            time: Time::from_ps(time[row]),
            flow,
            window_bytes: window[row],
            rate_bps: rate[row],
            alpha: alpha[row],
            priority: priority[row],
            in_flight_bytes: in_flight[row],
        };
        let rows = self.counts("flow")?.into_iter().enumerate().map(row).collect();
        Ok(Some(ProbedFlows { run, rows }))
    }

    /// Reads what a probe recorded of ports, with the names of the ports that have rows.
    pub(super) fn probed_ports(&self) -> Result<Option<ProbedPorts>, ResultsError> {
        let Some(run) = self.key()? else { return Ok(None) };
        let time = self.counts("time_ps")?;
        let queue_bytes = self.counts("queue_bytes")?;
        let queue_packets = self.counts("queue_packets")?;
        let rate_bps = self.maybe_numbers("rate_bps")?;
        let tx_bytes = self.counts("tx_bytes")?;
        let drops = self.counts("drops")?;
        let ecn_marks = self.counts("ecn_marks")?;
        let (owner, peer) = (self.texts("owner", self.rows())?, self.texts("peer", self.rows())?);
        let mut ports: Vec<PortRecord> = Vec::new();
        let mut rows = Vec::new();
        for (row, port) in self.counts("port")?.into_iter().enumerate() {
            let port = self.small(port)?;
            let place = port as usize;
            if ports.len() <= place {
                ports.resize(place + 1, PortRecord::default());
            }
            ports[place].owner.clone_from(&owner[row]);
            ports[place].peer.clone_from(&peer[row]);
            let port = PortRow {
                time: Time::from_ps(time[row]),
                port,
                queue_bytes: queue_bytes[row],
                queue_packets: queue_packets[row],
                tx_bytes: tx_bytes[row],
                tx_packets: 0,
                drops: drops[row],
                ecn_marks: ecn_marks[row],
            };
            rows.push(ProbedPort { port, rate_bps: rate_bps[row] });
        }
        Ok(Some(ProbedPorts { run, ports, rows }))
    }

    fn counts(&self, name: &str) -> Result<Vec<u64>, ResultsError> {
        self.all::<Int64Type>(name)?.into_iter().map(|value| self.unsigned(value)).collect()
    }

    fn smalls(&self, name: &str) -> Result<Vec<u32>, ResultsError> {
        self.counts(name)?.into_iter().map(|value| self.small(value)).collect()
    }

    fn maybe_counts(&self, name: &str) -> Result<Vec<Option<u64>>, ResultsError> {
        let values = self.maybe::<Int64Type>(name)?.into_iter();
        values.map(|value| value.map(|value| self.unsigned(value)).transpose()).collect()
    }

    fn maybe_numbers(&self, name: &str) -> Result<Vec<Option<f64>>, ResultsError> {
        self.maybe::<DoubleType>(name)
    }

    /// All values of a column that may have nulls.
    fn maybe<T: DataType>(&self, name: &str) -> Result<Vec<Option<T::T>>, ResultsError> {
        let rows = self.rows();
        let (present, values) = self.read::<T>(name, rows)?;
        let mut values = values.into_iter();
        if present.len() != rows {
            return Err(self.damaged(format!("column {name} is too short")));
        }
        let value = |present| {
            if present == 0 {
                return Ok(None);
            }
            values.next().ok_or_else(|| self.damaged("a value is missing")).map(Some)
        };
        present.into_iter().map(value).collect()
    }

    fn texts(&self, name: &str, rows: usize) -> Result<Vec<String>, ResultsError> {
        self.first::<ByteArrayType>(name, rows)?.iter().map(|text| self.text(text)).collect()
    }

    fn text(&self, text: &ByteArray) -> Result<String, ResultsError> {
        text.as_utf8().map(str::to_owned).map_err(|error| self.damaged(error))
    }

    fn unsigned(&self, value: i64) -> Result<u64, ResultsError> {
        u64::try_from(value).map_err(|_| self.damaged(format!("a count is {value}")))
    }

    fn small(&self, value: u64) -> Result<u32, ResultsError> {
        u32::try_from(value).map_err(|_| self.damaged(format!("a number of {value}")))
    }

    fn rows(&self) -> usize {
        usize::try_from(self.group.metadata().num_rows()).unwrap_or(0)
    }

    /// All values of a column without nulls.
    fn all<T: DataType>(&self, name: &str) -> Result<Vec<T::T>, ResultsError> {
        let rows = self.rows();
        let values = self.first::<T>(name, rows)?;
        if values.len() != rows {
            return Err(self.damaged(format!("column {name} is too short")));
        }
        Ok(values)
    }

    /// The first values, at most `rows`, of a column without nulls.
    fn first<T: DataType>(&self, name: &str, rows: usize) -> Result<Vec<T::T>, ResultsError> {
        Ok(self.read::<T>(name, rows)?.1)
    }

    /// Reads at most `rows` rows of a column. Returns which rows have a value, if the column may have
    /// nulls, and the values.
    fn read<T: DataType>(
        &self,
        name: &str,
        rows: usize,
    ) -> Result<(Vec<i16>, Vec<T::T>), ResultsError> {
        let index = self.columns.iter().position(|(column, _)| column == name);
        let index = index.ok_or_else(|| self.damaged(format!("it has no column {name}")))?;
        let column = self.group.get_column_reader(index).map_err(|error| self.damaged(error))?;
        let mut column = T::get_column_reader(column)
            .ok_or_else(|| self.damaged(format!("column {name} has another type")))?;
        let (mut present, mut values) = (Vec::new(), Vec::new());
        let mut read = 0;
        while read < rows {
            let (more, _, _) = column
                .read_records(rows - read, Some(&mut present), None, &mut values)
                .map_err(|error| self.damaged(error))?;
            if more == 0 {
                break;
            }
            read += more;
        }
        Ok((present, values))
    }
}
