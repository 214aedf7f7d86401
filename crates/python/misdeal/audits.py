"""Audits: play the distinguishing game, and say what the outcome means."""

from __future__ import annotations

import os
from typing import Any

from . import _native
from .progress import watched
from .results import AuditReport
from .settings import Setting, with_setting

Path = str | os.PathLike[str]


def audit_mechanism(
    setting: Setting | None = None,
    *,
    noise_multiplier: float = 1.0,
    steps_per_epoch: float = 100,
    epochs: float = 1,
    batch_size: float = 100,
    dataset_size: float | None = None,
    steps: float | None = None,
    buffer_size: float | None = None,
    scheme: str = "shuffle",
    target_index: float = 0,
    threat_model: str = "worst-case",
    adversary_scheme: str | None = None,
    adversary_buffer_size: float | None = None,
    observations: float = 1e7,
    delta: float = 1e-5,
    significance: float = 0.05,
    estimator: str = "clopper-pearson",
    threshold_choice: str = "band",
    scores: str = "counts",
    device: str = "auto",
    claimed_epsilon: float | None = None,
    claimed_curve: str | None = None,
    store: Path | None = None,
    save_every: float = 10.0,
    resume: bool = False,
    shard: str | None = None,
    stop_when: str | None = None,
    trade_off: bool = False,
    plot: Path | None = None,
    search_buffer: bool = False,
    uncorrected: bool = False,
    engine: str | None = None,
    seed: float = 0,
    threads: float | None = None,
    quiet: bool = False,
) -> AuditReport:
    """Plays the game on the batched Gaussian mechanism and bounds the leakage from below.

    The same seed gives the same result, bit for bit, on any number of threads, in any shards, after any interruption. A `setting`
    takes the place of the words that describe one. Ctrl-C ends the run; with `store` and `resume=True` the same call goes on.

    >>> report = audit_mechanism(noise_multiplier=0.5, observations=2e5, claimed_epsilon=1.0, quiet=True)
    >>> report.violated
    True
    >>> report == audit_mechanism(Setting(noise_multiplier=0.5), observations=2e5, claimed_epsilon=1.0, quiet=True, threads=1)
    False
    >>> audit_mechanism(observations=7)
    Traceback (most recent call last):
    ValueError: observations is 7, but an even number from 8 to 1125899906842624 is allowed; half of the observations are made in each world

    (The second comparison is false only in `seconds` and `observations_per_second`.)
    """
    words = with_setting(dict(locals()))
    with watched(quiet) as show:
        return AuditReport(_native.audit_mechanism(words, show))


def audit_training(
    *,
    dataset: str = "synthetic",
    data: Path | None = None,
    dataset_size: float | None = None,
    model: str = "mlp",
    learning_rate: float = 0.1,
    clip_norm: float = 1.0,
    noise_multiplier: float | None = None,
    target_epsilon: float | None = None,
    epochs: float = 1,
    batch_size: float = 100,
    buffer_size: float | None = None,
    scheme: str = "shuffle",
    target_index: float = 0,
    threat_model: str = "partially-informed",
    adversary_scheme: str | None = None,
    adversary_buffer_size: float | None = None,
    canary: str = "random",
    canaries: float = 1,
    debias: bool = False,
    last_batch: str = "drop",
    precision: str = "f32",
    observations: float = 1000,
    delta: float = 1e-5,
    significance: float = 0.05,
    estimator: str = "clopper-pearson",
    threshold_choice: str = "band",
    scores: str = "counts",
    device: str = "auto",
    claimed_epsilon: float | None = None,
    claimed_curve: str | None = None,
    store: Path | None = None,
    save_every: float = 10.0,
    resume: bool = False,
    shard: str | None = None,
    stop_when: str | None = None,
    trade_off: bool = False,
    plot: Path | None = None,
    search_buffer: bool = False,
    uncorrected: bool = False,
    seed: float = 0,
    threads: float | None = None,
    quiet: bool = False,
) -> AuditReport:
    """Trains models by DP-SGD with and without a canary, and judges them like the mechanism.

    >>> report = audit_training(dataset_size=1000, observations=40, quiet=True)
    >>> report.dataset, report.model, report.observations
    ('synthetic', 'mlp', 40)
    """
    words: dict[str, Any] = dict(locals())
    with watched(quiet) as show:
        return AuditReport(_native.audit_training(words, show))
