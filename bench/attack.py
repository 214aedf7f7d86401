"""Attacks the command line: strange Parquet, CSV, TOML, Python, logs, archives, results, stores, paths and corner settings, each call under 1 GB of memory.

    python3 bench/attack.py [--program target/release/misdeal] [--calls 2000] [--seed 0] [--families sources,logs]

A call survives if it ends by itself with exit code 0, 1, 2 or 3, without a panic, a signal or a hang; if its peak of memory stays below 1 GB;
if accounting, parsing and set-up take at most 10 s of processor time; if a refusal is one line on standard error that begins with
`misdeal: `; if no raw control character reaches standard output; and if no result takes the place of a store. Prints every call that does not, and
writes bench/runs/attack.json unless some families alone were asked for. 2,000 calls take about ten minutes.
Needs Python's library alone; with pyarrow Parquet files are attacked too.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import math
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from typing import Any

from measuring import keep

MEMORY = 1 << 30
PROCESSOR_SECONDS = 10.0
WALL_SECONDS = 120.0

SCHEMES = [
    "poisson", "shuffle", "shuffle-once", "partial-shuffle", "stream-shuffle", "batch-then-shuffle", "balls-in-bins", "without-replacement", "fixed-order",
]  # fmt: skip
ESTIMATORS = ["clopper-pearson", "jeffreys", "joint-bayesian", "log-katz", "gdp", "divergence", "one-run", "one-run-fdp", "raw", "all"]
CHOICES = ["hold-out", "max", "band", "sequential"]
NUMBERS = ["0", "-1", "nan", "inf", "1e-300", "1e300", "1e9", "1e7", "1e5", "1000", "7", "1", "0.5", "0.01", "1e-6", "2147483648", "18446744073709551616", "", "x", "1e"]
HOSTILE = ["\n\x1b[2JVerdict: HOLDS", "::error::x", "a\u202eb", "x\u2028y", "\x9b31m", "-", "--", "a b", "\u00e9", "n" * 300]


def settings(rng: random.Random):
    """Corners of accounting and calibration."""
    flags = ["--noise-multiplier", "--steps-per-epoch", "--epochs", "--batch-size", "--buffer-size", "--delta"]
    plausible = {
        "--noise-multiplier": ["0.01", "0.3", "1", "10", "1000"], "--steps-per-epoch": ["1", "2", "117", "1e5", "1e9"], "--epochs": ["1", "10", "1000", "1e5", "1e7"],
        "--batch-size": ["1", "100", "1e6"], "--buffer-size": ["1", "1000", "1e9"], "--delta": ["1e-300", "1e-15", "1e-5", "0.5"],
    }  # fmt: skip
    while True:
        command = rng.choice(["account", "account", "calibrate"])
        words = [command, "--scheme", rng.choice([*SCHEMES, "all"])] if rng.random() < 0.9 else [command]
        if command == "calibrate":
            words += ["--target-epsilon", rng.choice(["1e-6", "0.1", "1", "8", "100", rng.choice(NUMBERS)])]
        for flag in flags:
            if command == "calibrate" and flag == "--noise-multiplier":
                continue
            if rng.random() < 0.5:
                words += [flag, rng.choice(plausible[flag]) if rng.random() < 0.8 else rng.choice(NUMBERS)]
        if command == "account":
            words += [extra for extra in ("--trade-off", "--compare") if rng.random() < 0.1]
            words += ["--epsilon", rng.choice(["0", "1", "100"])] if rng.random() < 0.1 else []
        yield words, None


def audits(rng: random.Random):
    """Small audits at corners."""
    while True:
        words = ["audit", "mechanism", "--observations", rng.choice(["8", "100", "2000", rng.choice(NUMBERS[:4])]), "--scheme", rng.choice(SCHEMES)]
        for flag, values in {
            "--noise-multiplier": ["0.01", "1", "100"], "--steps-per-epoch": ["1", "10", "1000"], "--epochs": ["1", "3", "100"], "--buffer-size": ["1", "500"],
            "--batch-size": ["1", "100"], "--estimator": ESTIMATORS, "--threshold-choice": CHOICES, "--claimed-epsilon": ["0", "1", "1e300", "nan"],
            "--claimed-curve": ["poisson", "gdp=1", "gdp=nan", "gdp"], "--delta": ["0", "1e-5", "0.999"], "--significance": ["0.05", "0.5", "0.6", "1e-300"],
        }.items():  # fmt: skip
            if rng.random() < 0.3:
                words += [flag, rng.choice(values)]
        yield words, None


def tables(rng: random.Random):
    """Score files and logs with odd contents."""
    cells = ["1", "2.5", "-3", "nan", "inf", "", '""', '"1"', "1,5", "1_000", "0x10", "score", "a", "\ufeff1", "1e400", '"a\nb"', "'1'", " 1 ", "1;2"]
    headers = ["", "score\n", "score,score\n", '"sco\nre"\n', "\ufeffscore\n", "Score, score\n", "record,score\n", "score\r", '"score\n']
    logs = ['{"epoch":0,"batch":[0,1]}', '{"epoch":0,"batch":[]}', '{"epoch":99999999999,"batch":[1]}', '{"batch":[1]}', '{"epoch":0,"batch":[-1]}', "[", "{}", "null",
            '{"epoch":0,"batch":[0,1],"worker":4294967296}', '{"epoch":0,"batch":[18446744073709551615]}', "[" * 3000, '{"epoch":1e3,"batch":[2]}']  # fmt: skip
    while True:
        if rng.random() < 0.5:
            body = rng.choice(headers) + "\n".join(rng.choice(cells) if rng.random() < 0.2 else str(rng.gauss(0, 1)) for _ in range(rng.choice([0, 1, 4, 200])))
            words = ["estimate", "--scores-in", "in.csv", "--scores-out", "out.csv", "--estimator", rng.choice(ESTIMATORS), "--threshold-choice", rng.choice(CHOICES)]
            words += ["--fair-coins"] if rng.random() < 0.2 else []
            yield words, {"in.csv": body, "out.csv": body if rng.random() < 0.5 else "1\n2\n3\n4\n5\n"}
        else:
            body = "\n".join(rng.choice(logs) if rng.random() < 0.3 else json.dumps({"epoch": i // 4, "batch": rng.sample(range(50), 5)}) for i in range(rng.choice([0, 1, 8, 40])))
            yield ["diagnose", "log.jsonl", "--noise-multiplier", "1", *rng.choice([[], ["--dataset-size", "50"], ["--dataset-size", rng.choice(NUMBERS)]])], {"log.jsonl": body}


def models(rng: random.Random):
    """Model files with huge fields."""
    sizes = ["0", "1", "3", "5", "28", "1000", "200000", "4294967295", "9223372036854775807", "-1", "1.5", "'a'"]
    while True:
        layers = []
        for _ in range(rng.choice([0, 1, 2, 4])):
            kind = rng.choice(["linear", "convolution", "average-pooling", "max-pooling", "tanh", "relu", "odd"])
            fields = {"linear": ["outputs"], "convolution": ["filters", "size", "padding"], "average-pooling": ["size"], "max-pooling": ["size"]}.get(kind, [])
            layers.append("{kind='" + kind + "'" + "".join(f", {field} = {rng.choice(sizes)}" for field in fields if rng.random() < 0.9) + "}")
        text = f"name = {json.dumps(rng.choice(HOSTILE))}\nlayers = [{', '.join([*layers, rng.choice(['{kind=' + chr(39) + 'linear' + chr(39) + '}', ''])])}]\n"
        yield ["audit", "training", "--model", "odd.toml", "--dataset-size", "100", "--batch-size", "50", "--observations", "8", "--quiet"], {"odd.toml": text}


def paths(rng: random.Random):
    """Hostile names, special files, missing files."""
    commands = [["estimate", "--scores-in", "?", "--scores-out", "?"], ["diagnose", "?"], ["report", "?"], ["scan", "?"], ["merge", "?", "-o", "merged"],
                ["audit", "mechanism", "--observations", "8", "--store", "?"], ["audit", "mechanism", "--observations", "8", "--store", "?", "--resume"],
                ["audit", "training", "--observations", "8", "--model", "?"], ["audit", "training", "--observations", "8", "--dataset", "?"]]  # fmt: skip
    special = ["/dev/zero", "/dev/full", ".", "/dev", "fifo.csv", "fifo.jsonl", "fifo.toml", "fifo.npz", "missing/x.csv", "empty.csv", "loop.csv", "locked.csv"]
    while True:
        name = rng.choice(special) if rng.random() < 0.5 else rng.choice(HOSTILE) + rng.choice([".csv", ".jsonl", ".toml", ".npz", ".parquet", ".npy", ".py", ""])
        words = [name if word == "?" else word for word in rng.choice(commands)]
        yield [*words, "--format", rng.choice(["text", "json"])], {"empty.csv": ""}


def parquet(rng: random.Random):
    """Parquet columns of every type, if pyarrow is here."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return
    import decimal

    values = {
        "f64": pa.array([1.0, 2.0, 3.5, 4.0], pa.float64()), "u32": pa.array([1, 2, 3, 2**32 - 1], pa.uint32()), "u64": pa.array([1, 2, 3, 2**64 - 1], pa.uint64()),
        "decimal": pa.array([decimal.Decimal("1.25")] * 4, pa.decimal128(5, 2)), "date": pa.array([1, 2, 3, 4], pa.date32()), "bool": pa.array([True] * 4),
        "text": pa.array(["1", "2", "3", "4"]), "null": pa.array([1.0, None, 2.0, 3.0]), "list": pa.array([[1.0], [2.0], [3.0], [4.0]]), "i8": pa.array([1, 2, -3, 4], pa.int8()),
    }  # fmt: skip
    while True:
        folder = pathlib.Path(tempfile.mkdtemp())
        names = rng.choice([["score"], ["score", "score"], ["epoch", "batch", "record"], ["epoch", "batch", "record", "worker"], ["record", "record"]])
        columns = [values[rng.choice(list(values))] for _ in names]
        try:
            pq.write_table(pa.table(columns, names=names), folder / "x.parquet", store_schema=False)
        except Exception:  # a table that cannot be written attacks nobody
            continue
        content = (folder / "x.parquet").read_bytes()
        shutil.rmtree(folder)
        if rng.random() < 0.3:
            at = rng.randrange(len(content))
            content = content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]
        yield rng.choice([["estimate", "--scores-in", "x.parquet", "--scores-out", "x.parquet"], ["diagnose", "x.parquet"]]), {"x.parquet": content}


def sources(rng: random.Random):
    """Python files and notebooks that repeat something very often."""
    head = "import tensorflow as tf\nimport opacus\nimport torch\n"
    lines = ["a\n", "f()\n", "a;", "x=x.a()\n", "x=x.batch(1)\n", "d=ds.batch(8).shuffle(1)\n", "d=ds.batch(8).shuffle(1);", "def f():pass\n", "class c:pass\n", "x=1 # misdeal: ignore\n",
             "a:b=1\n", "a,b=c,d\n", "f(a=1)\n", 'f"{a}{b}"\n', "a.b.c.d\n", "'\n", "'''\n", "#\n", ")", "(", "?$ ", "\\\n", "if a:\n b\n", "lambda:0\n", "import a.b as c\n", "@a\ndef f(a=1):pass\n",
             "for epoch in x:\n  torch.manual_seed(seed)\n", "m,o,l=e.make_private(module=m,optimizer=o,data_loader=d)\nfor b in d:\n  o.step()\n", "p=np.random.permutation(9)\nfor epoch in x:\n  p[a:b]\n"]  # fmt: skip
    numbered = ["def f{0}():return 1\n", "class C{0}:pass\n", "y{0}=f(x)\n", "p{0}=np.random.permutation(9)\n", "import a{0}\n", "if a:\n y{0}=1\n", "l{0}=torch.utils.data.DataLoader(D{0}(),num_workers=2)\n",
                "m{0},o{0},l{0}=e.make_private(module=m,optimizer=o,data_loader=d{0})\nfor b in d{0}:\n  o{0}.step()\n"]  # fmt: skip
    while True:
        size = rng.choice([1 << 16, 1 << 20, 4 << 20, 16 << 20])
        kind = rng.randrange(5)
        if kind == 0:
            line = rng.choice(lines)
            text = head + line * (size // len(line) - 100)
        elif kind == 1:
            pair = rng.sample(numbered, 2)
            count = min(size, 4 << 20) // 60
            text = head + "".join(line.format(i) for line in pair for i in range(count))
        elif kind == 2:
            table = rng.choice(["1,", "-1.5, ", "'ab', ", "1:2,", "f(),", "a.b,", "(),"])
            text = "x=" + rng.choice("[{(") + table * (size // len(table) - 10)
            text += {"[": "]", "{": "}", "(": ")"}[text[2]] + "\n"
        elif kind == 3:
            ways = "".join(f"  if a:\n    x=x.b{i}()\n" for i in range(rng.randrange(6)))
            text = head + f"def f(x):\n{ways}" + "  x=x.c()\n" * rng.choice([1, 50, 250]) + "  return x\n" + "y=f(x)\n" * rng.choice([10, 1000, 50000])
        else:
            body = rng.choice(["x=1", "import torch\nimport opacus\nd=ds.batch(8).shuffle(1)", "x=(", "%%bash\nls", "", "x=1 # misdeal: ignore"])
            cells = [{"cell_type": "code", "source": body if rng.random() < 0.5 else [body]}] * min(size // (40 + len(body)), 150_000)
            yield ["scan", "a.ipynb", "--format", rng.choice(["text", "json"])], {"a.ipynb": json.dumps({"cells": cells})}
            continue
        yield ["scan", "a.py", "--format", rng.choice(["text", "json", "sarif"])], {"a.py": text}


def logs(rng: random.Random):
    """Batch logs of odd shapes: many epochs, steps, ranks, workers, and huge indices. Without noise: accounting is another family."""
    while True:
        epochs, steps, size = rng.choice([(3000, 20, 50), (100000, 1, 1), (1, 300000, 1), (1, 1, 1000000), (100, 100, 30), (30000, 3, 2), (3, 50000, 2)])
        records = rng.choice([steps * size, 2 * steps * size, 1 << 25, 1000 + size])
        who = rng.choice([lambda i: {}, lambda i: {"rank": i % 20000}, lambda i: {"worker": i % 20000}, lambda i: {"rank": i % 3, "worker": i % 7}])
        step = rng.choice([1, 7919, 2654435761])
        body = "\n".join(
            json.dumps({"epoch": epoch, "batch": [(epoch * 31 + (number * size + i) * step) % records for i in range(size)], **who(number)}, separators=(",", ":"))
            for epoch in range(epochs)
            for number in range(steps)
        )
        yield ["diagnose", "log.jsonl", *rng.choice([[], ["--dataset-size", str(records)]])], {"log.jsonl": body}


def archives(rng: random.Random):
    """Data files that unpack to far more than they weigh."""

    def npy(descr: str, shape: tuple[int, ...], fortran: bool, numbers: int) -> bytes:
        header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
        header += " " * (-(len(header) + 11) % 64) + "\n"
        return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(numbers * int(descr[-1]))

    while True:
        kind = rng.choice(["npz", "npz", "gz", "tar"])
        if kind == "npz":
            shape = rng.choice([(1000, 100), (1000, 300000), (3000000, 1), (1000, 28, 28), (500, 3, 32, 32), (1000, 60000)])
            numbers = math.prod(shape)
            if rng.random() < 0.2:
                shape = (2**31, 2**31)
            labels = rng.choice([(shape[0],), (shape[0], 2), (shape[0], 1000)])
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
                file.writestr("features.npy", npy(rng.choice(["|u1", "<f4"]), shape, rng.random() < 0.3, numbers))
                file.writestr("labels.npy", npy("|u1", labels, False, min(math.prod(labels), 1 << 27)))
            yield ["audit", "training", "--dataset", "x.npz", "--dataset-size", "100", "--batch-size", "50", "--observations", "8", "--quiet"], {"x.npz": packed.getvalue()}
        else:
            zeros = gzip.compress(bytes(rng.choice([1 << 20, 200 << 20, 500 << 20])), 6)
            name, dataset = ("train-images-idx3-ubyte.gz", "fashion-mnist") if kind == "gz" else rng.choice([("cifar-10-binary.tar.gz", "cifar-10"), ("dataset_purchase.tgz", "purchase-100")])
            files = {name: zeros, "train-labels-idx1-ubyte.gz": zeros}
            yield ["audit", "training", "--dataset", dataset, "--data", ".", "--observations", "8", "--quiet"], files


def genuine(program: str) -> dict[str, bytes]:
    """Results and stores as the program writes them."""
    scores = "\n".join(str(math.sin(i)) for i in range(200))
    log = "\n".join(json.dumps({"epoch": i // 6, "batch": [(7 * i + j) % 30 for j in range(5)]}) for i in range(12))
    commands = {
        "estimate": "estimate --scores-in s.csv --scores-out other.csv --claimed-epsilon 1 --trade-off", "all": "estimate --scores-in s.csv --scores-out other.csv --estimator all",
        "audit": "audit mechanism --observations 2000 --trade-off --store s", "exact": "audit mechanism --observations 200 --scores exact --store e",
        "training": "audit training --observations 8 --dataset-size 100 --batch-size 50 --store t", "account": "account --trade-off", "calibrate": "calibrate --target-epsilon 1",
        "diagnose": "diagnose l.jsonl --noise-multiplier 1", "scan": "scan .",
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for name in ("s.csv", "other.csv"):
            (folder / name).write_text(scores)
        (folder / "l.jsonl").write_text(log)
        for result, words in commands.items():
            subprocess.run([program, *words.split(), "--format", "json", "--quiet", "--output", f"{result}.json"], cwd=folder, check=True)
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".json" or path.name in "set"}


# What `genuine` gives; families read it when their first call is made.
GENUINE: dict[str, bytes] = {}


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every list and object of a document with each of its keys."""
    if isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value[:3]):
            yield value, key
            yield from places(inner)


def results(rng: random.Random):
    """Results for `report` in which one value is another, or that are no results at all."""
    odd = [*HOSTILE, None, True, -1, 0, 1e308, 2**64 - 1, -(2**63), "", "x" * 100_000, [], {}, [[]], "<script>alert(1)</script>", [0.5] * 100_000]
    broken = ["[" * 200_000, '{"a":' * 200_000, '"' + "a" * (60 << 20), "\0" * 1000, "\ufeff{}", "1e999999", " " * (80 << 20), "null"]
    while True:
        text = rng.choice(broken)
        if rng.random() < 0.9:
            document = json.loads(GENUINE[rng.choice([name for name in sorted(GENUINE) if name.endswith(".json")])])
            holder, key = rng.choice(list(places(document)))
            if rng.random() < 0.2 and isinstance(holder, dict):
                holder[rng.choice(HOSTILE)] = holder.pop(key)
            else:
                holder[key] = rng.choice(odd)
            text = json.dumps(document, ensure_ascii=rng.random() < 0.5)
        yield ["report", *["r.json"] * rng.choice([1, 1, 3]), "--output", rng.choice(["o.html", "o.html", "o.svg", "o.png"])], {"r.json": text}


def stores(rng: random.Random):
    """Stores that are damaged, or in the way of something else."""
    commands = ["merge s --output m", "merge s m --output m", "merge m --output s", "merge s --output s", "audit mechanism --observations 2000 --store s --resume",
                "audit mechanism --observations 4000 --store s --resume", "audit mechanism --observations 200 --scores exact --store s --resume", "audit mechanism --observations 8 --output s",
                "audit training --observations 8 --dataset-size 100 --batch-size 50 --store s --resume", "account --output s", "report s --output o.html", "scan s", "diagnose s",
                "audit mechanism --observations 2000 --store s --resume --claimed-epsilon 0.1 --check"]  # fmt: skip
    while True:
        content = bytearray(GENUINE[rng.choice("set")])
        for _ in range(rng.choice([0, 0, 1, 1, 3])):
            at = rng.randrange(min(len(content), rng.choice([30, 600, len(content)])))
            content[at : at + rng.choice([0, 1, 1, 8])] = rng.choice([b"", b"\0", b"\xff" * 8, bytes([rng.randrange(256)])])
        content = content[: rng.choice([len(content)] * 5 + [rng.randrange(len(content) + 1)])]
        files = {"s": bytes(content)}
        if rng.random() < 0.5:
            files["m"] = GENUINE[rng.choice("set")]
        yield rng.choice(commands).split(), files


def call(program: str, words: list[str], files: dict[str, str | bytes] | None, folder: pathlib.Path) -> tuple[str | None, float, int]:
    """What is wrong with a call, its processor time and its peak of memory."""
    for name, content in (files or {}).items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (4 * MEMORY, 4 * MEMORY))  # noqa: E731  (the machine survives too)
    with open(folder / ".out", "wb") as out, open(folder / ".err", "wb") as err:
        try:
            child = subprocess.Popen([program, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=limit)
        except ValueError:
            return None, 0.0, 0  # a name that the system does not take
        start = time.monotonic()
        while True:
            ended, status, usage = os.wait4(child.pid, os.WNOHANG)
            if ended:
                break
            if time.monotonic() - start > WALL_SECONDS:
                child.kill()
                _, status, usage = os.wait4(child.pid, 0)
                return "it hangs", usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
            time.sleep(0.002)
        child.returncode = os.waitstatus_to_exitcode(status)
    seconds, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
    stdout, stderr = (folder / ".out").read_bytes(), (folder / ".err").read_bytes()
    shown = stdout.decode("utf-8", "replace") + stderr.decode("utf-8", "replace")
    bad = next((c for c in shown if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 or c in "\u202e\u2028\u2029\u2066"), None)
    is_audit = words[0] == "audit"
    if child.returncode not in (0, 1, 2, 3):
        return f"exit code {child.returncode}", seconds, peak
    if b"panicked" in stderr:
        return "it panics", seconds, peak
    if peak > MEMORY:
        return f"{peak >> 20} MB", seconds, peak
    if seconds > PROCESSOR_SECONDS and not is_audit:
        return f"{seconds:.1f} s of processor time", seconds, peak
    if child.returncode == 2 and not (stderr.startswith(b"misdeal: ") or b"\nmisdeal: " in stderr or b"error" in stderr):
        return "a refusal without `misdeal: `", seconds, peak
    if bad is not None and b'"schema_version"' not in stdout:
        return f"prints U+{ord(bad):04X}", seconds, peak
    if "\nVerdict: HOLDS" in shown:
        return "prints a name's own verdict", seconds, peak
    whole = [name for name, content in (files or {}).items() if content in (GENUINE["s"], GENUINE["e"], GENUINE["t"])]
    if any(not (folder / name).read_bytes().startswith(GENUINE["s"][:8]) for name in whole):
        return "a store is lost", seconds, peak
    return None, seconds, peak


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", default="target/release/misdeal")
    arguments.add_argument("--calls", type=int, default=2000)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--families", default="", help="names, separated by commas; all if not given")
    asked = arguments.parse_args()
    program = str(pathlib.Path(asked.program).resolve())
    GENUINE.update(genuine(program))
    families = [settings, audits, tables, models, paths, parquet, sources, logs, archives, results, stores]
    families = [family for family in families if not asked.families or family.__name__ in asked.families.split(",")]
    streams = {family.__name__: family(random.Random(f"{asked.seed} {family.__name__}")) for family in families}
    counts, problems, worst = dict.fromkeys(streams, 0), [], [0.0, 0]
    kept = {"fifo.csv", "fifo.jsonl", "fifo.toml", "fifo.npz", "loop.csv", "locked.csv"}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for fifo in ("fifo.csv", "fifo.jsonl", "fifo.toml", "fifo.npz"):
            os.mkfifo(folder / fifo)
        (folder / "loop.csv").symlink_to("loop.csv")
        (folder / "locked.csv").write_text("1\n2\n")
        (folder / "locked.csv").chmod(0)
        # Families that have no calls to make, such as Parquet without pyarrow, leave theirs to the others.
        while streams and sum(counts.values()) < asked.calls:
            family = min(streams, key=counts.__getitem__)
            found = next(streams[family], None)
            if found is None:
                del streams[family]
                continue
            problem, seconds, peak = call(program, *found, folder)
            counts[family] += 1
            worst = [max(worst[0], seconds if found[0][0] != "audit" else 0.0), max(worst[1], peak)]
            if problem:
                problems.append({"family": family, "call": found[0], "problem": problem})
                print(f"{problem}: {found[0]!r}", flush=True)
            for left in folder.iterdir():
                if left.name not in kept and left.is_file():
                    left.unlink()
    print(f"{sum(counts.values())} calls, {len(problems)} problems; at most {worst[0]:.1f} s of processor time and {worst[1] >> 20} MB; {counts}")
    if not asked.families:
        keep("attack", seed=asked.seed, calls=counts, problems=problems, most_processor_seconds=round(worst[0], 2), peak_megabytes=worst[1] >> 20)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
