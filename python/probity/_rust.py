"""The border to Rust: values of options as JSON, and the command that computes graphs."""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

import numpy as np

from . import _probity
from ._errors import OptionError


def _json(value: Any) -> str:
    """A value of options as JSON: paths as text, numbers of numpy as numbers."""

    def other(value: Any) -> Any:
        if isinstance(value, os.PathLike):
            return os.path.abspath(os.fspath(value))
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, np.ndarray):
            return value.tolist()
        if isinstance(value, (set, frozenset, tuple)):
            return sorted(value) if isinstance(value, (set, frozenset)) else list(value)
        raise OptionError(f"{value!r} is no value of an option")

    try:
        return json.dumps(value, default=other, allow_nan=False)
    except ValueError as error:
        raise OptionError("an option is NaN or infinite, and must be a finite number") from error


def _command() -> Path | None:
    """The command `probity`, where it is installed beside this package."""
    name = "probity.exe" if os.name == "nt" else "probity"
    places = [Path(sysconfig.get_path("scripts")), Path(sys.executable).parent]
    return next((place / name for place in places if (place / name).is_file()), None)


# Graphs of ONNX files are computed by the command, in processes that are bounded.
if (_program := _command()) is not None:
    _probity.compute_graphs_in(str(_program))
