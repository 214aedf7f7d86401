"""A billion observations of full shuffling beside the paper's figures and the exact pair: T = 100, one epoch, delta 1e-5.

usage: python3 bench/accuracy.py     about a minute and a half on two cores, after cargo build --release
"""
import resource

import measuring

PAPER = {0.5: 8.96, 1.0: 4.01, 1.5: 1.44}


def main():
    # Built by hand before (cargo build --release): the compiler must not count as a child with a large memory.
    results = []
    for noise, paper in PAPER.items():
        common = ["audit", "mechanism", "--noise-multiplier", noise, "--observations", "1e9"]
        store = measuring.ROOT / "target" / f"accuracy-{noise}.store"
        store.unlink(missing_ok=True)
        valid = measuring.misdeal(*common, "--store", store)
        largest = measuring.misdeal(*common, "--store", store, "--resume", "--threshold-choice", "max")
        exact = valid["theory"]["shuffle"]["epsilon_lower_bound"]
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"noise {noise}: maximum {largest['empirical_epsilon']:.4f} (paper {paper}), hold-out "
              f"{valid['empirical_epsilon']:.4f} (valid), exact pair at least {exact:.4f}, {valid['seconds']:.1f} s, at most {peak:.0f} MB")
        for report in (valid, largest):
            del report["store"]
        results.append({"noise_multiplier": noise, "paper": paper, "peak_megabytes": peak, "hold-out": valid, "max": largest})
        store.unlink()
    measuring.keep("accuracy", results=results)


main()
