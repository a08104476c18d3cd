"""Sum-product networks: densities of rows that answer any question, and forget rows exactly."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

import numpy as np
import pyarrow as pa

from . import _probity, _process
from ._errors import OptionError
from ._frames import to_arrow, to_word
from ._inference import infer_schema
from ._memory import name_table
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
        with name_table("rows", to_arrow(data)) as path:
            given = {**options, "data": path, "schema": os.fspath(schema)}
            return cls(_probity.SumProductNetwork.learn(to_json(given)))

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> SPN:
        """Loads the network in a model directory."""
        return cls(_probity.SumProductNetwork.load(os.fspath(directory)))

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Writes a model directory, which the command works on as well."""
        self._network.save(os.fspath(directory))

    @property
    def row_ids(self) -> list[int]:
        """The ids of the rows that are left."""
        return self._network.ids()

    def log_likelihood(self, data: Any) -> Any:
        """Computes the natural logarithm of the density of each row; missing values are summed out."""
        _process.begin()
        with name_table("questions", to_arrow(data)) as path:
            return np.asarray(self._network.log_likelihood(path))

    def log_probability(self, ask: Values, given: Values | None = None) -> float:
        """Computes the natural logarithm of the probability, or density, of `ask` given `given`."""
        return self._network.log_probability(_to_values(ask), _to_values(given or {}))

    def sample(self, rows: int, given: Values | None = None, *, seed: int = 1) -> pa.Table:
        """Draws rows, given some values; all values are texts, as they would stand in a file."""
        names, values = self._network.sample(rows, _to_values(given or {}), seed)
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


def _to_values(values: Values) -> list[tuple[str, str]]:
    """Lists values by the names of their columns, as they would stand in a file."""
    return [(name, to_word(value)) for name, value in values.items()]
