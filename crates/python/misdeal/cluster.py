"""An audit of the mechanism spread over a Ray cluster (`pip install misdeal[ray]`).

```python
import ray, misdeal.cluster
ray.init(address="auto")
report = misdeal.cluster.audit(misdeal.Setting(noise_multiplier=0.5), observations=1e12)
```

The run is cut into parts, each a Ray task; their stores are merged as they come. A trial is a pure function of seed, setting, world and
index, and merging is exact, so that the result is that of the same audit on one machine, bit for bit, however many workers there are and
however many of them die: Ray plays a lost part again. One run pins one engine (`device`), because those of processors and of
graphics processors draw other random numbers, and one kind of GPU (`accelerator_type`), because those of different architectures may
differ in a score's last bits. Whoever calls needs no GPU itself.
"""

from __future__ import annotations

import os
import socket
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
# Threads of a part: on a graphics processor one that plays and one that sorts counts.
THREADS_PER_PART = {"cpu": 1, "cuda": 2}
# How often a part may be lost with its worker; one that is lost each time is not bad luck.
LOSSES_OF_A_PART = 20
# How long nodes may take to join before a run that none of them could play is given up.
JOINING_TIME = 10.0
# The least time between two savings of the store.
SAVING_INTERVAL = 30.0


def audit(
    setting: Setting | None = None,
    *,
    observations: float = 1e12,
    delta: float = 1e-5,
    significance: float = 0.05,
    estimator: str = "clopper-pearson",
    threshold_choice: str = "band",
    scores: str = "counts",
    device: str = "cpu",
    engine: str | None = None,
    claimed_epsilon: float | None = None,
    claimed_curve: str | None = None,
    stop_when: str | None = None,
    trade_off: bool = False,
    store: Path | None = None,
    resume: bool = False,
    threads: float | None = None,
    accelerator_type: str | None = None,
    parts: int | None = None,
    quiet: bool = False,
) -> AuditReport:
    """`audit_mechanism` on the Ray cluster that this process is connected to (one is started here if it is not).

    - `device`: `cpu` (each part takes `threads` cores, one if not given) or `cuda` (each part takes one GPU, which Ray hands out).
    - `accelerator_type`: the kind of GPU, as Ray calls it (`H100`); needed only where a cluster has several kinds.
    - `parts`: how many parts the run is cut into; about twenty seconds each if not given.
    - `threshold_choice="sequential"` with `stop_when`: parts are judged in order, and the rest is called off at the look that decides.
    - `store`: saved now and then, and when interrupted; with `resume=True` the same call goes on from it.
    """
    import ray

    if device not in DRAWS_PER_PART:
        raise ValueError(f"device is {device!r}, but cpu or cuda is allowed; one run pins one engine")
    setting = Setting() if setting is None else setting
    if not isinstance(setting, Setting):
        raise ValueError(f"setting is {setting!r}, but a misdeal.Setting is allowed; leave it out for the default")
    threads = THREADS_PER_PART[device] if threads is None else threads
    words: dict[str, Any] = {
        **setting.words(), "observations": observations, "delta": delta, "significance": significance, "estimator": estimator,
        "threshold_choice": threshold_choice, "scores": scores, "device": device, "engine": engine, "claimed_epsilon": claimed_epsilon,
        "claimed_curve": claimed_curve, "stop_when": stop_when, "trade_off": trade_off, "threads": threads,
    }  # fmt: skip
    _native.check_mechanism(words)
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    held = _open(store, resume)
    workers = _Workers(device, threads, accelerator_type)
    start = time.monotonic()
    with watched(quiet) as show:
        run = _Run(words, setting, held, store, workers, parts, show)
        run.play()
        if run.held is None:
            raise RuntimeError("no part came back")
        report = AuditReport(_native.audit_played(words, run.held._native, None))
        run.save()  # with the judgement, so that a later look knows of it
    seconds = time.monotonic() - start
    played = report.observations - run.before
    return report.with_fields(seconds=seconds, observations_per_second=played / seconds)


def _open(store: Path | None, resume: bool) -> Store | None:
    if store is None or not os.path.exists(store):
        return None
    if not resume:
        raise ValueError(f"store is {store}, but the name of a new file is allowed; give resume=True to go on from it, or another name")
    return Store.load(store)


class _Workers:
    """The nodes that can play parts, and what a part asks of one."""

    def __init__(self, device: str, threads: float, accelerator_type: str | None) -> None:
        self.resource, self.each = ("GPU", 1.0) if device == "cuda" else ("CPU", float(threads))
        self.kind = accelerator_type
        if device == "cuda":
            self._pin_a_kind()
        elif accelerator_type is not None:
            raise ValueError(f"accelerator_type is {accelerator_type!r}, but None is allowed with device='cpu'; processors of all kinds agree")
        self._await()
        if device == "cuda" and self.kind is None:
            self._pin_a_kind()  # that of nodes that have joined meanwhile

    def _nodes(self) -> list[dict[str, float]]:
        import ray

        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        return [node for node in nodes if node.get(self.resource, 0) >= self.each and (not self.kind or _KIND + self.kind in node)]

    def _pin_a_kind(self) -> None:
        asked, self.kind = self.kind, None
        kinds = sorted({name.removeprefix(_KIND) for node in self._nodes() for name in node if name.startswith(_KIND)})
        if asked is None and len(kinds) > 1:
            hint = "GPUs of different architectures may differ in a score's last bits"
            raise ValueError(f"accelerator_type is None, but one of {', '.join(kinds)} is allowed in this cluster; {hint}")
        self.kind = asked or (kinds[0] if kinds else None)

    def _await(self) -> None:
        """A task that no node can take would wait for ever."""
        last = time.monotonic() + JOINING_TIME
        while not self._nodes():
            if time.monotonic() >= last:
                kind = f" of the kind {self.kind}" if self.kind else ""
                wanted = f"a GPU{kind}" if self.resource == "GPU" else f"{self.each:g} processor cores"
                hint = f"add one, or ask the autoscaler with ray.autoscaler.sdk.request_resources(bundles=[{{{self.resource!r}: {self.each:g}}}])"
                raise RuntimeError(f"no node of the Ray cluster has {wanted}; {hint}")
            time.sleep(0.5)

    def number(self) -> int:
        """Parts that can be played at a time."""
        return max(1, sum(int(node[self.resource] / self.each) for node in self._nodes()))

    def task(self) -> Any:
        import ray

        # Lost workers and lost results are made good; refusals are not tried again.
        options: dict[str, Any] = dict(max_retries=LOSSES_OF_A_PART, retry_exceptions=False)
        if self.resource == "GPU":
            # Ray sets CUDA_VISIBLE_DEVICES for the worker, so that the engine finds one GPU, its own.
            options |= dict(num_cpus=0, num_gpus=1)
        else:
            options |= dict(num_cpus=self.each)
        if self.kind:
            options |= dict(accelerator_type=self.kind)
        return ray.remote(**options)(_play)


# What Ray's names for resources that stand for a kind of GPU begin with.
_KIND = "accelerator_type:"


class _Run:
    """Parts on their way, and what has come back."""

    def __init__(
        self,
        words: dict[str, Any],
        setting: Setting,
        held: Store | None,
        path: Path | None,
        workers: _Workers,
        parts: int | None,
        show: Show | None,
    ) -> None:
        self.words, self.held, self.path, self.workers, self.show = words, held, path, workers, show
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
        if parts is None:
            draws = 2.0 * self.trials * setting.steps
            parts = min(MOST_PARTS, max(4 * self.workers.number(), int(draws / DRAWS_PER_PART[self.words["device"]]) + 1))
        if parts < 1:
            raise ValueError(f"parts is {parts}, but a whole number from 1 is allowed; leave it out for parts of about twenty seconds")
        return max(1, -(-self.trials // parts))

    def play(self) -> None:
        """Plays all parts, or as many as decide the run."""
        import ray

        task = self.workers.task()
        waiting: dict[Any, Part] = {}
        arrived: dict[int, Store] = {}
        try:
            while self.parts or waiting:
                # Twice as many as there are workers: none of them waits for the next part.
                room = 2 * self.workers.number()
                while self.parts and len(waiting) < room:
                    part = self.parts.popleft()
                    waiting[task.remote(self.words, *part)] = part
                done, _ = ray.wait(list(waiting), timeout=1.0)
                for reference in done:
                    arrived[waiting.pop(reference)[0]] = Store.from_bytes(_fetched(reference))
                if self._take(arrived):
                    break
        finally:
            self.save()
            for reference in waiting:
                ray.cancel(reference, force=True)

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
        self.save(now=False)

    def save(self, now: bool = True) -> None:
        if self.path is None or self.held is None or (not now and time.monotonic() - self.saved < SAVING_INTERVAL):
            return
        self.held.save(self.path)
        self.saved = time.monotonic()


def _fetched(reference: Any) -> bytes:
    """What a part gave. What it was refused for is told in its own words, without the worker's traceback."""
    import ray

    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None


def _play(words: dict[str, Any], first: int, last: int) -> bytes:
    try:
        return _native.play_part(words, first, last, None).to_bytes()
    except RuntimeError as error:
        # A device that is missing or broken is some node's.
        raise RuntimeError(f"{error} (on the node {socket.gethostname()})") from None
