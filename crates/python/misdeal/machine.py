"""What there is to compute on, and whether it computes right."""

from __future__ import annotations

from typing import Any

from . import _native
from .progress import watched
from .results import DevicesReport, SelfTestReport


def devices() -> DevicesReport:
    """What there is to compute on: the processor first, then CUDA devices; `cuda_missing` says why there are none of these.

    >>> processor = devices().devices[0]
    >>> processor["device"], processor["cores"] >= 1
    ('cpu', True)
    """
    return DevicesReport(_native.devices())


def self_test(*, device: str = "auto", seed: float = 0, threads: float | None = None, quiet: bool = False) -> SelfTestReport:
    """Checks every part against something known, in under half a minute on two cores; `auto` tests CUDA devices too where there are any.

    A check that fails is no exception: `passed` tells, and `checks` what was seen.

    >>> report = self_test(device="cpu", quiet=True)
    >>> report.passed, report.verdict()
    (True, 'All 5 checks passed.')
    """
    words: dict[str, Any] = dict(locals())
    with watched(quiet, "checks") as show:
        return SelfTestReport(_native.self_test(words, show))
