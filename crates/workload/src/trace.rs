//! Flow traces: CSV in and out.

use std::fmt::Write;

use csv::{ReaderBuilder, StringRecord, Trim};
use flowsched_topology::HostId;
use flowsched_units::{Bytes, Time, shortened};
use thiserror::Error;

use crate::flow::{Flow, LARGEST_FLOW, LATEST};
use crate::seconds;

/// The columns of a trace. The last one may be left out.
pub const TRACE_COLUMNS: [&str; 5] = ["start_s", "src", "dst", "size_bytes", "deadline_s"];

/// An invalid place in a trace.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: found {found}, expected {allowed}")]
pub struct TraceError {
    /// The line, counted from 1.
    pub line: u64,
    /// The column's name.
    pub column: String,
    /// What was found.
    pub found: String,
    /// What is allowed.
    pub allowed: String,
}

/// Reads a trace for a network of `hosts` hosts. The first line names the columns, [`TRACE_COLUMNS`]. Every other
/// line is a flow: its start and its deadline in seconds, the numbers of two hosts, and its payload in bytes. Every
/// digit of times counts, down to the picosecond. An empty deadline means none. Lines may be in any order. The
/// flows are sorted by start.
///
/// # Errors
/// [`TraceError`] if a column is missing, a value is not a number of its column's kind, a host is
/// not there or sends to itself, a size is 0 or over [`LARGEST_FLOW`], an instant is after
/// [`LATEST`], a deadline is not after its start, or there is no flow.
pub fn parse_trace(text: &str, hosts: u32) -> Result<Vec<Flow>, TraceError> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    let mut records = reader.records().map(|record| {
        let record = record.map_err(|error| unreadable(&error))?;
        Ok(Row { record, text })
    });
    let columns = match records.next() {
        Some(header) => check_header(&header?)?,
        None => return Err(missing(1, TRACE_COLUMNS[0], &format!("the header {}", header()))),
    };
    let mut flows = Vec::new();
    for row in records {
        flows.push(row?.flow(columns, hosts)?);
    }
    if flows.is_empty() || u32::try_from(flows.len()).is_err() {
        let found = format!("{} flows", flows.len());
        let allowed = format!("from 1 to {} flows", u32::MAX);
        return Err(TraceError { line: 2, column: TRACE_COLUMNS[0].into(), found, allowed });
    }
    flows.sort_by_key(|flow| flow.start);
    for (index, flow) in flows.iter_mut().enumerate() {
        flow.id = index as u32;
    }
    Ok(flows)
}

/// Writes a trace that [`parse_trace`] reads back as the same flows, except for whether they are measured and for
/// the rates of applications.
pub fn write_trace(flows: &[Flow]) -> String {
    let with_deadlines = flows.iter().any(|flow| flow.deadline.is_some());
    let columns = if with_deadlines { TRACE_COLUMNS.len() } else { TRACE_COLUMNS.len() - 1 };
    let mut text = TRACE_COLUMNS[..columns].join(",") + "\n";
    for Flow { src, dst, size, start, deadline, .. } in flows {
        let start = seconds::print(*start);
        // Writing to a string cannot fail.
        let _ = write!(text, "{start},{},{},{}", src.0, dst.0, size.get());
        if with_deadlines {
            let _ = write!(text, ",{}", deadline.map(seconds::print).unwrap_or_default());
        }
        text.push('\n');
    }
    text
}

struct Row<'a> {
    record: StringRecord,
    /// The whole trace.
    text: &'a str,
}

impl Row<'_> {
    fn flow(&self, columns: usize, hosts: u32) -> Result<Flow, TraceError> {
        if self.record.len() > columns {
            let found = format!("{} values", self.record.len());
            return Err(self.error(columns - 1, found, format!("{columns} values, as the header")));
        }
        let start = self.instant(0)?;
        let src = self.host(1, hosts)?;
        let dst = self.host(2, hosts)?;
        if src == dst {
            return Err(self.error(2, format!("host {} again", dst.0), "another host than src"));
        }
        let size = self.size(3)?;
        let deadline = if columns > 4 { self.deadline(4, start)? } else { None };
        Ok(Flow { deadline, ..Flow::new(0, src, dst, size, start) })
    }

    fn instant(&self, column: usize) -> Result<Time, TraceError> {
        let text = self.value(column)?;
        seconds::parse(text).filter(|instant| *instant <= LATEST).ok_or_else(|| {
            let latest = seconds::print(LATEST);
            let allowed = format!("seconds from 0 to {latest}, such as 0.0125");
            self.error(column, format!("\"{text}\""), allowed)
        })
    }

    fn host(&self, column: usize, hosts: u32) -> Result<HostId, TraceError> {
        let text = self.value(column)?;
        text.parse().ok().filter(|host| *host < hosts).map(HostId).ok_or_else(|| {
            let allowed = match hosts {
                0 => "a host, of which this topology has none".to_owned(),
                _ => format!("a host of the topology, 0 to {}", hosts - 1),
            };
            self.error(column, format!("\"{text}\""), allowed)
        })
    }

    fn size(&self, column: usize) -> Result<Bytes, TraceError> {
        let text = self.value(column)?;
        let largest = LARGEST_FLOW.get();
        let size = text.parse().ok().filter(|size| (1..=largest).contains(size));
        size.map(Bytes::new).ok_or_else(|| {
            let allowed = format!("a whole number of bytes from 1 to {largest}");
            self.error(column, format!("\"{text}\""), allowed)
        })
    }

    fn deadline(&self, column: usize, start: Time) -> Result<Option<Time>, TraceError> {
        if self.value(column)?.is_empty() {
            return Ok(None);
        }
        let deadline = self.instant(column)?;
        if deadline > start {
            return Ok(Some(deadline));
        }
        let found = format!("\"{}\"", self.value(column)?);
        let allowed = format!("an instant after the flow's start at {}", seconds::print(start));
        Err(self.error(column, found, allowed))
    }

    fn value(&self, column: usize) -> Result<&str, TraceError> {
        let missing = || missing(self.line(), TRACE_COLUMNS[column], "a value");
        self.record.get(column).ok_or_else(missing)
    }

    /// The line, counted from 1. The reader does not count the blank lines before a record.
    fn line(&self) -> u64 {
        let reader_at = self.record.position().map_or(0, |position| position.byte() as usize);
        let (before, from_here) = self.text.split_at(reader_at);
        let blank = from_here.bytes().take_while(|byte| matches!(byte, b'\r' | b'\n'));
        let ends = before.bytes().chain(blank).filter(|byte| *byte == b'\n');
        ends.count() as u64 + 1
    }

    fn error(&self, column: usize, found: String, allowed: impl Into<String>) -> TraceError {
        let column = TRACE_COLUMNS[column].to_owned();
        let found = shortened(&found).into_owned();
        TraceError { line: self.line(), column, found, allowed: allowed.into() }
    }
}

/// How many columns the header has.
fn check_header(row: &Row) -> Result<usize, TraceError> {
    let allowed = format!("the header {}", header());
    for (index, name) in TRACE_COLUMNS.iter().enumerate() {
        match row.record.get(index) {
            Some(found) if found == *name => {}
            Some(found) => return Err(row.error(index, format!("\"{found}\""), allowed)),
            None if index == 4 => return Ok(4),
            None => return Err(missing(row.line(), name, &allowed)),
        }
    }
    match row.record.get(TRACE_COLUMNS.len()) {
        Some(found) => Err(row.error(4, format!("\"{found}\" after it"), allowed)),
        None => Ok(TRACE_COLUMNS.len()),
    }
}

fn header() -> String {
    format!("\"{}\", perhaps with \",deadline_s\"", TRACE_COLUMNS[..4].join(","))
}

fn missing(line: u64, column: &str, allowed: &str) -> TraceError {
    TraceError { line, column: column.into(), found: "nothing".into(), allowed: allowed.into() }
}

fn unreadable(error: &csv::Error) -> TraceError {
    let (column, allowed) = (TRACE_COLUMNS[0].to_owned(), "comma-separated values".to_owned());
    TraceError { line: 1, column, found: error.to_string(), allowed }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEADER: &str = "start_s,src,dst,size_bytes\n";

    #[test]
    fn a_trace_is_read_in_the_order_of_starts() {
        let text = "\u{feff}start_s,src,dst,size_bytes,deadline_s\r\n\
                    \r\n\
                    0.2 , 0, 1, 1460, 0.21\r\n\
                    \"0.1\",2,0,1,\r\n\
                    1e-1,1,0,2,1\r\n";
        let flows = parse_trace(text, 3).unwrap();
        let seen: Vec<_> = flows
            .iter()
            .map(|flow| {
                (flow.id, flow.src.0, flow.dst.0, flow.size.get(), flow.start, flow.deadline)
            })
            .collect();
        let ms = Time::from_ms;
        assert_eq!(
            seen,
            [
                (0, 2, 0, 1, ms(100), None),
                (1, 1, 0, 2, ms(100), Some(ms(1000))),
                (2, 0, 1, 1460, ms(200), Some(ms(210))),
            ]
        );
    }

    #[test]
    fn mistakes_are_named_by_line_and_column() {
        let cases = [
            ("", 1, "start_s"),
            ("\n\n", 1, "start_s"),
            ("start_s,src,dst\n0,0,1\n", 1, "size_bytes"),
            ("start_s,dst,src,size_bytes\n0,0,1,5\n", 1, "src"),
            ("start_s,src,dst,size_bytes,deadline_s,fct\n", 1, "deadline_s"),
            ("\n0,0,1,5\n", 2, "start_s"),
            ("start_s,src,dst,size_bytes\n", 2, "start_s"),
        ];
        for (text, line, column) in cases {
            let error = parse_trace(text, 4).unwrap_err();
            assert_eq!((error.line, error.column.as_str()), (line, column), "{text:?}: {error}");
        }
        let rows = [
            ("-1,0,1,5", "start_s"),
            ("NaN,0,1,5", "start_s"),
            ("10000000.000000000001,0,1,5", "start_s"),
            (",0,1,5", "start_s"),
            ("0,4,1,5", "src"),
            ("0,1.0,1,5", "src"),
            ("0,0,-1,5", "dst"),
            ("0,2,2,5", "dst"),
            ("0,0,1,0", "size_bytes"),
            ("0,0,1,4398046511105", "size_bytes"),
            ("0,0,1,1e6", "size_bytes"),
            ("0,0,1", "size_bytes"),
            ("0,0,1,5,6", "size_bytes"),
        ];
        for (row, column) in rows {
            for end in ["\n", "\r\n"] {
                let text = format!("{HEADER}{end}0,0,1,5{end}{end}{row}{end}0,0,1,5{end}");
                let error = parse_trace(&text, 4).unwrap_err();
                assert_eq!((error.line, error.column.as_str()), (5, column), "{row}: {error}");
            }
        }
    }

    #[test]
    fn a_deadline_is_after_its_start() {
        for (deadline, is_good) in [("0.5", false), ("1", false), ("1.1", true), ("soon", false)] {
            let text = format!("start_s,src,dst,size_bytes,deadline_s\n1,0,1,5,{deadline}\n");
            match parse_trace(&text, 2) {
                Ok(_) => assert!(is_good, "{deadline}"),
                Err(error) => assert_eq!((error.column.as_str(), is_good), ("deadline_s", false)),
            }
        }
        let error = parse_trace("start_s,src,dst,size_bytes\n0,9,1,5\n", 2).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2, column src: found \"9\", expected a host of the topology, 0 to 1"
        );
    }

    fn any_flow() -> impl Strategy<Value = Flow> {
        let instants = (0..=LATEST.as_ps() - 1, prop::option::of(1..=1_000_000_000u64));
        (instants, 0u32..100, 1u32..100, 1..=LARGEST_FLOW.get()).prop_map(
            |((start, until_due), src, distance, size)| {
                let start = Time::from_ps(start);
                let due = until_due.map(|ps| start.saturating_add(Time::from_ps(ps)).min(LATEST));
                let (src, dst) = (HostId(src), HostId((src + distance) % 100));
                let size = Bytes::new(size);
                Flow { deadline: due, ..Flow::new(0, src, dst, size, start) }
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(mut flows in prop::collection::vec(any_flow(), 1..20)) {
            flows.sort_by_key(|flow| flow.start);
            for (index, flow) in flows.iter_mut().enumerate() {
                flow.id = index as u32;
            }
            prop_assert_eq!(parse_trace(&write_trace(&flows), 100), Ok(flows));
        }

        #[test]
        fn no_text_panics(text: String, rows in "([0-9.eE+,\"\r\n -]{0,40}\n){0,4}", hosts in 0u32..4) {
            let _ = parse_trace(&text, hosts);
            let _ = parse_trace(&rows, hosts);
            let _ = parse_trace(&format!("{HEADER}{rows}"), hosts);
            let _ = parse_trace(&format!("{HEADER}{text}"), hosts);
        }
    }
}
