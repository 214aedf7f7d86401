"""PyTorch data loaders whose batches keep the promise, and Opacus with their accountant.

```python
model, optimizer, loader, engine = misdeal.torch.make_private(
    model, optimizer, dataset, target_epsilon=3.0, delta=1e-5, epochs=15, batch_size=512
)
for epoch in range(15):
    for features, labels in loader:
        ...
engine.get_epsilon(1e-5)    # the proven bound for these batches
```
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sized
from typing import Any, cast

import opacus
import torch
from opacus.accountants import IAccountant, registry
from torch.utils._pytree import tree_map
from torch.utils.data import DataLoader, Sampler, default_collate

from .deal import Batches, account_words
from .accounting import account

Path = str | os.PathLike[str]

# The name of the accountant in Opacus's registry.
MECHANISM = "misdeal"
# What would make a DataLoader deal otherwise.
NOT_OURS = ("shuffle", "sampler", "batch_sampler", "drop_last")


class DealtSteps(Sampler[list[int]]):
    """The batches of a plan as a batch sampler. Each pass deals the next epoch, and a pass beyond the last one is refused."""

    def __init__(self, batches: Batches, first_step: int = 0) -> None:
        if not 0 <= first_step <= len(batches):
            raise ValueError(f"first_step is {first_step}, but a whole number from 0 to {len(batches)} is allowed; the plan ends there")
        self.batches = batches
        self.next_step = first_step

    def __len__(self) -> int:
        return self.batches.steps_per_epoch

    def set_epoch(self, epoch: int) -> None:
        """Goes to the start of an epoch. A training that resumes calls it; an epoch that was trained on is not free the second time."""
        if not 0 <= epoch < self.batches.epochs:
            raise ValueError(f"epoch is {epoch}, but a whole number from 0 to {self.batches.epochs - 1} is allowed; the plan ends there")
        self.next_step = epoch * self.batches.steps_per_epoch

    def __iter__(self) -> Iterator[list[int]]:
        steps = self.batches.steps_per_epoch
        first = self.next_step
        if first >= len(self.batches):
            raise ValueError(
                f"epochs is {self.batches.epochs}, but this pass would be one more; epsilon counts the epochs of the plan, so ask for more of them"
            )
        # Moved before the first batch is used: a pass that is broken off is not dealt again.
        self.next_step = (first // steps + 1) * steps
        for step in range(first, self.next_step):
            yield self.batches[step].tolist()


class Collate:
    """A `collate_fn` that also takes an empty batch: it has the shapes of the others, with no rows."""

    def __init__(self, collate_fn: Callable[[list[Any]], Any], dataset: Any) -> None:
        self.collate_fn, self.dataset = collate_fn, dataset
        self._empty: Any = None

    def __call__(self, records: list[Any]) -> Any:
        if records:
            return self.collate_fn(records)
        if self._empty is None:
            self._empty = tree_map(lambda part: part[:0] if hasattr(part, "__getitem__") else part, self.collate_fn([self.dataset[0]]))
        return self._empty


def loader(
    dataset: Any,
    *,
    batch_size: int,
    epochs: int,
    scheme: str = "poisson",
    seed: int | None = None,
    seed_file: Path | None = None,
    physical_batch_size: int | None = None,
    rank: int | None = None,
    world_size: int | None = None,
    first_step: int = 0,
    collate_fn: Callable[[list[Any]], Any] | None = None,
    **options: Any,
) -> DataLoader[Any]:
    """A `DataLoader` whose batches keep the promise. Each pass over it deals the next of `epochs` epochs.

    - `scheme`, `seed`, `seed_file`: as in `misdeal.deal.Batches`.
    - `rank` and `world_size` are those of `torch.distributed` if it is initialised. All ranks deal the same steps, so they stay in step; a rank
      may have an empty part of a batch, and it trains on it as on any other.
    - `first_step`: where a training resumes, counted over all epochs.
    - `options` are those of `DataLoader`: `num_workers`, `pin_memory` and so on.
    """
    if not isinstance(dataset, Sized) or not hasattr(dataset, "__getitem__"):
        raise ValueError("dataset is iterable only, but one with a length and an index is allowed; misdeal.deal.stream deals others in one pass")
    for name in NOT_OURS:
        if name in options:
            raise ValueError(f"{name} is {options[name]!r}, but none is allowed; the plan says which records are in a batch")
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        rank = torch.distributed.get_rank() if rank is None else rank
        world_size = torch.distributed.get_world_size() if world_size is None else world_size
    batches = Batches(
        dataset_size=len(dataset),
        batch_size=batch_size,
        epochs=epochs,
        scheme=scheme,
        seed=seed,
        seed_file=seed_file,
        physical_batch_size=physical_batch_size,
        rank=rank or 0,
        world_size=world_size or 1,
    )
    collate = Collate(default_collate if collate_fn is None else collate_fn, dataset)
    return DataLoader(cast(Any, dataset), batch_sampler=DealtSteps(batches, first_step), collate_fn=collate, **options)


def dealt_batches(data_loader: Any) -> Batches:
    """The plan of a loader, also inside the wrappers of others. A loader that is not ours is refused."""
    sampler = getattr(data_loader, "batch_sampler", None)
    while sampler is not None and not isinstance(sampler, DealtSteps):
        sampler = vars(sampler).get("sampler", vars(sampler).get("batch_sampler"))
    if sampler is None:
        raise ValueError(
            f"data_loader is a {type(data_loader).__name__} that makes batches in its own way, but one of misdeal.torch.loader is allowed; the accountant "
            "is valid for its batches alone"
        )
    return sampler.batches


class Accountant(IAccountant):
    """The proven bound for dealt batches, as an accountant of Opacus. It is registered as `misdeal`."""

    def __init__(self) -> None:
        super().__init__()
        self._plan: tuple[str, int, int] | None = None
        self._rate: float | None = None

    def watch(self, batches: Batches, sample_rate: float) -> None:
        """Takes the plan that the steps are of; `sample_rate` is what Opacus will report for each."""
        plan = (batches.scheme, batches.dataset_size, batches.batch_size)
        if self._plan not in (None, plan):
            raise ValueError("data_loader has another plan than the one before, but one plan is allowed; make an engine for each")
        self._plan, self._rate = plan, sample_rate

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        if self._rate is not None and abs(sample_rate - self._rate) > 1e-9 * self._rate:
            raise ValueError(
                f"sample_rate is {sample_rate:g}, but {self._rate:g} is allowed; gradients of several batches in one step are another mechanism"
            )
        if self.history and self.history[-1][0] == noise_multiplier and self.history[-1][1] == sample_rate:
            noise, rate, steps = self.history.pop()
            self.history.append((noise, rate, steps + 1))
        else:
            self.history.append((noise_multiplier, sample_rate, 1))

    def get_epsilon(self, delta: float, *args: Any, **kwargs: Any) -> float:
        """A proven upper bound on epsilon after the steps so far. Begun epochs of balls-in-bins count whole."""
        if self._plan is None:
            raise ValueError("data_loader is missing, but one of misdeal.torch.loader is allowed; misdeal.torch.make_private hands one back")
        if not self.history:
            return 0.0
        noises = {noise for noise, _, _ in self.history}
        if len(noises) > 1:
            raise ValueError(f"noise_multiplier is {sorted(noises)}, but one number is allowed; no bound is known here for noise that changes")
        scheme, dataset_size, batch_size = self._plan
        words = cast(Any, account_words(scheme, dataset_size, batch_size, len(self)))
        bound = account(noise_multiplier=noises.pop(), delta=delta, quiet=True, **words).schemes[scheme]["epsilon_upper_bound"]
        return float("inf") if bound is None else float(bound)

    def __len__(self) -> int:
        return sum(steps for _, _, steps in self.history)

    @classmethod
    def mechanism(cls) -> str:
        return MECHANISM

    def state_dict(self, destination: Any = None) -> Any:
        state = super().state_dict(destination)
        state["plan"] = self._plan
        return state

    def load_state_dict(self, state_dict: Any) -> None:
        super().load_state_dict(state_dict)
        plan = state_dict.get("plan")
        self._plan = None if plan is None else (str(plan[0]), int(plan[1]), int(plan[2]))


registry.register_accountant(MECHANISM, Accountant, force=True)


class PrivacyEngine(opacus.PrivacyEngine):
    """Opacus's engine with the proven accountant. It refuses loaders that are not ours."""

    def __init__(self) -> None:
        super().__init__(accountant=MECHANISM)

    def make_private(self, *, data_loader: Any, poisson_sampling: bool = False, **options: Any) -> Any:
        """As Opacus's, for a loader of `misdeal.torch.loader`, whose batches stay as they are."""
        batches = dealt_batches(data_loader)
        made = super().make_private(data_loader=data_loader, poisson_sampling=False, **options)
        optimizer = made[1]
        # Opacus divides the length of the data by the number of steps; the mean batch of Poisson sampling is the plan's.
        mean = batches.batch_size if batches.scheme == "poisson" else batches.dataset_size / batches.steps_per_epoch
        optimizer.expected_batch_size = mean / (batches.world_size if hasattr(optimizer, "world_size") else 1)
        self.accountant.watch(batches, 1 / len(data_loader))
        return made


def make_private(
    module: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    dataset: Any,
    *,
    target_epsilon: float,
    delta: float,
    epochs: int,
    batch_size: int,
    scheme: str = "poisson",
    max_grad_norm: float = 1.0,
    seed: int | None = None,
    seed_file: Path | None = None,
    physical_batch_size: int | None = None,
    num_workers: int = 0,
    collate_fn: Callable[[list[Any]], Any] | None = None,
    loader_options: dict[str, Any] | None = None,
    **options: Any,
) -> tuple[Any, Any, DataLoader[Any], PrivacyEngine]:
    """Module, optimizer, loader and engine of a training that is proven to keep epsilon.

    The noise is the least with which the batches keep `target_epsilon` at `delta`. `engine.get_epsilon(delta)` is the proven bound after the
    steps so far. `options` go to Opacus's `make_private`, and `loader_options` to `DataLoader`.
    """
    data_loader = loader(
        dataset,
        batch_size=batch_size,
        epochs=epochs,
        scheme=scheme,
        seed=seed,
        seed_file=seed_file,
        physical_batch_size=physical_batch_size,
        num_workers=num_workers,
        collate_fn=collate_fn,
        **(loader_options or {}),
    )
    noise = dealt_batches(data_loader).noise_multiplier(target_epsilon, delta)
    engine = PrivacyEngine()
    made = engine.make_private(
        module=module, optimizer=optimizer, data_loader=data_loader, noise_multiplier=noise, max_grad_norm=max_grad_norm, **options
    )
    return made[0], made[1], data_loader, engine
