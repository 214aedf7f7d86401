"""Writes fuzz/corpus/TARGET/*: small sound files of every format, and some with lies in their headers, for the fuzzer to start from.

Needs pyarrow and, as the only argument, the program `misdeal`, which writes the stores.
"""
import gzip
import io
import json
import pickle
import re
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pyarrow
import pyarrow.parquet

HERE = Path(__file__).parent
TESTDATA = HERE.parent / "testdata"


def put(target, name, content):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def npy(element, shape, data, order="False", version=1):
    header = f"{{'descr': '{element}', 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    length = struct.pack("<H", len(header)) if version == 1 else struct.pack("<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


def parquet(columns, **options):
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), out, **options)
    return out.getvalue()


def arrays():
    numbers = struct.pack("<3d", 1.5, -2.0, 3.25)
    put("scores_npy", "f8", npy("<f8", "(3,)", numbers))
    put("scores_npy", "big-end", npy(">f4", "(2,)", struct.pack(">2f", 1, 2)))
    put("scores_npy", "column", npy("|u1", "(2, 1)", b"\1\2", version=2))
    put("scores_npy", "claims", npy("<f8", "(1000000000000000000,)", numbers))
    put("log_npy", "epochs", npy("<i4", "(2, 2, 2)", struct.pack("<8i", 0, 1, 2, 3, 3, 1, 2, -1)))
    put("log_npy", "one", npy("<u8", "(2, 2)", struct.pack("<4Q", 0, 1, 2, 3)))
    put("log_npy", "claims", npy("<i8", "(4294967296, 4294967296, 2)", b""))


def tables():
    put("scores_csv", "plain", "1.5\n-2\n3e-5\n")
    put("scores_csv", "columns", "id,score,world\n7,1.5,in\n8,\"2\",out\n")
    put("scores_csv", "blank", "\ufeffscore\r\n\r\n1\r\n")
    for codec in ("none", "snappy", "zstd", "gzip", "lz4"):
        put("scores_parquet", codec, parquet({"score": [1.5, -2.0, 0.25]}, compression=codec, write_statistics=False))
    put("scores_parquet", "floats", parquet({"score": pyarrow.array([1.5, None], pyarrow.float32())}, use_dictionary=False))
    put("scores_parquet", "data-page-2", parquet({"score": [1, 2, 3]}, data_page_version="2.0"))
    log = {"epoch": [0, 0, 0, 1], "batch": [0, 0, 1, 0], "record": [4, 2, 0, 1]}
    put("log_parquet", "plain", parquet(log, compression="none"))
    put("log_parquet", "workers", parquet({**log, "rank": [0, 0, 1, 0], "worker": [0, 0, 0, 1]}))
    put("log_json_lines", "plain", '{"epoch": 0, "batch": [17, 3, 42]}\n{"epoch": 1, "batch": []}\n')
    put("log_json_lines", "workers", '\n{"rank": 1, "worker": 2, "epoch": 0, "batch": [4294967294]}\n')


def stores(program):
    with tempfile.TemporaryDirectory() as folder:
        for scores in ("counts", "exact"):
            store = Path(folder) / scores
            audit = ["audit", "mechanism", "--steps-per-epoch", "2", "--observations", "16", "--engine", "cpu"]
            subprocess.run([program, *audit, "--scores", scores, "--store", store], check=True, capture_output=True)
            whole = store.read_bytes()
            put("store", scores, whole)
            put("store_sealed", scores, whole[:-32])


def results(program):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "in.csv").write_text("1\n2\n3\n4\n5\n")
        (folder / "out.csv").write_text("0\n1\n2\n3\n4\n")
        (folder / "log.jsonl").write_text('{"epoch": 0, "batch": [0, 1, 2]}\n{"epoch": 0, "batch": [3, 4, 5]}\n')
        for name, words in {
            "audit": "audit mechanism --observations 1000 --steps-per-epoch 2 --device cpu",
            "estimate": "estimate --scores-in in.csv --scores-out out.csv",
            "account": "account --scheme fixed-order",
            "calibrate": "calibrate --target-epsilon 1 --scheme fixed-order",
            "diagnose": "diagnose log.jsonl",
        }.items():
            done = subprocess.run([program, *words.split(), "--format", "json"], check=True, capture_output=True, text=True, cwd=folder)
            put("result_json", name, json.dumps(json.loads(done.stdout)))


def texts():
    put("model_toml", "convolutions", """name = "small"
loss = "softmax-cross-entropy"
layers = [
    { kind = "convolution", filters = 3, size = 3, padding = 1 }, { kind = "tanh" }, { kind = "average-pooling", size = 2 },
    { kind = "max-pooling", size = 2 }, { kind = "linear", outputs = 5 }, { kind = "relu" }, { kind = "linear" },
]
""")
    put("model_toml", "huge", 'name = "x"\nlayers = [{ kind = "linear", outputs = 9223372036854775807 }]\n')
    put("scan_settings_toml", "all", """[scan]
ignore = ["buffer-of-one"]
select = ["batch-before-shuffle"]
exclude = ["tests/**", "*.py"]
assume_private = true
""")
    for page in sorted((TESTDATA / "scan").glob("*.md")):
        blocks = re.findall(r"```(?:py|python)[^\n]*\n(.*?)```", page.read_text(), re.S)
        if blocks:
            put("python_source", page.stem, max(blocks, key=len))
            cell = {"cell_type": "code", "source": blocks[0].splitlines(keepends=True)}
            notebook = {"cells": [{"cell_type": "markdown", "source": "x"}, cell], "nbformat": 4}
            if page.stem[0] in "abp":
                put("notebook", page.stem, json.dumps(notebook))
    put("notebook", "one-string", json.dumps({"cells": [{"cell_type": "code", "source": "%%bash\nls\n"}, {"cell_type": "code", "source": "!ls\nx=1"}]}))
    put("python_source", "deep", "x = " + "(" * 300 + "1" + ")" * 300 + "\n")


def data():
    put("idx", "labels", bytes([0, 0, 8, 1, 0, 0, 0, 3, 1, 2, 3]))
    put("idx", "images", bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 1, 9, 8, 7, 6]))
    put("idx", "claims", bytes([0, 0, 8, 3]) + b"\xff" * 12)
    put("cifar_binary", "image", bytes([1]) + bytes(3072))
    for name, protocol, hexadecimal in re.findall(r'name = "(.*?)"\nprotocol = (\d)\nhex = "(.*?)"', (TESTDATA / "pickles.toml").read_text()):
        if name != "fortran":
            put("cifar_pickle", f"{name.replace(' ', '-')}-{protocol}", bytes.fromhex(hexadecimal))
    # The shape that images have, with an array as Python 2 wrote it.
    state = (1, (1, 3072), None, False, bytes(3072))
    put("cifar_pickle", "no-array", pickle.dumps({b"labels": [1], b"data": state}, 2))
    put("labelled_bits", "plain", "1,0,1,0,1,1,1\n30,0,0,0,0,0,0\r\n\n\"2\",\"1\", 1,1,1,1,1\n")
    features, labels = npy("<f4", "(3, 2)", struct.pack("<6f", *range(6))), npy("|u1", "(3,)", b"\0\1\2")
    for name, names in (("plain", ("features", "labels")), ("keras", ("x_train", "y_train")), ("positional", ("arr_0", "arr_1"))):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if name == "plain" else zipfile.ZIP_STORED) as archive:
            for member, content in zip(names, (features, labels)):
                archive.writestr(zipfile.ZipInfo(f"{member}.npy"), content)
        put("npz", name, out.getvalue())
    put("npz", "array", npy("<i2", "(2, 1)", struct.pack("<2h", 1, -1), order="True"))
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for member in ("a", "./folder/b", "../c"):
            info = tarfile.TarInfo(member)
            info.size = 5
            archive.addfile(info, io.BytesIO(b"hello"))
    put("tar", "plain", out.getvalue()[:4096])
    put("tar", "gzipped", gzip.compress(out.getvalue(), mtime=0))


def dictionaries():
    """Words that the fuzzer should not have to find out."""
    words = {
        "npy": ["\\x93NUMPY\\x01\\x00", "'descr': ", "'<f8'", "'|u1'", "'fortran_order': ", "False", "True", "'shape': ", "(3,)", "(2, 2, 2)", "L,"],
        "toml": ["name = ", "loss = ", "layers = [", "{ kind = ", '"linear"', '"convolution"', '"relu"', '"tanh"', '"max-pooling"', '"average-pooling"',
                 "outputs = ", "filters = ", "size = ", "padding = ", "9223372036854775807", "[scan]", "exclude = ", "assume_private = "],
        "json": ['{\\"epoch\\": 0', ', \\"batch\\": [', '\\"rank\\": ', '\\"worker\\": ', '\\"cells\\": [', '\\"cell_type\\": \\"code\\"', '\\"source\\": ',
                 "null", "4294967295", "18446744073709551615", "1e999"],
        "python": ["import ", "from ", "def ", "class ", "lambda ", "for x in ", "while ", "async ", "await ", "match ", "case ", "try:", "except* ", "with ",
                   ".shuffle(", ".batch(", "DataLoader(", "shuffle=True", "opacus", "tensorflow", "f\\\"{x!r:>{y}}\\\"", "\\x5c\\x0a", "%%time", "!ls", ":=", "**", "@"],
    }
    folder = HERE / "dictionaries"
    folder.mkdir(exist_ok=True)
    for name, entries in words.items():
        quoted = (entry if "\\" in entry else entry.replace('"', '\\"') for entry in entries)
        (folder / f"{name}.dict").write_text("".join(f'"{entry}"\n' for entry in quoted))


arrays()
tables()
stores(Path(sys.argv[1]).resolve())
results(Path(sys.argv[1]).resolve())
texts()
data()
dictionaries()
