"""Minutes of random settings: every engine against the reference, bounds against exact theory, kills and resumes, the self-test.

python3 bench/soak.py --minutes 10 [--device cpu|cuda] [--seed N] [--program FILE] [--output FILE]

Needs Python's library alone, and the program. Ends with 1 if anything was wrong; the summary has the command of each failure.

On processors every score of every instruction set is compared with the reference's. A graphics processor has a random stream of its own, so that
its scores are compared with the reference by `self-test`, trial by trial, and here with the processor's by their law (Kolmogorov and Smirnov).
"""
import argparse
import json
import math
import platform
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from disturbed import Failure, disturbed, exact_scores, litter, result, run, undisturbed

SCHEMES = ["poisson", "shuffle", "shuffle-once", "partial-shuffle", "stream-shuffle", "batch-then-shuffle", "balls-in-bins",
           "without-replacement", "fixed-order"]  # fmt: skip
THREAT_MODELS = ["target-canary", "partially-informed", "worst-case"]
ENGINES = ["cpu-avx512", "cpu-avx2", "cpu-portable"]
# The tolerance that fused engines state, and how often it is allowed: a fault is larger by orders of magnitude.
ABSOLUTE, RELATIVE, TOLERANCES = 1e-6, 1e-5, 3.0
# A sound program fails one comparison of laws, or one bound, with this probability.
FALSE_ALARM_RATE = 1e-9
MODEL = """name = "small"
layers = [{ kind = "linear", outputs = 8 }, { kind = "tanh" }, { kind = "linear" }]
"""


class Soak:
    def __init__(self, program, device, seed, folder):
        self.program, self.device, self.folder = program, device, folder
        self.choice = random.Random(seed)
        self.seen = {"rounds": 0, "scores_compared": 0, "laws_compared": 0, "bounds_below_theory": 0, "disturbed_runs": 0, "kills": 0,
                     "self_tests": 0, "left_to_the_reference": 0, "largest_share_of_tolerance": 0.0}  # fmt: skip
        self.failures = []

    def setting(self):
        """Words of a random audit, small enough for the reference, and the Gaussian numbers that a trial draws at most."""
        choice = self.choice
        scheme = choice.choice(SCHEMES)
        steps, epochs, batch = choice.choice([1, 2, 3, 7, 16, 63, 64, 100, 257]), choice.choice([1, 1, 1, 2, 5]), choice.choice([1, 2, 10, 100])
        noise = math.exp(choice.uniform(math.log(0.3), math.log(20.0)))
        words = ["audit", "mechanism", "--scheme", scheme, "--noise-multiplier", f"{noise:.4f}", "--steps-per-epoch", steps, "--epochs", epochs,
                 "--batch-size", batch, "--seed", choice.randrange(1 << 40)]  # fmt: skip
        if scheme in ("partial-shuffle", "stream-shuffle"):
            words += ["--buffer-size", choice.randint(1, steps * batch)]
        words += ["--threat-model", choice.choice(THREAT_MODELS), "--target-index", choice.randrange(steps * batch)]
        if choice.random() < 0.2:
            words += ["--adversary-scheme", choice.choice(["shuffle", "shuffle-once", "balls-in-bins"])]
        return words, steps * epochs

    def refused(self, arguments):
        """Whether an engine refuses a game, with exit code 2 and one line."""
        done = subprocess.run([str(self.program), *map(str, arguments), "--quiet"], cwd=self.folder, capture_output=True, text=True)
        if done.returncode == 2 and done.stderr.count("\n") == 1 and ("--engine" in done.stderr or "--device" in done.stderr):
            return True
        if done.returncode:
            raise Failure(f"exit {done.returncode}: {done.stderr.strip()}")
        return False

    def scores(self, words, engine, observations):
        """Scores of both worlds in one list, or None where the engine leaves the game to the reference."""
        store = self.folder / "scores"
        store.unlink(missing_ok=True)
        if self.refused([*words, "--engine", engine, "--observations", observations, "--scores", "exact", "--store", store]):
            return None
        scores_in, scores_out = exact_scores(store)
        return [*scores_in, *scores_out]

    def engines(self):
        """All instruction sets against the reference, score by score."""
        words, draws = self.setting()
        observations = max(16, min(4000, 300_000 // draws)) // 2 * 2
        exact = self.scores(words, "reference", observations)
        for engine in ENGINES:
            if engine not in self.available():
                continue
            ours = self.scores(words, engine, observations)
            if ours is None:
                self.seen["left_to_the_reference"] += 1
                continue
            share = max(abs(a - b) / max(ABSOLUTE, RELATIVE * abs(b)) for a, b in zip(ours, exact, strict=True))
            self.seen["largest_share_of_tolerance"] = max(share, self.seen["largest_share_of_tolerance"])
            self.seen["scores_compared"] += len(exact)
            if not share < TOLERANCES:
                raise Failure(f"{engine} differs from the reference by {share:.3g} of the tolerance: {words}")

    def laws(self):
        """Scores of a graphics processor and of the processor have one law: Kolmogorov and Smirnov's distance in either world."""
        words, draws = self.setting()
        observations = max(2000, min(200_000, 20_000_000 // draws)) // 2 * 2
        theirs, ours = self.scores(words, "cpu", observations), self.scores(words, "cuda", observations)
        if theirs is None or ours is None:
            self.seen["left_to_the_reference"] += 1
            return
        half = observations // 2
        limit = math.sqrt(-math.log(FALSE_ALARM_RATE / 2) / half)
        for world in (slice(0, half), slice(half, None)):
            distance = kolmogorov_smirnov(ours[world], theirs[world])
            if distance > limit:
                raise Failure(f"scores of cuda and cpu have different laws: distance {distance:.4f} above {limit:.4f}: {words}")
        self.seen["laws_compared"] += 2

    def theory(self):
        """A valid bound lies below what theory promises from above."""
        words, draws = self.setting()
        most = 4_000_000_000_000 if self.device == "cuda" else 100_000_000
        observations = max(1000, min(10**9 if self.device == "cuda" else 2_000_000, most // draws)) // 2 * 2
        words += ["--observations", observations, "--significance", FALSE_ALARM_RATE, "--threshold-choice", "band", "--device", self.device]
        report = run(self.program, words, self.folder)
        upper = (report["theory"].get(report["setting"]["scheme"]) or {}).get("epsilon_upper_bound")
        if upper is None or not report["valid"]:
            return
        self.seen["bounds_below_theory"] += 1
        if report["empirical_epsilon"] > upper * (1 + 1e-9):
            raise Failure(f"{report['empirical_epsilon']} shown, but theory allows {upper} at most: {words}")

    def kills(self):
        """A run that is killed and resumed ends in the bytes of one that is not."""
        words, draws = self.setting()
        if self.choice.random() < 0.3:
            words = ["audit", "training", "--dataset-size", 100, "--batch-size", 10, "--model", "small.toml", "--observations", 400, "--seed",
                     self.choice.randrange(1000), "--canary", self.choice.choice(["random", "dirac", "null-space"]), "--threat-model",
                     self.choice.choice(THREAT_MODELS), "--device", self.device]  # fmt: skip
        else:
            rate = 2e11 if self.device == "cuda" else 5e8
            observations = int(max(10_000, min(4e9 if self.device == "cuda" else 2e7, rate / draws))) // 2 * 2
            kind = self.choice.choice(["counts", "exact"]) if observations < 5_000_000 else "counts"
            words += ["--observations", observations, "--scores", kind, "--device", self.device]
        words += ["--save-every", "0.05", "--threads", self.choice.choice([1, 2, 3])]
        whole, store = self.folder / "whole", self.folder / "disturbed"
        whole.unlink(missing_ok=True)
        store.unlink(missing_ok=True)
        expected, seconds = undisturbed(self.program, words, whole)
        document, met = disturbed(self.program, words, store, self.choice.randint(1, 3), seconds, self.choice)
        self.seen["disturbed_runs"] += 1
        self.seen["kills"] += met
        litter(self.folder)
        if result(document) != result(expected) or store.read_bytes() != whole.read_bytes():
            raise Failure(f"a killed and resumed run ends otherwise: {words}")

    def self_test(self):
        report = run(self.program, ["self-test", "--device", self.device, "--seed", self.choice.randrange(1 << 40)], self.folder)
        self.seen["self_tests"] += 1
        if not report["passed"]:
            raise Failure(f"self-test: {[check for check in report['checks'] if not check['passed']]}")

    def available(self):
        if not hasattr(self, "names"):
            small = ["audit", "mechanism", "--observations", 8]
            self.names = [engine for engine in ENGINES if not self.refused([*small, "--engine", engine])]
        return self.names

    def rounds(self, minutes):
        end = time.monotonic() + 60 * minutes
        jobs = [self.engines, self.theory, self.kills] if self.device == "cpu" else [self.laws, self.theory, self.kills]
        while time.monotonic() < end:
            job = self.self_test if self.seen["rounds"] % 25 == 0 else self.choice.choice(jobs)
            try:
                job()
            except Failure as failure:
                self.failures.append(f"{job.__name__}: {failure}")
                print(self.failures[-1], flush=True)
            self.seen["rounds"] += 1


def kolmogorov_smirnov(ours, theirs):
    ours, theirs = sorted(ours), sorted(theirs)
    i = j = 0
    largest = 0.0
    while i < len(ours) and j < len(theirs):
        value = min(ours[i], theirs[j])
        while i < len(ours) and ours[i] == value:
            i += 1
        while j < len(theirs) and theirs[j] == value:
            j += 1
        largest = max(largest, abs(i / len(ours) - j / len(theirs)))
    return largest


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--minutes", type=float, default=10.0)
    arguments.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--program", type=Path, default=Path("target/release/misdeal"))
    arguments.add_argument("--output", type=Path)
    options = arguments.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "small.toml").write_text(MODEL)
        soak = Soak(options.program.resolve(), options.device, options.seed, Path(folder))
        soak.rounds(options.minutes)
    record = {
        "command": " ".join(["python3", *sys.argv]),
        "system": platform.platform(),
        "device": options.device,
        "minutes": round((time.monotonic() - start) / 60, 2),
        **soak.seen,
        "failures": soak.failures,
    }
    text = json.dumps(record, indent=1)
    if options.output:
        options.output.write_text(text + "\n")
    print(text)
    sys.exit(1 if soak.failures else 0)


main()
