"""The proven epsilon in the logs of Lightning.

```python
trainer = lightning.Trainer(callbacks=[misdeal.lightning.ProvenEpsilon(engine, delta=1e-5)])
```
"""

from __future__ import annotations

from typing import Any

try:
    from lightning.pytorch import Callback
except ImportError:  # the package's older name
    from pytorch_lightning import Callback  # type: ignore[assignment]

from .epochs import EpsilonSoFar


class ProvenEpsilon(Callback):  # type: ignore[misc]
    """Logs `claimed_epsilon`, `proven_epsilon` and `epsilon_lower_bound` after each epoch.

    - `engine`: the Opacus `PrivacyEngine`; the module's attribute `privacy_engine` if not given.
    - `data_loader`: the loader that is trained on; the trainer's if not given.
    - `words`: as in `misdeal.check`, such as `delta`.
    """

    def __init__(self, engine: Any = None, data_loader: Any = None, **words: Any) -> None:
        super().__init__()
        self.epsilon = EpsilonSoFar(engine, data_loader, **words)

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        epsilon = self.epsilon
        if epsilon.engine is None:
            epsilon.engine = getattr(pl_module, "privacy_engine", None)
        if epsilon.data_loader is None and "scheme" not in epsilon.words:
            epsilon.data_loader = trainer.train_dataloader
        if trainer.is_global_zero:
            found = epsilon.after(trainer.current_epoch + 1)
            pl_module.log_dict(found, rank_zero_only=True)
