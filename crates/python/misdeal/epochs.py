"""The proven epsilon of a training so far, beside the one that is claimed: what callbacks log after each epoch."""

from __future__ import annotations

from typing import Any

from . import _native
from .checks import stated
from .results import CheckReport


class EpsilonSoFar:
    """Computes what to log. Theory alone is asked, so that an epoch costs about a second.

    - `engine`: an Opacus `PrivacyEngine`; its epsilon so far is the claim. `data_loader`: the loader that is trained on.
    - `words`: the parameters of `misdeal.check` that the engine and the loader do not give: `delta`, and without an engine
      `dataset_size`, `batch_size`, `noise_multiplier` and `scheme`. A `claimed_epsilon` replaces the engine's.
    """

    def __init__(self, engine: Any = None, data_loader: Any = None, **words: Any) -> None:
        refused = next((word for word in ("epochs", "steps", "audit", "observations", "plot") if word in words), None)
        if refused:
            raise ValueError(f"{refused} is given, but steps are counted while the model trains; leave it out")
        self.engine = engine
        self.data_loader = data_loader
        self.words = words

    def after(self, epochs: int) -> dict[str, float]:
        """The numbers after so many epochs; one that nobody can prove is left out.

        - `claimed_epsilon`: what the engine prints.
        - `proven_epsilon`: the training is proven to leak at most this much.
        - `epsilon_lower_bound`: the training is proven to leak at least this much.
        """
        counted = {} if self.engine is not None else {"epochs": epochs}
        words = stated(self.engine, self.data_loader, {**self.words, **counted})
        # Without a claim no noise is searched for that would keep it.
        claim = words.pop("claimed_epsilon", None)
        report = CheckReport(_native.check({word: value for word, value in words.items() if value is not None}, None))
        found = {
            "claimed_epsilon": claim,
            "proven_epsilon": report.epsilon_upper_bound,
            "epsilon_lower_bound": report.epsilon_lower_bound,
        }
        return {name: float(value) for name, value in found.items() if value is not None}
