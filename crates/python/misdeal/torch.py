"""Audits of training code that uses Opacus: any model, any data loader, three lines.

```python
auditor = misdeal.torch.Auditor(threat_model="worst-case", canaries=64)
for run in auditor.runs(1):
    model, optimizer, loader, engine = make_private()      # yours, with PrivacyEngine.make_private
    run.plant(optimizer, loader)
    train(model, optimizer, loader)                        # yours, unchanged
print(auditor.judge(claimed_epsilon=engine.get_epsilon, delta=1e-5))
```

Each canary is one record, and a fair coin decides whether it is present in a run. Its gradient, one row of `grad_sample`, becomes the canary before the
optimizer clips it, at ten times the clipping norm; or zero, if the coin says so. The noisy gradient of every step is read along each canary
when the optimizer applies it. Everything between, which is clipping, noise and scaling, is the audited code's own.

Each run begins with a seed of its own for PyTorch's default generator (`run.seed`). Code that sets a constant seed would reuse its noise in every
run, and is refused in the second run.

A claim that is not refuted is not confirmed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from . import directions, following
from .directions import Canary
from .logical_batches import LogicalBatches
from .planting import PlantedBatch, Planter
from .progress import say
from .records import RunRecord
from .torch_gradients import TorchDirections, gradients_of, sums_to_zero_over_classes
from .torch_loops import check_optimizer, read_batches, watch
from .torch_twin import TwinReport, TwinRun, twin
from .trials import Runs, ThreatModel
from .torch_loader import PrivacyEngine as PrivacyEngine
from .torch_loader import loader as loader
from .torch_loader import make_private as make_private


class Auditor(Runs):
    """Plants canaries into training runs, and judges them.

    - `scheme`: how batches are made; read off the data loader if not given (Opacus's Poisson sampling, `shuffle=True` or neither).
      It decides what is planted and how outputs are scored. Where a canary is opposed (all schemes of fixed batch sizes, unless
      the threat model is `target-canary`), batches of another size are refused: they would accuse correct training.
    - `threat_model`: `worst-case` (all gradients that are no canary's are zero), `partially-informed` (the others train) or
      `target-canary` (nothing opposes the canaries).
    - `target_index`: the first canary's position in the data set; the others follow it.
    - `canary`: `random`, coordinates of each canary's own with random signs; `dirac`, a single parameter; `null-space`, ones over the
      classes of a softmax classifier's last layer, where no natural gradient reaches; a list of tensors shaped as the optimizer's
      parameters, for one canary; or `auto`, which is `null-space` where natural gradients train and the first batch shows that none reaches there.
    - `canaries`: how many. If not given: 512 in the worst case, 64 where others train, and fewer if batches or the model are smaller; one
      under Poisson sampling, for a `canary` of your own, and for loaders where no proof covers several.
    - `dataset_size`: the number of records, if no data loader says it.
    - `seed`: decides coins, directions, and the seeds of runs.
    - `store`: a folder in which each run is saved as it ends. An audit that was interrupted goes on there, and several processes may share it.
    - `quiet`: no progress, which terminals and notebooks show otherwise.
    """

    def __init__(
        self,
        *,
        scheme: str | None = None,
        threat_model: ThreatModel = "partially-informed",
        target_index: int = 0,
        canary: Canary | Sequence[torch.Tensor] = "auto",
        canaries: int | None = None,
        dataset_size: int | None = None,
        seed: int = 0,
        store: str | os.PathLike[str] | None = None,
        quiet: bool = False,
    ) -> None:
        super().__init__(
            scheme=scheme, threat_model=threat_model, target_index=target_index, canary=canary, canaries=canaries, dataset_size=dataset_size, seed=seed,
            store=store,
        )  # fmt: skip
        self.quiet = quiet
        self.directions: directions.Directions | None = None
        self._seeds: dict[int, int] = {}

    def runs(self, runs: int) -> Iterator[Run]:
        """So many runs; what the loop's body trains is the run's. One canary needs an even number, several need one run or more.

        With a store, so many in all: those that are finished are not trained again, and those that another process trains are left to it.
        """
        for index in self.numbers(runs, self.quiet):
            torch.manual_seed(self.run_seed(index))
            run = Run(self, index, runs)
            start = time.perf_counter()
            yield run
            run.finish()
            if len(self.records) == 1 and self.directions is not None:
                megabytes = self.directions.bytes / 1e6
                whole = time.perf_counter() - start
                say(self.quiet, f"{self.canaries} canaries: {megabytes:.3g} MB of directions; planting and reading took {run.seconds:.3g} of {whole:.3g} s.")


class Run:
    """One training. `seed` is its own: PyTorch's default generator begins with it."""

    def __init__(self, auditor: Auditor, index: int, runs: int) -> None:
        self.auditor = auditor
        self.index = index
        self.seed = auditor.run_seed(index)
        self.record: RunRecord | None = None
        # Time that planting and reading took; on a GPU this includes waiting for it.
        self.seconds = 0.0
        self._runs = runs
        self._undo: list[Any] = []
        self._steps: list[dict[str, Any]] = []
        self._batches: LogicalBatches | None = None
        self._accumulated: int | None = None

    @property
    def coins(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Whether each canary is present; known once the run is planted."""
        return self.auditor.coins_of(self.index)

    @property
    def present(self) -> bool:
        """Whether the first canary is present."""
        return bool(self.coins[0])

    def plant(self, optimizer: Any, loader: Any = None, *, steps_per_epoch: int | None = None) -> None:
        """Watches an Opacus optimizer and, where there is one, the data loader that feeds it; training needs no other change.

        For data without a map-style `DataLoader`, leave `loader` out, say how many `steps_per_epoch` there are, and call `run.batch(indices)`
        before each batch. With a loader, `steps_per_epoch` is needed only where each epoch stops early.
        """
        check_optimizer(optimizer)
        scheme, size, steps_per_epoch = read_batches(loader, steps_per_epoch, self.auditor.scheme, self.auditor.dataset_size)
        self._refuse_a_repeated_seed()
        self._optimizer = optimizer
        self._shapes = [tuple(parameter.shape) for parameter in optimizer.params]
        self._planter = self.auditor.prepare(scheme, int(optimizer.expected_batch_size), directions.available(self._shapes), size)
        self.auditor.check_runs(self._runs)
        self._noise_multiplier = float(optimizer.noise_multiplier)
        self._batches = LogicalBatches(steps_per_epoch, self._plant)
        if loader is not None:
            self._undo.append(watch(loader, self._batches))
        clip = optimizer.clip_and_accumulate

        def plant_and_clip() -> Any:
            start = time.perf_counter()
            self._plant_rows()
            self.seconds += time.perf_counter() - start
            return clip()

        optimizer.clip_and_accumulate = plant_and_clip
        self._undo.append(lambda: vars(optimizer).pop("clip_and_accumulate", None))
        handle = optimizer.original_optimizer.register_step_pre_hook(lambda *_: self._observe())
        self._undo.append(handle.remove)

    def batch(self, indices: Sequence[int]) -> None:
        """The records of the batch that comes next, by their positions in the data set."""
        if self._batches is None:
            raise ValueError("plant was not called, but each run needs it; call run.plant(optimizer, steps_per_epoch=...) before run.batch(indices)")
        self._batches.add(indices)

    def finish(self) -> None:
        """Ends the run: hooks are removed, outputs are kept. Steps of an epoch that ended early are left out."""
        while self._undo:
            self._undo.pop()()
        if self._batches is None:
            raise ValueError("plant was not called, but each run needs it; call run.plant(optimizer, loader) before training")
        each = self._batches.steps_per_epoch
        epochs = len(self._steps) // each
        if not epochs:
            raise ValueError(
                f"steps is {len(self._steps)}, but {each} or more is allowed, those of one epoch; each batch must end in one step of the optimizer, "
                "empty batches too"
            )
        self.record = self._gather(epochs * each, epochs)
        self.auditor.keep(self.record)

    def _refuse_a_repeated_seed(self) -> None:
        seed = torch.initial_seed()
        other = next((run for run, known in self.auditor._seeds.items() if known == seed and run != self.index), None)
        if other is not None:
            raise ValueError(
                f"the seed of PyTorch is {seed} in runs {other + 1} and {self.index + 1}, but another one in each run is allowed: your set-up sets a "
                "constant seed, so that all runs have the same noise. Say torch.manual_seed(run.seed) there. If the training that you ship sets a "
                "constant seed, its noise is no secret"
            )
        self.auditor._seeds[self.index] = seed

    def _plant(self, records: Any, step: int) -> PlantedBatch:
        assert self._batches is not None
        shuffle = following.shuffle_of(self._planter.scheme, step, self._batches.steps_per_epoch) if self._planter.follows else None
        return self._planter.plant(records, self.coins, self.auditor.leaders(self.index, shuffle, self._slots()))

    def _slots(self) -> int:
        """Records that a shuffle puts in order."""
        assert self._batches is not None
        return self.auditor.dataset_size or self._batches.steps_per_epoch * self._planter.batch_size

    def _plant_rows(self) -> None:
        assert self._batches is not None
        optimizer = self._optimizer
        parameters = optimizer.params
        rows = gradients_of(parameters)
        if self._accumulated is None:
            self._settle(parameters, len(rows))
        if len(rows) != self._accumulated:
            raise ValueError(
                f"a step has {len(rows)} backward passes, but {self._accumulated} as in the first step is allowed; accumulate the same number of batches in each"
            )
        roles = self._batches.roles(rows)
        if self._batches.is_used_up() and getattr(optimizer, "_step_skip_queue", None) and optimizer._step_skip_queue[0]:
            raise ValueError(
                "the optimizer skips a step at the end of a batch of the loader (signal_skip_step), but steps that end a batch are allowed: what a canary "
                "does depends on all records of a step; let the loader deal whole batches, and BatchMemoryManager split them"
            )
        self._directions.plant(parameters, roles, float(optimizer.max_grad_norm))

    def _settle(self, parameters: Sequence[torch.nn.Parameter], passes: int) -> None:
        """Decides at the first batch what is known then: how many backward passes a step has, and the directions."""
        assert self._batches is not None
        self._accumulated = passes
        if passes > 1:
            if self._batches.steps_per_epoch % passes:
                raise ValueError(
                    f"a step accumulates {passes} batches, but an epoch of {self._batches.steps_per_epoch} must have whole steps; take a number of batches "
                    "that divides those of an epoch"
                )
            self._batches.steps_per_epoch //= passes
            known = self._planter
            self._planter = Planter(known.scheme, known.threat_model, known.batch_size * passes, known.canaries, known.target_index)
        auditor = self.auditor
        if auditor.directions is None:
            auditor.directions = self._choose_directions(parameters)
        self._directions = TorchDirections(auditor.directions)

    def _choose_directions(self, parameters: Sequence[torch.nn.Parameter]) -> directions.Directions:
        auditor, canary, planter = self.auditor, self.auditor.canary, self._planter
        classes = [tensor for tensor in directions.last_layer(self._shapes) if tensor is not None]
        if canary == "auto":
            fits = planter.keeps_naturals and 1 < planter.canaries <= directions.null_space_room(self._shapes)
            canary = "null-space" if fits and sums_to_zero_over_classes(parameters, classes) else "random"
        elif canary == "null-space" and planter.keeps_naturals and not sums_to_zero_over_classes(parameters, classes):
            raise ValueError(
                "canary is null-space, but natural gradients of the last layer do not sum to zero over its outputs, as those of a softmax classifier do; "
                "take canary='random'"
            )
        elif not isinstance(canary, str):
            canary = [torch.as_tensor(piece).detach().cpu().numpy() for piece in canary]
        return directions.make(canary, self._shapes, planter.canaries, auditor.seed)

    def _observe(self) -> None:
        assert self._batches is not None
        start = time.perf_counter()
        optimizer = self._optimizer
        planted, size = self._batches.step()
        along, probes = self._directions.read(optimizer.params)
        unit = 1.0 / float(optimizer.max_grad_norm)
        if optimizer.loss_reduction == "mean":
            unit *= optimizer.expected_batch_size * optimizer.accumulated_iterations
        self._steps.append(
            dict(
                outputs=along * unit, probes=probes * unit, places=planted.places, batch_sizes=size, clip_norms=float(optimizer.max_grad_norm),
                noise_multipliers=float(optimizer.noise_multiplier),
                expected_batch_sizes=float(optimizer.expected_batch_size) * optimizer.accumulated_iterations,
            )
        )  # fmt: skip
        self.seconds += time.perf_counter() - start

    def _gather(self, steps: int, epochs: int) -> RunRecord:
        assert self._batches is not None and self.auditor.directions is not None
        found = self.auditor.directions
        columns = {name: np.array([step[name] for step in self._steps[:steps]]) for name in self._steps[0]}
        shape = dict(
            noise_multiplier=self._noise_multiplier, steps_per_epoch=self._batches.steps_per_epoch, epochs=epochs,
            batch_size=self._planter.batch_size, scheme=self._planter.scheme,
        )  # fmt: skip
        return RunRecord(
            seed=self.auditor.seed, index=self.index, shape=shape, coins=self.coins, **columns, probe_tensors=found.probe_tensors,
            probe_free=found.probe_free, tensors=tuple(str(list(shape)) for shape in self._shapes), tensors_touched=found.tensors_touched(),
            biased=self._planter.keeps_naturals and found.kind != "null-space", probes_biased=self._planter.keeps_naturals,
            dataset_size=self.auditor.dataset_size,
        )  # fmt: skip
