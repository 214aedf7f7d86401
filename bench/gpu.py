"""The mechanism on a CUDA device, beside JAX where it can be imported: called by bench/gpu.sh, from the repository's root.

JAX plays the same game, shuffling in the worst case with noise 1, from drawing to a histogram of scores, as one compiled
function. Times are medians of three after a warm-up. Everything is written to $OUT/gpu.json if OUT is set.
"""

import json
import os
import pathlib
import statistics
import subprocess
import time

CARRY = pathlib.Path("gpu-carry")
# The roof of the mechanism: instructions that an H200 (132 multiprocessors, four schedulers of 32 lanes, 1.98 GHz) can issue, over those of a sample. The
# loop of equal.cu has 102 instructions for four samples when it is compiled for it, 18 of which are wide multiplications that take two turns.
LANES_PER_SECOND = 132 * 4 * 32 * 1.98e9
TURNS_PER_SAMPLE = (102 + 18) / 4
AUDIT = (
    "audit mechanism --device cuda --noise-multiplier 0.5 --steps-per-epoch 100 --observations 1e12 "
    "--threshold-choice max --format json --quiet"
)


def run(command, limit, **environment):
    """The output and the seconds of a command; None where it fails or takes too long."""
    start = time.perf_counter()
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, env={**os.environ, **environment}
        )
    except subprocess.TimeoutExpired:
        print(f"{command[0]} took more than {limit} s")
        return None, limit
    seconds = time.perf_counter() - start
    if done.returncode:
        print(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return None, seconds
    return done.stdout, seconds


def agreement():
    """The engine suite on the device; what it printed."""
    print("== agreement with the reference")
    tests = str(CARRY / "device-tests")
    output, seconds = run([tests, "device::", "--skip", "training_device::", "--nocapture", "--test-threads=1"], 200, MISDEAL_NEEDS_CUDA="1")
    print(output or "FAILED", f"{seconds:.1f} s")
    return {"passed": output is not None, "seconds": seconds, "output": output}


def ours():
    """Samples a second of the engine."""
    print("== samples a second, from drawing to counts in the store")
    output, _ = run([str(CARRY / "samples_per_second"), "4e12"], 150)
    return json.loads(output) if output else []


def table():
    """The six settings of the paper's Table 1, 1e7 observations each, one after the other: epsilons, and the seconds of all together."""
    print("== the paper's Table 1, 1e7 observations each")
    rows = [
        (1.0, 440, 509, 5e-7, 7.53, 13.54),
        (3.0, 11, 168, 1e-5, 6.24, 6.39),
        (0.79224, 117, 10, 8.333e-6, 3.00, 9.80),
        (0.8728, 195, 30, 5e-6, 3.00, 10.60),
        (0.72632, 781, 50, 1.25e-6, 3.00, 12.73),
        (0.82336, 254, 30, 3.846e-6, 2.99, 11.08),
    ]
    start, found = time.perf_counter(), []
    for noise, steps, epochs, delta, claimed, printed in rows:
        command = (
            f"audit mechanism --device cuda --noise-multiplier {noise} --steps-per-epoch {steps} --epochs {epochs} --delta {delta} "
            f"--claimed-epsilon {claimed} --observations 1e7 --threshold-choice max --format json --quiet"
        )
        output, seconds = run([str(CARRY / "misdeal"), *command.split()], 120)
        epsilon = json.loads(output)["empirical_epsilon"] if output else None
        found.append({"noise_multiplier": noise, "steps_per_epoch": steps, "epochs": epochs, "delta": delta, "seconds": seconds,
                      "empirical_epsilon": epsilon, "printed": printed})
        print(f"noise {noise:<8} T {steps:<4} E {epochs:<4} epsilon {epsilon} (printed {printed}) in {seconds:.1f} s", flush=True)
    whole = time.perf_counter() - start
    print(f"all six in {whole:.1f} s")
    return {"rows": found, "seconds": whole}


def jax_speed(steps, noise=1.0):
    """The same game in JAX: observations a second."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return None
    trials, repeats = int(2e9) // steps // 8, 10
    shift = jnp.array([2.0, 1.0], dtype=jnp.float32)

    @jax.jit
    def play(key):
        def one(counts, key):
            noises = jax.random.normal(key, (2, trials, steps), dtype=jnp.float32)
            first = noises[:, :, 0] / noise + shift[:, None] / noise**2
            exponents = jnp.concatenate([first[:, :, None], noises[:, :, 1:] / noise], axis=2)
            terms = jnp.exp(exponents)
            scores = jnp.log((terms * terms).sum(axis=2) / terms.sum(axis=2)) - 1.5 / noise**2
            bins = jnp.clip(((scores + 8.0) * 4096).astype(jnp.int32), 0, 2**17 - 1)
            return counts.at[jnp.array([[0], [1]]), bins].add(1), None

        counts = jnp.zeros((2, 2**17), dtype=jnp.int32)
        return jax.lax.scan(one, counts, jax.random.split(key, repeats))[0]

    play(jax.random.key(0)).block_until_ready()
    seconds = []
    for i in range(3):
        start = time.perf_counter()
        play(jax.random.key(i + 1)).block_until_ready()
        seconds.append(time.perf_counter() - start)
    return 2 * trials * repeats / statistics.median(seconds)


def main():
    result = {"agreement": agreement(), "ours": ours(), "jax": {}}
    for row in result["ours"]:
        row["share_of_the_roof"] = row["samples_per_second"] * TURNS_PER_SAMPLE / LANES_PER_SECOND
        print(
            f"{row['scheme']:16} noise {row['noise_multiplier']:<5} T {row['steps_per_epoch']:<5}"
            f" {row['observations_per_second']:.3e} observations/s {row['samples_per_second']:.3e} samples/s"
            f" ({100 * row['share_of_the_roof']:.0f} % of what instructions allow)"
            f" (ready in {row['seconds_to_get_ready']:.2f} s)"
        )
    print("== 1e12 observations to epsilon")
    output, seconds = run([str(CARRY / "misdeal"), *AUDIT.split()], 290)
    if output:
        result["audit"] = json.loads(output)
        print(f"epsilon {result['audit']['empirical_epsilon']:.4f} in {seconds:.1f} s")
    result["audit_seconds"] = seconds
    result["table"] = table()
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    for steps in [100, 1000]:
        try:
            speed = jax_speed(steps)
        except Exception as error:  # a peer's failure must not cost our own figures
            print(f"JAX, T {steps}: {error}"[:500])
            continue
        if speed is None:
            print("JAX is not there")
            break
        result["jax"][steps] = speed
        mine = [
            row["observations_per_second"]
            for row in result["ours"]
            if row["steps_per_epoch"] == steps and row["scheme"] == "shuffle" and row["noise_multiplier"] == 1
        ]
        ratio = f"{mine[0] / speed:.2f} times JAX" if mine else ""
        print(f"JAX, T {steps}: {speed:.3e} observations/s, {speed * steps:.3e} samples/s; ours {ratio}")
    if os.environ.get("OUT"):
        pathlib.Path(os.environ["OUT"], "gpu.json").write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
