"""Data frames: turned into Arrow for Probity, and back into what the user's model takes.

Probity reads words: trimmed, and numbers by their value. A model knows the values of its own data,
with their blanks, types and categories. So both are kept side by side (`Frames`): every word that
the data hold is given back as the very value that it was read from. Where two values are read as one
word, nobody could tell which the model is to get, and they are refused. Where the schema says that
they are one (marks of missing values, spellings that are merged), the model gets the null or the level
itself, or else the first one, and this is logged.
"""

from __future__ import annotations

import logging
import os
import tempfile
from decimal import Decimal
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Iterable, Sequence

import numpy as np
import pyarrow as pa

from . import _probity
from ._errors import DataError, OptionError, spell_for_python
from ._files import fetch, is_path, is_text_file
from ._memory import name_table
from ._rust import Attribute, Schema, to_toml

_log = logging.getLogger("probity")

#: Rows of the data by whose decisions a model is known again.
_SAMPLE = 2000
#: The most whole numbers that an attribute may have.
_MOST_NUMBERS = 1_000_000


def draw_places(rows: int, most: int) -> np.ndarray:
    """Draws the places of `most` of so many rows, from all of them: always the same ones.

    Files are often sorted, so that their first rows are of one kind. The places are those whose
    numbers SplitMix64, a permutation of all 64-bit numbers, makes smallest.
    """
    if rows <= most:
        return np.arange(rows)
    key = np.arange(1, rows + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        key = (key ^ (key >> np.uint64(shift))) * np.uint64(factor)
    key ^= key >> np.uint64(31)
    return np.sort(np.argpartition(key, most)[:most])


class Data:
    """The data as the user has them (`frame`), and as Probity reads them (`table`).

    `table` has all of their columns but those in `ignore`, under their names as text. A file of text
    is laid out as `schema` says, where there is one.
    """

    def __init__(self, data: Any, ignore: Iterable[Any] = (), schema: Any = None):
        ignored = {str(name) for name in ignore}
        # A file of text is read without what is ignored.
        unknown = set() if is_path(data) else set(ignored)
        if is_path(data):
            data = read_table(os.fspath(data), sorted(ignored), schema)
        #: The library that the data are of.
        self.library = type(data).__module__.partition(".")[0]
        self.frame = data
        if self.library == "polars" and hasattr(data, "collect"):
            self.frame = data.collect()
        self.names: dict[str, Any] = {}
        columns: dict[str, Any] = {}
        if self.library == "pandas" and hasattr(data, "columns"):
            for place, name in enumerate(data.columns):
                if isinstance(name, tuple):
                    raise DataError("the columns have names of several levels; give them one each")
                unknown.discard(str(name))
                if str(name) not in ignored:
                    self._add(columns, name, data.iloc[:, place])
        elif hasattr(self.frame, "__arrow_c_stream__"):
            try:
                whole = pa.table(self.frame)
            except pa.ArrowException as error:
                raise DataError(
                    f"data is a {type(data).__name__} of single values, and neither a table nor a list "
                    f"of texts ({error})"
                ) from error
            if self.library != "polars":
                self.frame = whole
            unknown -= {*whole.column_names}
            for name, column in zip(whole.column_names, whole.columns):
                if name not in ignored:
                    self._add(columns, name, column)
        else:
            raise DataError(
                f"data is a {type(data).__name__}, but must be a path or a table with "
                "__arrow_c_stream__, such as a data frame of pandas or polars or a pyarrow.Table"
            )
        self.table = pa.table(columns)
        if unknown:
            raise OptionError(f"ignore names '{min(unknown)}', but the data have no such column")

    def _add(self, columns: dict[str, Any], name: Any, column: Any) -> None:
        if str(name) in columns:
            raise DataError(f"two columns have the name '{name}'; give each its own")
        self.names[str(name)] = name
        try:
            columns[str(name)] = _to_column(column)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise DataError(
                f"the column '{name}' cannot be read ({error}); leave it out, or name it in ignore"
            ) from error

    def holds_numbers(self, name: str) -> bool:
        """Whether the column `name`, where there is one, holds numbers."""
        if name not in self.table.column_names:
            return False
        kind = self.table.schema.field(name).type
        return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind))

    def spell_label(self, name: str | None, value: str) -> str:
        """Spells a value as one of the column `name`, where there is one: a float has a point."""
        if name in self.table.column_names and pa.types.is_floating(self.table.schema.field(name).type):
            return str(_read_number(value, {}, value))
        return value

    def list_categories(self) -> dict[str, tuple[list[str], bool]]:
        """Lists the values that occur in the columns whose type lists its values, and says whether
        these are ordered."""
        found = {}
        for name in self.table.column_names:
            listed = self._read_categories(name)
            if listed is not None:
                values, ordered = listed
                present = set(self.table.column(name).unique().to_pylist())
                words = [to_word(value) for value in values]
                found[name] = ([word for word in words if word in present], ordered)
        return found

    def list_classes(self, name: str) -> list[str]:
        """Lists the values that the type of the column `name` lists, whether they occur or not."""
        values, _ = self._read_categories(name) or ([], False)
        return [to_word(value) for value in values]

    def _read_categories(self, name: str) -> tuple[list[Any], bool] | None:
        """Reads the values that the type of a column lists, where it does, and whether in order."""
        if self.library == "pandas":
            kind = self.frame[self.names[name]].dtype
            if type(kind).__name__ == "CategoricalDtype":
                return list(kind.categories), bool(kind.ordered)
        elif self.library == "polars":
            kind = self.frame.schema[name]
            if type(kind).__name__ == "Enum":
                return list(kind.categories), False
        elif isinstance(self.frame, pa.Table):
            kind = self.frame.schema.field(name).type
            if pa.types.is_dictionary(kind):
                values = self.frame.column(name).unique().to_pylist()
                return [value for value in values if value is not None], kind.ordered
        return None

    def list_values(self, name: str) -> list[Any]:
        """Lists the values of a column as the user has them."""
        if self.library == "pandas":
            values: list[Any] = self.frame[self.names[name]].tolist()
            return values
        column = self.frame[name]
        return list(column.to_list() if hasattr(column, "to_list") else column.to_pylist())

    def take(self, columns: list[str], places: np.ndarray) -> Any:
        """Takes the rows at these places, as they are, in these columns; `None` without a data frame."""
        if self.library == "pandas":
            return self.frame[[self.names[name] for name in columns]].iloc[places].copy()
        return self.frame.select(columns)[places] if self.library == "polars" else None


def to_arrow(data: Any) -> Any:
    """Turns `data` into an Arrow table that Probity reads, unless they are one, or a path."""
    return data if is_path(data) or isinstance(data, pa.Table) else Data(data).table


def read_table(path: str, ignore: Sequence[str] = (), schema: Any = None) -> pa.Table:
    """Reads a file, of text or of Parquet, here or at a URL."""
    from pyarrow import parquet

    if "://" in path:
        with tempfile.TemporaryDirectory(prefix="probity-") as folder:
            return read_table(fetch(path, Path(folder)), ignore, schema)
    if is_text_file(path):
        named = None if schema is None else os.fspath(schema)
        batch, left_out = _probity.read_table(path, list(ignore), named)
        if left_out is not None:
            _log.warning("of %s %s", path, left_out)
        return pa.Table.from_batches([batch])
    try:
        return parquet.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"cannot read {path}: {error}") from error


def _to_column(column: Any) -> Any:
    """Turns a column into one that Probity reads: numbers as they are, anything else as words."""
    if isinstance(column, (pa.ChunkedArray, pa.Array)):
        if getattr(column.type, "extension_name", "") == "pandas.period":
            return _to_column(column.to_pandas())
        if pa.types.is_dictionary(column.type):
            return _to_words(column.to_pylist())
        return _to_floats(column.to_pylist()) if pa.types.is_decimal(column.type) else column
    kind = column.dtype
    if type(kind).__name__ == "SparseDtype":
        return _to_column(column.sparse.to_dense())
    if type(kind).__name__ == "PeriodDtype":
        # A month or a quarter is a date: the day on which it begins.
        return _to_column(column.dt.to_timestamp())
    if type(kind).__name__ == "CategoricalDtype":
        words = np.array([to_word(value) for value in kind.categories] + [None], dtype=object)
        return pa.array(words[column.cat.codes.to_numpy()], pa.string())
    if kind == object:
        values = column.tolist()
        kinds = {type(value) for value in values if not is_missing(value)}
        are_numbers = all(kind is not bool and issubclass(kind, (Real, Decimal)) for kind in kinds)
        # Whole numbers may be words of a code, and too long for floats.
        if are_numbers and not all(issubclass(kind, Integral) for kind in kinds):
            return _to_floats(values)
        return _to_words(values)
    return _to_column(pa.array(column, from_pandas=True))


def _to_floats(values: list[Any]) -> pa.Array:
    return pa.array([None if is_missing(value) else float(value) for value in values], pa.float64())


def _to_words(values: list[Any]) -> pa.Array:
    return pa.array([None if is_missing(value) else to_word(value) for value in values], pa.string())


def _list_shared_words(attribute: Attribute) -> set[str]:
    """Lists the words of an attribute for which the data may hold several values."""
    marks = attribute.get("missing", [])
    # All values outside of a category are one level, where they have one.
    other = {"(other)"} if attribute["outside"] == "level" else set()
    return {*([marks] if isinstance(marks, str) else marks), *attribute.get("merge", {}).values()} | other


def _choose_value(word: str | None, one: Any, other: Any) -> Any:
    """Chooses the value that a model is asked with, of two that `word` stands for."""
    return next((value for value in (one, other) if is_missing(value) or value == word), one)


def is_missing(value: Any) -> bool:
    """Whether `value` is a null, of any library."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def to_word(value: Any) -> str:
    """Writes a value as Probity does: trimmed, whole numbers without a point."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()


class Frames:
    """Data frames like the user's, made of Arrow batches with Probity's columns.

    A model is asked with frames of the library, the columns, the types and the values that it knows.
    `columns` are those that it is asked with, in this order; those of them that are not `given` in
    batches must have one value in every row, which is then filled in.
    """

    def __init__(self, data: Data, schema: Schema, columns: list[str], given: list[str]):
        self._columns = columns
        self._data = data
        self._library = data.library
        if self._library not in ("pandas", "polars") and _has_pandas():
            self._library = "pandas"
        self._types: dict[str, Any] = {}
        if self._library == "polars":
            self._types = dict(data.frame.schema)
        elif self._library == "pandas":
            frame = data.frame if data.library == "pandas" else data.frame.to_pandas()
            self._types = {str(name): frame[name].dtype for name in frame.columns}
        self._fill = {name: _find_constant(data, name) for name in columns if name not in given}
        kinds = {each["name"]: each["kind"] for each in schema["attribute"]}
        #: Those in which rows of the data have numbers of their own, beside those of their bins and those
        #: to which they are moved.
        self._numeric = {name for name in columns if kinds.get(name) in ("numeric", "integer")}
        self._values = self._read_back(schema, [name for name in columns if name in given])

    def _read_rows(self, schema: Schema) -> tuple[pa.RecordBatch, np.ndarray]:
        """Reads the rows in the form in which the model is asked about them, and the place of each in
        the data, as some may be left out."""
        table, attributes = self._data.table, [*schema["attribute"]]
        longest = max(len(name) for name in [*table.column_names, schema["label"]["name"]])
        # Two columns more say the place: one attribute cannot hold so many numbers.
        names = [part.ljust(longest + 1, "_") for part in ("high", "low")]
        for name, numbers in zip(names, divmod(np.arange(len(table)), _MOST_NUMBERS)):
            table = table.append_column(name, pa.array(numbers))
            attributes.append({"name": name, "kind": "integer", "min": 0, "max": _MOST_NUMBERS - 1})
        # A table names its columns, where a file of the schema may have no header.
        layout = {**schema["format"], "header": True, "columns": []}
        read = {**schema, "format": layout, "attribute": attributes}
        text = "\n".join(f"{key} = {to_toml(value)}" for key, value in read.items())
        with name_table("rows", table) as path, spell_for_python():
            asked = _probity.rows_as_asked(text, path)
        high, low = (asked.column(name).to_numpy() for name in names)
        return asked, high * _MOST_NUMBERS + low

    def _read_back(self, schema: Schema, columns: list[str]) -> dict[str, dict[Any, Any]]:
        """Finds the value that each word was read from, for each column of words."""
        asked, self._kept = self._read_rows(schema)
        self._rows = asked.take(pa.array(draw_places(len(asked), _SAMPLE)))
        # Of each column the words that several values may stand for: marks, and levels of `merge`.
        shared = {each["name"]: _list_shared_words(each) for each in schema["attribute"]}
        found: dict[str, dict[Any, Any]] = {}
        for name in columns:
            words = asked.column(name)
            if not pa.types.is_string(words.type) and not self._is_of_words(name):
                continue
            known: dict[Any, Any] = {}
            joined = shared.get(name, set())
            originals, listed = self._data.list_values(name), words.to_pylist()
            if name in self._numeric:
                cells = self._data.table.column(name).to_pylist()
                listed = [
                    None if word is None else _read_number(cells[place], schema["format"], word)
                    for word, place in zip(listed, self._kept)
                ]
            pairs: dict[Any, Any] = {}
            for word, place in zip(listed, self._kept):
                pairs.setdefault((word, _to_key(originals[place])), originals[place])
            for (word, _), value in pairs.items():
                if word in known and not _is_same(known[word], value):
                    if word is None or word in joined:
                        first = _choose_value(word, known[word], value)
                        _log.warning(
                            "the column '%s' holds %r and %r, which are one: the model is asked with %r for both",
                            name, known[word], value, first,
                        )
                        known[word] = first
                        continue
                    raise OptionError(
                        f"the column '{name}' holds {known[word]!r} and {value!r}, which are read as "
                        "one; make them one, or two that differ in more than blanks and spelling"
                    )
                known.setdefault(word, value)
            found[name] = known
        return found

    def _is_of_words(self, name: str) -> bool:
        """Whether a column of the data holds anything but numbers, such as spellings of them."""
        kind = self._types.get(name)
        if kind is None:
            return False
        number = getattr(kind, "is_numeric", None)
        if callable(number):
            return not number() or "decimal" in str(kind).lower()
        return kind == object or type(kind).__name__ in ("StringDtype", "CategoricalDtype") or (
            "decimal" in str(kind) or "string" in str(kind)
        )

    def sample(self) -> tuple[Any, int]:
        """Draws rows from all of the data that are not left out, as the model knows them, and counts
        them."""
        places = self._kept[draw_places(len(self._kept), _SAMPLE)]
        frame = self._data.take(self._columns, places)
        if frame is not None:
            return frame, len(frame)
        return self(self._rows), len(self._rows)

    def __call__(self, batch: pa.RecordBatch) -> Any:
        """Makes the data frame of a batch."""
        columns = {name: self._restore(name, batch) for name in self._columns}
        if self._library == "pandas":
            import pandas as pd

            frame = pd.DataFrame(columns, index=pd.RangeIndex(len(batch)))
            frame.columns = pd.Index([self._data.names[name] for name in self._columns])
            return frame
        if self._library == "polars":
            import polars as pl

            return pl.DataFrame(columns)
        return pa.table(columns)

    def _restore(self, name: str, batch: pa.RecordBatch) -> Any:
        """Makes the column of a batch that the model knows."""
        kind = self._types.get(name)
        if name in self._fill:
            places = np.zeros(len(batch), dtype=np.int64)
            return _make_column([self._fill[name]], places, kind, self._library)
        column = batch.column(name)
        if pa.types.is_string(column.type) or name in self._values:
            coded = column.dictionary_encode(null_encoding="encode")
            known = self._values.get(name, {})
            like = next((value for value in known.values() if not is_missing(value)), None)
            words = coded.dictionary.to_pylist()
            if name in self._numeric:
                words = [_read_number(word, {}, word) for word in words]
            values = [known[word] if word in known else _convert_word(word, kind, like) for word in words]
            return _make_column(values, coded.indices.to_numpy(), kind, self._library)
        if self._library == "polars":
            import polars as pl

            return pl.Series(name, column).cast(self._types[name])
        if self._library == "pandas":
            return _convert_numbers(column.to_pandas(), kind)
        return column


def _read_number(cell: Any, layout: dict[str, Any], word: Any) -> Any:
    """Reads the number in a cell, as `layout` says that numbers are written; `word` if it holds none."""
    if isinstance(cell, str):
        cell = cell.replace(layout.get("thousands") or " ", "").replace(layout.get("decimal") or ".", ".")
    try:
        number = float(cell)
    except (TypeError, ValueError):
        return word
    return number if np.isfinite(number) else word


def _to_key(value: Any) -> Any:
    """Gives a value a key by which a set tells it apart: by type as well, as NaN and None are two."""
    return type(value).__name__, None if is_missing(value) else value


def _is_same(one: Any, other: Any) -> bool:
    return bool(type(one) is type(other) and one == other)


def _make_column(values: list[Any], at: Any, kind: Any, library: str) -> Any:
    """Makes a column of the `values` at the places in `at`."""
    if library == "pandas":
        import pandas as pd

        if type(kind).__name__ == "CategoricalDtype":
            few = pd.Series(pd.Categorical(values, dtype=kind))
        elif kind == object:
            few = pd.Series(values, dtype=object)
        else:
            missing = any(is_missing(value) for value in values)
            if missing and isinstance(kind, np.dtype) and kind.kind in "iub":
                few = pd.Series(values, dtype=object)
            else:
                few = pd.Series(values, dtype=kind)
        return few.take(at).reset_index(drop=True)
    if library == "polars":
        import polars as pl

        return pl.Series(values, dtype=kind).gather(at)
    return pa.array(values).take(pa.array(at))


def _convert_word(word: Any, kind: Any, other: Any) -> Any:
    """Turns a word, or a number, that is not in the data into a value of this type, like `other`, which
    is in them."""
    if word is None or is_missing(word):
        return None
    if isinstance(word, (int, float)):
        if str(kind).lower().startswith("bool"):
            return bool(word)
        if isinstance(other, str):
            return str(float(word)) if "." in other else to_word(word)
        is_kept = other is None or isinstance(other, bool) or (isinstance(other, int) and word % 1)
        return word if is_kept else type(other)(to_word(word))
    name = str(kind).lower()
    if name.startswith("bool") or isinstance(other, bool):
        return _parse_truth(word)
    if any(name.startswith(start) for start in ("int", "uint", "float", "decimal")):
        return float(word) if "." in word or "float" in name else int(word)
    return word


#: Words for true and for false, in any case.
_TRUTHS = {"true": True, "yes": True, "t": True, "y": True, "1": True}
_TRUTHS |= {"false": False, "no": False, "f": False, "n": False, "0": False}


def _parse_truth(word: str) -> bool:
    """Reads a word of the schema as true or false."""
    if (meant := _TRUTHS.get(word.lower())) is None:
        raise OptionError(
            f"a column of the data holds true and false, but the schema has the level '{word}' for it, "
            f"which means neither; name its levels by words of {', '.join(_TRUTHS)}, or give the data as words"
        )
    return meant


def _convert_numbers(column: Any, kind: Any) -> Any:
    """Turns numbers into a pandas column of this type."""
    import pandas as pd

    if isinstance(kind, np.dtype) and kind.kind in "iub" and column.isna().any():
        # No integer of numpy is missing, and no truth.
        return column
    if type(kind).__name__ == "CategoricalDtype":
        return pd.Series(pd.Categorical(column, dtype=kind))
    return column.astype(kind)


def _has_pandas() -> bool:
    try:
        import pandas  # noqa: F401
    except ImportError:
        return False
    return True


def _find_constant(data: Data, name: str) -> Any:
    """Finds the one value that a column has in all rows."""
    if name not in data.table.column_names:
        raise OptionError(f"the model takes a column '{name}', which the data do not have")
    if len(data.table.column(name).unique()) > 1:
        raise OptionError(
            f"the model takes the column '{name}', but the schema leaves it out and its rows have "
            "several values; give a schema in which it is an attribute"
        )
    if data.library == "pandas":
        return data.frame[data.names[name]].iloc[0]
    return data.frame[name][0] if data.library == "polars" else data.frame.column(name)[0].as_py()
