"""An audit of the mechanism spread over a Ray cluster (`pip install misdeal[ray]`).

```python
import ray, misdeal.cluster
ray.init(address="auto")
report = misdeal.cluster.audit(misdeal.Setting(noise_multiplier=0.5), observations=1e12)
```

The run is cut into parts, each a Ray task; their stores are merged as they come. A trial is a pure function of seed, setting, world and
index, and merging is exact, so that the result is that of the same audit on one machine, bit for bit, however many workers there are and
however many of them die: Ray plays a lost part again. One run pins one engine (`device`), because those of processors and of
graphics processors draw other random numbers.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

from . import _native
from .progress import Show, watched
from .results import AuditReport
from .settings import Setting
from .stores import Store

Path = str | os.PathLike[str]
Part = tuple[int, int]

# Gaussian draws that take a worker about twenty seconds, on one core and on a graphics processor.
DRAWS_PER_PART = {"cpu": 4e10, "cuda": 1e13}
MOST_PARTS = 10_000
# The least time between two savings of the store.
SAVING_INTERVAL = 30.0


def audit(
    setting: Setting | None = None,
    *,
    observations: float = 1e12,
    delta: float = 1e-5,
    significance: float = 0.05,
    estimator: str = "clopper-pearson",
    threshold_choice: str = "hold-out",
    scores: str = "counts",
    device: str = "cpu",
    engine: str | None = None,
    claimed_epsilon: float | None = None,
    stop_when: str | None = None,
    trade_off: bool = False,
    store: Path | None = None,
    resume: bool = False,
    threads: float = 1,
    parts: int | None = None,
    quiet: bool = False,
) -> AuditReport:
    """`audit_mechanism` on the Ray cluster that this process is connected to (one is started here if it is not).

    - `device`: `cpu` (each part takes `threads` cores) or `cuda` (each part takes one GPU).
    - `parts`: how many parts the run is cut into; about twenty seconds each if not given.
    - `threshold_choice="sequential"` with `stop_when`: parts are judged in order, and the rest is called off at the look that decides.
    - `store`: saved now and then, and when interrupted; with `resume=True` the same call goes on from it.
    """
    import ray

    if device not in DRAWS_PER_PART:
        raise ValueError(f"device is {device!r}, but cpu or cuda is allowed; one run pins one engine")
    setting = setting or Setting()
    words: dict[str, Any] = {
        **setting.words(), "observations": observations, "delta": delta, "significance": significance, "estimator": estimator,
        "threshold_choice": threshold_choice, "scores": scores, "device": device, "engine": engine, "claimed_epsilon": claimed_epsilon,
        "stop_when": stop_when, "trade_off": trade_off, "store": None, "save_every": 10.0, "resume": False, "shard": None, "plot": None, "search_buffer": False,
        "uncorrected": False, "threads": threads,
    }  # fmt: skip
    _native.check_mechanism(words)
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    start = time.monotonic()
    with watched(quiet) as show:
        run = _Run(words, setting, _open(store, resume), store, parts, show)
        run.play()
        if run.held is None:
            raise RuntimeError("no part came back")
        report = AuditReport(_native.audit_played(words, run.held._native, None))
    seconds = time.monotonic() - start
    played = report.observations - run.before
    return report.with_fields(seconds=seconds, observations_per_second=played / seconds)


def _open(store: Path | None, resume: bool) -> Store | None:
    if store is None or not os.path.exists(store):
        return None
    if not resume:
        raise ValueError(f"store is {store}, but the name of a new file is allowed; give resume=True to go on from it, or another name")
    return Store.load(store)


class _Run:
    """Parts on their way, and what has come back."""

    def __init__(
        self, words: dict[str, Any], setting: Setting, held: Store | None, path: Path | None, parts: int | None, show: Show | None
    ) -> None:
        self.words, self.held, self.path, self.show = words, held, path, show
        self.before = held.observations if held else 0
        self.trials = int(self.words["observations"]) // 2
        self.sequential = words["threshold_choice"] == "sequential"
        self.looks = deque(_native.looks(self.trials)) if self.sequential else deque()
        if self.sequential:
            self.trials = self.looks[-1] if self.looks else self.trials
        self.parts = deque(self._cut(setting, parts))
        self.saved = time.monotonic()

    def _cut(self, setting: Setting, parts: int | None) -> Iterator[Part]:
        """The trials that are still to be played, in order, in pieces; no piece reaches over a look."""
        size = self._part_size(setting, parts)
        held = self.held.trials if self.held else []
        if self.sequential and held and (len(held) > 1 or held[0][0] > 0):
            raise ValueError(f"store holds trials {held}, but the first ones without a gap are allowed; a confidence sequence looks at those")
        gaps, first = [], 0
        for start, end in [*held, (self.trials, self.trials)]:
            if first < min(start, self.trials):
                gaps.append((first, min(start, self.trials)))
            first = max(first, end)
        for start, end in gaps:
            ends = [look for look in self.looks if start < look < end] + [end]
            for border in ends:
                while start < border:
                    yield start, min(border, start + size)
                    start = min(border, start + size)

    def _part_size(self, setting: Setting, parts: int | None) -> int:
        import ray

        if parts is None:
            resource = "GPU" if self.words["device"] == "cuda" else "CPU"
            workers = max(1, int(ray.cluster_resources().get(resource, 1)))
            draws = 2.0 * self.trials * setting.steps
            parts = min(MOST_PARTS, max(4 * workers, int(draws / DRAWS_PER_PART[self.words["device"]]) + 1))
        if parts < 1:
            raise ValueError(f"parts is {parts}, but a whole number from 1 is allowed; leave it out for parts of about twenty seconds")
        return max(1, -(-self.trials // parts))

    def play(self) -> None:
        """Plays all parts, or as many as decide the run."""
        import ray

        task = _task(self.words)
        waiting: dict[Any, Part] = {}
        arrived: dict[int, Store] = {}
        try:
            while self.parts or waiting:
                # Twice as many as there are workers: none of them waits for the next part.
                resource = "GPU" if self.words["device"] == "cuda" else "CPU"
                room = 2 * max(1, int(ray.cluster_resources().get(resource, 1)))
                while self.parts and len(waiting) < room:
                    part = self.parts.popleft()
                    waiting[task.remote(self.words, *part)] = part
                done, _ = ray.wait(list(waiting), timeout=1.0)
                for reference in done:
                    arrived[waiting.pop(reference)[0]] = Store.from_bytes(ray.get(reference))
                if self._take(arrived):
                    break
        finally:
            for reference in waiting:
                ray.cancel(reference, force=True)
            self._save(now=True)

    def _take(self, arrived: dict[int, Store]) -> bool:
        """Merges what has arrived, in order if the order counts; whether the run is decided."""
        while arrived:
            first = min(arrived)
            if self.sequential and first != (self.held.trials[0][1] if self.held else 0):
                return False
            part = arrived.pop(first)
            if self.held is None:
                self.held = part
            else:
                self.held.merge(part)
            self._tell()
            if self.sequential and self.held.trials[0][1] in self.looks and _native.is_decided(self.words, self.held._native):
                return True
        return False

    def _tell(self) -> None:
        if self.show is not None and self.held is not None:
            self.show(self.held.observations, 2 * self.trials)
        self._save(now=False)

    def _save(self, now: bool) -> None:
        if self.path is None or self.held is None or (not now and time.monotonic() - self.saved < SAVING_INTERVAL):
            return
        self.held.save(self.path)
        self.saved = time.monotonic()


def _task(words: dict[str, Any]) -> Any:
    import ray

    cuda = words["device"] == "cuda"
    # Lost workers and lost results are made good for as often as it takes; refusals are not tried again.
    options: Any = dict(num_cpus=0 if cuda else words["threads"], num_gpus=1 if cuda else 0, max_retries=-1)
    return ray.remote(**options)(_play)


def _play(words: dict[str, Any], first: int, last: int) -> bytes:
    return _native.play_part(words, first, last, None).to_bytes()
