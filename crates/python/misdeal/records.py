"""What an audited run did and gave, step by step."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclasses.dataclass(frozen=True)
class RunRecord:
    """Everything that a run's planter knows, for `judge` and `check`. Rows are steps; all numbers of gradients are in units of the clipping norm.

    The noisy sum of a step, along canary k, is `outputs[step, k]`. In correct training it is the canary's part, plus natural gradients where
    `biased` is true, plus noise of standard deviation `noise_multipliers[step]`. The canary's part is 1 where `places` is 1 and the coin is true,
    0 where `places` is 1 and the coin is false, and -1 where `places` is -1.
    """

    # Which run it is: of an auditor's seed, and of all its runs.
    seed: int
    index: int
    # What was audited: noise_multiplier, steps_per_epoch, epochs, batch_size, scheme.
    shape: dict[str, Any]
    # canaries: whether each is present in this run.
    coins: npt.NDArray[np.bool_]
    # steps by canaries: the noisy sums along the canaries.
    outputs: npt.NDArray[np.float64]
    # steps by canaries: 1 where the canary was played, -1 where a record opposed it, 0 where neither.
    places: npt.NDArray[np.int8]
    # steps: the records of each logical batch.
    batch_sizes: npt.NDArray[np.int64]
    # steps: the noise multiplier that the optimizer stated.
    noise_multipliers: npt.NDArray[np.float64]
    # steps: the batch size that the optimizer divides by.
    expected_batch_sizes: npt.NDArray[np.float64]
    # steps: the clipping norm that the optimizer stated.
    clip_norms: npt.NDArray[np.float64]
    # steps by probes: the noisy sum at a few coordinates of every tensor.
    probes: npt.NDArray[np.float64]
    # probes: the tensor that each is in, and whether no canary touches the coordinate.
    probe_tensors: npt.NDArray[np.int64]
    probe_free: npt.NDArray[np.bool_]
    # Names or shapes of the tensors, for people.
    tensors: tuple[str, ...]
    # canaries: in how many tensors each has coordinates. Clipping tensor by tensor multiplies its part by more than 1 if they are two or more.
    tensors_touched: npt.NDArray[np.int64]
    # Whether natural gradients reach the canaries, and whether they reach the probes.
    biased: bool
    probes_biased: bool
    # The number of records, if it is known.
    dataset_size: int | None = None

    @property
    def expected(self) -> npt.NDArray[np.float64]:
        """The canaries' part of `outputs` in correct training."""
        return np.where(self.places > 0, self.coins.astype(np.float64), self.places.astype(np.float64))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the record as one `.npz` file, atomically."""
        words = {name: getattr(self, name) for name in ("seed", "index", "shape", "tensors", "biased", "probes_biased", "dataset_size")}
        arrays = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name not in words}
        path = pathlib.Path(path)
        unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
        with open(unfinished, "wb") as file:
            np.savez_compressed(file, words=np.array(json.dumps(words)), **arrays)
        unfinished.replace(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RunRecord:
        """Reads what `save` wrote."""
        with np.load(path, allow_pickle=False) as file:
            words = json.loads(str(file["words"]))
            arrays = {name: file[name] for name in file.files if name != "words"}
        words["tensors"] = tuple(words["tensors"])
        return cls(**words, **arrays)
