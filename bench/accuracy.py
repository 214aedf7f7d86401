"""A billion observations of full shuffling beside the paper's figures and the exact pair: T = 100, one epoch, delta 1e-5.

usage: python3 bench/accuracy.py     about a minute and a half on two cores
"""
import measuring

PAPER = {0.5: 8.96, 1.0: 4.01, 1.5: 1.44}


def main():
    measuring.build()
    results = []
    for noise, paper in PAPER.items():
        common = ["audit", "mechanism", "--noise-multiplier", noise, "--observations", "1e9"]
        store = measuring.ROOT / "target" / f"accuracy-{noise}.store"
        store.unlink(missing_ok=True)
        valid = measuring.misdeal(*common, "--store", store)
        largest = measuring.misdeal(*common, "--store", store, "--resume", "--threshold-choice", "max")
        exact = valid["theory"]["shuffle"]["epsilon_lower_bound"]
        print(f"noise {noise}: maximum {largest['empirical_epsilon']:.4f} (paper {paper}), hold-out "
              f"{valid['empirical_epsilon']:.4f} (valid), exact pair at least {exact:.4f}, {valid['seconds']:.1f} s")
        for report in (valid, largest):
            del report["store"]
        results.append({"noise_multiplier": noise, "paper": paper, "hold-out": valid, "max": largest})
        store.unlink()
    measuring.keep("accuracy", results=results)


main()
