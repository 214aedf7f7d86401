"""How far a job is, in a terminal or in a notebook, and nothing where there is neither."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

Show = Callable[[int, int], None]

# Jobs that are done sooner need no bar.
PATIENCE = 0.5


@contextlib.contextmanager
def watched(quiet: bool) -> Iterator[Show | None]:
    """What to tell of progress: `show(done, total)`, or nothing if nobody would see it."""
    bar = None if quiet else _bar()
    try:
        yield bar.show if bar else None
    finally:
        if bar:
            bar.clear()


def _bar() -> _Terminal | _Notebook | None:
    if _in_a_notebook():
        return _Notebook()
    return _Terminal() if sys.stderr is not None and sys.stderr.isatty() else None


def _in_a_notebook() -> bool:
    shell = sys.modules.get("IPython")
    shell = shell.get_ipython() if shell else None
    return shell is not None and hasattr(shell, "kernel")


class _Bar:
    def __init__(self) -> None:
        self.start = time.monotonic()
        self.first: int | None = None

    def line(self, done: int, total: int) -> str | None:
        if self.first is None:
            self.first = done
        seconds = time.monotonic() - self.start
        if seconds < PATIENCE:
            return None
        rate = (done - self.first) / seconds
        left = f"{(total - done) / rate:,.0f} s left" if rate > 0 else "waiting"
        return f"{100 * done // total:3d} %  {done:,} of {total:,} observations, {rate:,.0f}/s, {left}"


class _Terminal(_Bar):
    def __init__(self) -> None:
        super().__init__()
        self.shown = 0

    def show(self, done: int, total: int) -> None:
        line = self.line(done, total)
        if line is not None:
            sys.stderr.write("\r" + line.ljust(self.shown))
            sys.stderr.flush()
            self.shown = len(line)

    def clear(self) -> None:
        if self.shown:
            sys.stderr.write("\r" + " " * self.shown + "\r")
            sys.stderr.flush()


class _Notebook(_Bar):
    def __init__(self) -> None:
        super().__init__()
        self.display = None

    def show(self, done: int, total: int) -> None:
        from IPython.display import HTML, display

        line = self.line(done, total)
        if line is None:
            return
        html = HTML(f'<progress value="{done}" max="{total}"></progress> {line}')
        if self.display is None:
            self.display = display(html, display_id=True)
        else:
            self.display.update(html)

    def clear(self) -> None:
        from IPython.display import HTML

        if self.display is not None:
            self.display.update(HTML(""))
