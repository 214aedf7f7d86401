"""Trainings and the mechanism on a CUDA device: models and observations a second with JAX beside them where it can be imported, Table 1, audits that are
killed and resumed, agreement with the reference, compute-sanitizer, and audits in both precisions. Called from the repository's root; binaries are in gpu-carry (bench/gpu.sh build).

Everything that is found goes to $OUT/gpu-training.json, part by part, so that a run that is cut off leaves what it had. After SECONDS (the
first argument, 290 if not given) nothing new is begun.
"""

import concurrent.futures
import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import gpu

CARRY = pathlib.Path("gpu-carry")
START = time.perf_counter()
SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 290.0
RESULT = {"agreement": None, "speeds": [], "profiles": [], "again": [], "audits": [], "jax": None, "sanitizer": None, "table": None,
          "resumed": [], "mechanism_speeds": None, "mechanism_tests": None}
# Records of bits, as Purchase-100 has them, where they were carried along.
DATA = f"purchase-100 --data {CARRY / 'data'}" if (CARRY / "data").exists() else "synthetic"
AUDIT = (
    f"audit training --device cuda --dataset {DATA} --model mlp --threat-model partially-informed --noise-multiplier 0.8 "
    "--canary null-space --threshold-choice band --format json --quiet"
)


# What an H200 can do in TFLOP/s: in f32 on its ordinary cores (132 x 128 x 2 x 1.98 GHz), and in TF32 on its matrix cores. The MLP in f32 is on matrix
# cores, with 2.2 products for each that is needed: bits times numbers in two parts, everything else in three.
PEAKS = {("mlp", "F32"): 494.7 / 2.2, ("lenet", "F32"): 66.9, ("cnn", "F32"): 494.7 / 3.0}
TF32_PEAK = 494.7


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


def test(name):
    """One test of tests/training_device.rs."""
    begun = time.perf_counter()
    output = run([str(CARRY / "device-tests"), "--exact", f"training_device::{name}", "--nocapture"], 240, MISDEAL_NEEDS_CUDA="1", RUST_BACKTRACE="0")
    seconds = time.perf_counter() - begun
    print("PASSED" if output is not None else "FAILED", name, f"{seconds:.1f} s", flush=True)
    for line in (output or "").splitlines():
        if "e-" in line or " of " in line:
            print("   ", line, flush=True)
    return name, {"passed": output is not None, "seconds": seconds, "output": output}


def agreement():
    """All tests of tests/training_device.rs, four at a time: most of their time is the reference's, on processors."""
    print("== agreement with the reference", flush=True)
    listed = run([str(CARRY / "device-tests"), "--list", "training_device::"], 20) or ""
    names = sorted(line.removeprefix("training_device::").split(":")[0] for line in listed.splitlines() if line.endswith(": test"))
    # The longest first.
    names.sort(key=lambda name: name not in ("a_cnn", "f_whole_trainings_stay_together", "g_scores_have_the_law_of_a_processor_s"))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        RESULT["agreement"] = dict(pool.map(test, names))
    keep()


def speed(words, kind, program="models_per_second"):
    """One measurement of models_per_second."""
    output = run([str(CARRY / program), *words.split()], 60)
    if output is None:
        return None
    row = {"program": program, "words": words, **json.loads(output)}
    row["share_of_the_roof"] = row["useful_tflops"] / PEAKS.get((row["model"], row["precision"]), TF32_PEAK)
    RESULT[kind].append(row)
    keep()
    print(
        f"{words:36} {row['models_per_second']:10.1f} models/s {row['useful_tflops']:7.2f} TFLOP/s, {100 * row['share_of_the_roof']:.0f} % of the roof"
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


def sanitizer(names):
    """Tests under compute-sanitizer: whether kernels stay within their memory."""
    found = [path for path in [shutil.which("compute-sanitizer"), *glob.glob("/usr/local/cuda*/bin/compute-sanitizer")] if path]
    if not found:
        print("compute-sanitizer is not there")
        return
    RESULT["sanitizer"] = []
    for name in names:
        command = [found[0], "--tool", "memcheck", str(CARRY / "device-tests"), "--exact", f"training_device::{name}", "--nocapture"]
        output = run(command, 200, MISDEAL_NEEDS_CUDA="1")
        passed = output is not None and "ERROR SUMMARY: 0 errors" in output
        RESULT["sanitizer"].append({"test": name, "passed": passed, "output": (output or "")[-1500:]})
        print("sanitizer", name, passed, (output or "")[-300:], flush=True)
        keep()


def resumed(name, words, seconds):
    """An audit that is killed after so many seconds and goes on from its store: whether the scores are those of an undisturbed one."""
    folder = pathlib.Path(tempfile.mkdtemp())
    command = [str(CARRY / "misdeal"), *words.split(), "--device", "cuda", "--format", "json", "--quiet"]
    whole = run([*command, "--store", str(folder / "whole")], 100)
    begun = subprocess.Popen([*command, "--store", str(folder / "parts")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    begun.kill()
    begun.wait()
    kept = (folder / "parts").exists()
    parts = run([*command, "--store", str(folder / "parts"), *(["--resume"] if kept else [])], 100)
    same = None not in (whole, parts) and (folder / "whole").read_bytes() == (folder / "parts").read_bytes()
    row = {"name": name, "killed_after": seconds, "was_finished": begun.returncode == 0, "something_was_kept": kept, "same_bytes": same}
    RESULT["resumed"].append(row)
    print("resumed", row, flush=True)
    keep()


def mechanism():
    """Observations a second of the mechanism, ours and JAX's."""
    print("== the mechanism", flush=True)
    ours = run([str(CARRY / "samples_per_second"), "1e12"], 100)
    rows = json.loads(ours) if ours else []
    for row in rows:
        print(f"{row['scheme']:16} noise {row['noise_multiplier']:<4} T {row['steps_per_epoch']:<5} {row['observations_per_second']:.3e} observations/s", flush=True)
    # In a process of its own, which gives the device's memory back.
    peer = "import sys; sys.path.insert(0, 'bench'); import gpu, json; print(json.dumps({steps: gpu.jax_speed(steps) for steps in (100, 1000)}))"
    jax = run([sys.executable, "-c", peer], 100, XLA_PYTHON_CLIENT_PREALLOCATE="false")
    print("JAX, observations/s by T:", jax, flush=True)
    RESULT["mechanism_speeds"] = {"ours": rows, "jax": json.loads(jax) if jax else None}
    keep()


def main():
    print("== models a second", flush=True)
    for words in ["mlp f32 models=330000 quick", "mlp f32", "lenet f32 models=4240", "cnn tf32 quick"]:
        speed(words, "speeds")
    peer = CARRY / "jax_peer.py"
    if peer.exists():
        print("== JAX", flush=True)
        RESULT["jax"] = run([sys.executable, str(peer), "mlp", "lenet", "cnn"], 200)
        print(RESULT["jax"], flush=True)
        keep()
    for words in ["mlp f32 models=330000 quick", "mlp f32", "mlp tf32 quick", "lenet f32 models=4240 quick", "cnn tf32 quick"]:
        speed(words, "again")
    print("== shares of kernels", flush=True)
    profile("mlp f32 models=4224")
    mechanism()
    RESULT["table"] = gpu.table()
    keep()
    print("== killed and resumed", flush=True)
    resumed("mechanism", "audit mechanism --noise-multiplier 0.5 --steps-per-epoch 100 --observations 1e11 --save-every 2", 9)
    threat = "--threat-model partially-informed --noise-multiplier 0.8"
    resumed("training", f"audit training --dataset {DATA} {threat} --observations 3e5 --save-every 2", 7)
    with concurrent.futures.ThreadPoolExecutor(1) as beside:
        checked = beside.submit(sanitizer, ["e_a_model_does_not_depend_on_its_company", "a_perceptrons_on_bits"])
        RESULT["mechanism_tests"] = run([str(CARRY / "device-tests"), "device::", "--skip", "training_device::", "--nocapture", "--test-threads=1"], 150, MISDEAL_NEEDS_CUDA="1")
        print(RESULT["mechanism_tests"], flush=True)
        agreement()
        checked.result()
    audits()
    print("== summary")
    for row in RESULT["speeds"] + RESULT["again"]:
        print(f"{row['model']:6} {row['precision']:5} {row['models_per_second']:10.1f} models/s")
    keep()


if __name__ == "__main__":
    main()
