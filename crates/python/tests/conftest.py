"""What tests share: the command line, built by crates/python/test.sh."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def command():
    """Runs `misdeal` and gives what it printed; a failure gives its one line."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    program = target / "tested" / "misdeal"
    if not program.exists():
        pytest.fail(f"{program} is missing: cargo build --profile tested -p misdeal-cli")

    def run(*arguments, code=0):
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr

    run.json = lambda *arguments: json.loads(run(*arguments, "--format", "json", "--quiet"))
    return run
