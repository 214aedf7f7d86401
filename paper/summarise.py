"""Writes summary.md into every folder of paper/runs, from the documents that `misdeal reproduce --format json` wrote there and run.toml beside
them: python3 paper/summarise.py [--check]. With --check nothing is written, and the exit code is 1 where a summary is not what it would write. Folders whose run.toml says kept = "summary" have no documents and stay as they are."""

import json
import math
import pathlib
import sys
import tomllib

RUNS = pathlib.Path(__file__).parent / "runs"


def number(value):
    """A number with three digits after the point, or nothing."""
    return "" if value is None else f"{value:.3f}"


def at_least(value):
    """A lower bound, rounded down."""
    return number(value if value is None else math.floor(1000 * value) / 1000)


def at_most(value):
    """An upper bound, rounded up."""
    return number(math.ceil(1000 * value) / 1000)


def interval(bounds):
    """Theory's interval for what was played."""
    lower, upper = bounds["epsilon_lower_bound"], bounds["epsilon_upper_bound"]
    return f"{at_least(lower)} to {at_most(upper)}" if upper is not None else f"at least {at_least(lower)}"


def figures(spread):
    """A mean and a standard deviation, or nothing."""
    return "" if spread is None else f"{spread['mean']:.3g} ± {spread['standard_deviation']:.3g}"


def line(row, of_trainings, with_bias):
    """One row of the table; trainings have the accuracy of their models at its end, and what other records add to an output."""
    spread = f" ± {row['standard_deviation']:.3f}" if row["standard_deviation"] is not None else ""
    theory = row["theory"].get((row["setting"] or {}).get("scheme", ""), None)
    return "| " + " | ".join([
        row["name"], number(row["printed"]), number(row["ours"]) + spread, at_least(row["valid_epsilon"]),
        interval(theory) if theory else "", row["verdict"] or "", f"{row['observations']:.0e}".replace("+", ""), str(row["runs"]),
        row["engine"] or "", f"{row['seconds']:.1f}", *([number((row.get("test_accuracy") or {}).get("mean"))] if of_trainings else []),
        *([figures(row.get("bias"))] if with_bias else []),
    ]) + " |"


def summary(folder):
    """The whole page of a folder."""
    run = tomllib.loads((folder / "run.toml").read_text())
    lines = [f"# {run['machine']}, {run['date']}", "", f"Commit `{run['commit']}`.", ""]
    lines += [f"- {remark}" for remark in run["remarks"]]
    for name, command in run["commands"].items():
        document = json.loads((folder / name).read_text())
        lines += ["", f"## `{command}`", "", f"[{name}]({name}), {document['seconds']:.0f} s.", ""]
        rows = [row for row in document["rows"] if row["ours"] is not None]
        of_trainings = any(row.get("test_accuracy") for row in rows)
        with_bias = any(row.get("bias") for row in rows)
        lines += ["| what | printed | ours, the maximum as in the paper | a bound that holds | theory | verdict | observations | runs | engine | s |" + " test accuracy |" * of_trainings + " bias of an output |" * with_bias,
                  "|---|---|---|---|---|---|---|---|---|---|" + "---|" * (of_trainings + with_bias)]
        lines += [line(row, of_trainings, with_bias) for row in rows]
    return "\n".join(lines) + "\n"


def main():
    wrong = []
    for folder in sorted(path.parent for path in RUNS.glob("*/run.toml")):
        if tomllib.loads((folder / "run.toml").read_text()).get("kept") == "summary":
            continue  # its documents are not kept: the commands write them again
        page, file = summary(folder), folder / "summary.md"
        if "--check" not in sys.argv:
            file.write_text(page)
        elif not file.exists() or file.read_text() != page:
            wrong.append(str(file))
    if wrong:
        sys.exit("not what paper/summarise.py would write: " + ", ".join(wrong))


if __name__ == "__main__":
    main()
