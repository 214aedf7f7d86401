"""Blind audits of buffers and of batch-then-shuffle, beside the paper and the exact values.

usage: python3 bench/buffers.py [OBSERVATIONS]        10^7 by default, a quarter of an hour on two cores; 10^6 takes two minutes

The paper's setting for Purchase-100: 100 batches of 100 records, one epoch, noise calibrated to Poisson's epsilon 0.1, 0.2 and 0.4 at
delta 1e-5. A buffer of 1,000 records whose size the adversary guesses, full shuffling, and batches that are made before they are shuffled with
the paper's crafted records. Each is audited with a valid bound (band), and as the paper does (the largest over thresholds and guesses, which is
no bound). Exact values are theory's lower bounds, which are those of the pair that is played.
"""
import sys
import tempfile

import measuring

OBSERVATIONS = sys.argv[1] if len(sys.argv) > 1 else "1e7"
SHAPE = ["--steps-per-epoch", 100, "--batch-size", 100, "--epochs", 1]
# What the paper audited at epsilon 0.1, 0.2 and 0.4.
PAPER = {
    "partial-shuffle": [0.29, 1.12, 2.51],
    "shuffle": [0.09, 0.31, 1.80],
    "batch-then-shuffle": [1.00, 1.86, 3.06],
}
FLAGS = {
    "partial-shuffle": ["--buffer-size", 1000, "--search-buffer"],
    "shuffle": [],
    "batch-then-shuffle": [],
}


def audit(scheme, noise, how, *more):
    return measuring.misdeal(
        "audit", "mechanism", *SHAPE, "--noise-multiplier", noise, "--scheme", scheme, *FLAGS[scheme], *more,
        "--observations", OBSERVATIONS, "--threshold-choice", how, "--delta", 1e-5)


def main():
    measuring.build()
    rows = []
    for place, epsilon in enumerate((0.1, 0.2, 0.4)):
        noise = measuring.misdeal(
            "calibrate", "--target-epsilon", epsilon, "--delta", 1e-5, *SHAPE, "--scheme", "poisson")["noise_multiplier"]
        for scheme, paper in PAPER.items():
            searches = "--search-buffer" in FLAGS[scheme]
            if searches:
                valid = audit(scheme, noise, "band")
                as_paper = audit(scheme, noise, "max", "--uncorrected")
            else:
                with tempfile.TemporaryDirectory() as folder:
                    store = ["--store", f"{folder}/scores"]
                    valid = audit(scheme, noise, "band", *store)
                    as_paper = audit(scheme, noise, "max", *store, "--resume")
            exact = valid["theory"][scheme]
            row = {
                "poisson_epsilon": epsilon, "noise_multiplier": noise, "scheme": scheme, "paper": paper[place],
                "valid_bound": valid["empirical_epsilon"], "as_the_paper": as_paper["empirical_epsilon"],
                "exact_lower_bound": exact["epsilon_lower_bound"], "upper_bound": exact["epsilon_upper_bound"],
                "seconds": valid["seconds"],
            }
            if searches:
                row["guessed_buffer"] = valid["buffer_search"]["buffer_size"]
                row["guesses"] = len(valid["buffer_search"]["guesses"])
            rows.append(row)
            print(f"{epsilon} {scheme:20} paper {paper[place]:.2f}  as the paper {row['as_the_paper']:.3f}  "
                  f"valid {row['valid_bound']:.3f}  exact {row['exact_lower_bound']:.3f} to {row['upper_bound']:.3f}")
    measuring.keep("buffers", observations=float(OBSERVATIONS), rows=rows)


if __name__ == "__main__":
    main()
