"""Files, directories and URLs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ._errors import DataError, OptionError


def is_path(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike))


def is_text_file(data: Any) -> bool:
    """Whether `data` is the path of a file here that is no Parquet file."""
    if not is_path(data) or "://" in os.fspath(data):
        return False
    try:
        with open(data, "rb") as file:
            return file.read(4) != b"PAR1"
    except OSError as error:
        raise DataError(f"cannot read {os.fspath(data)}: {error}") from error


def _local(path: Any, name: str) -> Path:
    if not is_path(path) or "://" in os.fspath(path):
        raise OptionError(f"{name} is {path!r}, but must be a path on this machine")
    return Path(path).absolute()


def _text_of(schema: str | os.PathLike[str]) -> str:
    """A file by its absolute path; a built-in name and TOML as they are."""
    name = os.fspath(schema)
    return os.path.abspath(name) if "\n" not in name and os.path.isfile(name) else name


def fetched(url: str, folder: Path) -> str:
    """The file or directory at a URL, copied into `folder`."""
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
