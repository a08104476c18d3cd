"""Data frames: from what the user has to Arrow, and from Arrow to what the user's model takes."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pyarrow as pa

from ._errors import DataError, OptionError


def to_arrow(data: Any) -> pa.Table:
    """`data` as an Arrow table, without a copy where its columns are Arrow's already."""
    if isinstance(data, (str, os.PathLike)):
        return _read(os.fspath(data))
    if not hasattr(data, "__arrow_c_stream__"):
        raise DataError(
            f"data is a {type(data).__name__}, but must be a path or a table with "
            "__arrow_c_stream__, such as a data frame of pandas or polars or a pyarrow.Table"
        )
    table = pa.table(data)
    # The index of a pandas frame is none of its columns.
    hidden = [name for name in table.column_names if name.startswith("__index_level_")]
    return table.drop_columns(hidden)


def _read(path: str) -> pa.Table:
    from pyarrow import csv, parquet

    try:
        if path.endswith((".parquet", ".pq")):
            return parquet.read_table(path)
        # What is not known is null, as the reader of files has it.
        return csv.read_csv(
            path,
            convert_options=csv.ConvertOptions(
                strings_can_be_null=True, null_values=["", "?", "NA", "N/A", "null", "nan", "NaN"]
            ),
        )
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"cannot read {path}: {error}") from error


class Frames:
    """Makes frames like `template`, the user's data, of Arrow batches in Probity's columns.

    A model is asked for frames of the library, with the columns and the types, that it knows.
    `columns` are those that it is asked with, in this order; those of them that are in no batch
    must have the same value in every row, which is then filled in.
    """

    def __init__(self, template: Any, table: pa.Table, columns: list[str], given: list[str]):
        self._columns = columns
        self._fill: dict[str, Any] = {}
        for name in columns:
            if name not in given:
                self._fill[name] = _constant(table, name)
        module = type(template).__module__.partition(".")[0]
        self._types: dict[str, Any] = {}
        self._make = self._arrow
        if module == "polars":
            self._make = self._polars
            frame = template.collect_schema() if hasattr(template, "collect_schema") else None
            self._types = dict(frame if frame is not None else template.schema)
        elif module == "pandas":
            self._make = self._pandas
            self._types = dict(template.dtypes)
        elif _has_pandas():
            self._make = self._pandas
            self._types = dict(table.to_pandas().dtypes)

    def __call__(self, batch: pa.RecordBatch) -> Any:
        table = pa.Table.from_batches([batch])
        for name, value in self._fill.items():
            if name in table.column_names:
                continue
            filled = pa.array([value] * len(table)) if value is not None else pa.nulls(len(table))
            table = table.append_column(name, filled)
        return self._make(table.select(self._columns))

    def _arrow(self, table: pa.Table) -> Any:
        return table

    def _pandas(self, table: pa.Table) -> Any:
        frame = table.to_pandas()
        for name in frame.columns:
            frame[name] = _pandas_column(frame[name], self._types[name])
        return frame

    def _polars(self, table: pa.Table) -> Any:
        import polars as pl

        frame = pl.DataFrame(table)
        columns = []
        for name in frame.columns:
            column, kind = pl.col(name), self._types[name]
            if kind == pl.Boolean and frame.schema[name] == pl.String:
                columns.append(column == "true")
            else:
                columns.append(column.cast(kind))
        return frame.with_columns(columns)


def _has_pandas() -> bool:
    try:
        import pandas  # noqa: F401
    except ImportError:
        return False
    return True


def _constant(table: pa.Table, name: str) -> Any:
    if name not in table.column_names:
        raise OptionError(f"the model takes a column '{name}', which the data do not have")
    values = table.column(name).unique()
    if len(values) > 1:
        raise OptionError(
            f"the model takes the column '{name}', but the schema leaves it out and its rows have "
            "several values; give a schema in which it is an attribute"
        )
    return values[0].as_py() if len(values) else None


def _pandas_column(column: Any, kind: Any) -> Any:
    import pandas as pd
    from pandas.api import types

    if types.is_bool_dtype(kind) and not types.is_bool_dtype(column.dtype):
        words = {"true": True, "false": False, "1": True, "0": False}
        column = column.map(words)
    if isinstance(kind, pd.CategoricalDtype):
        if not types.is_numeric_dtype(column.dtype):
            known = {_word(category): category for category in kind.categories}
            column = column.map(known)
        return pd.Series(pd.Categorical(column, dtype=kind), index=column.index, name=column.name)
    if types.is_numeric_dtype(kind) and not types.is_numeric_dtype(column.dtype):
        column = pd.to_numeric(column)
    if isinstance(kind, np.dtype) and types.is_integer_dtype(kind) and column.isna().any():
        # No integer of numpy is missing.
        return column
    if kind == object:
        # A missing word is what it was among objects.
        return column.astype(object).where(column.notna(), None)
    return column.astype(kind)


def _word(value: Any) -> str:
    """A value as Probity writes it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()
