//! Writes a table as Parquet row groups. Equal rows give equal bytes.
//!
//! A row group is encoded in memory, then appended to the file in one piece. All rows of a row
//! group belong to one run, which has one row group or several. Row groups of another table can be
//! copied unchanged. Appended row groups can be removed again, so that a run that did not fit on
//! the disk leaves the table of the runs before it intact.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::mem;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    FileMetaData, ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};

use super::error::io_error;
use super::varied::{Cell, VariedKey};
use super::{Column, Point, ResultsError, TableFile, Value};

/// The destination of a table. It is written at its end, and can be truncated.
pub(super) trait Sink: Write + Seek {
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

impl Sink for File {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }
}

/// A table being written. Its rows are taken from `R`s.
pub(super) struct TableWriter<S, R: 'static> {
    sink: S,
    keys: Vec<VariedKey>,
    columns: &'static [Column<R>],
    encoder: SerializedFileWriter<Vec<u8>>,
    /// The offsets at which the start of the file and each row group end.
    ends: Vec<u64>,
    /// Whether the encoder and the sink may have different row groups. Nothing can be appended then.
    closed: bool,
}

impl<S: Sink, R> TableWriter<S, R> {
    /// Begins an empty table in `sink`, with a column for each varied key before `columns`.
    pub(super) fn new(
        sink: S,
        keys: &[VariedKey],
        columns: &'static [Column<R>],
    ) -> io::Result<TableWriter<S, R>> {
        let encoder = encoder(keys, columns).map_err(io_error)?;
        let (keys, ends) = (keys.to_vec(), Vec::new());
        let mut table = TableWriter { sink, keys, columns, encoder, ends, closed: false };
        table.pour()?;
        Ok(table)
    }

    /// The number of row groups.
    pub(super) fn groups(&self) -> usize {
        self.ends.len() - 1
    }

    /// Appends a row group with `rows` rows of `from`, which belongs to a run at `point`.
    pub(super) fn append(&mut self, point: &Point, from: &R, rows: usize) -> io::Result<()> {
        self.check_open()?;
        self.closed = true;
        self.encode(point, from, rows).map_err(io_error)?;
        self.pour()?;
        self.closed = false;
        Ok(())
    }

    /// Appends copies of all row groups of a finished table with the same columns.
    pub(super) fn append_all(
        &mut self,
        from: &File,
        groups: &[RowGroupMetaData],
    ) -> io::Result<()> {
        self.check_open()?;
        self.closed = true;
        for group in groups {
            self.copy(from, group).map_err(io_error)?;
            self.pour()?;
        }
        self.closed = false;
        Ok(())
    }

    fn check_open(&self) -> io::Result<()> {
        match self.closed {
            true => Err(io::Error::other("an earlier run could not be written")),
            false => Ok(()),
        }
    }

    fn encode(&mut self, point: &Point, from: &R, rows: usize) -> Result<(), ParquetError> {
        let mut group = self.encoder.next_row_group()?;
        for (key, (_, value)) in self.keys.iter().zip(&point.0) {
            let mut column = next(group.next_column()?)?;
            write_cell(&mut column, &key.cell(value), rows)?;
            column.close()?;
        }
        for Column { value, .. } in self.columns {
            let mut column = next(group.next_column()?)?;
            write_column(&mut column, value, from, rows)?;
            column.close()?;
        }
        group.close()?;
        Ok(())
    }

    fn copy(&mut self, from: &File, group: &RowGroupMetaData) -> Result<(), ParquetError> {
        let mut copy = self.encoder.next_row_group()?;
        for column in group.columns() {
            let close = ColumnCloseResult {
                bytes_written: column.compressed_size().unsigned_abs(),
                rows_written: group.num_rows().unsigned_abs(),
                metadata: column.clone(),
                bloom_filter: None,
                column_index: None,
                offset_index: None,
            };
            copy.append_column(from, close)?;
        }
        copy.close()?;
        Ok(())
    }

    /// Moves the encoded bytes to the sink.
    fn pour(&mut self) -> io::Result<()> {
        self.encoder.flush()?;
        let bytes = mem::take(self.encoder.inner_mut());
        self.sink.write_all(&bytes)?;
        let start = self.ends.last().copied().unwrap_or(0);
        self.ends.push(start + bytes.len() as u64);
        Ok(())
    }

    /// Removes all row groups but the first `count`. Nothing can be appended afterwards.
    pub(super) fn keep(&mut self, count: usize) -> io::Result<()> {
        self.closed = true;
        self.ends.truncate(count + 1);
        let end = self.ends.last().copied().unwrap_or(0);
        self.sink.cut(end)?;
        self.sink.seek(SeekFrom::Start(end))?;
        Ok(())
    }

    /// Writes the table's end and returns the sink.
    pub(super) fn finish(mut self) -> io::Result<S> {
        let groups = self.encoder.flushed_row_groups()[..self.groups()].to_vec();
        let properties = self.encoder.properties();
        let metadata = FileMetaData::new(
            properties.writer_version().as_num(),
            groups.iter().map(|group| group.num_rows()).sum(),
            Some(properties.created_by().to_owned()),
            None,
            Arc::new(self.encoder.schema_descr().clone()),
            None,
        );
        let mut end = Vec::new();
        ParquetMetaDataWriter::new(&mut end, &ParquetMetaData::new(metadata, groups))
            .finish()
            .map_err(io_error)?;
        self.sink.write_all(&end)?;
        Ok(self.sink)
    }
}

impl<R> TableWriter<File, R> {
    /// Writes the table's end and syncs its file at `path` to the disk.
    pub(super) fn finish_file(self, path: &Path) -> Result<TableFile, ResultsError> {
        let finish = || {
            self.finish()?.sync_all()?;
            TableFile::describe(path)
        };
        finish().map_err(ResultsError::write(path))
    }
}

fn encoder<R>(
    keys: &[VariedKey],
    columns: &[Column<R>],
) -> Result<SerializedFileWriter<Vec<u8>>, ParquetError> {
    let varied = keys.iter().map(|key| field(&key.name, key.physical(), false).map(Arc::new));
    let mut fields = varied.collect::<Result<Vec<_>, _>>()?;
    let mut properties = WriterProperties::builder()
        .set_created_by("flowsched".to_owned())
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true);
    for Column { name, value, .. } in columns {
        let (path, physical) = (ColumnPath::from(*name), physical(value));
        if physical == Physical::INT64 {
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        } else if physical == Physical::DOUBLE {
            properties = properties.set_column_dictionary_enabled(path, false);
        }
        fields.push(Arc::new(field(name, physical, nullable(value))?));
    }
    let schema = Type::group_type_builder("row").with_fields(fields).build()?;
    SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties.build()))
}

fn field(name: &str, physical: Physical, nullable: bool) -> Result<Type, ParquetError> {
    let repetition = if nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let text = (physical == Physical::BYTE_ARRAY).then_some(LogicalType::String);
    Type::primitive_type_builder(name, physical)
        .with_repetition(repetition)
        .with_logical_type(text)
        .build()
}

const fn physical<R>(value: &Value<R>) -> Physical {
    match value {
        Value::Text(_) => Physical::BYTE_ARRAY,
        Value::Count(_) | Value::MaybeCount(_) => Physical::INT64,
        Value::MaybeNumber(_) => Physical::DOUBLE,
        Value::Flag(_) | Value::MaybeFlag(_) => Physical::BOOLEAN,
    }
}

const fn nullable<R>(value: &Value<R>) -> bool {
    matches!(value, Value::MaybeCount(_) | Value::MaybeNumber(_) | Value::MaybeFlag(_))
}

fn next(
    column: Option<SerializedColumnWriter<'_>>,
) -> Result<SerializedColumnWriter<'_>, ParquetError> {
    column.ok_or_else(|| ParquetError::General("more values than columns".to_owned()))
}

/// Writes the same value in every row.
fn write_cell(
    column: &mut SerializedColumnWriter<'_>,
    cell: &Cell,
    rows: usize,
) -> Result<(), ParquetError> {
    match cell {
        Cell::Count(count) => write::<Int64Type>(column, &vec![*count; rows], None),
        Cell::Number(number) => write::<DoubleType>(column, &vec![*number; rows], None),
        Cell::Text(text) => write_texts(column, rows, |_| text),
    }
}

fn write_column<R>(
    column: &mut SerializedColumnWriter<'_>,
    value: &Value<R>,
    run: &R,
    rows: usize,
) -> Result<(), ParquetError> {
    match value {
        Value::Text(of) => write_texts(column, rows, |row| of(run, row)),
        Value::Count(of) => {
            let values: Vec<i64> = (0..rows).map(|row| signed(of(run, row))).collect();
            write::<Int64Type>(column, &values, None)
        }
        Value::MaybeCount(of) => {
            write_some::<Int64Type>(column, rows, |row| of(run, row).map(signed))
        }
        Value::MaybeNumber(of) => write_some::<DoubleType>(column, rows, |row| of(run, row)),
        Value::Flag(of) => {
            let values: Vec<bool> = (0..rows).map(|row| of(run, row)).collect();
            write::<BoolType>(column, &values, None)
        }
        Value::MaybeFlag(of) => write_some::<BoolType>(column, rows, |row| of(run, row)),
    }
}

/// Writes a column of texts. Equal texts share their bytes, because few texts repeat over many
/// rows.
fn write_texts<'a>(
    column: &mut SerializedColumnWriter<'_>,
    rows: usize,
    text: impl Fn(usize) -> &'a str,
) -> Result<(), ParquetError> {
    let mut known: HashMap<&str, ByteArray> = HashMap::new();
    let share = |row| {
        let text = text(row);
        known.entry(text).or_insert_with(|| ByteArray::from(text)).clone()
    };
    let values: Vec<ByteArray> = (0..rows).map(share).collect();
    write::<ByteArrayType>(column, &values, None)
}

fn write_some<T: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    rows: usize,
    value: impl Fn(usize) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let values: Vec<Option<T::T>> = (0..rows).map(value).collect();
    let present: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = values.into_iter().flatten().collect();
    write::<T>(column, &values, Some(&present))
}

fn write<T: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    values: &[T::T],
    present: Option<&[i16]>,
) -> Result<(), ParquetError> {
    column.typed::<T>().write_batch(values, present, None)?;
    Ok(())
}

/// Converts to the widest integer of Parquet that every reader knows. No real value exceeds it.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
