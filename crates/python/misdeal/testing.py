"""A data loader's sampling as a unit test.

```python
from misdeal.testing import assert_scheme

def test_batches_are_drawn_by_poisson_sampling():
    assert_scheme(make_loader(), "poisson", epochs=3)
```

pytest has the same function as the fixture `assert_scheme`, once misdeal is installed.
"""

from __future__ import annotations

import pathlib
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from .batches import record_batches
from .diagnoses import diagnose
from .results import DiagnoseReport

__all__ = ["assert_scheme"]


def assert_scheme(
    loader: Any,
    scheme: str,
    *,
    epochs: int = 2,
    dataset_size: int | None = None,
    ignore: Sequence[str] = (),
    index: str | int | Callable[[Any], Any] | None = None,
    batch_size: int | None = None,
    before_epoch: Callable[[int], Any] | None = None,
) -> DiagnoseReport:
    """Raises `AssertionError` unless the loader's batches are certainly made by `scheme`, without a defect. Returns the diagnosis.

    - `loader`: a PyTorch `DataLoader`, which deals positions so that no data is read, or whatever else `record_batches` takes.
    - `scheme`: the name that `diagnose` gives, such as `poisson`, `shuffle` or `balls-in-bins`.
    - `epochs`: how many epochs are recorded; schemes that differ between epochs alone need two.
    - `dataset_size`: records in the data; taken from the loader's data set if not given.
    - `ignore`: names of defects that are accepted, such as `records-dropped` where the last batch is dropped on purpose.
    - `index`, `batch_size`, `before_epoch`: as in `record_batches`.

    >>> import random
    >>> order = random.Random(0)
    >>> class Shuffled:
    ...     def __iter__(self):
    ...         records = order.sample(range(600), 600)
    ...         return iter([records[i : i + 20] for i in range(0, 600, 20)])
    >>> assert_scheme(Shuffled(), "shuffle", dataset_size=600).certain
    True
    >>> assert_scheme(Shuffled(), "poisson", dataset_size=600)
    Traceback (most recent call last):
    AssertionError: the batches are made by shuffle, not by poisson
    """
    if dataset_size is None and hasattr(getattr(loader, "dataset", None), "__len__"):
        dataset_size = len(loader.dataset)
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "batches.jsonl"
        record_batches(loader, epochs, output=log, index=index, batch_size=batch_size, before_epoch=before_epoch)
        found = diagnose(log, dataset_size=dataset_size)
    problems = _problems(found, scheme, ignore)
    if problems:
        raise AssertionError("; ".join(problems))
    return found


def _problems(found: DiagnoseReport, scheme: str, ignore: Sequence[str]) -> list[str]:
    problems = []
    if found.scheme == "unknown":
        problems.append(f"no scheme fits the batches, not even {scheme}")
    elif found.scheme != scheme:
        problems.append(f"the batches are made by {found.scheme}, not by {scheme}")
    elif not found.certain:
        others = [one["scheme"] for one in found.candidates if one["scheme"] != scheme and (one.get("p_value") or 0) > 0.001]
        between = f": {', '.join(others)} would fit too" if others else ""
        problems.append(f"the batches fit {scheme}, but it is not certain{between}; record more epochs or smaller batches")
    defects = [one for one in found.defects if one["defect"] not in ignore]
    return problems + [f"{one['message'].rstrip('.')} ({one['defect']})" for one in defects]
