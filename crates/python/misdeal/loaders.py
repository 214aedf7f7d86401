"""How a data loader makes its batches, read off its samplers."""

from __future__ import annotations

import dataclasses
from typing import Any

# What each scheme's batches are called in a sentence.
BATCHES = {"poisson": "drawn by Poisson sampling", "balls-in-bins": "dealt into bins", "shuffle": "shuffled", "fixed-order": "taken in a fixed order"}
POISSON_SAMPLERS = ("UniformWithReplacementSampler", "DistributedUniformWithReplacementSampler")
# Batch samplers around another one, and where they keep it.
WRAPPERS = {"BatchSplittingSampler": "sampler", "BatchSamplerShard": "batch_sampler", "BatchRecorder": "_sampler"}


@dataclasses.dataclass
class LoaderFacts:
    """What a data loader says of its batches. What it does not say is `None`."""

    scheme: str | None = None
    dataset_size: int | None = None
    batch_size: int | None = None
    steps_per_epoch: int | None = None
    sampling_probability: float | None = None
    remarks: list[str] = dataclasses.field(default_factory=list)


def read_loader(loader: Any) -> LoaderFacts:
    """Reads a PyTorch `DataLoader`; samplers that draw with replacement are refused, since no scheme describes them."""
    facts = LoaderFacts(dataset_size=_length(getattr(loader, "dataset", None)), steps_per_epoch=_length(loader))
    processes = 1
    sampler: Any = getattr(loader, "batch_sampler", None)
    while type(sampler).__name__ in WRAPPERS:
        if type(sampler).__name__ == "BatchSamplerShard" and not sampler.split_batches:
            processes *= int(sampler.num_processes)
        sampler = vars(sampler)[WRAPPERS[type(sampler).__name__]]
    if type(sampler).__name__ in POISSON_SAMPLERS:
        _poisson(sampler, facts)
    elif type(sampler).__name__ == "DealtSteps":
        _dealt(sampler.batches, facts)
    elif type(sampler).__name__ == "BatchSampler":
        facts.batch_size = int(sampler.batch_size) * processes
        _ordered(sampler.sampler, facts)
        _left_over(facts, sampler.drop_last)
    else:
        kind = type(loader if sampler is None else sampler).__name__
        facts.batch_size = _whole(getattr(loader, "batch_size", None))
        facts.remarks.append(f"How {kind} makes batches is not known here; pass scheme=..., or record_batches and diagnose tell.")
    return facts


def lost_step(rate: float) -> str | None:
    """What Opacus loses where it takes `int(1 / rate)` for the steps of an epoch."""
    steps, counted = round(1 / rate), int(1 / rate)
    if counted == steps:
        return None
    return f"An epoch has {steps:,} steps at this sampling rate, but Opacus takes int(1 / sample_rate), which is {counted:,}: a step is lost."


def _poisson(sampler: Any, facts: LoaderFacts) -> None:
    facts.scheme = "poisson"
    facts.sampling_probability = rate = float(sampler.sample_rate)
    remark = lost_step(rate)
    # Samplers may be given their number of steps.
    if remark and facts.steps_per_epoch == int(1 / rate):
        facts.remarks.append(remark)
    if facts.dataset_size:
        facts.batch_size = max(1, round(rate * facts.dataset_size))


def _dealt(batches: Any, facts: LoaderFacts) -> None:
    """Reads a plan of `misdeal.deal`."""
    facts.scheme, facts.dataset_size, facts.batch_size = batches.scheme, batches.dataset_size, batches.batch_size
    facts.steps_per_epoch = batches.steps_per_epoch
    if batches.scheme == "poisson":
        facts.sampling_probability = batches.sampling_probability


def _left_over(facts: LoaderFacts, are_dropped: bool) -> None:
    """Says what becomes of records that fill no batch."""
    if not (facts.dataset_size and facts.batch_size and facts.steps_per_epoch) or facts.scheme is None:
        return
    full, left = divmod(facts.dataset_size, facts.batch_size)
    if left and are_dropped:
        facts.remarks.append(f"{left:,} of {facts.dataset_size:,} records fill no batch and are dropped: an epoch has {full:,} full batches.")
    elif left and full:
        facts.remarks.append(
            f"The last batch of an epoch has {left:,} of {facts.batch_size:,} records: lower bounds are for {full + 1:,} equal batches, upper "
            f"bounds for the {full:,} full ones."
        )


def _ordered(sampler: Any, facts: LoaderFacts) -> None:
    """Reads the sampler that puts records in order before they are cut into batches."""
    kind = type(sampler).__name__
    if kind == "WeightedRandomSampler" or getattr(sampler, "replacement", False) is True:
        shown = kind if kind == "WeightedRandomSampler" else f"{kind}(replacement=True)"
        raise ValueError(
            f"data_loader draws records with replacement ({shown}), but a sampler without replacement or Poisson sampling is allowed; "
            "no bound is known for it"
        )
    if kind == "SequentialSampler":
        facts.scheme = "fixed-order"
    elif kind in ("RandomSampler", "SeedableRandomSampler") and len(sampler) == facts.dataset_size:
        facts.scheme = "shuffle"
    elif kind == "SubsetRandomSampler" and len(set(sampler.indices)) == len(sampler):
        # The training data is the subset.
        facts.scheme, facts.dataset_size = "shuffle", len(sampler)
    elif kind == "DistributedSampler":
        _distributed(sampler, facts)
    else:
        facts.remarks.append(f"How {kind} orders records is not known here; pass scheme=..., or record_batches and diagnose tell.")


def _distributed(sampler: Any, facts: LoaderFacts) -> None:
    facts.scheme = "shuffle" if sampler.shuffle else "fixed-order"
    facts.batch_size = (facts.batch_size or 1) * int(sampler.num_replicas)
    if sampler.shuffle:
        facts.remarks.append("DistributedSampler repeats one order in every epoch unless set_epoch is called before each; then pass scheme='shuffle-once'.")
    if facts.dataset_size and facts.dataset_size % sampler.num_replicas:
        unequal = "drops records" if sampler.drop_last else "uses some records twice an epoch, which no bound here accounts for,"
        facts.remarks.append(f"DistributedSampler {unequal} so that all {sampler.num_replicas} processes have as many.")


def _length(value: Any) -> int | None:
    try:
        return len(value)
    except (TypeError, NotImplementedError):
        return None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
