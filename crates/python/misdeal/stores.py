"""The scores of a run: loaded, merged, saved, estimated."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native
from .results import EpsilonEstimate, MergeReport

Path = str | os.PathLike[str]


class Store:
    """The scores of a set of trials in both worlds.

    Merging is exact: the order in which parts come leaves no trace, not even in the bytes of the file. Stores of another setting,
    engine or kind, or with trials that are there already, are refused.

    >>> import tempfile, pathlib, misdeal
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for i in (1, 2):
    ...     _ = misdeal.audit_mechanism(observations=1e5, shard=f"{i}/2", store=folder / str(i), quiet=True)
    >>> whole = Store.load(folder / "1")
    >>> whole.merge(Store.load(folder / "2"))
    >>> whole.observations, whole.trials
    (100000, [(0, 50000)])
    >>> whole.estimate(threshold_choice="band").valid
    True
    """

    def __init__(self, native: _native.Store) -> None:
        self._native = native

    @classmethod
    def load(cls, path: Path) -> Store:
        """Reads a store and checks its seal."""
        return cls(_native.Store.load(path))

    @classmethod
    def from_bytes(cls, content: bytes) -> Store:
        """The store that `to_bytes` wrote."""
        return cls(_native.Store.from_bytes(content))

    def to_bytes(self) -> bytes:
        """The store's file, as bytes."""
        return self._native.to_bytes()

    def save(self, path: Path) -> None:
        """Writes the store, whole or not at all."""
        self._native.save(path)

    def merge(self, *others: Store) -> None:
        """Takes over the trials of other stores."""
        self._native.merge(*(other._native for other in others))

    @property
    def setting(self) -> dict[str, Any]:
        """What was audited."""
        return json.loads(self._native.setting_json)

    @property
    def observations(self) -> int:
        """Observations in both worlds together."""
        return self._native.observations

    @property
    def trials(self) -> list[tuple[int, int]]:
        """The trials that it holds, the same in both worlds: pairs of the first and the one after the last."""
        return self._native.trials

    @property
    def lineage(self) -> str:
        """The family of engines that gave the scores."""
        return self._native.lineage

    @property
    def scores(self) -> str:
        """What is kept of a score: `counts` or `exact`."""
        return self._native.scores

    def exact_scores(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The scores with the target and those without it, by trial; empty for a store of counts."""
        scores_in, scores_out = self._native.exact_scores()
        return scores_in, scores_out

    def estimate(
        self,
        *,
        delta: float = 1e-5,
        significance: float = 0.05,
        estimator: str = "clopper-pearson",
        threshold_choice: str = "band",
    ) -> EpsilonEstimate:
        """What the scores show."""
        words = dict(delta=delta, significance=significance, estimator=estimator, threshold_choice=threshold_choice)
        return EpsilonEstimate(self._native.estimate(words))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Store) and self._native == other._native

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Store.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        return repr(self._native)


def merge(stores: Iterable[Path], output: Path) -> MergeReport:
    """Joins the stores of shards into one file."""
    several: list[Path] = [stores] if isinstance(stores, (str, os.PathLike)) else list(stores)
    return MergeReport(_native.merge(dict(stores=several, output=output)))
