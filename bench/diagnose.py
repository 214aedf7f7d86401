"""How long a diagnosis takes: a million records, ten epochs, as an array and as JSON lines, scheme by scheme.

usage: python3 bench/diagnose.py        needs numpy
"""
import json
import tempfile
import time
from pathlib import Path

import numpy as np

import measuring

RECORDS, BATCH, EPOCHS, BUFFER = 1_000_000, 1_000, 10, 10_000
generator = np.random.default_rng(0)


def shuffle():
    return generator.permutation(RECORDS)


def blocks():
    order = np.arange(RECORDS).reshape(-1, BUFFER)
    return generator.permuted(order, axis=1).ravel()


def sliding():
    buffer, order = np.arange(BUFFER), np.empty(RECORDS, dtype=np.int64)
    slots = generator.integers(0, BUFFER, RECORDS - BUFFER)
    for place, slot in enumerate(slots):
        order[place], buffer[slot] = buffer[slot], place + BUFFER
    order[RECORDS - BUFFER:] = generator.permutation(buffer)
    return order


def without_replacement():
    return np.concatenate([generator.choice(RECORDS, BATCH, replace=False, shuffle=False) for _ in range(RECORDS // BATCH)])


def main():
    measuring.build()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, epoch in [("shuffle", shuffle), ("partial-shuffle", blocks), ("stream-shuffle", sliding),
                            ("without-replacement", without_replacement)]:
            log = np.stack([epoch().reshape(-1, BATCH) for _ in range(EPOCHS)]).astype("<i4")
            array, lines = Path(folder, "log.npy"), Path(folder, "log.jsonl")
            np.save(array, log)
            with open(lines, "w") as out:
                for number, batches in enumerate(log):
                    out.writelines(json.dumps({"epoch": number, "batch": batch.tolist()}) + "\n" for batch in batches)
            for path in (array, lines):
                start = time.perf_counter()
                report = measuring.misdeal("diagnose", path)
                seconds = time.perf_counter() - start
                rows.append({
                    "scheme": name, "found": report["scheme"], "parameters": report["parameters"], "certain": report["certain"],
                    "format": path.suffix, "bytes": path.stat().st_size, "seconds": seconds,
                })
                print(f"{name:20} {path.suffix:6} {report['scheme']:20} {report['parameters']} {seconds:.2f} s")
    measuring.keep("diagnose", records=RECORDS, epochs=EPOCHS, batch_size=BATCH, rows=rows)


if __name__ == "__main__":
    main()
