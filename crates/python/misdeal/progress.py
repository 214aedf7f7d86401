"""How far a job is, in a terminal or in a notebook, and nothing where there is neither."""

from __future__ import annotations

import contextlib
import html
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

Show = Callable[[int, int], None]

# Jobs that are done sooner need no bar.
PATIENCE = 0.5
# The least time between two pictures of it: a notebook's may travel far.
INTERVAL = 0.25


@contextlib.contextmanager
def watched(quiet: bool, of: str = "observations") -> Iterator[Show | None]:
    """What to tell of progress, and of what: `show(done, total)`, or nothing if nobody would see it."""
    bar = None if quiet else _bar(of)
    try:
        yield bar.show if bar else None
    finally:
        if bar:
            bar.clear()


def say(quiet: bool, line: str) -> None:
    """Says a line to whoever watches a terminal or a notebook."""
    if not quiet and (_in_a_notebook() or (sys.stderr is not None and sys.stderr.isatty())):
        print(line, file=sys.stderr)


def _bar(of: str) -> _Bar | None:
    if _in_a_notebook():
        return _Notebook(of)
    return _Terminal(of) if sys.stderr is not None and sys.stderr.isatty() else None


def _in_a_notebook() -> bool:
    shell = sys.modules.get("IPython")
    shell = shell.get_ipython() if shell else None
    return shell is not None and hasattr(shell, "kernel")


class _Bar:
    """What is to be said, and when."""

    def __init__(self, of: str) -> None:
        self.of = of
        self.start = time.monotonic()
        self.first: int | None = None
        self.next = self.start + PATIENCE

    def show(self, done: int, total: int) -> None:
        if self.first is None:
            self.first = done
        now = time.monotonic()
        if now >= self.next:
            self.next = now + INTERVAL
            self.draw(done, total, self.line(done, total, now - self.start))

    def line(self, done: int, total: int, seconds: float) -> str:
        if done >= total:
            return f"100 %  {total:,} {self.of} made; judging them"
        rate = (done - (self.first or 0)) / seconds
        left = f"{_duration((total - done) / rate)} left" if rate > 0 else "waiting"
        # Of a few things nobody wants to know how many there are in a second.
        speed = f" {_grouped(rate)}/s," if total >= 100 else ""
        return f"{100 * done // total:3d} %  {done:,} of {total:,} {self.of},{speed} {left}"

    def draw(self, done: int, total: int, line: str) -> None:
        raise NotImplementedError

    def clear(self) -> None:
        raise NotImplementedError


def _grouped(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"


def _duration(seconds: float) -> str:
    """In the two largest units."""
    seconds = round(seconds)
    for size, unit, smaller, part in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= size:
            return f"{seconds // size:,} {unit} {seconds % size // smaller} {part}"
    return f"{seconds} s"


class _Terminal(_Bar):
    def __init__(self, of: str) -> None:
        super().__init__(of)
        self.shown = 0

    def draw(self, done: int, total: int, line: str) -> None:
        # A line that wraps could not be written over.
        line = line[: shutil.get_terminal_size().columns - 1]
        sys.stderr.write("\r" + line.ljust(self.shown))
        sys.stderr.flush()
        self.shown = len(line)

    def clear(self) -> None:
        if self.shown:
            sys.stderr.write("\r" + " " * self.shown + "\r")
            sys.stderr.flush()


class _Notebook(_Bar):
    """A bar in the cell's output, drawn over until nothing of it is left."""

    def __init__(self, of: str) -> None:
        super().__init__(of)
        self.display: Any = None

    def draw(self, done: int, total: int, line: str) -> None:
        bar = (
            '<div style="display:flex;align-items:center;gap:1em;font-variant-numeric:tabular-nums">'
            f'<progress value="{done}" max="{total}" style="flex:0 0 16em;height:1em"></progress><span>{html.escape(line.strip())}</span></div>'
        )
        self._put({"text/html": bar, "text/plain": line})

    def clear(self) -> None:
        if self.display is not None:
            self._put({"text/html": "", "text/plain": ""})

    def _put(self, content: dict[str, str]) -> None:
        from IPython.display import display

        if self.display is None:
            self.display = display(content, raw=True, display_id=True)
        else:
            self.display.update(content, raw=True)
