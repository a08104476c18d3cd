"""Sum-product networks: densities of rows that can be asked anything, and forget exactly."""

from __future__ import annotations

import contextlib
import os
from typing import Any, Mapping, Sequence

import numpy as np
import pyarrow as pa

from . import _probity, _process
from ._errors import OptionError
from ._frames import _word
from ._inference import infer_schema
from ._memory import _named
from ._rust import to_json

#: Values of columns, by name.
Values = Mapping[str, Any]


class SPN:
    """A sum-product network: a density of the rows of a table, tractable for any question.

    After `delete` it is, byte for byte, what learning from the rows that are left gives, under their
    ids.
    """

    def __init__(self, network: _probity.SumProductNetwork):
        self._network = network

    @classmethod
    def fit(
        cls,
        data: Any,
        label: str | None = None,
        *,
        schema: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> SPN:
        """Learns a network of the rows of `data`, of which `label` is one more column.

        Without a `schema` it is inferred, for which the label must be named. Options are those of
        `probity spn fit`, such as `id_column="person"` or `min_rows=500`; ids are the numbers of the
        rows, from 1, where no column has them.
        """
        _process.begin()
        if schema is None:
            if label is None:
                raise OptionError("label is needed where there is no schema")
            ignored = [options["id_column"]] if "id_column" in options else []
            schema = infer_schema(data, label, ignore=ignored)
        name = os.fspath(schema)
        with contextlib.ExitStack() as names:
            path = _named(names, "rows", False, data)
            given = {**options, "data": path, "schema": name}
            return cls(_probity.SumProductNetwork.learn(to_json(given)))

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> SPN:
        """The network in a model directory."""
        return cls(_probity.SumProductNetwork.load(os.fspath(directory)))

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Writes a model directory, which the command works on as well."""
        self._network.save(os.fspath(directory))

    @property
    def row_ids(self) -> list[int]:
        """The ids of the rows that are left."""
        return self._network.ids()

    def log_likelihood(self, data: Any) -> Any:
        """The natural logarithm of the density of each row; missing values are summed out."""
        _process.begin()
        with contextlib.ExitStack() as names:
            path = _named(names, "questions", False, data)
            return np.asarray(self._network.log_likelihood(path))

    def log_probability(self, ask: Values, given: Values | None = None) -> float:
        """The natural logarithm of the probability, or density, of `ask` given `given`."""
        return self._network.log_probability(_said(ask), _said(given or {}))

    def sample(self, rows: int, given: Values | None = None, *, seed: int = 1) -> pa.Table:
        """Draws rows, given some values; all values are texts, as they would stand in a file."""
        names, values = self._network.sample(rows, _said(given or {}), seed)
        columns = [pa.array(list(column), pa.string()) for column in zip(*values)]
        return pa.table(columns or [pa.array([], pa.string()) for _ in names], names=names)

    def delete(self, ids: int | Sequence[int]) -> SPN:
        """Deletes rows by their ids, as if they had never been there."""
        _process.begin()
        wanted = np.atleast_1d(np.asarray(ids))
        if not np.issubdtype(wanted.dtype, np.integer) or (wanted < 0).any():
            raise OptionError("rows are named by their ids, whole numbers")
        self._network.delete(wanted.tolist())
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SPN) and self._network.is_same(other._network)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<probity.SPN of {len(self.row_ids)} rows>"


def _said(values: Values) -> list[tuple[str, str]]:
    return [(name, _word(value)) for name, value in values.items()]
