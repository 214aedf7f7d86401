"""The rule "follow": places of many canaries that are as independent as those of one.

Shuffled records cannot share a slot, so the places of canaries depend on each other a little. The rule removes that. For each shuffle, canary k either
leads, and is played in the batch of its own record, or follows an earlier leader, and is played in that leader's batch. With d leaders before it
and n records it follows each of them with probability 1/n. Given the leaders' slots its own record is uniform over the n - d other slots, so the
slot where it is played is uniform over all n, and independent of the slots before. The proof is in docs/proofs/coins.md.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

# Schemes whose shuffles are uniform, and how often they shuffle.
SHUFFLES = {"shuffle": "epoch", "shuffle-once": "once", "without-replacement": "step"}


def leaders(canaries: int, dataset_size: int, generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """In whose batch each canary is played in one shuffle: its own number where it leads, else that of the leader that it follows."""
    return leaders_by(generator.integers(dataset_size, size=canaries))


def leaders_by(draws: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """`leaders`, by one uniform draw from the records for each canary."""
    found = np.arange(len(draws), dtype=np.int64)
    leading: list[int] = []
    for canary, draw in enumerate(draws):
        if draw < len(leading):
            found[canary] = leading[int(draw)]
        else:
            leading.append(canary)
    return found


def shuffle_of(scheme: str, step: int, steps_per_epoch: int) -> int | None:
    """The number of the shuffle that a step belongs to; `None` if nothing is shuffled uniformly."""
    often = SHUFFLES.get(scheme)
    return None if often is None else {"once": 0, "epoch": step // steps_per_epoch, "step": step}[often]
