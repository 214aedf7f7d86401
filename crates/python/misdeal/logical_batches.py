"""Logical batches as a loader deals them, and how physical batches use them up."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .planting import PlantedBatch

Plant = Callable[[npt.NDArray[np.int64], int], PlantedBatch]


class LogicalBatches:
    """A queue of batches. `plant(records, step)` decides the roles of a batch when its first gradients come, from all of its records."""

    def __init__(self, steps_per_epoch: int, plant: Plant) -> None:
        self.steps_per_epoch = steps_per_epoch
        self.steps = 0
        self.begun_epochs = 0
        self._plant = plant
        self._waiting: deque[npt.NDArray[np.int64]] = deque()
        self._records: npt.NDArray[np.int64] | None = None
        self._planted: PlantedBatch | None = None
        self._used = 0

    def add(self, indices: Sequence[int]) -> None:
        """The records of the batch that comes next."""
        self._waiting.append(np.array([int(index) for index in indices], dtype=np.int64))

    def begin_epoch(self) -> None:
        """Forgets batches that were dealt ahead; refuses if the last epoch had too few steps."""
        done = self.steps % self.steps_per_epoch
        if done or self._records is not None:
            raise ValueError(
                f"epoch has {done} steps, but {self.steps_per_epoch} is allowed: each batch must end in one step of the optimizer, empty batches "
                f"too. If every epoch of yours ends after {done} steps, say run.plant(optimizer, loader, steps_per_epoch={done})"
            )
        self.begun_epochs += 1
        self._waiting.clear()

    def roles(self, rows: Sequence[int]) -> npt.NDArray[np.float64]:
        """The roles of the next gradients. `rows` counts those of each backward pass since the last step; several make one logical batch."""
        total = sum(rows)
        if self._records is None:
            self._begin(total, len(rows))
        assert self._records is not None and self._planted is not None
        left = len(self._records) - self._used
        if total > left:
            raise ValueError(f"batch has {total} gradients, but {left} records are left of those drawn; each record must have one gradient")
        self._used += total
        return self._planted.roles[self._used - total : self._used]

    def is_used_up(self) -> bool:
        """Whether all gradients of the logical batch have come."""
        return self._records is not None and self._used == len(self._records)

    def step(self) -> tuple[PlantedBatch, int]:
        """Ends the logical batch by a step of the optimizer: what was planted, and its size."""
        if self._records is None or self._planted is None:
            raise ValueError(
                "the optimizer made a step without clip_and_accumulate, so that nothing was planted; an Opacus optimizer that clips gradients of "
                "single records is allowed (grad_sample_mode='hooks', 'functorch' or 'ew')"
            )
        if not self.is_used_up():
            raise ValueError(
                f"the optimizer made a step after {self._used} of {len(self._records)} records; a step must end a whole batch, so let BatchMemoryManager "
                "split batches"
            )
        done = self._planted, len(self._records)
        self._records, self._planted, self._used = None, None, 0
        self.steps += 1
        return done

    def _begin(self, total: int, parts: int) -> None:
        # Loops may leave empty batches out.
        while total and self._waiting and not len(self._waiting[0]):
            self._plant(self._waiting.popleft(), self.steps)
        if len(self._waiting) < parts:
            raise ValueError(f"batch has {total} gradients, but none is known; train on the loader that was planted, or call run.batch(indices)")
        self._records = np.concatenate([self._waiting.popleft() for _ in range(parts)])
        self._planted = self._plant(self._records, self.steps)


class BatchRecorder:
    """A batch sampler that tells which records it deals."""

    def __init__(self, sampler: Any, batches: LogicalBatches) -> None:
        self._sampler = sampler
        self._batches = batches

    def __iter__(self) -> Iterator[Any]:
        self._batches.begin_epoch()
        for indices in self._sampler:
            self._batches.add(indices)
            yield indices

    def __len__(self) -> int:
        return len(self._sampler)

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["_sampler"], name)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        # Opacus's physical batches ask what they split.
        return type(vars(self)["_sampler"])
