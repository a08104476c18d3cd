"""The command `probity`, which is also `python -m probity`: it is in the extension module."""

import os
import signal
import sys

if not __package__:
    # The command starts itself by the place of this file.
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from probity import _probity
from probity._program import program


def main() -> None:
    """Runs the command line of this process, and ends the process with its exit code."""
    _open_standard_streams()
    # Handlers of Python are for what runs in Python. Who ignores Ctrl-C goes on to.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "SIGXFSZ"):
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    _probity.run_command(["probity", *sys.argv[1:]], program())


def _open_standard_streams() -> None:
    """Opens the standard streams that are closed, to nothing: else a file would get the number of one, and
    what is printed."""
    for stream in range(3):
        try:
            os.fstat(stream)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


if __name__ == "__main__":
    main()
