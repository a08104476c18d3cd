"""Outliers under differential privacy, and the budget that they are paid from."""

from __future__ import annotations

import os
from typing import Any, Sequence

from . import _probity
from ._errors import OptionError
from ._files import _local, _text_of
from ._inference import _names
from ._run import Run, _Setting
from ._rust import _json


def outliers_budget(
    ledger: str | os.PathLike[str],
    data: str | os.PathLike[str] | None = None,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    slack: float | None = None,
    columns: Sequence[str] = (),
    schema: str | os.PathLike[str] | None = None,
    names: Sequence[str] = (),
    separator: str = ",",
) -> dict[str, float]:
    """Declares a privacy budget for the file `data` in the new file `ledger`, as the owner of the data
    does once; without `data`, nothing is declared. Gives the `epsilon` and `delta` that are left.

    What is said here of the table, and the number of its records, is public from then on. `names` and
    `separator` describe a file without a header, or with another separator, where there is no schema.
    """
    if data is not None:
        if epsilon is None:
            raise OptionError("epsilon is needed: how much may be given away in all")
        declared = {
            "data": str(_local(data, "data")),
            "epsilon": epsilon,
            "delta": delta,
            "slack": slack,
            "columns": _names(columns),
            "schema": None if schema is None else _text_of(schema),
            "names": _names(names),
            "separator": separator,
        }
        _probity.declare_budget(os.fspath(ledger), _json(declared))
    left = _probity.budget_left(os.fspath(ledger))
    return {"epsilon": left[0], "delta": left[1]}


def outliers(data: str | os.PathLike[str], ledger: str | os.PathLike[str], **options: Any) -> Run:
    """Counts the outliers in the file `data` under differential privacy; with `dims`, chooses the
    columns in which there are most of them.

    An outlier has fewer than `k` other records within `radius`. The price, `epsilon` and `delta`, is
    charged to `ledger` before the answer is computed. `probity.options("outliers count")` and
    `probity.options("outliers subspaces")` list the options.
    """
    _local(data, "data")
    if "device" in options:
        raise OptionError("device has no meaning for outliers")
    kind = "outliers subspaces" if "dims" in options or "top" in options else "outliers count"
    setting = _Setting.split_from(options)
    if setting.began:
        raise OptionError("a private answer cannot be resumed: it is asked, and paid for, again")
    with setting:
        inputs = {"data": setting.path("data", data), "ledger": os.path.abspath(os.fspath(ledger))}
        run: Run = setting.perform(Run, kind, options, inputs)
        return run
