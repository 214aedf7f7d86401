"""The examples run, small."""

import gzip
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples"


def run(name, *arguments):
    done = subprocess.run([sys.executable, EXAMPLES / name, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_hyperparameters():
    assert "REFUTED" in run("audit_hyperparameters.py", "--noise-multiplier", 0.5, "--steps-per-epoch", 100, "--epochs", 1, "--observations", 1e8)


def test_opacus():
    pytest.importorskip("opacus")
    drawn, shuffled = run("audit_opacus.py", "--runs", 20).splitlines()[-2:]
    # Few runs refute nothing either way, and theory knows better of the second.
    assert drawn.startswith("poisson_sampling=True") and "is not refuted, and could not be" in drawn
    assert shuffled.startswith("poisson_sampling=False") and "Theory contradicts the claim" in shuffled


def test_one_run(tmp_path, monkeypatch):
    pytest.importorskip("opacus")
    generator = np.random.default_rng(0)
    folder = tmp_path / "fashion-mnist"
    folder.mkdir()
    for kind, count in (("train", 256), ("t10k", 16)):
        (folder / f"{kind}-images-idx3-ubyte.gz").write_bytes(gzip.compress(bytes(16) + generator.integers(0, 256, count * 784, np.uint8).tobytes()))
        (folder / f"{kind}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(bytes(8) + generator.integers(0, 10, count, np.uint8).tobytes()))
    monkeypatch.setenv("MISDEAL_DATA", str(tmp_path))
    told = run("audit_in_one_run.py", "--epochs", 2, "--batch-size", 32)
    assert "32 canaries, independent by follow" in told and "run 1: test accuracy" in told


def test_loader(tmp_path):
    pytest.importorskip("torch")
    assert "made by shuffle." in run("diagnose_loader.py", "--output", tmp_path / "log.jsonl")


def test_cluster():
    pytest.importorskip("ray")
    assert "1,000,000 observations" in run("audit_on_a_cluster.py", "--observations", 1e6)


def test_slurm_parts_make_the_whole(command, tmp_path):
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", EXAMPLES.parent / "target")) / "tested"
    run_of = dict(
        os.environ, PATH=f"{target}:{os.environ['PATH']}", MISDEAL_RUN=str(tmp_path / "run"), MISDEAL_OBSERVATIONS="1e6", SLURM_ARRAY_TASK_COUNT="3"
    )
    for part in (2, 3, 1, 3):
        subprocess.run([EXAMPLES / "slurm.sh"], env={**run_of, "SLURM_ARRAY_TASK_ID": str(part)}, check=True)
    merged = subprocess.run([EXAMPLES / "slurm.sh", "merge"], env=run_of, check=True, capture_output=True, text=True).stdout
    command("audit", "mechanism", "--noise-multiplier", 0.5, "--observations", 1e6, "--device", "cpu", "--store", tmp_path / "whole")
    assert (tmp_path / "run" / "all").read_bytes() == (tmp_path / "whole").read_bytes()
    assert "1,000,000" in merged
