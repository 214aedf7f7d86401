"""What runs of Table 1's CIFAR-10 row show, without misdeal's engines: python3 paper/cifar_10_law.py MISDEAL [RUNS], with numpy.

The scores of one epoch are drawn here, and their law is composed over the 168 epochs by an FFT. Runs of 10^7 observations are then drawn from the
composed law, and `misdeal estimate` turns each into the paper's estimate. A cell of the grid is 2^-11 wide; a score is shared out between its
neighbours, which keeps the mean."""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor

import numpy

NOISE, STEPS, EPOCHS = 3.0, 11, 168
CELL, CELLS = 2.0**-11, 2**18
PIECES, PER_PIECE = 200, 10**6
OBSERVATIONS = 10**7


def drawn(seed):
    """Scores of one epoch in both worlds, put together to the law without the target, Q. As P(score) = exp(score) Q(score), a score from
    either world counts 1 / (1 + exp(score))."""
    generator, weights = numpy.random.default_rng([1, seed]), numpy.zeros(CELLS)
    for shift in (1, 2):
        outputs = NOISE * generator.standard_normal((STEPS, PER_PIECE), dtype=numpy.float32)
        outputs[0] += shift
        powers = numpy.exp(outputs / numpy.float32(NOISE**2))
        with_target, without = (powers * powers).sum(0, dtype=float), powers.sum(0, dtype=float)
        scores = numpy.log(with_target / without) - 1.5 / NOISE**2
        cells = numpy.floor(scores / CELL).astype(int)
        share, weight = scores / CELL - cells, 1 / (1 + numpy.exp(scores))
        weights += numpy.bincount(cells % CELLS, weight * (1 - share), CELLS)
        weights += numpy.bincount((cells + 1) % CELLS, weight * share, CELLS)
    return weights


def composed(law):
    """The law of the sum over all epochs, from the lowest score up."""
    law = numpy.fft.irfft(numpy.fft.rfft(law / law.sum()) ** EPOCHS, CELLS)
    law = numpy.fft.fftshift(law).clip(0)
    return law / law.sum()


def estimate(misdeal, seed, scores, laws):
    """The paper's estimate from one run."""
    generator = numpy.random.default_rng([2, seed])
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder, name) for name in ("in.npy", "out.npy")]
        for file, law in zip(files, laws):
            numpy.save(file, numpy.repeat(scores, generator.multinomial(OBSERVATIONS // 2, law)))
        scores_in, scores_out = files
        command = [misdeal, "estimate", "--scores-in", scores_in, "--scores-out", scores_out, "--threshold-choice", "max", "--threads", "1"]
        found = subprocess.run([*command, "--format", "json", "--quiet"], capture_output=True, check=True)
    return json.loads(found.stdout)["empirical_epsilon"]


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: python3 paper/cifar_10_law.py MISDEAL [RUNS]")
    misdeal, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    with ProcessPoolExecutor() as processes:
        out = sum(processes.map(drawn, range(PIECES)))
        places = (numpy.arange(CELLS) + CELLS // 2) % CELLS - CELLS // 2
        scores = CELL * numpy.fft.fftshift(places)
        laws = [composed(out * numpy.exp((CELL * places).clip(-50, 50))), composed(out)]
        epsilon = next(e for e in numpy.arange(7, 9, 0.001) if (laws[0] * (1 - numpy.exp(e - scores)).clip(0)).sum() <= 1e-5)
        print(f"epsilon at delta 1e-5, of worlds with the target against those without: {epsilon:.2f}")
        jobs = [processes.submit(estimate, misdeal, seed, scores, laws) for seed in range(runs)]
        found = [job.result() for job in jobs]
    print(f"{runs} runs: mean {statistics.mean(found):.3f}, standard deviation {statistics.stdev(found):.3f}")


if __name__ == "__main__":
    main()
