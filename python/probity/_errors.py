"""The exceptions of this package, all of which are `ProbityError`s."""

from __future__ import annotations

import contextlib
from typing import Iterator

#: What the command says of its own options, and what is said here in its place.
_IN_PYTHON = {
    "if the output of an ONNX graph is logits, say --onnx-gives logits": 'if these are logits, say gives="logits"',
    "--ignore-other-columns": "ignore_other_columns=True",
    "--outside skip": 'outside="skip"',
    "--probabilities rounded (predictor.probabilities)": 'probabilities="rounded"',
}


class ProbityError(Exception):
    """An error of Probity: something cannot be done."""


class OptionError(ProbityError, ValueError):
    """An error of an option, which is named: it has no such value, or contradicts another."""


class DataError(ProbityError, ValueError):
    """An error of the data: they cannot be read, or do not fit their schema."""


class ModelError(ProbityError, RuntimeError):
    """An error of a model: it does not answer, or gives an answer that is none.

    Where the model raised an exception, this is the cause, with its own traceback.
    """


class NameTaken(ProbityError):
    """An error of a name: something else in this process has it."""


@contextlib.contextmanager
def spell_for_python() -> Iterator[None]:
    """Spells the options that an error names as arguments of this package."""
    try:
        yield
    except ProbityError as error:
        text = str(error)
        for of_command, of_python in _IN_PYTHON.items():
            text = text.replace(of_command, of_python)
        raise type(error)(text) from error.__cause__
