"""Tells whether the way training data is shuffled voids the privacy guarantee that a DP-SGD model claims.

>>> import misdeal
>>> report = misdeal.audit_mechanism(scheme="shuffle", observations=1e6, quiet=True)
>>> report.valid, report.violated, report.empirical_epsilon > report.claimed_epsilon
(True, True, True)

In the order in which data meets them:

- `check`: a model card, or an engine that has trained, to a verdict on its claim; `sweep`: a card over a range of fields.
- `Setting`: what is audited.
- `audit_mechanism`, `audit_training`: play the distinguishing game, on the mechanism or on DP-SGD with real models.
- `misdeal.torch`, `misdeal.jax`: plant the canary into *your* training; `score_outputs` and `judge_outputs` say what it shows.
- `estimate`, `CanaryScoreAuditor`: scores from anywhere to epsilon.
- `account`, `calibrate`: what theory says, and the noise that a target needs.
- `Store`, `merge`: the scores of a run, its shards, and what they show together.
- `record_batches`, `diagnose`: what your data loader deals, and which scheme that is; `scan`: mistakes in sources.
- `misdeal.testing`: a data loader's sampling as a unit test.
- `misdeal.lightning`, `misdeal.transformers`, `misdeal.wandb`: the proven epsilon in the logs of a training.
- `misdeal.cluster`: an audit spread over Ray.
- `report`: results on one HTML page.
- `reproduce`: the paper's tables and figures, beside ours.
- `devices`, `self_test`: what there is to compute on, and whether it computes right.

Every word is the command line's (`misdeal --help`), with underscores for hyphens. What is refused raises `ValueError` with the field,
the value and what is allowed. Numbers may be written as `1e7`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._native import __version__
from .accounting import account, calibrate
from .audits import audit_mechanism, audit_training
from .batches import record_batches
from .canary_scores import (
    Bonferroni,
    BootstrapParams,
    CanaryScoreAuditor,
    Explicit,
    MultiSplit,
    Split,
    ThresholdStrategy,
)
from .checks import check, sweep
from .diagnoses import diagnose, scan
from .estimates import estimate
from .machine import devices, self_test
from .outputs import judge_coins, judge_outputs, runs_needed, score_outputs
from .pages import report
from .paper import reproduce
from .results import (
    AccountReport,
    AuditReport,
    CalibrateReport,
    CheckReport,
    DevicesReport,
    DiagnoseReport,
    EpsilonEstimate,
    EstimateReport,
    MergeReport,
    OutputsReport,
    Report,
    ReproduceReport,
    ScanReport,
    SelfTestReport,
    SweepReport,
    Verdict,
)
from .settings import Setting
from .stores import Store, merge

if TYPE_CHECKING:
    from . import cluster, jax, lightning, testing, torch, transformers, wandb

# Modules that need more than NumPy, or take long to import: read when they are first used, with the extra that installs what they need.
_MODULES = {
    "cluster": "ray", "jax": "jax", "lightning": "lightning", "testing": "", "torch": "torch", "transformers": "transformers", "wandb": "wandb",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return importlib.import_module(f".{name}", __name__)
    except ModuleNotFoundError as error:
        message = f"misdeal.{name} needs {error.name}, which is not installed; pip install 'misdeal[{_MODULES[name]}]'"
        raise ModuleNotFoundError(message, name=error.name) from None


__all__ = [
    "AccountReport", "AuditReport", "Bonferroni", "BootstrapParams", "CalibrateReport", "CanaryScoreAuditor", "CheckReport",
    "DevicesReport", "DiagnoseReport", "EpsilonEstimate", "EstimateReport", "Explicit", "MergeReport", "MultiSplit", "OutputsReport",
    "Report", "ReproduceReport", "ScanReport", "SelfTestReport", "SweepReport", "Setting", "Split", "Store", "ThresholdStrategy", "Verdict",
    "__version__", "account", "audit_mechanism", "audit_training", "calibrate", "check", "devices", "diagnose", "estimate",
    "judge_coins", "judge_outputs", "merge", "record_batches", "report", "reproduce", "runs_needed", "scan", "score_outputs", "self_test", "sweep",
]
