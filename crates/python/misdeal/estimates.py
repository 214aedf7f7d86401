"""Scores from anywhere to epsilon."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native
from .results import EstimateReport

Path = str | os.PathLike[str]
Scores = npt.ArrayLike | Path


def estimate(
    scores_in: Scores | None = None,
    scores_out: Scores | None = None,
    *,
    scores: Path | None = None,
    member_column: str = "member",
    score_column: str = "score",
    delta: float = 1e-5,
    significance: float = 0.05,
    estimator: str = "clopper-pearson",
    threshold_choice: str = "band",
    claimed_epsilon: float | None = None,
    claimed_curve: str | None = None,
    fair_coins: bool = False,
    trade_off: bool = False,
    plot: Path | None = None,
    threads: float | None = None,
) -> EstimateReport:
    """What scores of runs with the target (`scores_in`) and without it show.

    Scores are one-dimensional arrays, used in place if they are contiguous and of type float64, or files (`.npy`, `.csv`,
    `.parquet`); or `scores` is one file (`.csv`, `.parquet`) of which `member_column` says whether a run had the target. With `estimator="all"` the result has `estimates`, by name. `fair_coins=True` states that each score is that of a canary
    which a fair coin of its own included in one training; only then are bounds of `one-run` valid.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> found = estimate(rng.normal(2, 1, 10_000), rng.normal(0, 1, 10_000))
    >>> found.valid, 2.0 < found.empirical_epsilon < 9.9
    (True, True)
    >>> estimate([1.0, float("nan")], [0.0, 1.0], threshold_choice="max")
    Traceback (most recent call last):
    ValueError: scores_in is NaN in trial 1, but a finite number is allowed; find out where it comes from
    """
    words: dict[str, Any] = dict(locals())
    del words["scores_in"], words["scores_out"]
    if scores is not None and scores_in is None and scores_out is None:
        return EstimateReport(_native.estimate_file(words))
    for name, missing in (("scores_in", scores_in is None), ("scores_out", scores_out is None)):
        if missing or scores is not None:
            raise ValueError(f"{name} is {'missing' if missing else 'given'}, but scores_in with scores_out, or scores alone, are allowed")
    assert scores_in is not None and scores_out is not None
    return EstimateReport(_native.estimate(as_scores("scores_in", scores_in), as_scores("scores_out", scores_out), words))


def as_scores(name: str, scores: Scores) -> npt.NDArray[np.float64] | Path:
    """Scores as the compiled part takes them, copied only if they must be."""
    return scores if isinstance(scores, (str, os.PathLike)) else as_array(name, scores)


def as_array(name: str, scores: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Scores as an array of real numbers, copied only if they must be."""
    if np.ma.isMaskedArray(scores):
        raise ValueError(f"{name} is a masked array, but an array in which every score counts is allowed; compressed() leaves out what is masked")
    array = np.asarray(scores)
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{name} is an array of type {array.dtype}, but real numbers are allowed; astype(float) makes them, where that is meant")
    if array.ndim != 1:
        raise ValueError(f"{name} is an array of {array.ndim} dimensions, but one dimension is allowed; ravel() makes it so")
    return np.require(array, np.float64, ["C", "A"])
