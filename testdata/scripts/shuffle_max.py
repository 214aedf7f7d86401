"""Writes testdata/shuffle_max.toml: epsilon of the largest output of each epoch, shuffled afresh, over many epochs.

The loss is rounded down and up to a fine grid and composed by a plain FFT, so that the truth lies between the two
printed values. Needs numpy and scipy.
"""
from pathlib import Path

import numpy as np
from scipy.special import log_ndtr


def survival(mean, noise, steps, c):
    return -np.expm1(log_ndtr((c - mean) / noise) + (steps - 1) * log_ndtr(c / noise))


def log_density(mean, noise, steps, c):
    """ln of the density of the largest of N(mean, s^2) and steps - 1 times N(0, s^2)."""
    first = -0.5 * ((c - mean) / noise) ** 2 + (steps - 1) * log_ndtr(c / noise)
    if steps == 1:
        return first
    others = np.log(steps - 1) - 0.5 * (c / noise) ** 2 + log_ndtr((c - mean) / noise) + (steps - 2) * log_ndtr(c / noise)
    return np.logaddexp(first, others)


def epsilon(losses, masses, epochs, h, delta):
    """losses on h Z; the composed law's epsilon at delta."""
    first, last = losses.min(), losses.max()
    law = np.bincount(losses - first, weights=masses, minlength=last - first + 1)
    mean = epochs * ((np.arange(len(law)) + first) @ law)
    spread = 40 * np.sqrt(epochs * ((np.arange(len(law)) + first - mean / epochs) ** 2 @ law)) + (last - first) * 2
    length = 1 << int(np.ceil(np.log2(spread)))
    folded = np.zeros(length)
    np.add.at(folded, (np.arange(len(law)) + first) % length, law)
    total = np.maximum(np.fft.irfft(np.fft.rfft(folded) ** epochs, length), 0)
    start = int(mean) - length // 2
    total = total[(np.arange(length) + start) % length]
    points = (np.arange(length) + start) * h
    low, high = 0.0, points[-1]
    for _ in range(60):
        middle = (low + high) / 2
        k = np.searchsorted(points, middle)
        if -(total[k:] @ np.expm1(middle - points[k:])) > delta:
            low = middle
        else:
            high = middle
    return high


def bracket(noise, steps, epochs, h, delta):
    c = np.arange(-8 * noise - 2, 10 * noise + 4, h * noise**2 / 4)
    above = {mean: survival(mean, noise, steps, c) for mean in (2, 1)}
    loss = log_density(2, noise, steps, c) - log_density(1, noise, steps, c)
    assert np.all(np.diff(loss) > 0)
    results = []
    for sign, mean in ((1, 2), (-1, 1)):
        mass = -np.diff(above[mean])
        ends = np.sort(np.stack([sign * loss[:-1], sign * loss[1:]]), axis=0) / h
        down = epsilon(np.floor(ends[0]).astype(np.int64), mass, epochs, h, delta)
        up = epsilon(np.ceil(ends[1]).astype(np.int64), mass, epochs, h, delta)
        results.append((down, up))
    return max(r[0] for r in results), max(r[1] for r in results)


if __name__ == "__main__":
    cases = [(1.00, 440, 509, 4e-5), (3.00, 11, 168, 2e-5), (0.79, 117, 10, 1e-4), (0.87, 195, 30, 1e-4),
             (0.73, 781, 50, 1e-4), (0.82, 254, 30, 1e-4), (2.0, 50, 4, 1e-5), (0.5, 10000, 3, 1e-4)]
    with open(Path(__file__).parent.parent / "shuffle_max.toml", "w") as out:
        out.write("# numpy FFT, losses rounded down and up; written by scripts/shuffle_max.py\n"
                  "# noise_multiplier, steps_per_epoch, epochs, delta, epsilon rounded down, epsilon rounded up\n"
                  "composed = [\n")
        for noise, steps, epochs, h in cases:
            low, high = bracket(noise, steps, epochs, h, 1e-5)
            print(noise, steps, epochs, low, high, flush=True)
            out.write(f"  [{noise}, {steps}, {epochs}, 1e-5, {low!r}, {high!r}],\n".replace("np.float64(", "").replace(")", ""))
        out.write("]\n")
