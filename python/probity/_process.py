"""Refuses to work in a process that was forked: it lacks the threads that Probity works with."""

import os

from ._errors import ProbityError

_works = False
_is_forked = False


def begin() -> None:
    """Refuses to begin work with threads in a forked process, and notes that work began."""
    global _works
    if _is_forked:
        raise ProbityError(
            "this process was forked from one in which Probity had worked already, and lacks its "
            "threads; start it in another way, such as multiprocessing.get_context('spawn')"
        )
    _works = True


def _after_fork() -> None:
    global _is_forked
    _is_forked = _works


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
