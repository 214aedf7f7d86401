"""What jax-privacy 2.0.0 says of shared scores, to testdata/canary_auditor.toml.

usage: python3 testdata/scripts/canary_auditor.py     needs jax-privacy==2.0.0

Scores are multiples of 1/64, so that they are the same numbers in the file, in Python and in Rust. Thresholds are given, so that only
the estimators are compared. The peer finds its roots to 1e-6; here it is asked for 1e-12.
"""
import functools
from pathlib import Path

import numpy as np
import scipy.optimize
from jax_privacy import auditing

scipy.optimize.brentq = functools.wraps(scipy.optimize.brentq)(
    lambda *arguments, _find=scipy.optimize.brentq, **options: _find(*arguments, **{**options, "xtol": 1e-12})
)


def draw(generator, count, shift):
    return np.round(64 * (generator.standard_normal(count) + shift)) / 64


def main():
    lines = ["# Written by testdata/scripts/canary_auditor.py from jax-privacy 2.0.0.", ""]
    for seed, (n_in, n_out, shift) in enumerate([(60, 50, 3.0), (300, 320, 1.0), (1000, 1000, 2.0)]):
        generator = np.random.default_rng(seed)
        scores_in, scores_out = draw(generator, n_in, shift), draw(generator, n_out, 0.0)
        auditor = auditing.CanaryScoreAuditor(scores_in, scores_out)
        lines += ["[[sample]]"]
        lines += [f"scores_in = {(64 * scores_in).astype(int).tolist()}", f"scores_out = {(64 * scores_out).astype(int).tolist()}"]
        lines += ["# threshold, significance, delta, clopper-pearson, one-run, one-run-fdp", "cases = ["]
        for threshold in (0.5, 1.5, 2.5, 3.0):
            for significance, delta in ((0.05, 1e-5), (0.01, 1e-3), (0.2, 0.01)):
                given = {"significance": significance, "delta": delta, "threshold_strategy": auditing.Explicit(threshold)}
                found = [
                    auditor.epsilon_clopper_pearson(one_sided=False, **given),
                    auditor.epsilon_one_run(**given),
                    auditor.epsilon_one_run_fdp(**given),
                ]
                numbers = [threshold, significance, delta, *map(float, found)]
                lines.append("    [" + ", ".join(map(repr, numbers)) + "],")
        lines += ["]", ""]
    path = Path(__file__).resolve().parents[1] / "canary_auditor.toml"
    path.write_text("\n".join(lines))


main()
