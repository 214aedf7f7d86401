"""What the adversary puts into a batch: shared by `misdeal.torch` and `misdeal.jax`."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from . import _native, following
from .settings import Setting

# A canary is planted at this multiple of the clipping norm, so that clipping which is skipped shows.
OVERSIZE = 10.0


@dataclasses.dataclass(frozen=True)
class PlantedBatch:
    """What each gradient of a logical batch becomes.

    `roles`: NaN for a gradient that stays as it is, 0 for one that becomes zero, k + 1 for canary k, -(k + 1) for minus canary k.
    `places`: 1 for a canary that is played here, -1 for one that is opposed, 0 for one that is neither.
    """

    roles: npt.NDArray[np.float64]
    places: npt.NDArray[np.int8]


class Planter:
    """Which gradients of a batch are planted, by the threat model (the paper's Algorithm 2, for one target or several).

    Canary k is played by the record `target_index + k`: its gradient becomes the canary, or zero where the coin says so. Where batch sizes are
    fixed, each batch without canary k has one record that plays minus the canary, unless the threat model is `target-canary`. In the worst
    case all other gradients are zero. Under Poisson sampling and balls-in-bins nothing opposes: there it would change the mechanism and accuse the
    innocent. For the same reason batches of another size than `batch_size` are refused where something opposes, whatever scheme was named.

    Several canaries follow each other in uniform shuffles (`misdeal.following`). Then a follower's own record is the first to play another
    part in its own batch. So no record of a canary is ever natural there, and what is natural tells nothing about places.
    """

    def __init__(self, scheme: str, threat_model: str, batch_size: int, canaries: int = 1, target_index: int = 0) -> None:
        words = Setting(scheme=scheme, threat_model=threat_model, batch_size=batch_size).words()
        self.opposes, self.floods, self.keeps_naturals = _native.describe_adversary(words)
        self.scheme, self.threat_model, self.batch_size = scheme, threat_model, batch_size
        self.canaries, self.target_index = canaries, target_index
        if canaries < 1:
            raise ValueError(f"canaries is {canaries}, but a whole number from 1 is allowed; each is one record")
        if self.floods and canaries > 1:
            raise ValueError(
                f"canaries is {canaries}, but 1 is allowed with scheme={scheme!r} in the worst case, where all records of a batch play one canary"
            )
        if self.opposes and canaries > batch_size:
            raise ValueError(
                f"canaries is {canaries}, but 1 to {batch_size} is allowed; each batch of {batch_size} needs a record for every canary, so take "
                "fewer, or threat_model='target-canary'"
            )

    @property
    def follows(self) -> bool:
        """Whether places are made independent by the rule "follow"."""
        return self.canaries > 1 and self.opposes and self.scheme in following.SHUFFLES

    def plant(self, records: npt.NDArray[np.int64], coins: npt.NDArray[np.bool_], leaders: npt.NDArray[np.int64]) -> PlantedBatch:
        """The parts of a logical batch, given whether each canary is present and whom it follows."""
        members = records - self.target_index
        members = np.where((members >= 0) & (members < self.canaries), members, -1)
        self._check(members)
        roles = np.full(len(members), np.nan if self.keeps_naturals else 0.0)
        own = np.flatnonzero(members >= 0)
        dealt = np.zeros(self.canaries, dtype=bool)
        dealt[members[own]] = True
        played = dealt[leaders] if self.follows else dealt
        numbers = np.arange(self.canaries)
        values = np.where(played, np.where(coins, numbers + 1.0, 0.0), -(numbers + 1.0))
        if self.floods:
            roles[:] = 1.0 if len(own) else -1.0
        leads = leaders == numbers if self.follows else np.ones(self.canaries, dtype=bool)
        leading = own[leads[members[own]]]
        roles[leading] = values[members[leading]]
        if self.opposes:
            rest = np.setdiff1d(numbers, members[leading])
            others = own[~leads[members[own]]]
            players = np.concatenate([others, np.flatnonzero(members < 0)[::-1]])[: len(rest)]
            roles[players] = values[rest]
        opposed = -1 if self.opposes or self.floods else 0
        return PlantedBatch(roles, np.where(played, 1, opposed).astype(np.int8))

    def _check(self, members: npt.NDArray[np.int64]) -> None:
        """Refuses a batch for which an opposing canary would change the mechanism.

        Minus the canary in each batch without the target stands for minus the canary in all other records, less a constant that is the
        batch size. That is so only if all batches have that size and hold the target once at most.
        """
        if not (self.opposes or self.floods):
            return
        if len(members) != self.batch_size:
            raise ValueError(
                f"batch has {len(members)} records, but {self.batch_size} in every batch are allowed with scheme={self.scheme!r}, where a "
                "canary opposes the target; name the scheme that runs (scheme='poisson' or 'balls-in-bins' for batches of varying size), "
                "pass drop_last=True, or take threat_model='target-canary'"
            )
        times = np.bincount(members[members >= 0], minlength=1).max(initial=0)
        if times > 1:
            raise ValueError(
                f"batch holds the target {times} times, but once is allowed where a canary opposes it; take threat_model='target-canary'"
            )


def independence(planter: Planter, *, biased: bool, dealt_once: bool) -> str | None:
    """Why coins are as private as a single record's, and independent given their scores; `None` if nothing proves it (docs/proofs/coins.md).

    - `single`: one canary a run.
    - `follow`: the rule "follow", for uniform shuffles.
    - `memberships`: records are dealt independently of each other, or in a fixed order.
    - `symmetric-scores`: every record is dealt once an epoch, and scores do not depend on the order of an epoch's steps.
    - `private-coins`: each coin is private, but scores of one run may depend on each other, as they do where natural gradients reach the canaries.

    `biased`: whether natural gradients reach the canaries. `dealt_once`: whether an epoch deals every record, once.
    """
    if planter.canaries == 1:
        return "single"
    if planter.opposes and not planter.follows and planter.scheme != "fixed-order":
        return None
    if biased:
        return "private-coins"
    if planter.follows:
        return "follow"
    if planter.scheme in ("poisson", "balls-in-bins", "fixed-order"):
        return "memberships"
    return "symmetric-scores" if planter.scheme == "shuffle" and dealt_once else "private-coins"


def objection(planter: Planter) -> str:
    """Why no bound from several canaries is valid where `independence` is `None`."""
    return (
        f"several canaries with scheme={planter.scheme!r} have places that depend on each other, and no proof covers that; take canaries=1, or "
        "threat_model='target-canary'"
    )


def default_canaries(canary: object, scheme: str, threat_model: str, batch_size: int, room: int) -> int:
    """How many canaries an auditor takes if nobody says: as many as are proven to cost nothing, and find room."""
    if not isinstance(canary, str) or scheme not in (*following.SHUFFLES, "fixed-order"):
        return 1
    return max(1, min(batch_size, 64 if threat_model == "partially-informed" else 512, room))
