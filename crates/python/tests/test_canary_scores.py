"""`CanaryScoreAuditor` beside the numbers of jax-privacy 2.0.0 (testdata/canary_auditor.toml)."""

import math
import pathlib

import numpy as np
import pytest
from misdeal import Bonferroni, BootstrapParams, CanaryScoreAuditor, Explicit, MultiSplit, Split

tomllib = pytest.importorskip("tomllib")
GOLDEN = tomllib.loads((pathlib.Path(__file__).resolve().parents[3] / "testdata" / "canary_auditor.toml").read_text())


@pytest.mark.parametrize("sample", GOLDEN["sample"], ids=lambda sample: f"{len(sample['scores_in'])}-scores")
def test_given_thresholds_give_the_peers_numbers(sample):
    auditor = CanaryScoreAuditor(np.array(sample["scores_in"]) / 64, np.array(sample["scores_out"]) / 64)
    for threshold, significance, delta, clopper_pearson, one_run, one_run_fdp in sample["cases"]:
        given = dict(significance=significance, delta=delta, threshold_strategy=Explicit(threshold))
        assert auditor.epsilon_clopper_pearson(one_sided=False, **given) == pytest.approx(clopper_pearson, rel=1e-9, abs=1e-9)
        assert auditor.epsilon_lower_bound(one_sided=True, **given) <= clopper_pearson + 1e-9
        assert auditor.epsilon_one_run(**given) == pytest.approx(one_run, rel=1e-7, abs=1e-9)
        assert auditor.epsilon_one_run_fdp(**given) == pytest.approx(one_run_fdp, rel=1e-7, abs=1e-9)


def gaussian(shift, number, seed):
    generator = np.random.default_rng(seed)
    return CanaryScoreAuditor(generator.normal(shift, 1, number), generator.normal(0, 1, number))


def test_strategies_bound_the_truth():
    """At significance 1e-6 each bound is below the truth of 1-GDP, epsilon 4.38 at delta 1e-5."""
    auditor = gaussian(1.0, 2000, 0)
    for strategy in (Bonferroni(), Split(seed=1), MultiSplit(num_samples=10, seed=2), Explicit(2.0)):
        found = auditor.epsilon_clopper_pearson(1e-6, 1e-5, threshold_strategy=strategy)
        assert 0 <= found < 4.38
    assert 0.5 < auditor.epsilon_clopper_pearson(0.05, 1e-5) < auditor.epsilon_from_gdp(0.05, 1e-5) < 4.38
    assert auditor.epsilon_one_run(0.05, 1e-5) >= 0
    with pytest.raises(ValueError, match="threshold_strategy"):
        auditor.epsilon_clopper_pearson(0.05, threshold_strategy="max")


def test_figures_of_the_hull():
    auditor = CanaryScoreAuditor([3, 2, 1, 0], [2.5, 0.5, 0.25, -1])
    # At or above 3: (0, 1); 1: (1, 3); 0: (3, 4): the hull's corners.
    assert auditor.attack_auroc() == pytest.approx((0.25 + 0.75) / 2 * 0.25 + (0.75 + 1) / 2 * 0.5 + 0.25)
    assert auditor.tpr_at_given_fpr(0.0) == 0.25
    assert auditor.tpr_at_given_fpr([0.125, 0.25, 1.0]) == pytest.approx([0.5, 0.75, 1.0])
    assert auditor.max_accuracy() == pytest.approx(0.75)
    assert auditor.max_accuracy(significance=0.1) > 0.75
    assert auditor.epsilon_raw_counts(min_count=1) == pytest.approx(math.log(3))
    assert auditor.epsilon_raw_counts(min_count=4) == 0


def test_bootstrap_encloses_the_figure():
    auditor = gaussian(1.0, 300, 3)
    params = BootstrapParams.confidence_interval(num_samples=200, seed=1)
    for figure in (auditor.attack_auroc, lambda **given: auditor.tpr_at_given_fpr(0.1, **given)):
        low, high = figure(bootstrap_params=params)
        assert low < figure() < high
    accelerated = BootstrapParams(num_samples=50, acceleration=True, seed=1)
    assert len(auditor.attack_auroc(bootstrap_params=accelerated)) == 2


@pytest.mark.parametrize("bad", [[], [[1.0]], [math.nan]])
def test_bad_scores_are_refused(bad):
    with pytest.raises(ValueError, match="canary_scores"):
        CanaryScoreAuditor(bad, [1.0])
    with pytest.raises(ValueError, match="canary_scores"):
        CanaryScoreAuditor([1.0], bad)
