"""Audits of training code that uses Opacus: any model, any data loader, three lines.

```python
auditor = misdeal.torch.Auditor(threat_model="partially-informed")
for run in auditor.runs(1000):
    model, optimizer, loader, engine = make_private()      # yours, with PrivacyEngine.make_private
    run.plant(optimizer, loader)
    train(model, optimizer, loader)                        # yours, unchanged
print(auditor.judge(claimed_epsilon=engine.get_epsilon(1e-5), delta=1e-5))
```

In one run of each pair, drawn by a coin, the target is present. Its gradient, one row of `grad_sample`, becomes the canary before the optimizer clips it, at ten
times the clipping norm, and the noisy gradient of every step is projected on the canary when the optimizer applies it. Everything
between, which is clipping, noise and scaling, is the audited code's own.

Each run begins with a seed of its own for PyTorch's default generator. Code that sets a constant seed reuses its noise in every run; the
audit then finds that the noise is no secret.

A claim that is not refuted is not confirmed: n runs in each world show at most ln(n / ln(2 / significance)).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, SequentialSampler

from .planting import OVERSIZE, Planter, Runs
from .torch_loader import PrivacyEngine as PrivacyEngine
from .torch_loader import loader as loader
from .torch_loader import make_private as make_private


class Auditor(Runs):
    """Plants a canary into training runs, and judges them.

    - `scheme`: how batches are made; read off the data loader if not given (Opacus's Poisson sampling, `shuffle=True` or neither).
      It decides what is planted and how outputs are scored. Where a canary opposes the target (all schemes of fixed batch sizes, unless
      the threat model is `target-canary`), batches of another size are refused: they would accuse correct training.
    - `threat_model`: `target-canary`, `partially-informed` or `worst-case`.
    - `target_index`: the target's position in the data set.
    - `canary`: `random`; `dirac`, a single parameter; `null-space`, the last parameter if it is the bias of a softmax classifier, where no
      natural gradient reaches; or a list of tensors shaped as the optimizer's parameters.
    """

    def __init__(
        self,
        *,
        scheme: str | None = None,
        threat_model: str = "partially-informed",
        target_index: int = 0,
        canary: str | Sequence[torch.Tensor] = "random",
        seed: int = 0,
    ) -> None:
        super().__init__(scheme=scheme, threat_model=threat_model, target_index=target_index, canary=canary, seed=seed)
        self._directions: list[torch.Tensor] | None = None

    def runs(self, runs: int) -> Iterator[Run]:
        """So many runs, half of them with the target; what the loop's body trains is the run's."""
        if runs < 2 or runs % 2:
            raise ValueError(f"runs is {runs}, but an even number from 2 is allowed; the target is present in half of them")
        first = self._runs()
        for index in range(first, first + runs):
            torch.manual_seed(self.run_seed(index))
            run = Run(self, self.world(index))
            yield run
            run.finish()

    def directions(self, parameters: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The canary, of norm one over all parameters together."""
        if self._directions is None:
            self._directions = _directions(self.canary, parameters, self.seed)
        return self._directions


class Run:
    """One training, with the target present or zeroed out."""

    def __init__(self, auditor: Auditor, present: bool) -> None:
        self.auditor = auditor
        self.present = present
        self.outputs: list[float] = []
        self._batches: deque[list[int]] = deque()
        self._undo: list[Any] = []
        self._shape: dict[str, Any] | None = None

    def plant(self, optimizer: Any, loader: Any = None, *, steps_per_epoch: int | None = None) -> None:
        """Watches an Opacus optimizer and, where there is one, the data loader that feeds it; training needs no other change.

        For data without a map-style `DataLoader`, leave `loader` out, say how many `steps_per_epoch` there are, and call `run.batch(indices)`
        before each batch.
        """
        if not hasattr(optimizer, "clip_and_accumulate") or not hasattr(optimizer, "original_optimizer"):
            raise TypeError(f"optimizer is {type(optimizer).__name__}, but an Opacus DPOptimizer is allowed; call make_private first")
        if loader is not None:
            self._watch(loader)
            steps_per_epoch = len(loader)
        scheme = self.auditor.scheme or _scheme_of(loader)
        if steps_per_epoch is None:
            raise ValueError("steps_per_epoch is None, but a number is allowed where there is no loader; say how many batches an epoch has")
        batch_size = int(optimizer.expected_batch_size)
        self._planter = Planter(scheme, self.auditor.threat_model, batch_size)
        self._shape = dict(
            noise_multiplier=float(optimizer.noise_multiplier), steps_per_epoch=steps_per_epoch, batch_size=batch_size, scheme=scheme
        )
        self._optimizer = optimizer
        clip = optimizer.clip_and_accumulate

        def plant_and_clip() -> Any:
            self._plant_rows()
            return clip()

        optimizer.clip_and_accumulate = plant_and_clip
        self._undo.append(lambda: vars(optimizer).pop("clip_and_accumulate", None))
        handle = optimizer.original_optimizer.register_step_pre_hook(lambda *_: self._observe())
        self._undo.append(handle.remove)

    def batch(self, indices: Sequence[int]) -> None:
        """The records of the batch that comes next, by their positions in the data set."""
        self._batches.append([int(index) for index in indices])

    def finish(self) -> None:
        """Ends the run: hooks are removed, outputs are kept."""
        while self._undo:
            self._undo.pop()()
        if self._shape is None:
            raise ValueError("plant was not called, but each run needs it; call run.plant(optimizer, loader) before training")
        self.auditor.keep(self.present, self.outputs, self._shape)

    def _watch(self, loader: Any) -> None:
        sampler = getattr(loader, "batch_sampler", None)
        if sampler is None:
            raise TypeError(
                "loader has no batch_sampler, but a map-style DataLoader is allowed; leave loader out and call run.batch(indices) before each batch"
            )
        # DataLoader forbids this by assignment, so that nobody does it by mistake.
        vars(loader)["batch_sampler"] = _Recorder(sampler, self._batches)
        self._undo.append(lambda: vars(loader).update(batch_sampler=sampler))

    def _plant_rows(self) -> None:
        optimizer = self._optimizer
        parameters = optimizer.params
        for parameter in parameters:
            if isinstance(getattr(parameter, "grad_sample", None), list):
                parameter.grad_sample = torch.cat(parameter.grad_sample)
            if not isinstance(getattr(parameter, "grad_sample", None), torch.Tensor):
                raise TypeError("grad_sample is missing, but gradients of every record are needed; use grad_sample_mode='hooks'")
        rows = len(parameters[0].grad_sample)
        roles = torch.from_numpy(self._roles(rows))
        planted = ~torch.isnan(roles)
        if not planted.any():
            return
        scale = OVERSIZE * float(optimizer.max_grad_norm)
        for parameter, direction in zip(parameters, self.auditor.directions(parameters), strict=True):
            gradients = parameter.grad_sample
            factors = (scale * roles[planted]).to(gradients).reshape(-1, *[1] * direction.dim())
            gradients[planted.to(gradients.device)] = factors * direction.to(gradients)

    def _roles(self, rows: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The part of each gradient of the next physical batch; a logical batch may come in several."""
        while rows and self._batches and not self._batches[0]:
            self._planter.check(np.zeros(0, dtype=bool))
            self._batches.popleft()
        if not self._batches:
            raise ValueError(f"batch has {rows} gradients, but none is known; train on the loader that was planted, or call run.batch(indices)")
        batch = self._batches[0]
        if rows > len(batch):
            raise ValueError(f"batch has {rows} gradients, but {len(batch)} records were drawn; each record must have one gradient")
        if rows < len(batch) and self._planter.opposes:
            raise ValueError(
                f"batch has {rows} gradients of {len(batch)} records, but whole batches are allowed with an opposing canary; take "
                "threat_model='target-canary', or physical batches as large as logical ones"
            )
        part, self._batches[0] = batch[:rows], batch[rows:]
        if not self._batches[0]:
            self._batches.popleft()
        is_target = np.array([index == self.auditor.target_index for index in part], dtype=bool)
        return self._planter.roles(is_target, self.present)

    def _observe(self) -> None:
        optimizer = self._optimizer
        directions = self.auditor.directions(optimizer.params)
        total = sum(float(torch.sum(p.grad.double() * d.to(p.grad.device))) for p, d in zip(optimizer.params, directions, strict=True))
        if optimizer.loss_reduction == "mean":
            total *= optimizer.expected_batch_size * optimizer.accumulated_iterations
        self.outputs.append(total / float(optimizer.max_grad_norm))


class _Recorder:
    """A batch sampler that tells which records it dealt."""

    def __init__(self, sampler: Any, batches: deque[list[int]]) -> None:
        self._sampler = sampler
        self._batches = batches

    def __iter__(self) -> Iterator[Any]:
        # Of an epoch that was left early some batches may be left over.
        self._batches.clear()
        for indices in self._sampler:
            self._batches.append([int(index) for index in indices])
            yield indices

    def __len__(self) -> int:
        return len(self._sampler)

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["_sampler"], name)


def _scheme_of(loader: Any) -> str:
    """How a data loader makes its batches, if that can be told."""
    sampler = getattr(loader, "batch_sampler", None)
    sampler = vars(sampler).get("_sampler", sampler) if isinstance(sampler, _Recorder) else sampler
    if type(sampler).__name__ in ("UniformWithReplacementSampler", "DistributedUniformWithReplacementSampler"):
        return "poisson"
    if type(sampler) is BatchSampler and isinstance(loader, DataLoader):
        records = len(sampler.sampler)  # type: ignore[arg-type]
        if records % sampler.batch_size and not sampler.drop_last:
            raise ValueError(
                f"drop_last is False, but a last batch of {records % sampler.batch_size} records is not allowed; the sizes of batches must "
                "be fixed, so pass drop_last=True"
            )
        if type(sampler.sampler) is RandomSampler and not sampler.sampler.replacement:
            return "shuffle"
        if type(sampler.sampler) is SequentialSampler:
            return "fixed-order"
    raise ValueError(f"scheme is None, but how {type(sampler).__name__} makes batches is not known; say Auditor(scheme=...)")


def _directions(canary: Any, parameters: Sequence[torch.Tensor], seed: int) -> list[torch.Tensor]:
    if not isinstance(canary, str):
        directions = [torch.as_tensor(piece, dtype=torch.float64) for piece in canary]
        if [piece.shape for piece in directions] != [parameter.shape for parameter in parameters]:
            raise ValueError("canary is a list of other shapes, but those of the optimizer's parameters are allowed; one tensor for each")
    elif canary == "random":
        generator = torch.Generator().manual_seed(seed)
        directions = [torch.randn(p.shape, generator=generator, dtype=torch.float64) for p in parameters]
    elif canary in ("dirac", "null-space"):
        directions = [torch.zeros(p.shape, dtype=torch.float64) for p in parameters]
        if canary == "null-space" and (directions[-1].dim() != 1 or directions[-1].numel() < 2):
            raise ValueError("canary is null-space, but the last parameter must be the bias of at least two classes; try random")
        directions[-1].view(-1)[: None if canary == "null-space" else 1] = 1.0
    else:
        raise ValueError(f"canary is {canary!r}, but random, dirac, null-space or a list of tensors is allowed; check the spelling")
    norm = math.sqrt(sum(float(piece.square().sum()) for piece in directions))
    if not (math.isfinite(norm) and norm > 0):
        raise ValueError(f"canary has norm {norm}, but a positive number is allowed; it is scaled to the clipping norm")
    return [piece / norm for piece in directions]
