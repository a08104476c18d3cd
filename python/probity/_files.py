"""Paths, files and URLs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ._errors import DataError, OptionError


def is_path(data: Any) -> bool:
    """Whether `data` is a path, a URL or something else that names a file, such as a run."""
    return isinstance(data, (str, os.PathLike))


def is_text_file(data: Any) -> bool:
    """Whether `data` is the path of a file on this machine, and not a Parquet file."""
    if not is_path(data) or "://" in os.fspath(data):
        return False
    try:
        with open(data, "rb") as file:
            return file.read(4) != b"PAR1"
    except OSError as error:
        raise DataError(f"cannot read {os.fspath(data)}: {error}") from error


def expect_local(path: Any, name: str) -> Path:
    """Makes a path absolute; what is no path on this machine is refused as the option `name`."""
    if not is_path(path) or "://" in os.fspath(path):
        raise OptionError(f"{name} is {path!r}, but must be a path on this machine")
    return Path(path).absolute()


def locate_schema(schema: str | os.PathLike[str]) -> str:
    """Makes the path of a schema absolute; a built-in name and TOML stay as they are."""
    name = os.fspath(schema)
    return os.path.abspath(name) if "\n" not in name and os.path.isfile(name) else name


def fetch(url: str, folder: Path) -> str:
    """Copies the file or directory at a URL into `folder`, and gives its path."""
    try:
        import fsspec
    except ImportError as error:
        raise OptionError(f"{url} needs fsspec: pip install fsspec") from error
    try:
        system, inside = fsspec.core.url_to_fs(url)
        # What says which version, or who may read it, is no part of the name.
        name = inside.partition("?")[0].rstrip("/").rpartition("/")[2]
        place = folder / name
        if system.isdir(inside):
            system.get(inside.rstrip("/") + "/", str(place) + "/", recursive=True)
        else:
            system.get_file(inside, str(place))
    except Exception as error:
        raise DataError(f"cannot read {url}: {error}") from error
    return str(place)
