"""Modules that `import misdeal` reaches without importing what they need."""

import subprocess
import sys

import misdeal
import pytest


def test_modules_are_reached_without_an_import():
    code = (
        "import sys, misdeal; assert 'torch' not in sys.modules\n"
        "assert misdeal.testing.assert_scheme and misdeal.cluster.audit and 'torch' not in sys.modules\n"
        "assert not hasattr(misdeal, 'nothing_like_it')\n"
        "sys.modules['wandb'] = None; sys.modules.pop('misdeal.wandb', None)\n"
        "try: misdeal.wandb\n"
        "except ModuleNotFoundError as error: print(error)\n"
    )
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert "misdeal.wandb needs wandb, which is not installed; pip install 'misdeal[wandb]'" in told


def test_modules_of_torch_are_reached():
    pytest.importorskip("torch")
    assert misdeal.torch.Auditor
