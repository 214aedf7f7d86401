"""Writes the logs of real data loaders that crates/cli/tests/diagnose.rs diagnoses.

usage: python3 testdata/diagnose/write_logs.py [FOLDER]
needs: pip install torch opacus datasets webdataset pyarrow numpy

Each log is what the loader of a library dealt, written as any user would. Names say the library and what is special; expected.toml
beside this script says what must be found.
"""
import io
import json
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler, IterableDataset, get_worker_info

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
RECORDS, BATCH, EPOCHS = 600, 20, 3


class Indices(Dataset):
    """Gives the index itself: what a loader deals is what it logs."""

    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return index


class Stream(IterableDataset):
    """A stream of indices; without `split`, every worker reads all of it, which is the mistake."""

    def __init__(self, size, split):
        self.size, self.split = size, split

    def __iter__(self):
        info = get_worker_info()
        number, workers = (info.id, info.num_workers) if info and self.split else (0, 1)
        return iter(range(number, self.size, workers))


def write(name, batches):
    """`batches` gives dictionaries with epoch and batch, and rank where there are several."""
    with open(FOLDER / f"{name}.jsonl", "w") as log:
        for batch in batches:
            log.write(json.dumps(batch, separators=(",", ":")) + "\n")


def epochs_of(loader, epochs=EPOCHS, before=lambda epoch: None):
    for epoch in range(epochs):
        before(epoch)
        for batch in loader:
            yield {"epoch": epoch, "batch": np.asarray(batch).ravel().tolist()}


def torch_loaders():
    torch.manual_seed(1)
    data = Indices(RECORDS)
    write("torch-shuffled", epochs_of(DataLoader(data, BATCH, shuffle=True)))
    write("torch-sequential", epochs_of(DataLoader(data, BATCH)))
    write("torch-drop-last", epochs_of(DataLoader(Indices(RECORDS - 7), BATCH, shuffle=True, drop_last=True)))
    write("torch-replacement", epochs_of(DataLoader(
        data, BATCH, sampler=torch.utils.data.RandomSampler(data, replacement=True))))
    same_seed = lambda: DataLoader(data, BATCH, shuffle=True, generator=torch.Generator().manual_seed(7))
    write("torch-same-seed", ({"epoch": epoch, "batch": batch.tolist()} for epoch in range(EPOCHS) for batch in same_seed()))
    write("torch-iterable-split", epochs_of(DataLoader(Stream(RECORDS, True), BATCH, num_workers=2)))
    write("torch-iterable-workers", epochs_of(DataLoader(Stream(RECORDS, False), BATCH, num_workers=2)))


def torch_distributed():
    def ranks(size, set_epoch, count=3):
        for rank in range(count):
            sampler = DistributedSampler(Indices(size), num_replicas=count, rank=rank, shuffle=True, seed=5)
            loader = DataLoader(Indices(size), BATCH, sampler=sampler)
            before = sampler.set_epoch if set_epoch else lambda epoch: None
            for batch in epochs_of(loader, before=before):
                yield {"rank": rank, **batch}

    write("torch-distributed", ranks(RECORDS, True))
    write("torch-distributed-forgotten", ranks(RECORDS, False))
    write("torch-distributed-padded", ranks(RECORDS - 2, True))

    def without_a_sampler():
        for rank in range(2):
            torch.manual_seed(3)
            for batch in epochs_of(DataLoader(Indices(RECORDS), BATCH, shuffle=True)):
                yield {"rank": rank, **batch}

    write("torch-ranks-not-split", without_a_sampler())


def opacus_loaders():
    from opacus.data_loader import DPDataLoader

    class Pair(Indices):
        def __getitem__(self, index):
            return (torch.tensor([index]),)

    torch.manual_seed(2)
    loader = DPDataLoader(Pair(RECORDS), sample_rate=BATCH / RECORDS)
    write("opacus-poisson", epochs_of(loader))


def hugging_face():
    import datasets

    datasets.disable_progress_bars()
    stream = datasets.Dataset.from_dict({"index": list(range(RECORDS))}).to_iterable_dataset()

    def epochs(shuffled, set_epoch):
        for epoch in range(EPOCHS):
            if set_epoch:
                shuffled.set_epoch(epoch)
            for batch in shuffled.iter(BATCH):
                yield {"epoch": epoch, "batch": batch["index"]}

    write("datasets-buffer", epochs(stream.shuffle(seed=4, buffer_size=100), True))
    write("datasets-buffer-no-set-epoch", epochs(stream.shuffle(seed=4, buffer_size=100), False))


def webdataset_loaders():
    import webdataset as wds

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/all.tar"
        with tarfile.open(path, "w") as archive:
            for index in range(RECORDS):
                content = str(index).encode()
                member = tarfile.TarInfo(f"{index:06}.txt")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))

        def epochs(initial):
            for epoch in range(EPOCHS):
                data = wds.WebDataset(path, shardshuffle=False, seed=epoch).shuffle(100, initial=initial, seed=10 + epoch)
                indices = [int(sample["txt"]) for sample in data]
                for start in range(0, RECORDS, BATCH):
                    yield {"epoch": epoch, "batch": indices[start:start + BATCH]}

        write("webdataset-full-buffer", epochs(100))
        write("webdataset-growing-buffer", epochs(5))


def other_formats():
    """The same shuffled epochs as an array and as a table."""
    torch.manual_seed(6)
    batches = [[batch.tolist() for batch in DataLoader(Indices(RECORDS), BATCH, shuffle=True)] for _ in range(EPOCHS)]
    np.save(FOLDER / "torch-array.npy", np.array(batches, dtype="<i4"))
    rows = [(epoch, number, record) for epoch, one in enumerate(batches) for number, batch in enumerate(one) for record in batch]
    columns = dict(zip(("epoch", "batch", "record"), map(list, zip(*rows))))
    pq.write_table(pa.table(columns), FOLDER / "torch-table.parquet", compression="snappy")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for part in (torch_loaders, torch_distributed, opacus_loaders, hugging_face, webdataset_loaders, other_formats):
        part()
        print(part.__name__)
