"""Logs of what a data loader deals, for `misdeal diagnose`."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import pathlib
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any

import numpy as np


def record_batches(
    loader: Any,
    epochs: int = 1,
    *,
    output: str | os.PathLike[str] = "batches.jsonl",
    index: str | int | Callable[[Any], Any] | None = None,
    batch_size: int | None = None,
    steps_per_epoch: int | None = None,
    rank: int | None = None,
    worker: int | str | Callable[[Any], Any] | None = None,
    before_epoch: Callable[[int], Any] | None = None,
) -> pathlib.Path:
    """Writes the records of every batch that a loader deals in some epochs, as JSON lines: `{"epoch": 0, "batch": [17, 3, 42]}`.

    - A PyTorch `DataLoader` over a map-style data set, also one that accelerate or Fabric prepared: it deals positions instead of records
      in this process, so that no data is read and no worker is started. Samplers and seeds are the loader's own. Under Opacus's
      `BatchMemoryManager` the logical batches are logged, and the optimizer is left alone.
    - Whatever else can be iterated again and again (PyTorch's iterable data sets, Hugging Face `datasets`, `tf.data`, NumPy), or a function
      that makes an epoch's iterator (`lambda: strategy.batch_iterator(600, rng=0)`): batches must say which records they hold. `index` is
      the name or the place of that field, or a function from a batch to its records; without it a batch is taken to be the record
      indices themselves. Entries of -1 fill up a batch and are left out.
    - A Hugging Face data set is cut into batches of `batch_size`; give it a column of indices with
      `dataset.add_column("index", list(range(len(dataset))))`, before it is shuffled.

    `steps_per_epoch` ends an epoch after so many batches; loaders that never end need it. `rank` is this process's number in a distributed
    run: every process writes a log of its own, and the logs together are one. `worker` is the number of the worker that makes the batches,
    the name of the field that holds it, or a function from a batch to it.

    `before_epoch(epoch)` is called before each epoch: put `set_epoch` there if your training calls it, and leave it out if it does not.

    >>> import tempfile, pathlib
    >>> path = record_batches([np.array([2, 0]), np.array([1, 3])], output=pathlib.Path(tempfile.mkdtemp()) / "log.jsonl")
    >>> print(path.read_text(), end="")
    {"epoch":0,"batch":[2,0]}
    {"epoch":0,"batch":[1,3]}
    """
    if epochs < 1:
        raise ValueError(f"epochs is {epochs}, but a whole number from 1 is allowed; one is enough for most schemes")
    for name, number, least in (("steps_per_epoch", steps_per_epoch, 1), ("rank", rank, 0)):
        if number is not None and (not isinstance(number, int) or number < least):
            raise ValueError(f"{name} is {number}, but a whole number from {least} is allowed")
    path = pathlib.Path(output)
    unfinished = path.with_name(path.name + ".part")
    with open(unfinished, "w") as log:
        for epoch in range(epochs):
            if before_epoch is not None:
                before_epoch(epoch)
            batches = _batches(loader, index, batch_size, worker, is_limited=steps_per_epoch is not None)
            with contextlib.closing(batches):
                for of_worker, batch in itertools.islice(batches, steps_per_epoch):
                    line: dict[str, Any] = {"epoch": epoch, "batch": batch}
                    line |= {name: number for name, number in (("rank", rank), ("worker", of_worker)) if number is not None}
                    log.write(json.dumps(line, separators=(",", ":")) + "\n")
    unfinished.replace(path)
    return path


def _batches(
    loader: Any, index: Any, batch_size: int | None, worker: int | str | Callable[[Any], Any] | None, *, is_limited: bool
) -> Generator[tuple[int | None, list[int]], None, None]:
    """The worker and the records of every batch of an epoch."""
    inner = _torch_loader(loader)
    if index is None and inner is not None and _is_map_style(inner):
        constant = worker if isinstance(worker, int) else None
        for batch in _positions(loader, inner):
            yield constant, batch
        return
    for batch in _iterated(loader, batch_size, is_limited):
        yield _worker(batch, worker), _records(batch, index)


def _torch_loader(loader: Any) -> Any:
    """The PyTorch `DataLoader` inside of what accelerate or Fabric made of it; `None` if there is none."""
    for _ in range(4):
        inner = vars(loader).get("base_dataloader") or vars(loader).get("_dataloader") if hasattr(loader, "__dict__") else None
        if inner is None:
            break
        loader = inner
    is_one = any(kind.__name__ == "DataLoader" and kind.__module__.startswith("torch.") for kind in type(loader).__mro__)
    return loader if is_one else None


def _positions(loader: Any, inner: Any) -> Iterator[list[int]]:
    """Iterates `loader` while its inner PyTorch loader deals positions, in this process."""
    if type(loader).__name__ == "DataLoaderDispatcher":
        raise TypeError(
            "loader is accelerate's DataLoaderDispatcher, which sends records from one process to the others, but a loader that deals its own "
            "is allowed; record the loader before accelerator.prepare"
        )
    sampler = inner.batch_sampler
    # A memory manager cuts logical batches and tells the optimizer of each piece.
    while type(sampler).__name__ == "BatchSplittingSampler":
        sampler = sampler.sampler
    # Live workers hold the real data set; they are kept aside, untouched.
    alone = {"num_workers": 0, "prefetch_factor": None, "persistent_workers": False, "pin_memory": False, "timeout": 0, "_iterator": None}
    changed = {"dataset": _Indices(len(inner.dataset)), "collate_fn": list, "batch_sampler": sampler} | alone
    kept = {name: vars(inner)[name] for name in changed if name in vars(inner)}
    try:
        # DataLoader forbids this by assignment, so that nobody does it by mistake.
        vars(inner).update({name: changed[name] for name in kept})
        for batch in loader:
            yield [int(record) for record in batch]
    finally:
        vars(inner).update(kept)


class _Indices:
    """A data set whose records are their positions."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, position: int) -> int:
        return position


def _is_map_style(loader: Any) -> bool:
    """Whether a sampler says which records a loader takes; iterable data sets decide themselves, whatever methods they have."""
    import torch.utils.data

    has_batches = getattr(loader, "batch_sampler", None) is not None and {"dataset", "collate_fn", "batch_sampler"} <= set(vars(loader))
    data = getattr(loader, "dataset", None)
    is_iterable = isinstance(data, torch.utils.data.IterableDataset) or getattr(loader, "_dataset_kind", 0) == 1
    return has_batches and not is_iterable and hasattr(data, "__getitem__") and hasattr(data, "__len__")


def _iterated(loader: Any, batch_size: int | None, is_limited: bool) -> Iterable[Any]:
    if callable(loader) and not hasattr(loader, "__iter__"):
        return iter(loader())
    if type(loader).__module__.split(".")[0] == "datasets" and hasattr(loader, "iter"):
        if batch_size is None:
            raise ValueError("batch_size is None, but a number is allowed for a Hugging Face data set; say how many records a batch has")
        return loader.iter(batch_size=batch_size)
    # tf.data says -1 for data sets that repeat for ever.
    cardinality = getattr(loader, "cardinality", None)
    if not is_limited and callable(cardinality) and int(cardinality()) == -1:
        raise ValueError("steps_per_epoch is None, but a number is allowed for a data set that repeats for ever; say how many batches an epoch has")
    if iter(loader) is loader:
        raise TypeError(
            "loader is an iterator, but something that can be iterated again is allowed; pass what the iterator was made of, or a function that "
            "makes one"
        )
    return loader


def _worker(batch: Any, worker: int | str | Callable[[Any], Any] | None) -> int | None:
    """The number of the worker that made a batch."""
    if worker is None or isinstance(worker, int):
        return worker
    found = np.asarray(worker(batch) if callable(worker) else batch[worker]).ravel()
    if not found.size or (found != found[0]).any():
        raise ValueError(f"worker says {found.tolist()} for one batch, but one number is allowed; a batch is made by one worker")
    return int(found[0])


def _records(batch: Any, index: str | int | Callable[[Any], Any] | None) -> list[int]:
    if callable(index):
        batch = index(batch)
    elif index is not None:
        batch = batch[index]
    if hasattr(batch, "numpy"):
        batch = batch.numpy()
    records = np.asarray(batch)
    if records.ndim != 1 or (records.size and not np.issubdtype(records.dtype, np.integer)):
        raise ValueError(
            f"batch is an array of {records.dtype} with {records.ndim} dimensions, but a list of record indices is allowed; say with index= "
            "where a batch has them"
        )
    return [int(record) for record in records if record != -1]
