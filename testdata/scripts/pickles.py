"""Writes testdata/pickles.toml: a small batch of images, pickled by Python 3 in every protocol that is read, and some that
are refused. Needs numpy, no arguments."""
import pickle
import platform
from pathlib import Path

import numpy as np

pixels = (np.arange(15) + 250).astype(np.uint8).reshape(5, 3)
text_keys = {"batch_label": "training batch 1 of 5", "labels": [6, 9, 300, -1, 70000], "data": pixels,
             "filenames": ["a.png", "b.png"]}
byte_keys = {b"batch_label": b"training batch 1 of 5", b"labels": [6, 9, 300, -1, 70000], b"data": pixels,
             b"filenames": [b"a.png", b"b.png"]}


class Malice:
    def __reduce__(self):
        return print, ("this would run",)


batches = {
    "text keys": text_keys,
    "byte keys": byte_keys,
    "fortran": {**text_keys, "data": np.asfortranarray(pixels)},
    "floats": {**text_keys, "data": np.zeros((5, 3))},
    "malice": {**text_keys, "more": Malice()},
}
lines = [f"# By testdata/scripts/pickles.py with Python {platform.python_version()} and NumPy {np.__version__}."]
for protocol in (2, 3, 4, 5):
    for name, batch in batches.items():
        hexadecimal = pickle.dumps(batch, protocol).hex()
        lines += ["", "[[pickle]]", f'name = "{name}"', f"protocol = {protocol}", f'hex = "{hexadecimal}"']
(Path(__file__).parent.parent / "pickles.toml").write_text("\n".join(lines) + "\n")
