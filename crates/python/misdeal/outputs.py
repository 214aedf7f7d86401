"""The outputs of somebody's own training: scored, and judged."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native
from .results import OutputsReport
from .settings import Setting


def score_outputs(setting: Setting, outputs: npt.ArrayLike, *, score: str = "likelihood-ratio") -> npt.NDArray[np.float64]:
    """The score of each run, from the outputs of its steps.

    A row of `outputs` is a run; an output is the noisy sum of clipped gradients, projected on the canary and divided by the squared
    clipping norm, so that its noise has the standard deviation `noise_multiplier`. `score` is `likelihood-ratio`, that of the mechanism as
    it should be, or `spread`, the largest output less the smallest.

    >>> score_outputs(Setting(noise_multiplier=1, steps_per_epoch=1, scheme="fixed-order", threat_model="target-canary"), [[1.5], [0.5]])
    array([1., 0.])
    """
    return _native.score_outputs(setting.words(), _rows(outputs), score)


def judge_outputs(
    setting: Setting,
    outputs_in: npt.ArrayLike,
    outputs_out: npt.ArrayLike,
    *,
    delta: float = 1e-5,
    significance: float = 0.05,
    estimator: str = "clopper-pearson",
    threshold_choice: str = "band",
    claimed_epsilon: float | None = None,
) -> OutputsReport:
    """What the outputs of runs with the target and without it show, by every score, at the significance of all together.

    Any function of the outputs is a test that differential privacy limits, so the bound holds whatever the training does. It holds for
    a number of runs that was decided before any of them was judged: this function cannot know of earlier looks, an `Auditor` does.
    """
    return judge(setting, outputs_in, outputs_out, None, locals())


def judge(setting: Setting, outputs_in: npt.ArrayLike, outputs_out: npt.ArrayLike, objection: str | None, words: dict[str, Any]) -> OutputsReport:
    """`judge_outputs`, with the reason why no bound from these runs is valid, if there is one."""
    names = ("delta", "significance", "estimator", "threshold_choice", "claimed_epsilon")
    analysis = {**{name: words[name] for name in names}, "objection": objection}
    return OutputsReport(_native.judge_outputs(setting.words(), _rows(outputs_in), _rows(outputs_out), analysis))


def _rows(outputs: npt.ArrayLike) -> npt.NDArray[np.float64]:
    rows = np.ascontiguousarray(outputs, dtype=np.float64)
    if rows.ndim != 2:
        raise ValueError(f"outputs is an array of {rows.ndim} dimensions, but runs by steps is allowed; a row is a run")
    return rows
