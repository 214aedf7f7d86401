"""What privacy accountants have counted: Opacus engines, their checkpoints, and events of dp_accounting."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

# Noise multiplier, sampling rate, steps.
Entry = tuple[float, float, int]
CHECKPOINT = "privacy_accountant_state_dict"


@dataclasses.dataclass
class Ledger:
    """Steps of one noise and one sampling rate, and the epsilon that the library prints for them."""

    library: str
    noise_multiplier: float
    rate: float
    steps: int
    epsilon: Callable[[float], float]
    dataset_size: int | None = None


def read_ledger(source: Any) -> Ledger | None:
    """Reads an Opacus engine, accountant or checkpoint, or an event or accountant of dp_accounting; `None` for anything else."""
    if isinstance(source, dict):
        state = source.get(CHECKPOINT, source)
        return _of_state(state) if {"history", "mechanism"} <= set(state) else None
    accountant = getattr(source, "accountant", source)
    if isinstance(getattr(accountant, "history", None), list) and hasattr(accountant, "get_epsilon"):
        dataset: Any = getattr(source, "dataset", None)
        records = len(dataset) if hasattr(dataset, "__len__") else None
        return _merged("Opacus", "history", accountant.history, accountant.get_epsilon, records)
    if hasattr(source, "ledger") and hasattr(source, "get_epsilon"):
        return _merged("dp_accounting", "ledger", _entries(source.ledger), source.get_epsilon)
    if _kind(source).endswith("DpEvent"):
        found = _merged("dp_accounting", "event", _entries(source), lambda delta: 0.0)
        counted = found.noise_multiplier, found.rate, found.steps
        return dataclasses.replace(found, epsilon=lambda delta: _pld_epsilon(*counted, delta))
    return None


def is_checkpoint(path: str | os.PathLike[str]) -> bool:
    """Whether a file is one that `torch.save` wrote."""
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError:
        return False


def load_checkpoint(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What `engine.save_checkpoint` wrote, without running any code of the file."""
    import torch

    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        raise ValueError(
            f"engine_or_card is {os.fspath(path)!r}, but a checkpoint of tensors and numbers is allowed; if you trust the file, pass "
            "torch.load(path, weights_only=False)"
        ) from error
    if not isinstance(found, dict) or read_ledger(found) is None:
        raise ValueError(f"engine_or_card is {os.fspath(path)!r}, but a file with {CHECKPOINT} is allowed; engine.save_checkpoint writes one")
    return found


def _of_state(state: dict[str, Any]) -> Ledger:
    def epsilon(delta: float) -> float:
        from opacus.accountants import create_accountant

        accountant = create_accountant(mechanism=state["mechanism"])
        accountant.load_state_dict(dict(state))
        return accountant.get_epsilon(delta)

    return _merged("Opacus", "history", state["history"], epsilon)


def _merged(library: str, field: str, entries: Iterable[Any], epsilon: Callable[[float], float], dataset_size: int | None = None) -> Ledger:
    """Entries with the same noise and rate as one; others are refused."""
    steps: dict[tuple[float, float], int] = {}
    for noise_multiplier, rate, count in entries:
        key = float(noise_multiplier), float(rate)
        steps[key] = steps.get(key, 0) + int(count)
    if not steps:
        raise ValueError(f"{field} is empty, but at least one step is allowed; check after training")
    if len(steps) > 1:
        shown = "; ".join(f"{count:,} steps with noise {noise:.6g} and rate {rate:.6g}" for (noise, rate), count in steps.items())
        raise ValueError(f"{field} is {shown}, but one noise and one sampling rate are allowed; no bound here adds up different ones")
    [((noise_multiplier, rate), count)] = steps.items()
    if not 0 < rate <= 1:
        raise ValueError(f"{field} has sampling rate {rate}, but a number above 0, at most 1 is allowed; a record is in a batch with it")
    return Ledger(library, noise_multiplier, rate, count, epsilon, dataset_size)


def _kind(event: Any) -> str:
    """The event's class, also of an event as a named tuple."""
    name = getattr(event, "class_name", None) or type(event).__name__
    return name.decode() if isinstance(name, bytes) else str(name)


def _entries(event: Any) -> Iterator[Entry]:
    kind = _kind(event)
    if kind == "NoOpDpEvent":
        return
    if kind == "SelfComposedDpEvent":
        yield from ((noise, rate, steps * int(event.count)) for noise, rate, steps in _entries(event.event))
    elif kind == "ComposedDpEvent":
        for part in event.events:
            yield from _entries(part)
    elif kind == "GaussianDpEvent":
        yield float(event.noise_multiplier), 1.0, 1
    elif kind == "PoissonSampledDpEvent":
        released = list(_entries(event.event))
        if not released or any(rate != 1.0 for _, rate, _ in released):
            raise ValueError("event samples twice, but Gaussian noise in each sample is allowed; no bound here covers others")
        # Several releases of one sample are one with less noise.
        noise = released[0][0] if len(released) == 1 and released[0][2] == 1 else 1 / math.sqrt(sum(n / s**2 for s, _, n in released))
        yield noise, float(event.sampling_probability), 1
    else:
        raise ValueError(f"event has a {kind}, but Gaussian, PoissonSampled, Composed and SelfComposed events are allowed; no bound here covers others")


def _pld_epsilon(noise_multiplier: float, rate: float, steps: int, delta: float) -> float:
    """The epsilon that dp_accounting gives."""
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise_multiplier))
    return PLDAccountant().compose(step, steps).get_epsilon(delta)
