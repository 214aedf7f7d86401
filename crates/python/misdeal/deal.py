"""Batches that keep the promise: Poisson sampling and balls-in-bins, at any size, from a secret seed.

>>> batches = Batches(dataset_size=60_000, batch_size=512, epochs=2, scheme="balls-in-bins")
>>> len(batches), batches[233].dtype
(234, dtype('int64'))

- `Batches`: index arrays, any step in any order. A run resumes at step `i` with `batches[i]`, and nothing needs to be saved.
- `plan`: the same on disk, for any framework.
- `stream`: data that can only be read once and in order, dealt in one pass.
- `padded`: a batch as indices and mask of few shapes, for compiled code.
- `misdeal.torch.loader` and `misdeal.torch.make_private`: PyTorch and Opacus. `misdeal.jax.BatchSelection`: jax-privacy.

The accountants average over batches that nobody sees. So the seed is secret, and so is a plan.
"""

from __future__ import annotations

import os
import pathlib
import pickle
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from . import _native
from .accounting import account, calibrate
from .progress import watched
from .results import DealReport

__all__ = ["Batches", "padded", "plan", "stream"]

Path = str | os.PathLike[str]
Indices = npt.NDArray[np.int64]
Record = TypeVar("Record")


class Batches(Sequence[Indices]):
    """The batches of a run, as arrays of record indices.

    A batch takes time and memory in proportion to its own length, whatever the number of records. An epoch has
    `dataset_size // batch_size` steps. A batch may be empty.

    - `scheme`: `poisson` (each record joins each batch by chance; an epoch sees 63 % of the records) or `balls-in-bins` (each record joins
      one batch of each epoch).
    - `seed_file`: the file of the secret seed, which is made if there is none. Without it the operating system gives a fresh seed, and nobody keeps it.
    - `seed`: a number instead. It voids privacy against whoever knows it, so it is for tests.
    - `rank`, `world_size`: the part of each batch that one of several processes trains on. All parts together are the batch.

    >>> batches = Batches(dataset_size=10, batch_size=5, epochs=1, scheme="balls-in-bins", seed=0)
    >>> sorted(int(record) for batch in batches for record in batch)
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """

    def __init__(
        self,
        *,
        dataset_size: float,
        batch_size: float,
        epochs: float = 1,
        scheme: str = "poisson",
        seed: float | None = None,
        physical_batch_size: float | None = None,
        rank: int = 0,
        world_size: int = 1,
        seed_file: Path | None = None,
    ) -> None:
        words = dict(dataset_size=dataset_size, batch_size=batch_size, epochs=epochs, scheme=scheme, physical_batch_size=physical_batch_size)
        for name, value in (("rank", rank), ("world_size", world_size)):
            if not isinstance(value, (int, np.integer)) or value < 0:
                raise ValueError(f"{name} is {value!r}, but a whole number without a sign is allowed; ranks count from 0")
        self._native = _native.Plan({**words, "seed": seed, "seed_file": seed_file}, int(rank), int(world_size))
        self._again = {**words, "seed": seed, "seed_file": seed_file, "rank": rank, "world_size": world_size}
        self.dataset_size, self.batch_size, self.epochs = int(dataset_size), int(batch_size), int(epochs)
        self.scheme, self.rank, self.world_size = scheme, int(rank), int(world_size)
        self.steps_per_epoch = self._native.steps_per_epoch
        self.sampling_probability = self._native.sampling_probability

    def __len__(self) -> int:
        return self._native.steps

    @overload
    def __getitem__(self, step: int) -> Indices: ...
    @overload
    def __getitem__(self, step: slice) -> list[Indices]: ...
    def __getitem__(self, step: int | slice) -> Indices | list[Indices]:
        if isinstance(step, slice):
            return [self[one] for one in range(*step.indices(len(self)))]
        place = int(step) + len(self) if step < 0 else int(step)
        if not 0 <= place < len(self):
            raise IndexError(f"step is {step}, but a whole number from 0 to {len(self) - 1} is allowed; the plan ends there")
        return self._native.batch(place)

    def __iter__(self) -> Iterator[Indices]:
        return (self._native.batch(step) for step in range(len(self)))

    def epoch(self, epoch: int) -> Iterator[Indices]:
        """The batches of one epoch, counted from 0."""
        if not 0 <= epoch < self.epochs:
            raise ValueError(f"epoch is {epoch}, but a whole number from 0 to {self.epochs - 1} is allowed; the plan ends there")
        first = epoch * self.steps_per_epoch
        return (self._native.batch(step) for step in range(first, first + self.steps_per_epoch))

    def pairs(self, epoch: int, first: int = 0, last: int | None = None) -> tuple[Indices, Indices]:
        """The records of an epoch and their steps, in file order, for data that is read once. Steps count over all epochs."""
        return self._native.pairs(epoch, first, self.dataset_size if last is None else last)

    def epsilon(self, noise_multiplier: float, delta: float, *, steps: int | None = None) -> float | None:
        """A proven upper bound on epsilon after these batches, or after the first `steps` of them; `None` if no bound is known.

        >>> batches = Batches(dataset_size=60_000, batch_size=512, epochs=15)
        >>> round(batches.epsilon(0.8, 1e-5), 2)
        3.42
        """
        words = account_words(self.scheme, self.dataset_size, self.batch_size, len(self) if steps is None else steps)
        if words is None:
            return 0.0
        bounds = account(noise_multiplier=noise_multiplier, delta=delta, quiet=True, **words).schemes[self.scheme]
        return bounds["epsilon_upper_bound"]

    def noise_multiplier(self, target_epsilon: float, delta: float) -> float:
        """The noise with which these batches are proven to keep epsilon.

        >>> round(Batches(dataset_size=60_000, batch_size=512, epochs=15).noise_multiplier(2.1, 1e-5), 2)
        0.98
        """
        words = dict(scheme=self.scheme, dataset_size=self.dataset_size, batch_size=self.batch_size, epochs=self.epochs)
        return calibrate(target_epsilon=target_epsilon, delta=delta, **words).noise_multiplier  # type: ignore[arg-type]

    def __reduce__(self) -> Any:
        if self._again["seed"] is None and self._again["seed_file"] is None:
            raise TypeError("Batches with a fresh secret seed cannot be copied to another process; give seed_file")
        return _again, (self._again,)

    def __repr__(self) -> str:
        return f"<Batches: {len(self):,} steps of {self.scheme}, about {self.batch_size:,} of {self.dataset_size:,} records each>"


def _again(words: dict[str, Any]) -> Batches:
    return Batches(**words)


def account_words(scheme: str, dataset_size: int, batch_size: int, steps: int) -> dict[str, Any] | None:
    """What to ask `account` for after some steps; `None` before the first one. Begun epochs of balls-in-bins count whole."""
    if steps == 0:
        return None
    words: dict[str, Any] = dict(scheme=scheme, dataset_size=dataset_size, batch_size=batch_size)
    if scheme == "poisson":
        return {**words, "steps": steps}
    return {**words, "epochs": -(-steps // (dataset_size // batch_size))}


def plan(
    output: Path,
    *,
    dataset_size: float,
    batch_size: float,
    epochs: float = 1,
    scheme: str = "poisson",
    physical_batch_size: float | None = None,
    seed_file: Path | None = None,
    seed: float | None = None,
    noise_multiplier: float | None = None,
    delta: float = 1e-5,
    threads: float | None = None,
    quiet: bool = False,
) -> DealReport:
    """Writes all batches to a `.jsonl` or `.parquet` file that only its owner can read, and bounds epsilon if the noise is given.

    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> report = plan(folder / "plan.jsonl", dataset_size=600, batch_size=20, noise_multiplier=2.0)
    >>> report.steps_per_epoch, report.epsilon_upper_bound < 2
    (30, True)
    """
    words: dict[str, Any] = dict(locals())
    with watched(quiet, "steps") as show:
        return DealReport(_native.deal({name: value for name, value in words.items() if name != "quiet"}, show))


def padded(batch: npt.ArrayLike, multiple: int) -> tuple[Indices, npt.NDArray[np.bool_]]:
    """A batch with its mask, filled up with index 0 to the next multiple: few shapes, so that compiled code is compiled a few times.

    Rows whose mask is false are no records. Their gradients must count as zero.

    >>> padded([7, 3, 5], 4)
    (array([7, 3, 5, 0]), array([ True,  True,  True, False]))
    """
    if multiple < 1:
        raise ValueError(f"multiple is {multiple}, but a whole number from 1 is allowed; it is the step between two shapes")
    records = np.asarray(batch, dtype=np.int64)
    records = records[records >= 0]
    room = max(1, -(-len(records) // multiple)) * multiple
    mask = np.arange(room) < len(records)
    return np.concatenate([records, np.zeros(room - len(records), np.int64)]), mask


def stream(
    records: Iterable[Record], batches: Batches, *, epoch: int = 0, folder: Path | None = None, in_memory: int = 100_000
) -> Iterator[list[Record]]:
    """The batches of one epoch of data that can only be read once and in order, such as shards or an iterable data set.

    One pass over the data puts each record where its steps are, on disk; then each batch is read back. Memory holds `in_memory` records and
    16 bytes for each index; the disk holds the records of one epoch, pickled, in `folder` (a temporary one if not given).

    The number of records must be the plan's: a plan for other data is refused.

    >>> batches = Batches(dataset_size=6, batch_size=2, scheme="balls-in-bins", seed=1)
    >>> dealt = list(stream(iter("abcdef"), batches))
    >>> len(dealt), sorted(sum(dealt, []))
    (3, ['a', 'b', 'c', 'd', 'e', 'f'])
    """
    where, steps = batches.pairs(epoch)
    first = epoch * batches.steps_per_epoch
    with tempfile.TemporaryDirectory(dir=folder) as name:
        spool = _Spool(pathlib.Path(name), in_memory)
        place, count = 0, 0
        for index, record in enumerate(records):
            count += 1
            while place < len(where) and where[place] == index:
                spool.put(int(steps[place]), record)
                place += 1
        if count != batches.dataset_size:
            raise ValueError(
                f"records has {count:,} records, but {batches.dataset_size:,} are allowed, the dataset_size of the plan; this is a plan for other data"
            )
        spool.flush()
        for step in range(first, first + batches.steps_per_epoch):
            batch = spool.take(step)
            yield batch[batches.rank :: batches.world_size]


class _Spool:
    """Records by step, in a file for each step."""

    def __init__(self, folder: pathlib.Path, in_memory: int) -> None:
        self.folder, self.in_memory = folder, in_memory
        self.held: dict[int, list[Any]] = {}
        self.count = 0

    def put(self, step: int, record: Any) -> None:
        self.held.setdefault(step, []).append(record)
        self.count += 1
        if self.count >= self.in_memory:
            self.flush()

    def flush(self) -> None:
        for step, records in self.held.items():
            with open(self.folder / str(step), "ab") as file:
                pickle.dump(records, file)
        self.held, self.count = {}, 0

    def take(self, step: int) -> list[Any]:
        path, records = self.folder / str(step), []
        if path.exists():
            with open(path, "rb") as file:
                while file.peek(1):
                    records += pickle.load(file)
            path.unlink()
        return records
