"""Twin runs of a training with Opacus: the same randomness, one record changed, everything else frozen.

```python
def train(run):
    model, optimizer, loader, engine = make_private(run.data(dataset))      # yours
    run.plant(optimizer, loader)
    fit(model, optimizer, loader)                                           # yours

print(misdeal.torch.twin(train))
```

The first run records every step. The second run has one record less, or another one in its place. It draws the same random numbers, and every step
applies the noisy gradient of the first run, so that both models stay the same. In correct training only the sum of clipped gradients differs, by
at most the clipping norm, and only in steps whose batch has the record. These are exact comparisons, not statistics.

The record has the largest gradient that there is: ten times the clipping norm before clipping, spread over all tensors.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from . import directions
from .logical_batches import BatchRecorder, LogicalBatches
from .planting import PlantedBatch
from .torch_gradients import TorchDirections, gradients_of

Change = Literal["remove", "replace"]


class TwinDifference(NamedTuple):
    """A difference that correct training cannot have: the first of its kind."""

    name: str
    step: int
    measured: float
    allowed: float
    message: str


@dataclasses.dataclass(frozen=True)
class TwinReport:
    """What two runs with the same randomness showed.

    `largest_difference` is the most that the record moved a sum of clipped gradients, in clipping norms; `steps_with_record` is in how many steps it could.
    """

    steps: int
    steps_with_record: int
    largest_difference: float
    allowed_difference: float
    differences: list[TwinDifference]

    @property
    def passed(self) -> bool:
        """Whether the runs differ in nothing that correct training keeps the same."""
        return not self.differences and self.steps_with_record > 0

    @property
    def sentence(self) -> str:
        """The answer."""
        if self.differences:
            first = self.differences[0]
            others = ", ".join(one.name for one in self.differences[1:])
            return f"Fault found in step {first.step} ({first.name}): {first.message}{f' Also: {others}.' if others else ''}"
        if not self.steps_with_record:
            return f"Nothing was compared: the record was in no batch of {self.steps} steps. Take more steps, or another target_index."
        return (
            f"No fault found in {self.steps} steps: the record moved a sum of gradients by {self.largest_difference:.3f} clipping norms at most, "
            f"{self.allowed_difference:g} is allowed, and nothing else differed."
        )

    def __str__(self) -> str:
        return self.sentence


@dataclasses.dataclass
class _Step:
    """What a run did in one step."""

    records: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    # Rows of the other records by two sums each.
    others: npt.NDArray[np.float64]
    clip_norm: float = 1.0
    summed: list[torch.Tensor] = dataclasses.field(default_factory=list)
    noise: list[torch.Tensor] = dataclasses.field(default_factory=list)
    applied: list[torch.Tensor] = dataclasses.field(default_factory=list)
    # What sum and noise were multiplied by.
    scale: float = 0.0
    settings: dict[str, float] = dataclasses.field(default_factory=dict)


class _Enough(Exception):
    """Ends a training after enough steps."""


class TwinRun:
    """One of the two runs. `changed` says whether the record is changed in it; `seed` is the same in both."""

    def __init__(self, target_index: int, change: Change, seed: int, steps: int, replacement: Any, first: TwinRun | None) -> None:
        self.target_index, self.seed = target_index, seed
        self.changed = first is not None
        self._change, self._most, self._replacement, self._first = change, steps, replacement, first
        self._steps: list[_Step] = []
        self._undo: list[Callable[[], Any]] = []
        self._directions: TorchDirections | None = None
        self._current: _Step | None = None

    def data(self, dataset: Any) -> Any:
        """The data set to train on: yours, with the record replaced where it is to be."""
        return _Replaced(dataset, self.target_index, self._replacement) if self.changed and self._change == "replace" else dataset

    def plant(self, optimizer: Any, loader: Any) -> None:
        """Watches an Opacus optimizer and the data loader that feeds it. Call it once, before training and before `BatchMemoryManager`."""
        if not hasattr(optimizer, "clip_and_accumulate") or not hasattr(optimizer, "original_optimizer"):
            raise TypeError(f"optimizer is {type(optimizer).__name__}, but an Opacus DPOptimizer is allowed; call make_private first")
        sampler = getattr(loader, "batch_sampler", None)
        if sampler is None:
            raise TypeError("loader has no batch_sampler, but a map-style DataLoader is allowed; give the one that make_private returned")
        self._optimizer = optimizer
        self._batches = LogicalBatches(1, self._begin)
        removed = self.target_index if self.changed and self._change == "remove" else None
        vars(loader)["batch_sampler"] = BatchRecorder(_Without(sampler, removed), self._batches)
        self._undo.append(lambda: vars(loader).update(batch_sampler=sampler))
        for name, around in (("clip_and_accumulate", self._around_clipping), ("add_noise", self._around_noise)):
            setattr(optimizer, name, around(getattr(optimizer, name)))
            self._undo.append(functools.partial(vars(optimizer).pop, name, None))
        self._undo.append(optimizer.original_optimizer.register_step_pre_hook(lambda *_: self._end()).remove)

    def finish(self) -> None:
        """Removes all hooks."""
        while self._undo:
            self._undo.pop()()

    def _begin(self, records: npt.NDArray[np.int64], _: int) -> PlantedBatch:
        """The roles of a batch: the record has the canary, in a changed run minus the canary."""
        self._records = records
        is_target = records == self.target_index
        return PlantedBatch(np.where(is_target, -1.0 if self.changed else 1.0, np.nan), is_target.astype(np.int8)[:1])

    def _around_clipping(self, clip: Callable[[], Any]) -> Callable[[], Any]:
        def clipped() -> Any:
            optimizer = self._optimizer
            rows = gradients_of(optimizer.params)
            if self._directions is None:
                shapes = [tuple(parameter.shape) for parameter in optimizer.params]
                self._directions = TorchDirections(directions.make("random", shapes, 1, self.seed))
            roles = self._batches.roles(rows)
            others = _sums_of_rows(optimizer.params)[np.isnan(roles)]
            if self._current is None:
                self._current = _Step(self._records, _digest(optimizer.params), others, float(optimizer.max_grad_norm))
            else:
                self._current.others = np.concatenate([self._current.others, others])
            self._directions.plant(optimizer.params, roles, float(optimizer.max_grad_norm))
            return clip()

        return clipped

    def _around_noise(self, add_noise: Callable[[], Any]) -> Callable[[], Any]:
        def noisy() -> Any:
            parameters = self._optimizer.params
            summed = [parameter.summed_grad.detach().clone() for parameter in parameters]
            done = add_noise()
            assert self._current is not None
            self._current.summed = [piece.cpu() for piece in summed]
            self._current.noise = [(parameter.grad.detach() - piece.view_as(parameter.grad)).cpu() for parameter, piece in zip(parameters, summed)]
            return done

        return noisy

    def _end(self) -> None:
        """Compares the step with the first run's, and applies what that applied."""
        step, optimizer = self._current, self._optimizer
        if step is None or not step.summed:
            raise ValueError("the optimizer made a step without clip_and_accumulate and add_noise, but an Opacus optimizer that calls both is allowed")
        step.applied = [parameter.grad.detach().cpu().clone() for parameter in optimizer.params]
        released = [piece.view_as(noise) + noise for piece, noise in zip(step.summed, step.noise)]
        step.scale = _dot(step.applied, released) / max(_dot(released, released), 1e-300)
        step.settings = {f"learning rate of group {at}": float(group["lr"]) for at, group in enumerate(optimizer.original_optimizer.param_groups)}
        step.settings |= {"noise multiplier": float(optimizer.noise_multiplier), "clipping norm": float(optimizer.max_grad_norm)}
        self._batches.step()
        self._steps.append(step)
        self._current = None
        if self._first is not None and len(self._steps) <= len(self._first._steps):
            same = self._first._steps[len(self._steps) - 1].applied
            for parameter, gradient in zip(optimizer.params, same):
                parameter.grad.copy_(gradient)
        if len(self._steps) >= self._most:
            raise _Enough


def twin(
    train: Callable[[TwinRun], Any],
    *,
    target_index: int = 0,
    change: Change = "remove",
    replacement: Any = None,
    steps: int = 100,
    seed: int = 0,
    tolerance: float = 1e-4,
) -> TwinReport:
    """Runs a training twice with the same randomness and one record changed, and reports the first differences that are larger than allowed.

    - `train`: a function of a `TwinRun`. It makes model, optimizer and loader, calls `run.plant(optimizer, loader)`, and trains.
    - `target_index`: the record, by its position in the data set.
    - `change`: `remove` takes the record out of its batches; a sum may move by one clipping norm. `replace` puts `replacement` in its place, where the
      data set comes from `run.data`; a sum may move by two.
    - `steps`: training ends after so many. Each keeps three copies of the gradients in memory.
    - `seed`: of the generators of Python, NumPy and PyTorch, at the start of both runs.
    - `tolerance`: relative; for floating-point sums whose order differs.
    """
    if change not in ("remove", "replace"):
        raise ValueError(f"change is {change!r}, but remove or replace is allowed; check the spelling")
    if steps < 1:
        raise ValueError(f"steps is {steps}, but a whole number from 1 is allowed; the record must be in a batch of one of them")
    first = _trained(train, TwinRun(target_index, change, seed, steps, replacement, None))
    second = _trained(train, TwinRun(target_index, change, seed, steps, replacement, first))
    return _compared(first._steps, second._steps, target_index, 1.0 if change == "remove" else 2.0, tolerance)


def _trained(train: Callable[[TwinRun], Any], run: TwinRun) -> TwinRun:
    random.seed(run.seed)
    np.random.seed(run.seed % 2**32)
    torch.manual_seed(run.seed)
    try:
        train(run)
    except _Enough:
        pass
    finally:
        run.finish()
    if not run._steps:
        raise ValueError("steps is 0, but at least one is allowed; call run.plant(optimizer, loader) before training")
    return run


def _compared(first: list[_Step], second: list[_Step], target: int, allowed: float, tolerance: float) -> TwinReport:
    found: dict[str, TwinDifference] = {}
    largest, with_record, compared = 0.0, 0, 0
    for number, (one, other) in enumerate(zip(first, second)):
        compared += 1
        moved = _distance(one.summed, other.summed) / one.clip_norm
        is_in = target in one.records
        with_record += is_in
        largest = max(largest, moved)
        for name, measured, limit, message in _differences(one, other, first[0], target, moved, allowed if is_in else 0.0):
            if not measured <= limit + tolerance * max(1.0, limit):
                found.setdefault(name, TwinDifference(name, number, measured, limit, message))
        # What follows a difference in batches or weights is about another step.
        if "batches" in found or "weights" in found:
            break
    if len(first) != len(second) and "batches" not in found:
        message = f"One run has {len(first)} steps, the other {len(second)}: when training ends depends on the record."
        found["steps"] = TwinDifference("steps", compared, float(len(second)), float(len(first)), message)
    ordered = sorted(found.values(), key=lambda one: one.step)
    return TwinReport(compared, with_record, largest, allowed, ordered)


def _differences(
    one: _Step, other: _Step, start: _Step, target: int, moved: float, allowed: float
) -> Iterator[tuple[str, float, float, str]]:
    """What is compared in a step: name, measured, allowed, message. Each tolerance is relative to its scale."""
    mine, theirs = (np.sort(step.records[step.records != target]) for step in (one, other))
    yield "batches", float(not np.array_equal(mine, theirs)), 0.0, "The other records of the batch are not the same: sampling depends on the record."
    yield "weights", float(not np.array_equal(one.weights, other.weights)), 0.0, (
        "The weights differ although the same gradients were applied: something else changes them, and depends on the record."
    )  # fmt: skip
    if np.shape(one.others) == np.shape(other.others):
        scale = max(float(np.abs(one.others).max(initial=0.0)), 1e-12)
        spread = float(np.abs(one.others - other.others).max(initial=0.0)) / scale
        yield "other-gradients", spread, 0.0, (
            f"Gradients of other records differ by {spread:.2g} of the largest one: records of a batch reach each other, as with batch normalisation."
        )  # fmt: skip
    where = "its batches" if allowed else "a batch without it"
    yield "sensitivity", moved, allowed, (
        f"The record moves the sum of clipped gradients by {moved:.3f} clipping norms in {where}; {allowed:g} is allowed."
    )  # fmt: skip
    size = math.sqrt(_dot(one.noise, one.noise)) + math.sqrt(_dot(one.summed, one.summed)) + one.clip_norm
    noise = _distance(one.noise, other.noise) / size
    yield "noise", noise, 0.0, f"The noise differs by {noise:.2g} of its size: its draws or its scale depend on the record."
    yield "normalisation", abs(other.scale / one.scale - 1), 0.0, (
        f"The sum is multiplied by {other.scale:.6g} instead of {one.scale:.6g}: the divisor depends on the record."
    )  # fmt: skip
    yield "fixed-normalisation", abs(one.scale / start.scale - 1), 0.0, (
        f"The sum is multiplied by {one.scale:.6g}, in the first step by {start.scale:.6g}: the divisor follows the batch, and tells its size."
    )  # fmt: skip
    for name, value in one.settings.items():
        changed = other.settings.get(name, math.nan)
        yield "settings", abs(changed - value) / max(abs(value), 1e-12), 0.0, f"The {name} is {changed:g} instead of {value:g}: it depends on the record."


def _sums_of_rows(parameters: Sequence[Any]) -> npt.NDArray[np.float64]:
    """For each row of the gradients: its square norm and its sum."""
    total: Any = 0.0
    for parameter in parameters:
        samples = parameter.grad_sample
        rows = (torch.cat(samples) if isinstance(samples, list) else samples).detach().flatten(1).double().cpu()
        total = total + torch.stack([rows.square().sum(1), rows.sum(1)], dim=1).numpy()
    return np.asarray(total)


def _digest(parameters: Sequence[Any]) -> npt.NDArray[np.float64]:
    sums = [(parameter.detach().double().sum(), parameter.detach().double().square().sum()) for parameter in parameters]
    return np.array([[float(one), float(other)] for one, other in sums])


def _dot(first: list[torch.Tensor], second: list[torch.Tensor]) -> float:
    return sum(float((one.double().reshape(-1) * other.double().reshape(-1)).sum()) for one, other in zip(first, second))


def _distance(first: list[torch.Tensor], second: list[torch.Tensor]) -> float:
    return math.sqrt(sum(float((one.double() - other.double()).square().sum()) for one, other in zip(first, second)))


class _Without:
    """A batch sampler that leaves one record out of its batches."""

    def __init__(self, sampler: Any, removed: int | None) -> None:
        self._sampler, self._removed = sampler, removed

    def __iter__(self) -> Iterator[list[int]]:
        for indices in self._sampler:
            yield [int(index) for index in indices if int(index) != self._removed]

    def __len__(self) -> int:
        return len(self._sampler)

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["_sampler"], name)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        # Opacus's physical batches ask what they split.
        return type(vars(self)["_sampler"])


class _Replaced(torch.utils.data.Dataset):  # type: ignore[type-arg]
    """A data set with another record in one place."""

    def __init__(self, dataset: Any, target_index: int, replacement: Any) -> None:
        self._dataset, self._target_index, self._replacement = dataset, target_index, replacement

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, index: int) -> Any:
        if int(index) != self._target_index:
            return self._dataset[index]
        return self._dataset[(self._target_index + 1) % len(self)] if self._replacement is None else self._replacement

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["_dataset"], name)
