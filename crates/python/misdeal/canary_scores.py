"""A drop-in for `jax_privacy.auditing.CanaryScoreAuditor` (2.0.0): the same names, arguments and results, so that switching is one import.

```python
from misdeal import CanaryScoreAuditor       # was: from jax_privacy.auditing import CanaryScoreAuditor
```

What differs:

- **`Bonferroni()`, the default strategy, is misdeal's band.** jax-privacy divides the significance by the number of corners of the
  empirical ROC curve's hull, and those corners were chosen by looking at the same scores, so that nothing proves its bound. A band fixes
  its thresholds by ranks in advance: its bound is proven, for any mechanism. It looks at both tails, whatever `one_sided` says.
- **`one_run` bounds with a band fix the number of guesses in advance**, which the theorem asks for.
- **`epsilon_from_gdp` takes a band too.** As in jax-privacy it assumes a Gaussian mechanism, and bounds nothing else.
- Thresholds of `Split` and `MultiSplit` are searched among all of them, not the hull's corners alone; the random partition of
  a seed is the same. `Explicit` gives the same numbers, to the tolerance of jax-privacy's root finder (1e-6).
- Scores that are not finite are refused. Bounds are searched best-first in compiled code, and need no SciPy, JAX or dp-accounting.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native
from .estimates import as_array, estimate


Figures = float | npt.NDArray[np.float64]


class ThresholdStrategy:
    """How the threshold of a bound is chosen."""


class Bonferroni(ThresholdStrategy):
    """All thresholds at once: misdeal's band, which is proven to hold."""


@dataclasses.dataclass(frozen=True)
class Explicit(ThresholdStrategy):
    """A threshold that was fixed without looking at the scores."""

    threshold: float


@dataclasses.dataclass(frozen=True)
class Split(ThresholdStrategy):
    """One part of the scores chooses the threshold, the other is counted."""

    threshold_estimation_frac: float = 0.5
    seed: int | None = None


@dataclasses.dataclass(frozen=True)
class MultiSplit(ThresholdStrategy):
    """The median over many splits, each at half the significance (Meinshausen, Meier and Bühlmann, 2009)."""

    num_samples: int = 100
    threshold_estimation_frac: float = 0.5
    seed: int | None = None


@dataclasses.dataclass(frozen=True)
class BootstrapParams:
    """How often scores are resampled, and which quantiles of a figure are reported (Efron, 1987)."""

    num_samples: int = 1000
    quantiles: npt.ArrayLike = (0.025, 0.975)
    bias_correction: bool = True
    acceleration: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        quantiles = np.asarray(self.quantiles)
        if quantiles.size == 0 or not np.all((0 < quantiles) & (quantiles < 1)):
            raise ValueError(f"quantiles is {self.quantiles}, but numbers between 0 and 1 are allowed; at least one")
        if self.acceleration and not self.bias_correction:
            raise ValueError("acceleration is True, but only False is allowed without bias_correction; it corrects the correction")

    @classmethod
    def confidence_interval(cls, num_samples: int = 1000, confidence: float = 0.95, seed: int | None = None) -> BootstrapParams:
        """The quantiles of an interval in the middle."""
        if not 0 < confidence < 1:
            raise ValueError(f"confidence is {confidence}, but a number between 0 and 1 is allowed; 0.95 is common")
        return cls(num_samples=num_samples, quantiles=((1 - confidence) / 2, (1 + confidence) / 2), seed=seed)


class CanaryScoreAuditor:
    """Bounds and figures from the attack scores of held-in and held-out canaries; held-in ones should score higher.

    >>> auditor = CanaryScoreAuditor(np.arange(100) + 9.5, np.arange(100))
    >>> float(round(auditor.tpr_at_given_fpr(0.01), 2)), float(auditor.attack_auroc())
    (0.11, 0.595)
    """

    def __init__(self, in_canary_scores: npt.ArrayLike, out_canary_scores: npt.ArrayLike) -> None:
        self._in = _checked("in_canary_scores", in_canary_scores)
        self._out = _checked("out_canary_scores", out_canary_scores)
        # The corners of the ROC curve's hull: canaries of either kind at or above a threshold, from none to all.
        self._true, self._false = _hull(self._in, self._out)

    def epsilon_clopper_pearson(
        self, significance: float, delta: float = 0, one_sided: bool = True, *, threshold_strategy: ThresholdStrategy = Bonferroni()
    ) -> float:
        """A lower bound on epsilon, by Clopper-Pearson bounds on both error rates."""
        _check("significance", significance, 0, 0.5)
        return self._with_strategy(threshold_strategy, "clopper-pearson", significance, delta, one_sided)

    def epsilon_lower_bound(
        self, significance: float, delta: float = 0, one_sided: bool = True, *, threshold_strategy: ThresholdStrategy = Bonferroni()
    ) -> float:
        """`epsilon_clopper_pearson`, by the name that it had before."""
        return self.epsilon_clopper_pearson(significance, delta, one_sided, threshold_strategy=threshold_strategy)

    def epsilon_one_run(
        self, significance: float, delta: float, one_sided: bool = True, *, threshold_strategy: ThresholdStrategy = Bonferroni()
    ) -> float:
        """A lower bound for canaries of one training (Steinke, Nasr and Jagielski, 2023)."""
        return self._one_run("one-run", significance, delta, one_sided, threshold_strategy)

    def epsilon_one_run_fdp(
        self, significance: float, delta: float, one_sided: bool = True, *, threshold_strategy: ThresholdStrategy = Bonferroni()
    ) -> float:
        """A lower bound for canaries of one training of a Gaussian mechanism (Mahloujifar, Melis and Chaudhuri, 2024)."""
        return self._one_run("one-run-fdp", significance, delta, one_sided, threshold_strategy)

    def epsilon_from_gdp(self, significance: float, delta: float, eps_tol: float = 1e-6) -> float:
        """A lower bound if the mechanism is Gaussian (Nasr et al., 2023), and none else; `eps_tol` is kept for old callers."""
        _check("significance", significance, 0, 0.5)
        _check("delta", delta, 0, 1)
        return self._band("gdp", significance, delta)

    def epsilon_raw_counts(
        self, min_count: int = 50, delta: float = 0, one_sided: bool = True, *, bootstrap_params: BootstrapParams | None = None
    ) -> Figures:
        """ln(TPR/FPR) with no confidence, over thresholds with at least `min_count` false positives."""
        if min_count < 1:
            raise ValueError(f"min_count is {min_count}, but a whole number from 1 is allowed; it keeps the variance low")
        if bootstrap_params is not None:
            return self._bootstrap(lambda auditor: auditor.epsilon_raw_counts(min_count, delta, one_sided), bootstrap_params)
        found = _raw_epsilon(self._true, self._false, min_count, delta)
        if not one_sided:
            negatives = (self._false[-1] - self._false)[::-1], (self._true[-1] - self._true)[::-1]
            found = max(found, _raw_epsilon(*negatives, min_count, delta))
        return max(found, 0.0)

    def tpr_at_given_fpr(
        self, fpr: npt.ArrayLike, *, bootstrap_params: BootstrapParams | None = None
    ) -> Figures:
        """The largest true-positive rate at a false-positive rate, for tests that may flip coins between two thresholds."""
        rates = np.asarray(fpr)
        if not np.all((0 <= rates) & (rates <= 1)):
            raise ValueError(f"fpr is {rates}, but numbers from 0 to 1 are allowed; it is a rate")
        if bootstrap_params is not None:
            if rates.ndim:
                raise ValueError(f"fpr has {rates.ndim} dimensions, but one number is allowed with a bootstrap; ask for each alone")
            return self._bootstrap(lambda auditor: auditor.tpr_at_given_fpr(rates), bootstrap_params)
        return _rate_at(rates * self._false[-1], self._true, self._false)

    def attack_auroc(self, *, bootstrap_params: BootstrapParams | None = None) -> Figures:
        """The area under the hull of the ROC curve."""
        if bootstrap_params is not None:
            return self._bootstrap(CanaryScoreAuditor.attack_auroc, bootstrap_params)
        true, false = self._true / self._true[-1], self._false / self._false[-1]
        return float(0.5 * np.dot(true[1:] + true[:-1], np.diff(false)))

    def max_accuracy(self, *, prevalence: float | None = None, significance: float | None = None) -> float:
        """The largest accuracy of a threshold; with `significance`, an upper confidence bound at each corner."""
        ins, outs = int(self._true[-1]), int(self._false[-1])
        share = ins / (ins + outs) if prevalence is None else prevalence
        right = outs - self._false
        if significance is None:
            true_rate, right_rate = self._true / ins, right / outs
        else:
            true_rate = _native.clopper_pearson_upper(self._true, ins, significance / 2)
            right_rate = _native.clopper_pearson_upper(right, outs, significance / 2)
        return float(np.max(true_rate * share + right_rate * (1 - share)))

    def _one_run(self, name: str, significance: float, delta: float, one_sided: bool, strategy: ThresholdStrategy) -> float:
        _check("significance", significance, 0, 1)
        _check("delta", delta, 0, 1)
        if not one_sided:
            raise ValueError("one_sided is False, but only True is allowed; nobody is guessed to have been left out")
        return self._with_strategy(strategy, name, significance, delta, False)

    def _with_strategy(self, strategy: ThresholdStrategy, name: str, significance: float, delta: float, one_sided: bool) -> float:
        match strategy:
            case Explicit(threshold):
                return self._at(threshold, name, significance, delta, one_sided)
            case Split(share, seed):
                return self._split(share, seed, name, significance, delta, one_sided)
            case MultiSplit(number, share, seed):
                seeds = np.random.default_rng(seed).integers(np.iinfo(np.int64).max, size=number)
                with ThreadPoolExecutor() as pool:
                    found = pool.map(lambda one: self._split(share, one, name, significance / 2, delta, one_sided), seeds)
                    return float(np.median(list(found)))
            case Bonferroni():
                return self._band(name, significance, delta)
        raise ValueError(f"threshold_strategy is {strategy}, but Bonferroni, Explicit, Split or MultiSplit is allowed; make one of them")

    def _band(self, name: str, significance: float, delta: float) -> float:
        found = estimate(self._in, self._out, delta=delta, significance=significance, estimator=name, threshold_choice="band")
        return found.empirical_epsilon

    def _at(self, threshold: float, name: str, significance: float, delta: float, one_sided: bool) -> float:
        misses, hits = int(np.sum(self._in < threshold)), int(np.sum(self._out >= threshold))
        ins, outs = len(self._in), len(self._out)
        if not one_sided:
            return _native.epsilon_of_errors(name, hits, misses, ins, outs, delta, significance)
        return float(_one_sided(np.array([hits]), np.array([misses]), outs, ins, delta, significance)[0])

    def _split(self, share: float, seed: int | None, name: str, significance: float, delta: float, one_sided: bool) -> float:
        if not 0 < share < 1:
            raise ValueError(f"threshold_estimation_frac is {share}, but a number between 0 and 1 is allowed; it is a share")
        generator = np.random.default_rng(seed)
        orders = generator.permutation(len(self._in)), generator.permutation(len(self._out))
        cuts = int(len(orders[0]) * share), int(len(orders[1]) * share)
        return _native.epsilon_of_parts(None if one_sided else name, (self._in, self._out), orders, cuts, delta, significance)

    def _bootstrap(self, figure: Callable[[CanaryScoreAuditor], Figures], params: BootstrapParams) -> npt.NDArray[np.float64]:
        seeds = np.random.default_rng(params.seed).integers(np.iinfo(np.int64).max, size=params.num_samples)

        def resampled(seed: int) -> float:
            generator = np.random.default_rng(seed)
            ins = generator.choice(self._in, size=self._in.size)
            return float(figure(CanaryScoreAuditor(ins, generator.choice(self._out, size=self._out.size))))

        with ThreadPoolExecutor() as pool:
            values = np.array(list(pool.map(resampled, seeds)))
        quantiles = np.asarray(params.quantiles, dtype=float)
        if not params.bias_correction:
            return np.quantile(values, quantiles)
        normal = NormalDist()
        # One more on either side, so that the quantile is finite.
        bias = normal.inv_cdf((np.sum(values < figure(self)) + 1) / (params.num_samples + 2))
        acceleration = self._acceleration(figure) if params.acceleration else 0.0
        corrected = []
        for quantile in quantiles.ravel():
            shifted = bias + normal.inv_cdf(float(quantile))
            corrected.append(normal.cdf(bias + shifted / (1 - acceleration * shifted)))
        return np.quantile(values, np.reshape(corrected, quantiles.shape))

    def _acceleration(self, figure: Callable[[CanaryScoreAuditor], Figures]) -> float:
        left_out = [CanaryScoreAuditor(np.delete(self._in, i), self._out) for i in range(len(self._in))]
        left_out += [CanaryScoreAuditor(self._in, np.delete(self._out, i)) for i in range(len(self._out))]
        values = np.array([float(figure(auditor)) for auditor in left_out])
        gaps = np.mean(values) - values
        scale = 6 * np.sum(gaps**2) ** 1.5
        return float(np.sum(gaps**3) / scale) if scale else 0.0


def _checked(name: str, scores: npt.ArrayLike) -> npt.NDArray[np.float64]:
    array = as_array(name, scores)
    if array.size == 0:
        raise ValueError(f"{name} is empty, but at least one score is allowed; play with more canaries")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} has a score that is not finite, but finite numbers are allowed; find out where it comes from")
    return array


def _check(name: str, value: float, low: float, high: float) -> None:
    if not low < value < high:
        raise ValueError(f"{name} is {value}, but a number between {low} and {high} is allowed; see the method's reference")


def _one_sided(
    hits: npt.NDArray[np.int64], misses: npt.NDArray[np.int64], outs: int, ins: int, delta: float, significance: float
) -> npt.NDArray[np.float64]:
    """ln((1 - FNR+ - delta) / FPR+), and 0 where that is less or does not exist."""
    false_rate = _native.clopper_pearson_upper(hits, outs, significance / 2)
    found_rate = 1 - _native.clopper_pearson_upper(misses, ins, significance / 2) - delta
    return np.log(np.maximum(found_rate / false_rate, 1.0))


def _hull(ins: npt.NDArray[np.float64], outs: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Canaries of either kind at or above a threshold, at the corners of the ROC curve's upper hull, ascending."""
    thresholds = np.append(np.union1d(ins, outs), np.inf)[::-1]
    true = len(ins) - np.searchsorted(np.sort(ins), thresholds)
    false = len(outs) - np.searchsorted(np.sort(outs), thresholds)
    while len(true) > 2:
        # A corner stays where the curve turns right, seen from none to all.
        up, right = np.diff(true), np.diff(false)
        keep = np.r_[True, up[:-1] * right[1:] > up[1:] * right[:-1], True]
        if keep.all():
            break
        true, false = true[keep], false[keep]
    return true, false


def _rate_at(wanted: Any, true: npt.NDArray[np.int64], false: npt.NDArray[np.int64]) -> Figures:
    """The true-positive rate where so many false positives are allowed, on straight lines between the corners."""
    last = len(false) - 1 - np.argmax((false == false[0])[::-1])
    return np.interp(wanted, false[last:], true[last:] / true[-1])


def _raw_epsilon(true: npt.NDArray[np.int64], false: npt.NDArray[np.int64], min_count: int, delta: float) -> float:
    outs = int(false[-1])
    if min_count >= outs:
        return 0.0
    rates = np.append(_rate_at(min_count, true, false), true[false >= min_count] / true[-1]) - delta
    counts = np.append(min_count, false[false >= min_count])
    shown = rates > 0
    return float(np.max(np.log(rates[shown]) - np.log(counts[shown] / outs), initial=0.0))
