"""Audits of real training: what is found, by adversary, canary and batch size, beside the paper and theory.

usage: MISDEAL_DATA=FOLDER python3 bench/training_audits.py [--share 1.0] [--device cuda]

Purchase-100 is a stand-in where only that is there, and says so. The paper has 10^6 models; these are as many as a processor trains in
minutes (`--share` scales their number). All epsilons are valid lower bounds at 95 % (threshold choice band).
"""
import argparse

import measuring

REFUTING = 20_000  # models with which the claim of epsilon 1 falls: not scaled
RUNS = [
    # name, models, arguments, what the paper prints
    ("mlp, B=100, epsilon 1, partially informed", REFUTING, "--dataset purchase-100 --target-epsilon 1 --threat-model partially-informed", 3.42),
    ("mlp, B=100, epsilon 4, partially informed", 6_000, "--dataset purchase-100 --target-epsilon 4 --threat-model partially-informed", 5.55),
    ("mlp, B=100, epsilon 1, target canary", 4_000, "--dataset purchase-100 --target-epsilon 1 --threat-model target-canary", None),
    ("mlp, B=100, epsilon 1, worst case", 50_000, "--dataset purchase-100 --target-epsilon 1 --threat-model worst-case", None),
    ("mlp, B=100, epsilon 1, partially informed, 32 null-space canaries", 2_000,
     "--dataset purchase-100 --target-epsilon 1 --threat-model partially-informed --canary null-space --canaries 32", None),
    ("lenet, B=100, epsilon 1, partially informed", 300, "--dataset fashion-mnist --model lenet --target-epsilon 1 --threat-model partially-informed", 3.55),
    ("lenet, B=100, epsilon 1, worst case", 30_000, "--dataset fashion-mnist --model lenet --target-epsilon 1 --threat-model worst-case", 4.06),
    ("mlp, B=1000, epsilon 4, worst case", 64_000, "--dataset purchase-100 --batch-size 1000 --target-epsilon 4 --threat-model worst-case", None),
    ("mlp, B=1000, epsilon 4, partially informed, 32 null-space canaries", 2_000,
     "--dataset purchase-100 --batch-size 1000 --target-epsilon 4 --threat-model partially-informed --canary null-space --canaries 32", None),
    ("mlp, B=1000, epsilon 4, partially informed, random", 3_000,
     "--dataset purchase-100 --batch-size 1000 --target-epsilon 4 --threat-model partially-informed --canary random", None),
    ("mlp, B=1000, epsilon 4, partially informed, random, debiased", 1_000,
     "--dataset purchase-100 --batch-size 1000 --target-epsilon 4 --threat-model partially-informed --canary random --debias", None),
    ("mlp, B=1000, epsilon 4, partially informed, null-space", 3_000,
     "--dataset purchase-100 --batch-size 1000 --target-epsilon 4 --threat-model partially-informed --canary null-space", None),
    ("mlp, B=1000, epsilon 4, target canary: as without canaries", 1_000,
     "--dataset purchase-100 --batch-size 1000 --target-epsilon 4 --threat-model target-canary --canary null-space", None),
    ("mlp, B=1000, epsilon 4, worst case, as few", 3_000, "--dataset purchase-100 --batch-size 1000 --target-epsilon 4 --threat-model worst-case", None),
    *[(f"{model}, B={batch}, {canary} canary, bias", 24 if model == "lenet" else 100,
       f"--dataset {data} --model {model} --batch-size {batch} --target-epsilon 1 --threat-model partially-informed --canary {canary}", None)
      for model, data in (("mlp", "purchase-100"), ("lenet", "fashion-mnist")) for batch in (100, 1000)
      for canary in ("random", "dirac", "null-space")],
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    share = options.share
    measuring.build()
    rows = []
    for name, models, arguments, paper in RUNS:
        models = models if models == REFUTING else max(8, 2 * round(share * models / 2))
        report = measuring.misdeal("audit", "training", *arguments.split(), "--device", options.device, "--observations", models, "--threshold-choice", "band")
        kept = ("empirical_epsilon", "raw_epsilon", "valid", "violated", "claimed_epsilon", "train_accuracy", "test_accuracy", "bias",
                "models_per_second", "dataset", "observations", "observations_in")
        row = {"name": name, "arguments": arguments, "paper": paper, "theory": report["theory"],
               "auroc": report["descriptive"]["auroc"], "noise_multiplier": report["setting"]["noise_multiplier"],
               **{field: report[field] for field in kept}}
        rows.append(row)
        bias = row["bias"] or {"mean": 0, "standard_deviation": 0}
        print(f"{name}: {models} models, epsilon at least {row['empirical_epsilon']:.3f} (claim {row['claimed_epsilon']:.3f}"
              f"{', paper ' + str(paper) if paper else ''}), AUROC {row['auroc']['value']:.4f}, test accuracy "
              f"{(row['test_accuracy'] or {}).get('mean', 0):.4f}, bias {bias['mean']:.2e} +- {bias['standard_deviation']:.2e}, "
              f"{row['models_per_second']:.1f} models/s", flush=True)
    measuring.keep("training_audits", rows=rows)


if __name__ == "__main__":
    main()
