"""The command `misdeal` that the package installs: the same program as Cargo's."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

SCRIPT = pathlib.Path(sys.executable).parent / "misdeal"
CARD = ["check", "--dataset-size", "60000", "--batch-size", "512", "--epochs", "15", "--noise-multiplier", "0.8", "--claimed-epsilon", "2.1"]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="scripts have another name and signals another way on Windows")


def run(*arguments, **options):
    return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, **options)


def test_it_prints_what_the_program_prints(command):
    arguments = ["account", "--noise-multiplier", "1", "--steps-per-epoch", "100", "--scheme", "poisson"]
    assert run(*arguments).stdout == command(*arguments)
    assert json.loads(run(*CARD, "--format", "json").stdout)["cards"][0]["verdict"]["kind"] == "refuted"


def test_exit_codes_are_those_of_the_program():
    assert run(*CARD, "--check").returncode == 1
    refused = run("account", "--noise-multiplier", "-1")
    assert refused.returncode == 2 and refused.stderr.startswith("misdeal: --noise-multiplier -1: allowed is")


def test_as_a_module_it_is_called_misdeal():
    done = subprocess.run([sys.executable, "-m", "misdeal", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("misdeal ")


def test_ctrl_c_ends_it(tmp_path):
    """A run that would take minutes ends at the signal, and says so by its exit code."""
    store = tmp_path / "scores"
    arguments = ["audit", "mechanism", "--observations", "1e12", "--store", store, "--save-every", "0.1", "--device", "cpu"]
    with subprocess.Popen([SCRIPT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not store.exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
    assert process.returncode == 130
