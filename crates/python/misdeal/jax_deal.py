"""Dealt batches for JAX: a batch-selection strategy for jax-privacy, and batches of few shapes.

jax-privacy's own `BallsInBinsSampling` draws the bins once and repeats them in every epoch. That is another law, and it leaks far more.
Here bins are fresh in every epoch.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from .deal import Batches, padded

try:
    from jax_privacy.batch_selection import BatchSelectionStrategy as _Strategy
except ImportError:
    _Strategy = object

Path = str | os.PathLike[str]


class BatchSelection(_Strategy):  # type: ignore[misc,valid-type]
    """A strategy for `jax_privacy.batch_selection`: `batch_iterator(num_examples)` gives the batches of all epochs.

    The words are those of `misdeal.deal.Batches`. The seed is the plan's own and secret: a generator that jax-privacy passes is not used.

    >>> strategy = BatchSelection(batch_size=2, epochs=1, scheme="balls-in-bins", seed=1)
    >>> sorted(int(record) for batch in strategy.batch_iterator(6) for record in batch)
    [0, 1, 2, 3, 4, 5]
    """

    def __init__(
        self,
        *,
        batch_size: int,
        epochs: int,
        scheme: str = "poisson",
        seed: int | None = None,
        seed_file: Path | None = None,
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        self.words: dict[str, Any] = dict(
            batch_size=batch_size, epochs=epochs, scheme=scheme, seed=seed, seed_file=seed_file, rank=rank, world_size=world_size
        )

    def batches(self, num_examples: int) -> Batches:
        """The plan for so many records."""
        return Batches(dataset_size=num_examples, **self.words)

    def batch_iterator(self, num_examples: int, rng: Any = None) -> Iterator[npt.NDArray[np.int64]]:
        """The records of each step."""
        return iter(self.batches(num_examples))

    def padded_iterator(self, num_examples: int, multiple: int) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]]:
        """The records of each step with their mask, filled up to a multiple, so that compiled code sees few shapes."""
        return (padded(batch, multiple) for batch in self.batches(num_examples))
