"""The runs of an auditor: their coins, what they gave, and what that shows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import following
from .checkup import CheckUp, ClaimedScheme, check_up
from .directions import KINDS
from .outputs import judge, judge_coins, score_outputs
from .planting import Planter, default_canaries, independence, objection
from .progress import watched
from .records import RunRecord
from .run_store import RunStore
from .results import OutputsReport
from .settings import Setting

ThreatModel = Literal["target-canary", "partially-informed", "worst-case"]


class Runs:
    """The runs of an auditor, with a coin for each canary in each of them, and what they show."""

    def __init__(
        self, *, scheme: str | None, threat_model: ThreatModel, target_index: int, canary: Any, canaries: int | None, seed: int, dataset_size: int | None,
        store: str | os.PathLike[str] | None = None,
    ) -> None:  # fmt: skip
        if isinstance(canary, str) and canary not in KINDS:
            raise ValueError(f"canary is {canary!r}, but auto, random, dirac, null-space or one array for each tensor is allowed; check the spelling")
        if canaries is not None and (int(canaries) != canaries or canaries < 1):
            raise ValueError(f"canaries is {canaries}, but a whole number from 1 is allowed; each is one record")
        if not isinstance(canary, str):
            if canaries not in (None, 1):
                raise ValueError(f"canaries is {canaries}, but 1 is allowed where canary is given as arrays; name a kind of canary instead")
            canaries = 1
        if target_index < 0:
            raise ValueError(f"target_index is {target_index}, but a whole number from 0 is allowed; it is the first canary's position in the data set")
        self.scheme = scheme
        self.threat_model = threat_model
        self.target_index = int(target_index)
        self.canary = canary
        self.canaries = None if canaries is None else int(canaries)
        self.seed = int(seed)
        self.dataset_size = dataset_size
        self.records: list[RunRecord] = []
        identity = dict(scheme=scheme, threat_model=threat_model, target_index=self.target_index, canaries=self.canaries, seed=self.seed)
        identity["canary"] = canary if isinstance(canary, str) else "given"
        self.store = None if store is None else RunStore(store, identity)
        self._leaders_of: tuple[int, int] | None = None
        self._judged: set[int] = set()
        self._judged_sequentially = False

    def prepare(self, scheme: str, batch_size: int, room: int, dataset_size: int | None = None) -> Planter:
        """The planter of all runs: made by the first one, and the same in all."""
        if self.canaries is None:
            self.canaries = default_canaries(self.canary, scheme, self.threat_model, batch_size, room)
        planter = Planter(scheme, self.threat_model, batch_size, self.canaries, self.target_index)
        if self.dataset_size is None:
            self.dataset_size = dataset_size
        if self.dataset_size is not None and self.target_index + self.canaries > self.dataset_size:
            raise ValueError(
                f"target_index is {self.target_index}, but 0 to {self.dataset_size - self.canaries} is allowed; the data set has {self.dataset_size} "
                f"records, and {self.canaries} from target_index on are canaries"
            )
        return planter

    def coins_of(self, run: int) -> npt.NDArray[np.bool_]:
        """Whether each canary is present in a run: fair coins that follow from the seed. One canary is present in one run of each pair."""
        assert self.canaries is not None
        if self.canaries == 1:
            return np.array([self.world(run)])
        return self._generator(run, 3).integers(0, 2, self.canaries).astype(bool)

    def world(self, run: int) -> bool:
        """Whether a single canary is present: in one run of each pair, drawn by a coin that follows from the seed."""
        coin = int(np.random.SeedSequence([self.seed, run // 2], spawn_key=(1,)).generate_state(1)[0]) & 1
        return run % 2 == coin

    def run_seed(self, run: int) -> int:
        """A seed of its own for each run."""
        return int(np.random.SeedSequence([self.seed, run]).generate_state(1, np.uint64)[0] >> 1)

    def leaders(self, run: int, shuffle: int | None, dataset_size: int) -> npt.NDArray[np.int64]:
        """Whom each canary follows in one shuffle of a run, drawn in private; itself where nothing is shuffled uniformly."""
        assert self.canaries is not None
        if shuffle is None:
            return np.arange(self.canaries)
        if (run, shuffle) != self._leaders_of:
            self._leaders = following.leaders(self.canaries, dataset_size, self._generator(run, 4, shuffle))
            self._leaders_of = (run, shuffle)
        return self._leaders

    def _generator(self, run: int, *key: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence([self.seed, run], spawn_key=key))

    def refresh(self) -> None:
        """Reads what the store has, which other processes may have added to."""
        if self.store is None:
            return
        known = {record.index for record in self.records if record.seed == self.seed}
        for index in self.store.finished():
            if index not in known:
                record = self.store.load(index)
                self.canaries, self.dataset_size = len(record.coins), record.dataset_size
                self.keep(record, is_new=False)
        looks = self.store.looks()
        self._judged |= set(looks["judged"])
        self._judged_sequentially |= looks["sequentially"]

    def numbers(self, runs: int, quiet: bool) -> Iterator[int]:
        """The numbers of the runs to train: so many more; or with a store, those that it lacks of so many in all."""
        self.refresh()
        self.check_runs(runs)
        first = len(self.records)
        with watched(quiet, "runs") as show:
            if self.store is None:
                for done in range(runs):
                    yield first + done
                    if show:
                        show(done + 1, runs)
                return
            for index in self.store.unfinished(runs):
                yield index
                if show:
                    show(len(self.store.finished()), runs)
            self.refresh()

    def check_runs(self, runs: int) -> None:
        """Refuses numbers of runs that cannot be judged."""
        if self.canaries == 1 and (runs < 2 or runs % 2):
            raise ValueError(
                f"runs is {runs}, but an even number from 2 is allowed with one canary, which is present in half of them; canaries=64 makes one run enough"
            )
        if runs < 1:
            raise ValueError(f"runs is {runs}, but a whole number from 1 is allowed; each is one training")

    def keep(self, record: RunRecord, is_new: bool = True) -> None:
        """Takes over a finished run, and saves it in the store if it is new; all runs must have the same shape."""
        if self.records and record.shape != self.records[0].shape:
            raise ValueError(f"training is {record.shape}, but {self.records[0].shape} as in the first run is allowed; all runs must be alike")
        self._check_places(record)
        self.records.append(record)
        self.records.sort(key=lambda known: (known.seed, known.index))
        if self.store is not None and is_new:
            self.store.save(record)

    def merge(self, other: Runs) -> None:
        """Takes over the runs of another auditor of the same training: of another process, with a seed of its own or with other runs."""
        for name in ("threat_model", "target_index", "canaries", "dataset_size"):
            ours, theirs = getattr(self, name), getattr(other, name)
            if self.records and other.records and ours != theirs:
                raise ValueError(f"{name} is {theirs} in the other auditor, but {ours} as here is allowed; audits of one training are merged")
        known = {(record.seed, record.index) for record in self.records}
        for record in other.records:
            if (record.seed, record.index) in known:
                raise ValueError(
                    f"run {record.index + 1} of seed {record.seed} is in both auditors, but another seed or another run is allowed; give each process a seed "
                    "of its own"
                )
        if not self.records:
            self.canaries, self.dataset_size = other.canaries, other.dataset_size
        for record in other.records:
            self.keep(record, is_new=False)
        self._judged |= other._judged
        self._judged_sequentially |= other._judged_sequentially

    def _check_places(self, record: RunRecord) -> None:
        """Refuses runs in which the canaries' records were not dealt as the scheme says, such as those of a sampler that leaves them out."""
        shape = record.shape
        whole = record.dataset_size in (None, shape["steps_per_epoch"] * shape["batch_size"])
        if shape["scheme"] in ("poisson", "without-replacement") or not whole:
            return
        times = (record.places > 0).sum(0)
        if (times != shape["epochs"]).any():
            found = int(np.flatnonzero(times != shape["epochs"])[0])
            raise ValueError(
                f"canary {found} was dealt {times[found]} times in {shape['epochs']} epochs, but once in each is allowed with scheme={shape['scheme']!r}; the records "
                f"from target_index={self.target_index} on are the canaries, so name records that the loader deals, or the scheme that runs"
            )

    @property
    def setting(self) -> Setting:
        """What was audited, as the first run showed it."""
        if not self.records:
            raise ValueError("runs is 0, but at least one is allowed; train first")
        return Setting(threat_model=self.threat_model, target_index=self.target_index, seed=self.seed, **self.records[0].shape)

    @property
    def outputs(self) -> npt.NDArray[np.float64]:
        """The noisy sums along the canaries: runs by canaries by steps."""
        return np.array([record.outputs.T for record in self.records], dtype=np.float64)

    @property
    def coins(self) -> npt.NDArray[np.bool_]:
        """The coins of all runs: runs by canaries."""
        return np.array([record.coins for record in self.records], dtype=bool)

    @property
    def outputs_in(self) -> npt.NDArray[np.float64]:
        """The outputs of canaries that were present: canaries of all runs by steps."""
        return self.outputs[self.coins]

    @property
    def outputs_out(self) -> npt.NDArray[np.float64]:
        """The outputs of canaries that were zeroed out."""
        return self.outputs[~self.coins]

    @property
    def independence(self) -> str | None:
        """Why coins are private and independent: `single`, `follow`, `memberships`, `symmetric-scores` or `private-coins`; `None` if nothing proves it."""
        planter, record = self._planter_of_records(), self.records[0]
        slots = record.shape["steps_per_epoch"] * record.shape["batch_size"]
        return independence(planter, biased=any(record.biased for record in self.records), dealt_once=record.dataset_size in (None, slots))

    def _planter_of_records(self) -> Planter:
        shape = self.records[0].shape
        assert self.canaries is not None
        return Planter(shape["scheme"], self.threat_model, shape["batch_size"], self.canaries, self.target_index)

    def scores(self, score: str = "likelihood-ratio") -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The scores of canaries that were present, and of those that were not."""
        return tuple(score_outputs(self.setting, outputs, score=score) for outputs in (self.outputs_in, self.outputs_out))  # type: ignore

    def judge(self, claimed_epsilon: float | Callable[[float], float] | None = None, *, claimed_curve: Any = None, **analysis: Any) -> OutputsReport:
        """What the runs show. Test what your library claims: pass `engine.get_epsilon` itself, and the whole curve is tested.

        - `claimed_epsilon`: a number, the epsilon at `delta`; or a function of delta.
        - `claimed_curve`: the curve instead, as a list of pairs (delta, epsilon), or `poisson`, `balls-in-bins` or `gaussian`.
        - `delta`, `significance`; for one canary `estimator` and `threshold_choice`, too.

        Decide the number of runs before you judge. Judging again after further runs gives no valid bound, unless there is one canary and every look has
        `threshold_choice="sequential"`.
        """
        self.refresh()
        defaults: dict[str, Any] = dict(delta=1e-5, significance=0.05)
        if self.canaries == 1:
            defaults |= dict(estimator="clopper-pearson", threshold_choice="band")
        unknown = sorted(set(analysis) - set(defaults))
        if unknown:
            raise TypeError(f"judge() got an unexpected keyword argument {unknown[0]!r}")
        words: dict[str, Any] = {**defaults, **analysis, "claimed_epsilon": claimed_epsilon}
        setting = self.setting
        sequential = words.get("threshold_choice") == "sequential"
        objection = self._objection(sequential)
        if self.canaries == 1 and claimed_curve is None and not callable(claimed_epsilon):
            report = judge(setting, self.outputs_in, self.outputs_out, objection, words)
        else:
            outputs, coins = self._rows()
            report = judge_coins(
                setting, outputs, coins, self.canaries or 1, independence=self.independence, paired=self.canaries == 1, objection=objection,
                claimed_curve=claimed_curve, **words,
            )  # fmt: skip
        if sequential:
            self._judged_sequentially = True
        else:
            self._judged.add(len(self.records))
        if self.store is not None:
            self.store.keep_looks(sorted(self._judged), self._judged_sequentially)
        return report

    def _rows(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """Outputs and coins, canary after canary of run after run; with one canary the complete pairs of runs alone."""
        records = self.records
        if self.canaries == 1:
            runs = {(record.seed, record.index) for record in records}
            records = [record for record in records if (record.seed, record.index ^ 1) in runs]
            if not records:
                raise ValueError("runs is 1, but an even number from 2 is allowed with one canary; train the other run of the pair")
        return np.concatenate([record.outputs.T for record in records]), np.concatenate([record.coins for record in records])

    def check(self, *, claimed_scheme: ClaimedScheme = "poisson", sampling_probability: float | None = None) -> CheckUp:
        """A check-up of the runs: a list of exact tests, one for each known fault, each with `name`, `p_value`, `passed` and `message`.

        One run is enough, except for noise that repeats from run to run. `claimed_scheme` is what your accountant assumes: `poisson`, `shuffle` or `other`.
        `sampling_probability` is that of Poisson sampling, one over the steps of an epoch if not given. `misdeal.checkup` has the tests.
        """
        return check_up(
            self.records, claimed_scheme=claimed_scheme, sampling_probability=sampling_probability, dataset_size=self.dataset_size,
            floods=bool(self.records) and self._planter_of_records().floods,
        )  # fmt: skip

    def _objection(self, sequential: bool) -> str | None:
        """Why a bound from these runs would not be valid."""
        if self.independence is None:
            return objection(self._planter_of_records())
        earlier = sorted(self._judged if sequential else self._judged - {len(self.records)})
        if earlier:
            before = f"after {earlier[0]} runs"
        elif self._judged_sequentially and not sequential:
            before = "by a confidence sequence"
        else:
            return None
        return (
            f"these runs were judged before, {before}, and a second look is not free; decide the number of runs first, or use "
            "threshold_choice='sequential' in every look"
        )
