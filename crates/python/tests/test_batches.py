"""Logs of what loaders deal."""

import json

import misdeal
import numpy as np
import pytest


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_torch_loader_is_logged_as_it_deals(tmp_path):
    torch = pytest.importorskip("torch")
    from torch.utils.data import DataLoader, IterableDataset, TensorDataset

    data = TensorDataset(torch.arange(30))
    loader = DataLoader(data, batch_size=5, shuffle=True, generator=torch.Generator().manual_seed(1))
    log = read(misdeal.record_batches(loader, 2, output=tmp_path / "log.jsonl"))
    assert [line["epoch"] for line in log] == [0] * 6 + [1] * 6
    for epoch in (log[:6], log[6:]):
        assert sorted(sum((line["batch"] for line in epoch), [])) == list(range(30))
    loader.generator.manual_seed(1)
    dealt = [batch.tolist() for epoch in range(2) for (batch,) in loader]
    assert [line["batch"] for line in log] == dealt

    class Stream(IterableDataset):
        def __iter__(self):
            return iter(range(10))

    log = read(misdeal.record_batches(DataLoader(Stream(), batch_size=5), output=tmp_path / "log.jsonl"))
    assert log == [{"epoch": 0, "batch": [0, 1, 2, 3, 4]}, {"epoch": 0, "batch": [5, 6, 7, 8, 9]}]


def test_other_batches_say_which_records_they_hold(tmp_path):
    batches = [{"x": np.zeros((2, 3)), "index": np.array([4, 1])}, {"x": np.zeros((1, 3)), "index": np.array([0])}]
    epochs = []
    path = misdeal.record_batches(batches, 2, index="index", before_epoch=epochs.append, output=tmp_path / "log.jsonl")
    assert epochs == [0, 1] and [line["batch"] for line in read(path)] == [[4, 1], [0]] * 2
    path = misdeal.record_batches(batches, index=lambda batch: batch["index"] + 1, output=path)
    assert [line["batch"] for line in read(path)] == [[5, 2], [1]]
    with pytest.raises(ValueError, match="^batch is an array of float64 with 2 dimensions"):
        misdeal.record_batches(batches, index="x", output=tmp_path / "other.jsonl")
    assert not (tmp_path / "other.jsonl").exists()
    with pytest.raises(TypeError, match="^loader is an iterator"):
        misdeal.record_batches(iter(batches), output=path)
    with pytest.raises(ValueError, match="^epochs is 0"):
        misdeal.record_batches(batches, 0, output=path)


def test_hugging_face_data_sets_are_cut_into_batches(tmp_path):
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"index": list(range(10))}).to_iterable_dataset().shuffle(buffer_size=4, seed=0)
    with pytest.raises(ValueError, match="^batch_size is None"):
        misdeal.record_batches(data, index="index", output=tmp_path / "log.jsonl")
    path = misdeal.record_batches(data, 2, index="index", batch_size=5, before_epoch=data.set_epoch, output=tmp_path / "log.jsonl")
    assert [len(line["batch"]) for line in read(path)] == [5] * 4
