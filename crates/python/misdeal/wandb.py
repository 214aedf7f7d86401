"""The proven epsilon in a run of Weights & Biases.

```python
for epoch in range(epochs):
    train(model, optimizer, loader)
    misdeal.wandb.log_epsilon(engine, loader, delta=1e-5)
```
"""

from __future__ import annotations

from typing import Any

import wandb

from .epochs import EpsilonSoFar


def log_epsilon(engine: Any = None, data_loader: Any = None, *, epochs: int = 1, run: Any = None, **words: Any) -> dict[str, float]:
    """Logs `claimed_epsilon`, `proven_epsilon` and `epsilon_lower_bound` of the training so far, and returns them.

    - `engine`: the Opacus `PrivacyEngine`. `data_loader`: the loader that is trained on.
    - `epochs`: the epochs so far; with an engine its accountant's steps count instead.
    - `run`: the run to log to; the current one if not given.
    - `words`: as in `misdeal.check`, such as `delta`.
    """
    run = run or wandb.run
    if run is None:
        raise ValueError("run is None, but a run is allowed; call wandb.init first")
    found = EpsilonSoFar(engine, data_loader, **words).after(epochs)
    run.log(found)
    return found
