"""What only Python knows of a run, kept beside it for when the run goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Mapping

from ._rust import _json

#: What only Python knows of a run, beside what the run says of itself.
_HELD = "python.json"
#: The model that was made for a run.
_MODEL = "model"


def _hold(directory: Path, said: Mapping[str, Any]) -> None:
    (directory / _HELD).write_text(_json(said), encoding="utf-8")


def _held(directory: Path) -> dict[str, Any]:
    try:
        said: dict[str, Any] = json.loads((directory / _HELD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return said
