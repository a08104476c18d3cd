"""Names by which a specification can call tables and models of Python."""

from __future__ import annotations

import contextlib
import os
from typing import Any, Callable, Iterator, TypeVar

from . import _probity
from ._errors import ModelError, NameTaken, ProbityError
from ._files import is_path

_T = TypeVar("_T")


@contextlib.contextmanager
def name_table(name: str, table: Any, exactly: bool = False) -> Iterator[str]:
    """Gives a table a path, for as long as this lasts; a path is made absolute."""
    if is_path(table):
        yield os.path.abspath(os.fspath(table))
        return
    named = _register(name, exactly, lambda free: _probity.NamedTable(free, table))
    try:
        yield named.path
    finally:
        named.release()


@contextlib.contextmanager
def name_model(
    name: str,
    ask: Callable[..., Any],
    sha256: str,
    columns: list[str] | None,
    by_order: list[str] | None,
    exactly: bool,
) -> Iterator[_probity.NamedModel]:
    """Gives a model a name, for as long as this lasts, and makes an exception of the model the cause of
    the error that it leads to."""

    def register(free: str) -> _probity.NamedModel:
        return _probity.NamedModel(free, ask, sha256, columns, by_order)

    named = _register(name, exactly, register)
    try:
        yield named
    except ModelError as error:
        raised = named.raised()
        if raised is None:
            raise
        if not isinstance(raised, Exception) or isinstance(raised, ProbityError):
            # An answer that is refused is no exception of the model.
            raise raised from raised.__cause__
        raise error from raised
    finally:
        named.release()


def _register(name: str, exactly: bool, register: Callable[[str], _T]) -> _T:
    """Registers something under a name; where that is taken, and need not be `exactly` this one, under
    `name-2`, `name-3` …"""
    number = 1
    while True:
        try:
            return register(name if number == 1 else f"{name}-{number}")
        except NameTaken:
            if exactly:
                raise
            number += 1
