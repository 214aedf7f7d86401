"""The paper's tables and figures, beside what comes out here."""

from __future__ import annotations

import os
from typing import Any

from . import _native
from .progress import watched
from .results import ReproduceReport

Path = str | os.PathLike[str]


def reproduce(
    name: str,
    *,
    quick: bool = False,
    runs: float | None = None,
    observations: float | None = None,
    only: str | None = None,
    device: str = "auto",
    precision: str = "f32",
    data: Path | None = None,
    store: Path | None = None,
    resume: bool = False,
    plot: Path | None = None,
    seed: float = 0,
    threads: float | None = None,
    quiet: bool = False,
) -> ReproduceReport:
    """Plays the audits behind a table or a figure of the paper (`figure-3`, ..., or `all`), and sets printed numbers beside ours.

    `quick` plays fewer observations, in one run, and `observations` at most so many of each run; `only` plays the rows whose names contain it. With `store`, a folder, every audit's
    scores are kept, and with `resume=True` what it holds is not played again. Rows are dictionaries, and `to_frame()` a pandas
    DataFrame of them.

    >>> report = reproduce("table-1", quick=True, only="CIFAR-10", quiet=True)
    >>> row = report.rows[0]
    >>> row["printed"], row["ours"] > row["valid_epsilon"] > 4, row["verdict"]
    (6.39, True, 'too few observations')
    """
    words: dict[str, Any] = dict(locals())
    with watched(quiet) as show:
        return ReproduceReport(_native.reproduce(words, show))
