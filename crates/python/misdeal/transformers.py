"""The proven epsilon in the logs of the Hugging Face `Trainer`.

```python
misdeal.transformers.ProvenEpsilon(engine, delta=1e-5).attach(trainer)
```
"""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from .epochs import EpsilonSoFar


class ProvenEpsilon(TrainerCallback):  # type: ignore[misc]
    """Logs `claimed_epsilon`, `proven_epsilon` and `epsilon_lower_bound` after each epoch.

    - `engine`: the Opacus `PrivacyEngine`. `data_loader`: the loader that is trained on; the trainer's if not given.
    - `words`: as in `misdeal.check`, such as `delta`, and without an engine `noise_multiplier`.

    `attach` adds it to a trainer, through which everything that the trainer reports to gets the numbers. Given as `callbacks=[...]`
    instead, it writes them into `state.log_history` alone.
    """

    def __init__(self, engine: Any = None, data_loader: Any = None, **words: Any) -> None:
        self.epsilon = EpsilonSoFar(engine, data_loader, **words)
        self._trainer: Any = None

    def attach(self, trainer: Any) -> ProvenEpsilon:
        """Adds this callback to a `Trainer`."""
        self._trainer = trainer
        trainer.add_callback(self)
        return self

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        epsilon = self.epsilon
        if epsilon.data_loader is None and "scheme" not in epsilon.words:
            epsilon.data_loader = kwargs.get("train_dataloader")
        if not state.is_world_process_zero:
            return
        found = epsilon.after(round(state.epoch))
        if self._trainer is not None:
            self._trainer.log(found)
        else:
            state.log_history.append({**found, "epoch": state.epoch, "step": state.global_step})
