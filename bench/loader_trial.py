"""Diagnoses real loaders that `diagnose` was not tuned on (bench/loader_trial.toml says what each is), and keeps what was right.

    python3 bench/loader_trial.py [--program target/release/misdeal]

Needs torch, opacus, accelerate, lightning, datasets, webdataset, grain, jax-privacy and mosaicml-streaming; a loader whose library is missing is
listed as skipped. Logs are written by `record_batches` of this checkout.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import pathlib
import subprocess
import tempfile
import tomllib

import numpy as np

import measuring

spec = importlib.util.spec_from_file_location("batches", measuring.ROOT / "crates/python/misdeal/batches.py")
batches = importlib.util.module_from_spec(spec)
spec.loader.exec_module(batches)
record = batches.record_batches
N, B, E = 1000, 20, 4


def torch_loader(n=N, **words):
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    words.setdefault("batch_size", B)
    if "batch_sampler" in words:
        words.pop("batch_size")
    return DataLoader(TensorDataset(torch.arange(float(n))), **words)


def sampled(name, *arguments, **words):
    import torch.utils.data

    return torch_loader(sampler=getattr(torch.utils.data, name)(*arguments, **words))


def weighted(replacement):
    return sampled("WeightedRandomSampler", [1.0 + 4 * (i % 2) for i in range(N)], N, replacement=replacement)


def orders(make):
    """Batches of an order that a function of the epoch makes."""
    epoch = iter(range(E))
    return lambda: np.asarray(make(next(epoch))).reshape(-1, B)


def reseeded(modulus):
    import torch

    generator = torch.Generator()
    loader = torch_loader(shuffle=True, generator=generator)
    return loader, lambda epoch: generator.manual_seed(epoch % modulus)


def balanced():
    def order(epoch):
        rng = np.random.default_rng(epoch)
        halves = [rng.permutation(np.arange(c, N, 2)).reshape(-1, B // 2) for c in (0, 1)]
        return np.concatenate(halves, axis=1)

    return orders(order)


def distributed(ranks, path, shuffle=True):
    from torch.utils.data import DistributedSampler

    lines = []
    for rank in range(ranks):
        loader = torch_loader()
        sampler = DistributedSampler(loader.dataset, ranks, rank, shuffle=shuffle)
        loader = torch_loader(sampler=sampler)
        lines.append(record(loader, E, rank=rank, before_epoch=sampler.set_epoch, output=path).read_text())
    path.write_text("".join(lines))


def opacus_loader(rate, seed=None, n=N):
    import torch
    from opacus.data_loader import DPDataLoader

    generator = torch.Generator().manual_seed(seed) if seed is not None else None
    return DPDataLoader.from_data_loader(torch_loader(n, batch_size=round(rate * n)), generator=generator)


def physical(path):
    from opacus.utils.batch_memory_manager import BatchSplittingSampler

    class Optimizer:
        def signal_skip_step(self, do_skip=True):
            pass

    sampler = BatchSplittingSampler(sampler=opacus_loader(0.02).batch_sampler, max_batch_size=8, optimizer=Optimizer())
    record(lambda: iter(sampler), E, output=path)


def equal_seeds(path):
    lines = []
    for rank in range(2):
        loader = opacus_loader(0.04, seed=1, n=N // 2)
        shard = [[2 * i + rank for i in batch] for batch in (json.loads(x)["batch"] for x in record(loader, E, output=path).read_text().splitlines())]
        steps = len(shard) // E
        lines += [json.dumps({"epoch": step // steps, "rank": rank, "batch": batch}) for step, batch in enumerate(shard)]
    path.write_text("\n".join(lines) + "\n")


def worker_buffers():
    import torch.utils.data as data

    class Stream(data.IterableDataset):
        def __iter__(self):
            worker = data.get_worker_info().id
            rng = np.random.default_rng()
            buffer = []
            for record in range(worker * N // 2, (worker + 1) * N // 2):
                buffer.append(record)
                if len(buffer) > 100:
                    yield buffer.pop(rng.integers(len(buffer)))
            rng.shuffle(buffer)
            yield from buffer

    return data.DataLoader(Stream(), batch_size=B, num_workers=2)


def window():
    import grain.python as grain

    def order(epoch):
        return [int(x) for x in grain.experimental.WindowShuffleMapDataset(grain.MapDataset.range(N), window_size=100, seed=epoch)]

    return orders(order)


def mosaic(name):
    from streaming.base import shuffle

    sizes = np.full(50, N // 50)

    def order(epoch):
        return getattr(shuffle, f"get_shuffle_{name}")(sizes, 1, 1234, epoch, 100)

    return orders(order)


def jax_strategy(kind, **words):
    from jax_privacy import batch_selection

    return getattr(batch_selection, kind)(**words).batch_iterator(N, rng=1)


def jax_log(path, kind, **words):
    record(lambda: jax_strategy(kind, iterations=200, **words), output=path)


def write(name, path):
    """Writes the log of a loader."""
    rng = np.random.default_rng(3)
    if name == "torch-weighted-no-replacement":
        record(weighted(False), E, output=path)
    elif name == "torch-weighted-replacement":
        record(weighted(True), E, output=path)
    elif name == "torch-replacement-drop-last":
        from torch.utils.data import RandomSampler

        loader = torch_loader()
        record(torch_loader(sampler=RandomSampler(loader.dataset, replacement=True), batch_size=32, drop_last=True), E, output=path)
    elif name == "torch-num-samples":
        from torch.utils.data import RandomSampler

        record(torch_loader(sampler=RandomSampler(range(N), num_samples=300)), E, output=path)
    elif name == "torch-subset-random":
        record(sampled("SubsetRandomSampler", range(N)), E, output=path)
    elif name == "torch-batch-then-shuffle":
        from torch.utils.data import BatchSampler, SequentialSampler

        listed = list(BatchSampler(SequentialSampler(range(N)), B, False))
        record(lambda: iter([listed[i] for i in rng.permutation(len(listed))]), E, output=path)
    elif name == "torch-random-split":
        from torch.utils.data import DataLoader, random_split

        half = random_split(torch_loader().dataset, [0.5, 0.5])[0]
        record(DataLoader(half, batch_size=B, shuffle=True), E, index=lambda batch: batch[0].long(), output=path)
    elif name in ("torch-generator-reseeded", "torch-generator-two-seeds"):
        loader, seed = reseeded(1 if name.endswith("reseeded") else 2)
        record(loader, E, before_epoch=seed, output=path)
    elif name == "torch-reversed-epochs":
        order = rng.permutation(N)
        record(orders(lambda epoch: order[:: 1 if epoch % 2 else -1]), E, output=path)
    elif name == "torch-rotated-epochs":
        order = rng.permutation(N)
        record(orders(lambda epoch: np.roll(order, rng.integers(N))), E, output=path)
    elif name == "torch-balanced-classes":
        record(balanced(), E, output=path)
    elif name == "torch-worker-buffers":
        record(worker_buffers(), E, index=lambda batch: batch, output=path)
    elif name == "torch-distributed-4":
        distributed(4, path)
    elif name == "torch-distributed-no-shuffle":
        distributed(2, path, shuffle=False)
    elif name == "opacus-poisson-small-rate":
        record(opacus_loader(0.01), E, output=path)
    elif name == "opacus-poisson-high-rate":
        record(opacus_loader(0.25), 12, output=path)
    elif name == "opacus-physical":
        physical(path)
    elif name == "opacus-distributed-equal-seeds":
        equal_seeds(path)
    elif name == "accelerate-seedable":
        from accelerate import Accelerator, DataLoaderConfiguration

        accelerator = Accelerator(cpu=True, dataloader_config=DataLoaderConfiguration(use_seedable_sampler=True))
        record(accelerator.prepare(torch_loader(shuffle=True)), E, output=path)
    elif name == "fabric-shuffled":
        from lightning.fabric import Fabric

        record(Fabric(accelerator="cpu", devices=1).setup_dataloaders(torch_loader(shuffle=True)), E, output=path)
    elif name.startswith("datasets-"):
        import datasets

        data = datasets.Dataset.from_dict({"index": list(range(N))})
        if name == "datasets-map-shuffle":
            record(orders(lambda epoch: data.shuffle(seed=epoch)["index"][:]), E, output=path)
        else:
            stream = data.to_iterable_dataset().shuffle(buffer_size=200, seed=0)
            record(stream, E, index="index", batch_size=B, before_epoch=stream.set_epoch, output=path)
    elif name == "webdataset-large-buffer":
        import random

        import webdataset

        def order(epoch):
            return list(webdataset.filters.shuffle(300, initial=300, rng=random.Random(epoch))(iter(range(N))))

        record(orders(order), E, output=path)
    elif name == "grain-shuffled":
        import grain.python as grain

        def order(epoch):
            sampler = grain.IndexSampler(N, shard_options=grain.NoSharding(), shuffle=True, num_epochs=1, seed=epoch)
            return [sampler[i].record_key for i in range(N)]

        record(orders(order), E, output=path)
    elif name == "grain-window":
        record(window(), E, output=path)
    elif name == "jax-bins":
        jax_log(path, "BallsInBinsSampling", cycle_length=50)
    elif name == "jax-cyclic":
        jax_log(path, "CyclicPoissonSampling", sampling_prob=0.16, cycle_length=8)
    elif name == "jax-poisson":
        jax_log(path, "CyclicPoissonSampling", sampling_prob=0.02)
    elif name == "jax-truncated":
        jax_log(path, "CyclicPoissonSampling", sampling_prob=0.03, truncated_batch_size=36)
    elif name == "jax-fixed":
        jax_log(path, "FixedBatchSampling", batch_size=B)
    elif name == "jax-fixed-replacement":
        jax_log(path, "FixedBatchSampling", batch_size=B, replace=True)
    elif name == "jax-min-separation":
        jax_log(path, "BMinSepSampling", sampling_prob=0.05, min_sep=10)
    elif name.startswith("mosaic-"):
        record(mosaic(name.removeprefix("mosaic-")), E, output=path)
    elif name == "numpy-epoch-shuffle":
        order = np.arange(N)

        def shuffled(epoch):
            rng.shuffle(order)
            return order.copy()

        record(orders(shuffled), E, output=path)
    else:
        raise KeyError(name)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", default=str(measuring.MISDEAL))
    arguments.add_argument("--only", default="", help="the beginning of the names to run; nothing is kept then")
    asked = arguments.parse_args()
    rows, skipped = [], []
    for name, entry in tomllib.loads((measuring.ROOT / "bench/loader_trial.toml").read_text()).items():
        if not name.startswith(asked.only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "log.jsonl")
            try:
                write(name, path)
            except ImportError as error:
                skipped.append(f"{name}: {error}")
                continue
            size = [] if name in ("torch-random-split",) else ["--dataset-size", str(N)]
            command = [asked.program, "diagnose", str(path), *size, "--format", "json", "--quiet"]
            report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        right = report["scheme"] in entry["names"]
        rows.append({"loader": name, "found": report["scheme"], "certain": report["certain"], "right": right, "defects": [d["defect"] for d in report["defects"]]})
        print(f"{'' if right else 'MISS ' if not report['certain'] else 'WRONG '}{name:32} {report['scheme']:22} {report['certain']} {rows[-1]['defects']}", flush=True)
    wrong = [row["loader"] for row in rows if row["certain"] and not row["right"]]
    print(f"{sum(row['right'] for row in rows)} of {len(rows)} right, wrong and certain: {wrong}, skipped: {skipped}")
    if not asked.only:
        measuring.keep("loader_trial", loaders=rows, skipped=skipped, wrong_and_certain=wrong)


if __name__ == "__main__":
    main()
