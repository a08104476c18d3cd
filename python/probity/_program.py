"""How the command `probity` is started in another process."""

import os
import sys


def program() -> list[str]:
    """Returns the words that start the command: the interpreter, and the place of this package. By its name
    a folder `probity` of the working directory would be taken for it. There are none where the interpreter
    is not known, or starts another program."""
    if not sys.executable or getattr(sys, "frozen", False):
        return []
    return [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "__main__.py")]
