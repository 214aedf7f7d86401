"""Logs of what a data loader deals, for `misdeal diagnose`."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np


def record_batches(
    loader: Any,
    epochs: int = 1,
    *,
    output: str | os.PathLike[str] = "batches.jsonl",
    index: str | int | Callable[[Any], Any] | None = None,
    batch_size: int | None = None,
    before_epoch: Callable[[int], Any] | None = None,
) -> pathlib.Path:
    """Writes the records of every batch that a loader deals in some epochs, as JSON lines: `{"epoch": 0, "batch": [17, 3, 42]}`.

    - A PyTorch `DataLoader` over a map-style data set: it deals positions instead of records, so that no data is read; workers, samplers
      and seeds are the loader's own.
    - Whatever else can be iterated again and again (PyTorch's iterable data sets, Hugging Face `datasets`, `tf.data`, NumPy): batches must
      say which records they hold. `index` is the name or the place of that field, or a function from a batch to its records; without
      it a batch is taken to be the record indices themselves.
    - A Hugging Face data set is cut into batches of `batch_size`; give it a column of indices with
      `dataset.add_column("index", list(range(len(dataset))))`, before it is shuffled.

    `before_epoch(epoch)` is called before each epoch: put `set_epoch` there if your training calls it, and leave it out if it does not.

    >>> import tempfile, pathlib
    >>> path = record_batches([np.array([2, 0]), np.array([1, 3])], output=pathlib.Path(tempfile.mkdtemp()) / "log.jsonl")
    >>> print(path.read_text(), end="")
    {"epoch":0,"batch":[2,0]}
    {"epoch":0,"batch":[1,3]}
    """
    if epochs < 1:
        raise ValueError(f"epochs is {epochs}, but a whole number from 1 is allowed; one is enough for most schemes")
    path = pathlib.Path(output)
    unfinished = path.with_name(path.name + ".part")
    with open(unfinished, "w") as log:
        for epoch in range(epochs):
            if before_epoch is not None:
                before_epoch(epoch)
            for batch in _batches(loader, index, batch_size):
                log.write(json.dumps({"epoch": epoch, "batch": batch}, separators=(",", ":")) + "\n")
    unfinished.replace(path)
    return path


def _batches(loader: Any, index: str | int | Callable[[Any], Any] | None, batch_size: int | None) -> Iterator[list[int]]:
    if index is None and _is_map_style(loader):
        kept = {name: vars(loader)[name] for name in ("dataset", "collate_fn")}
        try:
            # DataLoader forbids this by assignment, so that nobody does it by mistake.
            vars(loader).update(dataset=_Indices(len(kept["dataset"])), collate_fn=list)
            for batch in loader:
                yield [int(record) for record in batch]
        finally:
            vars(loader).update(kept)
        return
    for batch in _iterated(loader, batch_size):
        yield _records(batch, index)


class _Indices:
    """A data set whose records are their positions."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, position: int) -> int:
        return position


def _is_map_style(loader: Any) -> bool:
    has_batches = getattr(loader, "batch_sampler", None) is not None and {"dataset", "collate_fn"} <= set(vars(loader))
    return has_batches and hasattr(loader.dataset, "__getitem__") and hasattr(loader.dataset, "__len__")


def _iterated(loader: Any, batch_size: int | None) -> Iterable[Any]:
    if type(loader).__module__.split(".")[0] == "datasets" and hasattr(loader, "iter"):
        if batch_size is None:
            raise ValueError("batch_size is None, but a number is allowed for a Hugging Face data set; say how many records a batch has")
        return loader.iter(batch_size=batch_size)
    if iter(loader) is loader:
        raise TypeError("loader is an iterator, but something that can be iterated again is allowed; pass what the iterator was made of")
    return loader


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
    return [int(record) for record in records]
