"""What only Python knows of a run, kept in its directory for when the run goes on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TypedDict

from ._rust import to_json

#: The file of the notes.
_NOTES = "python.json"
#: The directory of the model that was made for a run.
MODEL = "model"


class Notes(TypedDict, total=False):
    """What only Python knows of a run."""

    label: str | None
    #: Those of the model, in the order of its outputs.
    classes: list[str] | None
    gives: str | None
    ignore: list[str]
    #: The protected columns that the model is said not to take.
    unseen: list[str]
    #: The column of the texts.
    column: str
    #: The schema of a network that was taken over.
    schema: str
    #: The URLs that were read, by field.
    urls: dict[str, str]


def write_notes(run: Path, notes: Notes, model: Path | None = None) -> None:
    """Writes notes into a run, and the `model` that was made for it."""
    (run / _NOTES).write_text(to_json(notes), encoding="utf-8")
    if model is not None:
        shutil.copytree(model, run / MODEL, dirs_exist_ok=True)


def read_notes(run: Path) -> Notes:
    """Reads the notes of a run, if it has any."""
    try:
        notes: Notes = json.loads((run / _NOTES).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return notes
