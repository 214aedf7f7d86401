"""Mistakes in real pipelines: logs of batches, and Python sources."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from . import _native
from .results import DiagnoseReport, ScanReport

Path = str | os.PathLike[str]


def diagnose(
    log: Path,
    *,
    dataset_size: float | None = None,
    noise_multiplier: float | None = None,
    delta: float = 1e-5,
    epochs: float | None = None,
    plot: Path | None = None,
    threads: float | None = None,
) -> DiagnoseReport:
    """Which scheme made the batches of a log (`.jsonl`, `.npy`, `.parquet`; `record_batches` writes one), and what that costs.

    >>> import pathlib, random, tempfile, misdeal
    >>> records = list(range(600))
    >>> random.Random(0).shuffle(records)
    >>> batches = [records[i : i + 20] for i in range(0, 600, 20)]
    >>> log = misdeal.record_batches(batches, output=pathlib.Path(tempfile.mkdtemp()) / "log.jsonl")
    >>> diagnose(log, noise_multiplier=1.0).scheme
    'shuffle'
    """
    words: dict[str, Any] = dict(locals())
    return DiagnoseReport(_native.diagnose(words))


def scan(
    paths: Path | Sequence[Path],
    *,
    survey: bool = False,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    exclude: Sequence[str] = (),
    assume_private: bool = False,
    config: Path | None = None,
) -> ScanReport:
    """Finds sampling mistakes in Python sources and notebooks; with `survey` only counts pipelines.

    Files that cannot be scanned are in `skipped`; where that is all of them, it is a `ValueError`.

    >>> import pathlib, tempfile
    >>> source = pathlib.Path(tempfile.mkdtemp()) / "train.py"
    >>> _ = source.write_text("import opacus\\nengine.make_private(module=m, optimizer=o, data_loader=l, poisson_sampling=False)\\n")
    >>> sorted({finding["line"] for finding in scan(source).findings})
    [2]
    """
    words: dict[str, Any] = dict(locals())
    words["paths"] = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    words |= {name: list(words[name]) for name in ("select", "ignore", "exclude")}
    return ScanReport(_native.scan(words))
