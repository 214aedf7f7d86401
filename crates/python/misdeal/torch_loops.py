"""What an Opacus optimizer and a data loader say of the loop that they are used in, and which loops are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import loaders
from .logical_batches import BatchRecorder, LogicalBatches


def check_optimizer(optimizer: Any) -> None:
    """Refuses optimizers that hold no gradients of single records, or not all of them."""
    kind = type(optimizer).__name__
    if not hasattr(optimizer, "clip_and_accumulate") or not hasattr(optimizer, "original_optimizer"):
        raise TypeError(f"optimizer is {kind}, but an Opacus DPOptimizer is allowed; call make_private first")
    if "FastGradientClipping" in kind:
        raise TypeError(
            f"optimizer is {kind}, but one that holds gradients of single records is allowed: ghost clipping never makes them, so that nothing can be "
            "planted; audit with make_private(grad_sample_mode='hooks')"
        )
    if getattr(optimizer, "world_size", 1) > 1:
        raise TypeError(f"optimizer is {kind} in {optimizer.world_size} processes, but one process is allowed; audit with one")


def read_batches(loader: Any, steps_per_epoch: int | None, scheme: str | None, dataset_size: int | None) -> tuple[str, int | None, int]:
    """The scheme, the number of records and the steps of an epoch."""
    if loader is None:
        if steps_per_epoch is None:
            raise ValueError("steps_per_epoch is None, but a number is allowed where there is no loader; say how many batches an epoch has")
        if scheme is None:
            raise ValueError("scheme is None, but a name is allowed where there is no loader; say how batches are made in Auditor(scheme=...)")
        return scheme, dataset_size, steps_per_epoch
    sampler = getattr(loader, "batch_sampler", None)
    if sampler is None:
        raise TypeError(
            "loader has no batch_sampler, but a map-style DataLoader is allowed; leave loader out and call run.batch(indices) before each batch"
        )
    if type(sampler).__name__ == "BatchSplittingSampler":
        sampler = sampler.sampler
    whole = len(sampler)
    if steps_per_epoch is not None and not 1 <= steps_per_epoch <= whole:
        raise ValueError(f"steps_per_epoch is {steps_per_epoch}, but 1 to {whole} is allowed; the loader deals no more batches")
    size = len(loader.dataset)
    if scheme is None:
        facts = loaders.read_loader(loader)
        if facts.scheme is None:
            raise ValueError(f"scheme is None, but how {type(sampler).__name__} makes batches is not known; say Auditor(scheme=...)")
        scheme, size = facts.scheme, facts.dataset_size or size
        if scheme != "poisson" and facts.batch_size and size % facts.batch_size and whole > size // facts.batch_size:
            raise ValueError(
                f"drop_last is False, but a last batch of {size % facts.batch_size} records is not allowed; the sizes of batches must "
                "be fixed, so pass drop_last=True"
            )
    return scheme, size, steps_per_epoch or whole


def watch(loader: Any, batches: LogicalBatches) -> Callable[[], None]:
    """Lets a loader tell which records it deals; returns what ends that."""
    sampler = loader.batch_sampler
    if type(sampler).__name__ == "BatchSplittingSampler":
        whole = sampler.sampler
        sampler.sampler = BatchRecorder(whole, batches)
        return lambda: setattr(sampler, "sampler", whole)
    # DataLoader forbids this by assignment, so that nobody does it by mistake.
    vars(loader)["batch_sampler"] = BatchRecorder(sampler, batches)
    return lambda: vars(loader).update(batch_sampler=sampler)
