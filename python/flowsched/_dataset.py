"""The partitioned Parquet dataset of a sweep: a folder for each varied key and value.

What lives here: the paths of the files, and reading them. The files are hard links to those of the store,
so that they take no extra space. What may not: running anything.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import pyarrow as pa
import pyarrow.dataset as ds

from . import _native
from .results import typed

TableName = Literal["flows", "ports", "probe_flows", "probe_ports"]
_TABLES: tuple[TableName, ...] = ("flows", "ports", "probe_flows", "probe_ports")


class Dataset:
    """The files ``ROOT/flows/workload.load=0.8/NAME.parquet``, and likewise for the other tables."""

    def __init__(self, root: Path, values: Mapping[str, Sequence[str]]) -> None:
        self.root, self._values = root, values

    def add(self, point: Mapping[str, str], folder: Path) -> None:
        """Adds the tables of a results folder. Each table appears in one step."""
        for table in _TABLES:
            file = self._file(table, point, folder)
            if not file.exists() and (folder / f"{table}.parquet").exists():
                file.parent.mkdir(parents=True, exist_ok=True)
                _link(folder / f"{table}.parquet", file)
        self._describe()

    def read(self, table: TableName, runs: Sequence[tuple[Mapping[str, str], Path]]) -> pa.Table:
        """The rows of these runs in their order, with the varied keys as the first columns."""
        files = [str(self._file(table, point, folder)) for point, folder in runs]
        keys = {key: pa.array(typed(list(values))).type for key, values in self._values.items()}
        partitioning = ds.partitioning(pa.schema(keys.items()), flavor="hive")
        found = ds.dataset(
            files,
            format="parquet",
            partitioning=partitioning if keys else None,
            partition_base_dir=str(self.root / table),
        )
        names = [name for name in found.schema.names if name not in keys]
        rows: pa.Table = found.to_table(columns=[*keys, *names])
        fields = [field.with_nullable(field.nullable and field.name not in keys) for field in rows.schema]
        return rows.cast(pa.schema(fields))

    def _file(self, table: TableName, point: Mapping[str, str], folder: Path) -> Path:
        parts = [f"{key}={quote(text, safe='')}" for key, text in point.items()]
        return Path(self.root, table, *parts, f"{folder.name}.parquet")

    def _describe(self) -> None:
        """Records the program that wrote the dataset, for the list of a store's content."""
        file = self.root / "sweep.json"
        if not file.exists():
            program = {"version": _native.VERSION, "commit": _native.COMMIT, "command": "flowsched.sweep"}
            partial = file.with_name(f"sweep.json.{uuid.uuid4().hex}")
            partial.write_text(json.dumps({"keys": list(self._values), "program": program}))
            os.replace(partial, file)


def _link(source: Path, file: Path) -> None:
    """Makes a hard link, or a copy if the file system does not support hard links."""
    partial = file.with_name(f".{file.name}.{uuid.uuid4().hex}")
    try:
        os.link(source, partial)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.EMLINK):
            raise
        shutil.copyfile(source, partial)
    os.replace(partial, file)
