"""Results on one self-contained HTML page."""

from __future__ import annotations

import datetime
import os
import pathlib
from collections.abc import Sequence

from . import _native
from .results import Report

Path = str | os.PathLike[str]


def report(
    results: Report | Path | Sequence[Report | Path],
    output: Path,
    *,
    title: str | None = None,
    name: str | None = None,
    date: str | None = None,
) -> pathlib.Path:
    """Lays results out on one HTML page that needs nothing from anywhere, and gives its path.

    Results are reports in memory, or files that were written by `to_json` or by the command line's `--format json`. Several are
    compared on top of the page.

    `title`, `name` and `date` stand at the top of the page; the date is today's in UTC if not given.

    Where the output ends in `.svg` or `.png`, the figure of one result is drawn instead.

    >>> import pathlib, tempfile, misdeal
    >>> found = [misdeal.calibrate(target_epsilon=3, scheme=scheme) for scheme in ("poisson", "shuffle")]
    >>> page = misdeal.report(found, pathlib.Path(tempfile.mkdtemp()) / "report.html")
    >>> "2 results compared" in page.read_text()
    True
    """
    several = [results] if isinstance(results, (Report, str, os.PathLike)) else list(results)
    named: list[tuple[str, str | None]] = []
    for result in several:
        if isinstance(result, Report):
            named.append((result.command, result.to_json()))
        else:
            named.append((os.fspath(result), None))
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    _native.report(named, output, title, name, date or today)
    return pathlib.Path(output)
