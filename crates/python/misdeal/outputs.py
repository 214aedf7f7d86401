"""The outputs of somebody's own training: scored, and judged."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
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


Curve = Callable[[float], float] | Sequence[Sequence[float]] | str

# Where a function of delta is asked for its epsilon. The middle of a curve says most, the tail is what is published.
DELTAS = (
    1e-8, 1e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.02, 0.03, 0.05, 0.07, 0.09, 0.12, 0.15, 0.18, 0.21, 0.24, 0.27, 0.3,
    0.33, 0.36, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
)  # fmt: skip


def judge_coins(
    setting: Setting,
    outputs: npt.ArrayLike,
    coins: npt.ArrayLike,
    canaries: int,
    *,
    delta: float = 1e-5,
    significance: float = 0.05,
    claimed_epsilon: float | Callable[[float], float] | None = None,
    claimed_curve: Curve | None = None,
    independence: str | None = None,
    paired: bool = False,
    objection: str | None = None,
    **estimation: Any,
) -> OutputsReport:
    """What the outputs of runs show in which a fair coin of its own included each canary.

    A row of `outputs` is a canary: run after run, and canary after canary within a run. `coins` says which were present. `claimed_epsilon`
    is the epsilon at `delta`, or a function of delta as `engine.get_epsilon` is: then the whole curve is tested. `claimed_curve` names a
    curve of theory (`poisson`, `balls-in-bins`, `gaussian`), or is a list of pairs (delta, epsilon). Without either, Poisson sampling is
    claimed.

    `independence` says why each coin is as private as a single record, and independent of the others: `follow`, `symmetric-scores`,
    `memberships` or `single`; `private-coins` says the first alone. Without it nothing is valid. With `paired`, exactly one of two
    successive runs has its only canary.

    >>> setting = Setting(noise_multiplier=1, steps_per_epoch=1, scheme="fixed-order", threat_model="target-canary")
    >>> coins = [True, False, False, True] * 32
    >>> found = judge_coins(setting, [[6.0 if coin else -5.0] for coin in coins], coins, 128, claimed_epsilon=1, independence="memberships")
    >>> found.verdict.kind, found.right_guesses, found.empirical_epsilon > 2
    ('refuted', 128, True)
    """
    if callable(claimed_epsilon):
        claimed_curve, claimed_epsilon = claimed_epsilon, None
    if callable(claimed_curve):
        claimed_curve = sampled(claimed_curve, delta)
    claimed = dict(claimed_epsilon=claimed_epsilon, claimed_curve=_points(claimed_curve))
    words = dict(delta=delta, significance=significance, independence=independence, paired=paired, objection=objection, **claimed, **estimation)
    heads = np.ascontiguousarray(coins, dtype=np.bool_).ravel()
    return OutputsReport(_native.judge_coins(setting.words(), _rows(outputs), heads, int(canaries), words))


def runs_needed(
    setting: Setting,
    claim: float | Curve | None = None,
    canaries: int = 1,
    *,
    delta: float = 1e-5,
    significance: float = 0.05,
) -> int | None:
    """How many runs with so many canaries refute a claim with probability 0.9, told before any training; None if hardly any number does.

    `claim` is the epsilon at `delta`, a function of delta, a list of pairs (delta, epsilon), or the name of a curve; Poisson's if not given.
    It assumes that the training is as the setting says, and that coins are independent.

    >>> setting = Setting(noise_multiplier=0.8, steps_per_epoch=117, epochs=10)
    >>> runs_needed(setting, canaries=64), 20 < runs_needed(setting) < 64
    (1, True)
    """
    curve = sampled(claim, delta) if callable(claim) else None if isinstance(claim, (int, float)) else claim
    epsilon = float(claim) if isinstance(claim, (int, float)) else None
    words = dict(delta=delta, significance=significance, claimed_epsilon=epsilon, claimed_curve=_points(curve))
    return _native.runs_needed(setting.words(), int(canaries), words)


def sampled(epsilon_of: Callable[[float], float], delta: float) -> list[list[float]]:
    """The points (delta, epsilon) of a function of delta. Where it fails, nothing is claimed; it may not fail at `delta`."""
    points = []
    for one in sorted({*DELTAS, delta}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                epsilon = float(epsilon_of(one))
            except Exception:
                if one == delta:
                    raise
                continue
        if math.isfinite(epsilon):
            points.append([one, max(epsilon, 0.0)])
    if not points:
        raise ValueError(f"claimed_epsilon is {epsilon_of}, but a function with a finite epsilon at some delta is allowed; try it at {delta}")
    return points


def _points(curve: Any) -> Any:
    return curve if curve is None or isinstance(curve, str) else [[float(delta), float(epsilon)] for delta, epsilon in curve]


def _rows(outputs: npt.ArrayLike) -> npt.NDArray[np.float64]:
    rows = np.ascontiguousarray(outputs, dtype=np.float64)
    if rows.ndim != 2:
        raise ValueError(f"outputs is an array of {rows.ndim} dimensions, but runs by steps is allowed; a row is a run")
    return rows
