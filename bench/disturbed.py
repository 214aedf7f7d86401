"""Runs of misdeal that are killed and resumed, and what is left of them. Python's library alone, and the program."""
import json
import os
import random
import signal
import struct
import subprocess
import time
from pathlib import Path

# What a run says of itself and not of what it audits: its file, times, and figures over the models of one process.
OF_THE_PROCESS = ("store", "seconds", "observations_per_second", "models_per_second")


class Failure(Exception):
    """What misdeal should not have done."""


def run(program, arguments, folder):
    """The JSON document of a command that must succeed."""
    command = [str(program), *map(str, arguments), "--format", "json", "--quiet"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"exit {done.returncode}: {done.stderr.strip()}: {' '.join(command[1:])}")
    return json.loads(done.stdout)


def result(document):
    """What must be the same after any disturbance."""
    kept = {key: value for key, value in document.items() if key not in OF_THE_PROCESS}
    return json.dumps(kept, sort_keys=True)


def observations(program, store):
    """Observations in a store, or none if there is no store; a store that cannot be read is a failure."""
    if not store.exists():
        return 0
    copy = store.with_name("copy")
    return run(program, ["merge", store, "--output", copy], store.parent)["observations"]


def kill_once(program, arguments, store, after):
    """Starts a run and kills it after so many seconds; whether it was still running."""
    command = [str(program), *map(str, arguments), "--store", str(store), "--resume", "--format", "json", "--quiet"]
    process = subprocess.Popen(command, cwd=store.parent, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        _, told = process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        return True
    if process.returncode:
        raise Failure(f"exit {process.returncode}: {told.strip()}: {' '.join(command[1:])}")
    return False


def disturbed(program, arguments, store, kills, longest, choice=random):
    """Kills a run up to `kills` times at random moments of up to `longest` seconds, and lets it end; the document and the kills that met it.

    After each kill the store must be absent or whole, and hold no less than before.
    """
    held, met = 0, 0
    for _ in range(kills):
        # Half of the moments are early, where files are being written for the first time.
        after = choice.uniform(0.0, longest) if choice.random() < 0.7 else choice.uniform(0.0, 0.1 * longest)
        if not kill_once(program, arguments, store, after):
            break
        met += 1
        now = observations(program, store)
        if now < held:
            raise Failure(f"a kill lost observations: {held} before, {now} after: {arguments}")
        held = now
    return run(program, [*arguments, "--store", store, "--resume"], store.parent), met


def undisturbed(program, arguments, store):
    """The document of a run that nobody disturbs, and its seconds."""
    start = time.monotonic()
    document = run(program, [*arguments, "--store", store], store.parent)
    return document, time.monotonic() - start


def litter(folder):
    """Temporary files that killed processes left, which are removed."""
    found = list(Path(folder).glob(".misdeal-*.tmp"))
    for path in found:
        path.unlink()
    return len(found)


def exact_scores(store):
    """The scores `In` and `Out` of a store of exact scores, in the order of trials."""
    content = store.read_bytes()
    (length,) = struct.unpack_from("<Q", content, 12)
    body = content[20 + length : -32]
    values = struct.unpack(f"<{len(body) // 8}d", body)
    return values[0::2], values[1::2]
