"""kill -9 at random moments of three kinds of runs, each resumed to its end: the same bytes as a run that nobody disturbed.

python3 bench/kills.py [--kills 200] [--seed 0] [--program FILE] [--output FILE]
"""
import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path

from disturbed import Failure, disturbed, litter, result, undisturbed

MODEL = """name = "small"
layers = [{ kind = "linear", outputs = 8 }, { kind = "relu" }, { kind = "linear" }]
"""
MECHANISM = ["audit", "mechanism", "--engine", "cpu", "--save-every", "0.05"]
KINDS = {
    "mechanism, counts": [*MECHANISM, "--steps-per-epoch", "100", "--observations", "1e7"],
    "mechanism, exact": [*MECHANISM, "--steps-per-epoch", "400", "--observations", "2e6", "--scores", "exact"],
    "training": ["audit", "training", "--dataset-size", "200", "--batch-size", "20", "--model", "small.toml", "--observations", "1000",
                 "--save-every", "0.05", "--device", "cpu"],
}  # fmt: skip


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--kills", type=int, default=200)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--program", type=Path)
    arguments.add_argument("--output", type=Path)
    options = arguments.parse_args()
    program = options.program
    if program is None:
        from measuring import MISDEAL, build

        build()
        program = MISDEAL
    program = program.resolve()
    choice = random.Random(options.seed)
    kinds, failures, start = {}, [], time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "small.toml").write_text(MODEL)
        for index, (kind, command) in enumerate(KINDS.items()):
            expected, seconds = undisturbed(program, command, folder / f"whole-{index}")
            whole = (folder / f"whole-{index}").read_bytes()
            wanted = (options.kills * (index + 1)) // len(KINDS) - (options.kills * index) // len(KINDS)
            seen = {"kills": 0, "runs": 0, "identical": 0, "temporary_files_left": 0, "undisturbed_seconds": round(seconds, 2)}
            while seen["kills"] < wanted and seen["runs"] < 10 * wanted:
                store = folder / f"run-{index}-{seen['runs']}"
                try:
                    most = min(wanted - seen["kills"], choice.randint(1, 8))
                    document, met = disturbed(program, command, store, most, seconds, choice)
                    same = result(document) == result(expected) and store.read_bytes() == whole
                    if not same:
                        failures.append(f"{kind}, run {seen['runs']}: another result or store")
                except Failure as failure:
                    failures.append(f"{kind}, run {seen['runs']}: {failure}")
                    same, met = False, most
                seen["kills"] += met
                seen["runs"] += 1
                seen["identical"] += same
                seen["temporary_files_left"] += litter(folder)
                store.unlink(missing_ok=True)
            kinds[kind] = seen
            print(f"{kind}: {seen}", flush=True)
    record = {
        "kills": sum(seen["kills"] for seen in kinds.values()),
        "kinds": kinds,
        "failures": failures,
        "seconds": round(time.monotonic() - start, 1),
    }
    if options.output:
        options.output.write_text(json.dumps(record, indent=1) + "\n")
    else:
        from measuring import keep

        keep("kills", **record)
    print(f"{record['kills']} kills, {len(failures)} failures")
    sys.exit(1 if failures or not record["kills"] else 0)


main()
