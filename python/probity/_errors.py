"""Exceptions. All of them are `ProbityError`s."""


class ProbityError(Exception):
    """Something cannot be done."""


class OptionError(ProbityError, ValueError):
    """An option has no such value, is out of bounds, or contradicts another; it is named."""


class DataError(ProbityError, ValueError):
    """Data cannot be read, or do not fit their schema."""


class ModelError(ProbityError, RuntimeError):
    """A model does not answer, or answers what is no answer.

    Where it raised an exception, that one is its cause, with its own traceback.
    """


class NameTaken(ProbityError):
    """Something else in this process has the name."""
