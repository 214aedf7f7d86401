"""How often each estimate is above the truth, and how tight it is, on mechanisms whose epsilon is known exactly.

usage: python3 bench/coverage.py [--audits 10000] [--slow-audits 1000] [--other-audits 1000] [--tight-audits 100]
                                 [--most-observations 1e6] [--seed 0] [--rows FILE]

Counts are drawn instead of scores (crates/misdeal/examples/coverage.rs), so that a million observations cost a few hundred binomial
numbers. The program appends a row a cell to FILE (target/coverage.jsonl unless said) and leaves out those that are there, so that a run can
be broken off and continued, here or elsewhere. Keeps bench/runs/coverage.json and writes its tables to bench/runs/coverage.md. A
sequential audit counts as above the truth if any look refutes the truth, as whoever stops at the worst moment would report.
"""
import argparse
import json
import subprocess

import measuring

PEER = {100_000: 2.478, 1_000_000: 3.130, 10_000_000: 3.639}  # jax-privacy 2.0.0 with Bonferroni, N(1,1) against N(0,1)


def run(options, rows):
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "misdeal", "--example", "coverage"], cwd=measuring.ROOT, check=True)
    target = json.loads(subprocess.run(["cargo", "metadata", "--format-version", "1", "--no-deps"], cwd=measuring.ROOT, check=True,
                                       capture_output=True, text=True).stdout)["target_directory"]
    numbers = [options.audits, options.slow_audits, options.other_audits, options.tight_audits, options.most_observations, options.seed]
    subprocess.run([f"{target}/release/examples/coverage", *map(str, numbers), rows], check=True)
    return read(rows)


def read(rows):
    found = [json.loads(line) for line in open(rows)]
    return {table: [row for row in found if row["table"] == table] for table in ("coverage", "tightness")}


def percent(row):
    share = 100 * row["above_the_truth"] / row["audits"]
    text = f"{share:.1f}" if share >= 0.05 or share == 0 else f"{share:.2f}"
    return text if row["valid"] else f"({text})"


def tables(results):
    rows = results["coverage"]
    mechanisms = list(dict.fromkeys(row["mechanism"] for row in rows))
    kinds = list(dict.fromkeys((row["estimator"], row["threshold_choice"]) for row in rows))
    lines = ["Share of the audits above the truth, in percent: the largest over both deltas and all numbers of observations. In brackets: not",
             "marked valid for that mechanism.", "", "| estimator | threshold choice | " + " | ".join(mechanisms) + " |",
             "|---|---|" + "---|" * len(mechanisms)]
    for estimator, choice in kinds:
        cells = []
        for mechanism in mechanisms:
            of = [row for row in rows if (row["estimator"], row["threshold_choice"], row["mechanism"]) == (estimator, choice, mechanism)]
            cells.append(percent(max(of, key=lambda row: row["above_the_truth"] / row["audits"])) if of else "")
        lines.append(f"| {estimator} | {choice} | " + " | ".join(cells) + " |")
    lines += ["", "Tightness: mean estimate for N(1, 1) against N(0, 1), delta 1e-5 (true 4.377).", "",
              "| estimator | threshold choice | " + " | ".join(f"{n:.0e} observations" for n in PEER) + " |", "|---|---|" + "---|" * len(PEER)]
    found = {(row["estimator"], row["threshold_choice"], row["observations"]): row["mean_epsilon"] for row in results["tightness"]}
    for estimator, choice in dict.fromkeys(key[:2] for key in found):
        lines.append(f"| {estimator} | {choice} | " + " | ".join(f"{found[estimator, choice, n]:.3f}" for n in PEER) + " |")
    lines.append("| jax-privacy | Bonferroni | " + " | ".join(f"{value:.3f}" for value in PEER.values()) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    for name, default in (("audits", 10_000), ("slow-audits", 1_000), ("other-audits", 1_000), ("tight-audits", 100), ("most-observations", 1e6), ("seed", 0)):
        parser.add_argument(f"--{name}", type=float, default=default)
    parser.add_argument("--rows", default=str(measuring.ROOT / "target" / "coverage.jsonl"))
    options = parser.parse_args()
    results = run(options, options.rows)
    keep(results)


def keep(results, **more):
    text = tables(results)
    print(text)
    (measuring.ROOT / "bench" / "runs" / "coverage.md").write_text(text)
    measuring.keep("coverage", significance=0.05, **more, **results)


if __name__ == "__main__":
    main()
