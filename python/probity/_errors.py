"""The exceptions of this package, all of which are `ProbityError`s."""


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
