"""What theory says."""

from __future__ import annotations

import os
from typing import Any

from . import _native
from .progress import watched
from .results import AccountReport, CalibrateReport

Path = str | os.PathLike[str]


def account(
    *,
    noise_multiplier: float = 1.0,
    steps_per_epoch: float = 100,
    epochs: float = 1,
    batch_size: float = 100,
    dataset_size: float | None = None,
    steps: float | None = None,
    buffer_size: float | None = None,
    delta: float = 1e-5,
    scheme: str = "all",
    sampling_probability: float | None = None,
    claimed_epsilon: float | None = None,
    epsilon: float | None = None,
    trade_off: bool = False,
    compare: bool = False,
    plot: Path | None = None,
    seed: float = 0,
    threads: float | None = None,
    quiet: bool = False,
) -> AccountReport:
    """The best proven bounds on epsilon, scheme by scheme; a side that nobody knows how to bound is `None`.

    >>> bounds = account(noise_multiplier=1, steps_per_epoch=100, scheme="shuffle").schemes["shuffle"]
    >>> round(bounds["epsilon_lower_bound"], 2), round(bounds["epsilon_upper_bound"], 2)
    (4.07, 4.38)
    """
    words: dict[str, Any] = dict(locals())
    del words["seed"]  # nothing is random here
    with watched(quiet) as show:
        return AccountReport(_native.account(words, show))


def calibrate(
    *,
    target_epsilon: float,
    delta: float = 1e-5,
    steps_per_epoch: float = 100,
    epochs: float = 1,
    batch_size: float = 100,
    dataset_size: float | None = None,
    steps: float | None = None,
    buffer_size: float | None = None,
    scheme: str = "all",
    bound: str = "upper",
) -> CalibrateReport:
    """The smallest noise with which a bound on each scheme's epsilon is at most `target_epsilon`.

    With one scheme the result has `noise_multiplier`; with `all` it has `schemes`, by name.

    >>> round(calibrate(target_epsilon=3, epochs=10, scheme="poisson").noise_multiplier, 2)
    0.81
    >>> round(calibrate(target_epsilon=3, epochs=10).schemes["shuffle"]["noise_multiplier"], 1)
    4.4
    """
    words: dict[str, Any] = dict(locals())
    return CalibrateReport(_native.calibrate(words))
