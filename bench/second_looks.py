"""How often bounds exceed the truth where an assumption fails: coins that nobody tossed, looks that nobody paid for, unequal worlds.

Nothing leaks in any of these audits (both worlds have the same law), so that a bound above 0 is wrong. Prints a table and writes
bench/runs/second_looks.json. Needs the Python package: `pip install .`, then `python3 bench/second_looks.py [--runs 1000]`.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import platform
import subprocess

import misdeal
import numpy as np

SIGNIFICANCE = 0.05
LOOKS = 10
EACH = 1_000


def above(scores_in: np.ndarray, scores_out: np.ndarray, estimator: str, choice: str, **options: bool) -> tuple[bool, bool]:
    """Whether the bound is above the truth, and whether it is marked valid."""
    found = misdeal.estimate(scores_in, scores_out, estimator=estimator, threshold_choice=choice, significance=SIGNIFICANCE, delta=1e-5, **options)
    return found.empirical_epsilon > 0, found.valid


def split(generator: np.random.Generator, canaries: int, included: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Scores of canaries, so many of them included, or each by a fair coin."""
    scores = generator.standard_normal(canaries)
    included = generator.binomial(canaries, 0.5) if included is None else included
    return scores[:included], scores[included:]


def one_run(generator: np.random.Generator, canaries: int, included: int | None) -> tuple[bool, bool]:
    coins = {"fair_coins": True} if included is None else {}
    return above(*split(generator, canaries, included), "one-run", "band", **coins)


def continued(generator: np.random.Generator, choice: str) -> tuple[bool, bool]:
    """Up to ten looks, each after as many runs more, stopped at the first that shows leakage."""
    scores = generator.standard_normal((2, LOOKS * EACH))
    looks = [above(scores[0, : n * EACH], scores[1, : n * EACH], "clopper-pearson", choice) for n in range(1, LOOKS + 1)]
    return any(shown for shown, _ in looks), looks[0][1] and choice == "sequential"


CASES = {
    "one-run, band, a fair coin for each of 2,000 canaries": lambda generator: one_run(generator, 2000, None),
    "one-run, band, 1,100 included and 900 left out, no coins": lambda generator: one_run(generator, 2000, 1100),
    "one-run, band, 2,000 included and 100 left out, no coins": lambda generator: one_run(generator, 2100, 2000),
    "clopper-pearson, band, 1,100 scores against 900": lambda g: above(*split(g, 2000, 1100), "clopper-pearson", "band"),
    "clopper-pearson, band, 2,000 scores against 100": lambda g: above(*split(g, 2100, 2000), "clopper-pearson", "band"),
    "clopper-pearson, hold-out, 2,000 scores against 100": lambda g: above(*split(g, 2100, 2000), "clopper-pearson", "hold-out"),
    "divergence, 2,000 scores against 100": lambda g: above(*split(g, 2100, 2000), "divergence", "band"),
    "clopper-pearson, band, ten looks": lambda g: continued(g, "band"),
    "clopper-pearson, hold-out, ten looks": lambda g: continued(g, "hold-out"),
    "clopper-pearson, sequential, ten looks": lambda g: continued(g, "sequential"),
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=1000)
    runs = arguments.parse_args().runs
    rows = []
    print(f"{'audits without leakage':60} above 0   marked valid")
    for number, (name, case) in enumerate(CASES.items()):
        found = [case(np.random.default_rng([number, run])) for run in range(runs)]
        rate, valid = sum(shown for shown, _ in found) / runs, all(valid for _, valid in found)
        rows.append({"case": name, "runs": runs, "rate": rate, "valid": valid})
        print(f"{name:60} {100 * rate:5.1f} %   {'yes' if valid else 'no'}", flush=True)
        # Five standard deviations of a rate at the significance.
        assert not valid or rate <= SIGNIFICANCE + 5 * (SIGNIFICANCE / runs) ** 0.5, name
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    document = {"command": f"python3 bench/second_looks.py --runs {runs}", "commit": commit, "machine": platform.processor() or platform.machine(), "rows": rows}
    pathlib.Path(__file__).with_name("runs").joinpath("second_looks.json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
