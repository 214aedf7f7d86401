"""A check-up of audited runs: one exact test for each fault, from one run.

`auditor.check()` calls this with the runs of an auditor. Each test has a p-value that is valid if the training is correct. All tests together
accuse a correct training with probability 1e-4 at most.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from . import _native, notebook
from .records import RunRecord

ClaimedScheme = Literal["poisson", "shuffle", "other"]


class TestedFault(NamedTuple):
    """One test. `p_value` is None where the runs have nothing to test; `message` says what was found."""

    name: str
    p_value: float | None
    passed: bool
    message: str


class CheckUp(list[TestedFault]):
    """The tests, in a list. `passed`, `p_value` and `sentence` are about all of them together."""

    def __init__(self, text: str) -> None:
        self._json = text
        fields = json.loads(text)
        super().__init__(TestedFault(**test) for test in fields["tests"])
        self.passed: bool = fields["passed"]
        self.p_value: float = fields["p_value"]
        self.significance: float = fields["significance"]
        self.sentence: str = fields["sentence"]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._json,)

    def test(self, name: str) -> TestedFault:
        """The test of this name."""
        for test in self:
            if test.name == name:
                return test
        raise KeyError(f"test is {name!r}, but one of {', '.join(test.name for test in self)} is allowed; check the spelling")

    def faults(self) -> list[TestedFault]:
        """The tests that accuse the training."""
        return [test for test in self if not test.passed]

    def to_dict(self) -> dict[str, Any]:
        """The document as a dictionary of its own."""
        return json.loads(self._json)

    def to_json(self) -> str:
        """The document as JSON."""
        return self._json

    def __repr__(self) -> str:
        return f"<CheckUp: {self.sentence}>"

    def __str__(self) -> str:
        entries = [test._asdict() for test in self]
        return "\n".join([*notebook.lines(notebook.table(entries, TestedFault._fields)), self.sentence])


def check_up(
    records: Sequence[RunRecord],
    *,
    claimed_scheme: ClaimedScheme = "poisson",
    dataset_size: int | None = None,
    sampling_probability: float | None = None,
    floods: bool = False,
) -> CheckUp:
    """Tests recorded runs for each known fault.

    - `claimed_scheme`: what your accountant assumes. Opacus and most others assume `poisson`, however batches are made.
    - `dataset_size`: the number of records; one for each place in the batches of an epoch if not given.
    - `sampling_probability`: with which a record joins a batch under Poisson sampling; one over the steps of an epoch if not given.
    - `floods`: whether all other records of a batch play the canary too, so that its part of an output is not known.
    """
    if claimed_scheme not in ("poisson", "shuffle", "other"):
        raise ValueError(f"claimed_scheme is {claimed_scheme!r}, but poisson, shuffle or other is allowed; say what your accountant assumes")
    if not records:
        raise ValueError("runs is 0, but at least one is allowed; train first")
    shape = records[0].shape
    steps = shape["steps_per_epoch"]
    claim = dict(
        claims_poisson=claimed_scheme == "poisson",
        is_shuffled=shape["scheme"] == "shuffle",
        dataset_size=float(dataset_size or steps * shape["batch_size"]),
        batch_size=float(shape["batch_size"]),
        sampling_probability=float(sampling_probability or 1 / steps),
        steps_per_epoch=steps,
        natural_outputs=floods or any(record.biased for record in records),
        paired_coins=len(records[0].coins) == 1,
    )
    return CheckUp(_native.check_up([_arrays(record) for record in records], claim, list(records[0].tensors)).json)


def _arrays(record: RunRecord) -> dict[str, Any]:
    """A run as the tests take it."""
    chosen = np.ones(len(record.probe_tensors), dtype=bool)
    means = None
    # Where nothing but noise reaches a coordinate its mean is known. Each tensor must keep one.
    if not record.probes_biased and set(record.probe_tensors[record.probe_free]) == set(record.probe_tensors):
        chosen = record.probe_free
        means = np.zeros((len(record.outputs), int(chosen.sum())))
    return dict(
        outputs=np.asarray(record.outputs, np.float64),
        planted=np.asarray(record.expected, np.float64),
        placed=np.asarray(record.places > 0),
        coins=np.asarray(record.coins, bool),
        noise_multipliers=np.asarray(record.noise_multipliers, np.float64),
        batch_sizes=np.asarray(record.batch_sizes, np.int64),
        coordinates=np.asarray(record.probes[:, chosen], np.float64),
        coordinate_means=means,
        coordinate_tensors=np.asarray(record.probe_tensors[chosen], np.int64),
    )
