"""The progress of a run, as it is shown on a terminal or told to a function."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator

#: A function that is told the phase, the steps done, the steps in all, and a message.
Progress = Callable[[str, int, int, str], object]


@contextlib.contextmanager
def show_progress(progress: bool | Progress | None) -> Iterator[Progress | None]:
    """Gives what shows progress: a bar of tqdm where it is installed, unless `progress` says otherwise."""
    if progress is False:
        yield None
        return
    if progress is not None and progress is not True:
        yield progress
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    bar: Any = None
    shown = ""

    def tell(phase: str, done: int, total: int, message: str) -> None:
        nonlocal bar, shown
        if bar is None or shown != phase:
            if bar is not None:
                bar.close()
            # Without an opinion of the caller there is a bar on terminals alone.
            bar = tqdm(total=total or None, desc=phase, disable=None if progress is None else False)
            shown = phase
        bar.n = done
        bar.set_postfix_str(message, refresh=False)
        bar.refresh()

    try:
        yield tell
    finally:
        if bar is not None:
            bar.close()
