"""A folder of finished runs, which several processes fill together and which outlives them."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any

from .records import RunRecord


class RunStore:
    """Runs of one auditor, a file each. A run is taken by a lock that ends with its process, so a run that was killed is trained again."""

    def __init__(self, folder: str | os.PathLike[str], identity: dict[str, Any]) -> None:
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._locks: dict[int, Any] = {}
        path = self.folder / "auditor.json"
        if path.exists():
            known = json.loads(path.read_text())
            for name, value in identity.items():
                if known.get(name) != value:
                    raise ValueError(f"{name} is {value!r}, but {known.get(name)!r} as in the store {self.folder} is allowed; take another store")
        else:
            self._write(path, identity)

    def finished(self) -> list[int]:
        """The runs whose outputs are there."""
        return sorted(int(path.stem.removeprefix("run-")) for path in self.folder.glob("run-*.npz"))

    def load(self, index: int) -> RunRecord:
        """The record of a finished run."""
        return RunRecord.load(self._path(index, "npz"))

    def unfinished(self, runs: int) -> Iterator[int]:
        """The first so many runs that are neither finished nor being trained by another process; each is taken as it is given."""
        for index in range(runs):
            if not self._path(index, "npz").exists() and self._take(index):
                try:
                    # Another process may have finished it between the two questions.
                    if not self._path(index, "npz").exists():
                        yield index
                finally:
                    self._release(index)

    def save(self, record: RunRecord) -> None:
        """Keeps a finished run."""
        record.save(self._path(record.index, "npz"))

    def looks(self) -> dict[str, Any]:
        """After how many runs the store was judged, and whether by a confidence sequence."""
        path = self.folder / "looks.json"
        return json.loads(path.read_text()) if path.exists() else {"judged": [], "sequentially": False}

    def keep_looks(self, judged: list[int], sequentially: bool) -> None:
        """Remembers the looks, since a second look is not free in another process either."""
        self._write(self.folder / "looks.json", {"judged": judged, "sequentially": sequentially})

    def _path(self, index: int, kind: str) -> pathlib.Path:
        return self.folder / f"run-{index:06}.{kind}"

    def _write(self, path: pathlib.Path, content: dict[str, Any]) -> None:
        unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
        unfinished.write_text(json.dumps(content))
        unfinished.replace(path)

    def _take(self, index: int) -> bool:
        file = open(self._path(index, "lock"), "w")  # noqa: SIM115 - held until the run is finished
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            # Without locks of this kind one process at a time may use a store.
            pass
        except OSError:
            file.close()
            return False
        self._locks[index] = file
        return True

    def _release(self, index: int) -> None:
        self._locks.pop(index).close()
        self._path(index, "lock").unlink(missing_ok=True)
