"""Trainings on a CUDA device: agreement with the reference, models a second with the kernels' shares, variants of tiles, audits in both precisions,
and JAX beside it where it can be imported. Called from the repository's root; binaries are in gpu-carry (bench/gpu.sh build).

Everything that is found goes to $OUT/gpu-training.json, part by part, so that a run that is cut off leaves what it had. After SECONDS (the
first argument, 290 if not given) nothing new is begun.
"""

import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

CARRY = pathlib.Path("gpu-carry")
START = time.perf_counter()
SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 290.0
RESULT = {"agreement": None, "speeds": [], "profiles": [], "variants": [], "audits": [], "jax": None, "sanitizer": None, "table": None}
# Records of bits, as Purchase-100 has them, where they were carried along.
DATA = f"purchase-100 --data {CARRY / 'data'}" if (CARRY / "data").exists() else "synthetic"
BEFORE = "models_per_second_before"
AUDIT = (
    f"audit training --device cuda --dataset {DATA} --model mlp --threat-model partially-informed --noise-multiplier 0.8 "
    "--canary null-space --threshold-choice band --format json --quiet"
)


def left():
    """Seconds until nothing new is begun."""
    return SECONDS - (time.perf_counter() - START)


def keep():
    """Writes down what was found so far."""
    if os.environ.get("OUT"):
        pathlib.Path(os.environ["OUT"], "gpu-training.json").write_text(json.dumps(RESULT, indent=1))


def run(command, limit, **environment):
    """The output of a command, or None; what went wrong is printed, and what was printed before a command took too long."""
    limit = min(limit, left())
    if limit < 3:
        print("no time left for", *command)
        return None
    environment = {**os.environ, **environment}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment)
    except subprocess.TimeoutExpired as stopped:
        print(f"{' '.join(command)} took more than {limit:.0f} s")
        print((stopped.stdout or b"")[-2500:].decode(errors="replace"), (stopped.stderr or b"")[-1000:].decode(errors="replace"))
        return None
    if done.returncode:
        print(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout[-3500:]}\n{done.stderr[-2500:]}")
        return None
    return done.stdout


def agreement(names=None):
    """The tests of tests/training_device.rs, one by one: those that are named, or all that were not run before."""
    print("== agreement with the reference", flush=True)
    tests = str(CARRY / "training-device-tests")
    done = RESULT["agreement"] = RESULT["agreement"] or {}
    if names is None:
        listed = run([tests, "--list"], 20) or ""
        names = sorted(line.split(":")[0] for line in listed.splitlines() if line.endswith(": test"))
    for name in [name for name in names if name not in done and left() > 5]:
        begun = time.perf_counter()
        output = run([tests, "--exact", name, "--nocapture"], 100, MISDEAL_NEEDS_CUDA="1", RUST_BACKTRACE="0")
        seconds = time.perf_counter() - begun
        RESULT["agreement"][name] = {"passed": output is not None, "seconds": seconds, "output": output}
        print("PASSED" if output is not None else "FAILED", name, f"{seconds:.1f} s", flush=True)
        for line in (output or "").splitlines():
            if "e-" in line or " of " in line:
                print("   ", line)
        keep()


def speed(words, kind, program="models_per_second"):
    """One measurement of models_per_second."""
    output = run([str(CARRY / program), *words.split()], 60)
    if output is None:
        return None
    row = {"program": program, "words": words, **json.loads(output)}
    RESULT[kind].append(row)
    keep()
    print(
        f"{words:36} {row['models_per_second']:10.1f} models/s {row['useful_tflops']:7.2f} TFLOP/s"
        f"  ready in {row['seconds_to_get_ready']:.1f} s, {row['side_by_side']} side by side",
        flush=True,
    )
    return row


def profile(words, program="models_per_second"):
    """The share of each kernel in a training."""
    row = speed(f"{words} profile", "profiles", program)
    if row is None:
        return
    kernels = sorted(row["profile"].items(), key=lambda item: -item[1][0])
    whole = sum(seconds for _, (seconds, _) in kernels)
    models = row["models"] * 100
    for name, (seconds, launches) in kernels[:14]:
        print(f"    {name:16} {100 * seconds / whole:5.1f} %  {1e9 * seconds / models:9.1f} ns a model and step  {launches} launches")


def audits():
    """The same audit in both precisions, and how fast the program is as a whole."""
    print("== audits", flush=True)
    for precision in ["f32", "tf32"]:
        output = run([str(CARRY / "misdeal"), *AUDIT.split(), "--precision", precision, "--observations", "1e5"], 60)
        if output:
            report = json.loads(output)
            RESULT["audits"].append(report)
            print(
                f"{precision:5} epsilon {report['empirical_epsilon']:.4f} of {report['theory']['shuffle']['epsilon_lower_bound']},"
                f" accuracy {report['train_accuracy']['mean']:.4f}, {report['models_per_second']:.0f} models/s"
            )
            keep()


def sanitizer(name):
    """One test under compute-sanitizer: whether kernels stay within their memory."""
    tests = str(CARRY / "training-device-tests")
    found = [path for path in [shutil.which("compute-sanitizer"), *glob.glob("/usr/local/cuda*/bin/compute-sanitizer")] if path]
    if not found:
        print("compute-sanitizer is not there")
        return
    output = run([found[0], "--tool", "memcheck", tests, "--exact", name, "--nocapture"], 40, MISDEAL_NEEDS_CUDA="1")
    RESULT["sanitizer"] = {"test": name, "passed": output is not None and "ERROR SUMMARY: 0 errors" in output, "output": (output or "")[-1500:]}
    print(RESULT["sanitizer"]["passed"], (output or "")[-400:], flush=True)
    keep()


def main():
    print("== models a second", flush=True)
    for words in ["lenet f32 models=2120", "mlp f32", "cnn tf32 quick"]:
        speed(words, "speeds")
    print("== shares of kernels", flush=True)
    for words in ["lenet f32 models=530", "mlp f32 models=8448"]:
        profile(words)
    # An earlier build on the same day's machine, where it was carried along.
    if (CARRY / BEFORE).exists():
        print("== before", flush=True)
        profile("mlp f32 models=8448", BEFORE)
        speed("mlp f32 quick", "variants", BEFORE)
    agreement(["a_lenet", "a_perceptrons_on_bits", "e_a_model_does_not_depend_on_its_company", "a_mlp", "a_odd_sizes"])
    print("== variants", flush=True)
    for words, more in [
        ("lenet f32 models=2120", ["apart", "side=264", "side=1060"]),
        ("mlp f32", ["side=2112"]),
    ]:
        for variant in more:
            speed(f"{words} {variant} quick", "variants")
    print("== compute-sanitizer", flush=True)
    sanitizer("e_a_model_does_not_depend_on_its_company")
    if left() > 20:
        import gpu

        RESULT["table"] = gpu.table()
        keep()
    peer = CARRY / "jax_peer.py"
    if peer.exists() and left() > 15:
        print("== JAX", flush=True)
        RESULT["jax"] = run([sys.executable, str(peer), "mlp"], 60)
        print(RESULT["jax"], flush=True)
        keep()
    for words in ["lenet tf32 quick models=2120", "mlp tf32 quick"]:
        speed(words, "speeds")
    agreement(["d_large_batches_clipping_norms_and_losses", "g_scores_have_the_law_of_a_processor_s"])
    audits()
    agreement(["f_whole_trainings_stay_together"])
    if left() > 60:
        agreement()
    print("== summary")
    for row in RESULT["speeds"]:
        print(f"{row['model']:6} {row['precision']:5} {row['models_per_second']:10.1f} models/s")
    keep()


if __name__ == "__main__":
    main()
