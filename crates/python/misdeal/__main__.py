"""The command `misdeal`, as `pip install` brings it: the same program as the one that Cargo builds."""

from __future__ import annotations

import signal
import sys

from . import _native


def main() -> int:
    """Runs the command line of this process, and returns its exit code."""
    # Python's own handler would wait until the command is done.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.command_line(["misdeal", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
