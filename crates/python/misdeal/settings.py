"""What is audited."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _native


@dataclasses.dataclass(frozen=True)
class Setting:
    """Everything that decides the outcome of a trial, apart from its world and its index; validated when it is made.

    >>> setting = Setting(noise_multiplier=0.8, steps_per_epoch=50)
    >>> setting.steps, setting.sampling_probability
    (50, 0.02)
    >>> Setting(epochs=0)
    Traceback (most recent call last):
    ValueError: epochs is 0, but a whole number from 1 to 2147483648 is allowed; counts start at 1
    """

    noise_multiplier: float = 1.0
    steps_per_epoch: int = 100
    epochs: int = 1
    batch_size: int = 100
    scheme: str = "shuffle"
    buffer_size: int | None = None
    target_index: int = 0
    threat_model: str = "worst-case"
    adversary_scheme: str | None = None
    adversary_buffer_size: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        _native.describe_setting(self.words())

    @property
    def hash(self) -> str:
        """The setting's identity: stores and random streams are keyed by it."""
        return _native.describe_setting(self.words())[0]

    @property
    def steps(self) -> int:
        """Steps in all epochs together."""
        return int(self.steps_per_epoch) * int(self.epochs)

    @property
    def dataset_size(self) -> int:
        """Records in the data set."""
        return int(self.steps_per_epoch) * int(self.batch_size)

    @property
    def sampling_probability(self) -> float:
        """The probability with which a record is in a given batch."""
        return 1.0 / self.steps_per_epoch

    def replace(self, **changes: Any) -> Setting:
        """The same setting with some fields changed."""
        return dataclasses.replace(self, **changes)

    def words(self) -> dict[str, Any]:
        """The setting as keyword arguments of `audit_mechanism`."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}


def with_setting(words: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call, with those of `setting` in their place where one was given."""
    setting = words.pop("setting")
    if setting is None:
        return words
    for field in dataclasses.fields(Setting):
        if words[field.name] != field.default:
            raise ValueError(
                f"{field.name} is {words[field.name]!r}, but nothing beside a setting is allowed; "
                f"setting.replace({field.name}=...) makes another one"
            )
    return {**words, **setting.words()}
