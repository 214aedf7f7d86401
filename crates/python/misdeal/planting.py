"""What the adversary puts into a batch, and the runs that it is put into: shared by `misdeal.torch` and `misdeal.jax`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native
from .outputs import judge_outputs, score_outputs
from .results import OutputsReport
from .settings import Setting

# A canary is planted at this multiple of the clipping norm, so that clipping which is skipped shows.
OVERSIZE = 10.0


class Planter:
    """Which gradients of a batch are planted, by the threat model (the paper's Algorithm 2).

    The target's gradient is the canary, or zero where it is zeroed out. Where batch sizes are fixed, a partially informed adversary has
    minus the canary as the last record of every batch without the target. In the worst case all other gradients are planted, too.
    Under Poisson sampling and balls-in-bins nothing opposes: there it would change the mechanism and accuse the innocent.
    """

    def __init__(self, scheme: str, threat_model: str, batch_size: int) -> None:
        words = Setting(scheme=scheme, threat_model=threat_model, batch_size=batch_size).words()
        self.opposes, self.floods, self.keeps_naturals = _native.describe_adversary(words)

    def roles(self, is_target: npt.NDArray[np.bool_], present: bool, rows: int | None = None) -> npt.NDArray[np.float64]:
        """How many canaries each gradient of a whole batch is; NaN for those that stay as they are."""
        roles = np.full(len(is_target), np.nan if self.keeps_naturals else 0.0)
        holds_the_target = bool(is_target.any())
        if self.floods:
            roles[:] = 1.0 if holds_the_target else -1.0
        elif self.opposes and not holds_the_target and len(roles):
            roles[-1] = -1.0
        roles[is_target] = float(present)
        return roles


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

    def world(self, run: int) -> bool:
        """Whether the target is present: in every other run."""
        return run % 2 == 0

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

    def judge(self, claimed_epsilon: float | None = None, **analysis: Any) -> OutputsReport:
        """What the runs show: `judge_outputs` with the setting of the runs. Test the epsilon that your library prints."""
        return judge_outputs(self.setting, self.outputs_in, self.outputs_out, claimed_epsilon=claimed_epsilon, **analysis)
