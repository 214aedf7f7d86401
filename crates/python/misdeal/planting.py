"""What the adversary puts into a batch, and the runs that it is put into: shared by `misdeal.torch` and `misdeal.jax`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native
from .outputs import judge, judge_coins, score_outputs
from .results import OutputsReport
from .settings import Setting

# A canary is planted at this multiple of the clipping norm, so that clipping which is skipped shows.
OVERSIZE = 10.0


class Planter:
    """Which gradients of a batch are planted, by the threat model (the paper's Algorithm 2).

    The target's gradient is the canary, or zero where it is zeroed out. Where batch sizes are fixed, a partially informed adversary has
    minus the canary as the last record of every batch without the target. In the worst case all other gradients are planted, too.
    Under Poisson sampling and balls-in-bins nothing opposes: there it would change the mechanism and accuse the innocent. For the same
    reason batches of another size than `batch_size` are refused where something opposes, whatever scheme was named.
    """

    def __init__(self, scheme: str, threat_model: str, batch_size: int) -> None:
        words = Setting(scheme=scheme, threat_model=threat_model, batch_size=batch_size).words()
        self.opposes, self.floods, self.keeps_naturals = _native.describe_adversary(words)
        self.scheme, self.batch_size = scheme, batch_size

    def roles(self, is_target: npt.NDArray[np.bool_], present: bool, rows: int | None = None) -> npt.NDArray[np.float64]:
        """How many canaries each gradient of a whole batch is; NaN for those that stay as they are."""
        self.check(is_target)
        roles = np.full(len(is_target), np.nan if self.keeps_naturals else 0.0)
        holds_the_target = bool(is_target.any())
        if self.floods:
            roles[:] = 1.0 if holds_the_target else -1.0
        elif self.opposes and not holds_the_target and len(roles):
            roles[-1] = -1.0
        roles[is_target] = float(present)
        return roles

    def check(self, is_target: npt.NDArray[np.bool_]) -> None:
        """Refuses a batch for which an opposing canary would change the mechanism.

        Minus the canary in each batch without the target stands for minus the canary in all other records, less a constant that is the
        batch size. That is so only if all batches have that size and hold the target once at most.
        """
        if not (self.opposes or self.floods):
            return
        if len(is_target) != self.batch_size:
            raise ValueError(
                f"batch has {len(is_target)} records, but {self.batch_size} in every batch are allowed with scheme={self.scheme!r}, where a "
                "canary opposes the target; name the scheme that runs (scheme='poisson' or 'balls-in-bins' for batches of varying size), "
                "pass drop_last=True, or take threat_model='target-canary'"
            )
        if is_target.sum() > 1:
            raise ValueError(
                f"batch holds the target {is_target.sum()} times, but once is allowed where a canary opposes it; take "
                "threat_model='target-canary'"
            )


class Runs:
    """The outputs of runs with the target and without it, and what they show."""

    def __init__(self, *, scheme: str | None, threat_model: str, target_index: int, canary: Any, seed: int) -> None:
        self.scheme = scheme
        self.threat_model = threat_model
        self.target_index = int(target_index)
        self.canary = canary
        self.seed = int(seed)
        self.shape: dict[str, Any] | None = None
        self._outputs: dict[bool, list[list[float]]] = {True: [], False: []}
        self._judged: set[int] = set()
        self._judged_sequentially = False

    def world(self, run: int) -> bool:
        """Whether the target is present: in one run of each pair, drawn by a coin that follows from the seed."""
        coin = int(np.random.SeedSequence([self.seed, run // 2], spawn_key=(1,)).generate_state(1)[0]) & 1
        return run % 2 == coin

    def run_seed(self, run: int) -> int:
        """A seed of its own for each run."""
        return int(np.random.SeedSequence([self.seed, run]).generate_state(1, np.uint64)[0] >> 1)

    def keep(self, present: bool, outputs: Sequence[float], shape: dict[str, Any]) -> None:
        """Takes over the outputs of a finished run; all runs must have the same shape."""
        steps = len(outputs)
        each = shape["steps_per_epoch"]
        if steps == 0 or steps % each:
            raise ValueError(
                f"steps is {steps}, but a multiple of the {each} batches of an epoch is allowed; each batch must end in one step of the "
                "optimizer, empty batches too"
            )
        shape = {**shape, "epochs": steps // each}
        if self.shape is not None and self.shape != shape:
            raise ValueError(f"training is {shape}, but {self.shape} as in the first run is allowed; all runs must be alike")
        self.shape = shape
        self._outputs[present].append(list(outputs))

    @property
    def setting(self) -> Setting:
        """What was audited, as the first run showed it."""
        if self.shape is None:
            raise ValueError("runs is 0, but at least one is allowed; train first")
        return Setting(threat_model=self.threat_model, target_index=self.target_index, seed=self.seed, **self.shape)

    @property
    def outputs_in(self) -> npt.NDArray[np.float64]:
        """The outputs of runs with the target: runs by steps."""
        return np.array(self._outputs[True], dtype=np.float64)

    @property
    def outputs_out(self) -> npt.NDArray[np.float64]:
        """The outputs of runs without it."""
        return np.array(self._outputs[False], dtype=np.float64)

    def scores(self, score: str = "likelihood-ratio") -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The scores of runs with the target, and of those without it."""
        return tuple(score_outputs(self.setting, outputs, score=score) for outputs in (self.outputs_in, self.outputs_out))  # type: ignore

    def judge(self, claimed_epsilon: float | Callable[[float], float] | None = None, **analysis: Any) -> OutputsReport:
        """What the runs show: `judge_outputs` with the setting of the runs. Test the epsilon that your library prints.

        With a function of delta, such as `engine.get_epsilon`, the whole curve that it claims is tested. That takes far fewer runs.

        Decide the number of runs before you judge. Judging again after further runs gives no valid bound, unless every look has
        `threshold_choice="sequential"`.
        """
        defaults = dict(delta=1e-5, significance=0.05, estimator="clopper-pearson", threshold_choice="band")
        unknown = sorted(set(analysis) - set(defaults))
        if unknown:
            raise TypeError(f"judge() got an unexpected keyword argument {unknown[0]!r}")
        words = {**defaults, **analysis, "claimed_epsilon": claimed_epsilon}
        objection = self._objection(words["threshold_choice"] == "sequential")
        if callable(claimed_epsilon):
            report = judge_coins(self.setting, *self._pairs(), 1, independence="single", paired=True, objection=objection, **words)
        else:
            report = judge(self.setting, self.outputs_in, self.outputs_out, objection, words)
        if words["threshold_choice"] == "sequential":
            self._judged_sequentially = True
        else:
            self._judged.add(self._runs())
        return report

    def _pairs(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """The outputs of all runs, pair after pair, and which had the target. Of the last pair there may be one."""
        runs = [(outputs, present) for present, kept in self._outputs.items() for outputs in kept]
        place = [2 * index for kept in self._outputs.values() for index in range(len(kept))]
        order = np.argsort(place, kind="stable")
        return np.array([runs[i][0] for i in order], dtype=np.float64), np.array([runs[i][1] for i in order], dtype=np.bool_)

    def _runs(self) -> int:
        return sum(map(len, self._outputs.values()))

    def _objection(self, sequential: bool) -> str | None:
        """Why a bound from these runs would not be valid."""
        earlier = sorted(self._judged if sequential else self._judged - {self._runs()})
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
