"""Tables and models of Python, under names by which a specification can call them."""

from __future__ import annotations

import contextlib
import os
from typing import Any, Callable, Iterator, TypeVar

import pyarrow as pa

from . import _probity
from ._errors import ModelError, NameTaken
from ._files import is_path
from ._frames import to_arrow
from ._models import Asked
from ._rust import name_table

_T = TypeVar("_T")


def _named(names: contextlib.ExitStack, name: str, exactly: bool, data: Any) -> str:
    """A path, or the name of a table while `names` lasts."""
    if is_path(data):
        return str(os.path.abspath(os.fspath(data)))
    arrow = data if isinstance(data, pa.Table) else to_arrow(data)
    return _free(name, exactly, lambda free: names.enter_context(name_table(free, arrow)))


def _named_model(
    names: contextlib.ExitStack, name: str, exactly: bool, asked: Asked
) -> _probity.NamedModel:
    """The name of a model while `names` lasts."""
    sha256 = asked.sha256()
    model = _free(name, exactly, lambda free: _probity.NamedModel(free, asked, sha256, asked.columns))
    names.callback(model.release)
    return model


def _free(name: str, exactly: bool, register: Callable[[str], _T]) -> _T:
    """Registers something as `name`; where that is taken and it need not be `exactly` this one, as
    `name-2`, `name-3` …"""
    number = 1
    while True:
        try:
            return register(name if number == 1 else f"{name}-{number}")
        except NameTaken:
            if exactly:
                raise
            number += 1


@contextlib.contextmanager
def _explained(named: Any) -> Iterator[None]:
    """An exception of the model is the cause of the one that it leads to."""
    try:
        yield
    except ModelError as error:
        raised = named.raised()
        if raised is None:
            raise
        if not isinstance(raised, Exception):
            raise raised from None
        raise error from raised
