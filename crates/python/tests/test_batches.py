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


def test_iterable_data_sets_with_an_index_are_not_taken_for_map_style(tmp_path):
    pytest.importorskip("torch")
    from torch.utils.data import DataLoader, IterableDataset

    class Both(IterableDataset):
        def __iter__(self):
            return iter(range(10))

        def __len__(self):
            return 10

        def __getitem__(self, place):
            return place

    log = read(misdeal.record_batches(DataLoader(Both(), batch_size=5), 2, output=tmp_path / "log.jsonl"))
    assert [line["batch"] for line in log] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]] * 2


def test_a_memory_managers_logical_batches_are_logged_and_its_optimizer_is_left_alone(tmp_path):
    torch = pytest.importorskip("torch")
    opacus = pytest.importorskip("opacus")
    from opacus.utils.batch_memory_manager import BatchMemoryManager
    from torch.utils.data import DataLoader, TensorDataset

    data = TensorDataset(torch.zeros(60, 1))
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    _, optimizer, loader = opacus.PrivacyEngine().make_private(
        module=model, optimizer=optimizer, data_loader=DataLoader(data, batch_size=20), noise_multiplier=1.0, max_grad_norm=1.0
    )
    with BatchMemoryManager(data_loader=loader, max_physical_batch_size=4, optimizer=optimizer) as managed:
        log = read(misdeal.record_batches(managed, 4, output=tmp_path / "log.jsonl"))
        assert len(log) == 12 and max(len(line["batch"]) for line in log) > 4
        assert optimizer._step_skip_queue == []
        pieces = sum(1 for _ in managed)
        assert pieces > 3 and len(optimizer._step_skip_queue) == pieces


def test_persistent_workers_keep_their_data(tmp_path):
    torch = pytest.importorskip("torch")
    from torch.utils.data import DataLoader, TensorDataset

    data = TensorDataset(torch.zeros(60, 1))
    for is_running in (False, True):
        loader = DataLoader(data, batch_size=20, shuffle=True, num_workers=1, persistent_workers=True)
        if is_running:
            assert len(list(loader)) == 3
        workers = loader._iterator
        log = read(misdeal.record_batches(loader, 2, output=tmp_path / "log.jsonl"))
        assert sorted(sum((line["batch"] for line in log[:3]), [])) == list(range(60))
        assert loader._iterator is workers and all(batch.shape == (20, 1) for (batch,) in loader)


def test_loaders_that_accelerate_and_fabric_prepared(tmp_path):
    torch = pytest.importorskip("torch")
    accelerate = pytest.importorskip("accelerate")
    fabric = pytest.importorskip("lightning.fabric")
    from torch.utils.data import DataLoader, TensorDataset

    def loader():
        return DataLoader(TensorDataset(torch.zeros(60, 1)), batch_size=20, shuffle=True)

    prepared = accelerate.Accelerator(cpu=True).prepare(loader())
    set_up = fabric.Fabric(accelerator="cpu", devices=1).setup_dataloaders(loader())
    for one in (prepared, set_up):
        log = read(misdeal.record_batches(one, output=tmp_path / "log.jsonl", rank=0))
        assert sorted(sum((line["batch"] for line in log), [])) == list(range(60)) and log[0]["rank"] == 0
        assert all(batch.shape == (20, 1) for (batch,) in one)
    dispatching = accelerate.DataLoaderConfiguration(dispatch_batches=True)
    with pytest.raises(TypeError, match="^loader is accelerate's DataLoaderDispatcher"):
        misdeal.record_batches(accelerate.Accelerator(cpu=True, dataloader_config=dispatching).prepare(loader()), output=tmp_path / "log.jsonl")


def test_ranks_workers_fillers_and_loaders_without_end(tmp_path):
    import itertools

    batches = [{"index": np.array([4, 1, -1]), "worker": np.array([2, 2, 2])}]
    path = misdeal.record_batches(batches, index="index", rank=1, worker="worker", output=tmp_path / "log.jsonl")
    assert read(path) == [{"epoch": 0, "batch": [4, 1], "rank": 1, "worker": 2}]
    path = misdeal.record_batches(lambda: ([i] for i in itertools.count()), 2, steps_per_epoch=3, output=path)
    assert [line["batch"] for line in read(path)] == [[0], [1], [2]] * 2
    with pytest.raises(ValueError, match="^rank is -1"):
        misdeal.record_batches(batches, index="index", rank=-1, output=path)
    mixed = [{"index": np.array([4, 1]), "worker": np.array([2, 3])}]
    with pytest.raises(ValueError, match="^worker says"):
        misdeal.record_batches(mixed, index="index", worker="worker", output=path)


def test_strategies_of_jax_privacy(tmp_path):
    batch_selection = pytest.importorskip("jax_privacy.batch_selection")
    bins = batch_selection.BallsInBinsSampling(iterations=30, cycle_length=10)
    log = read(misdeal.record_batches(lambda: bins.batch_iterator(600, rng=0), output=tmp_path / "log.jsonl"))
    assert len(log) == 30 and log[0]["batch"] and sorted(log[0]["batch"]) == sorted(log[10]["batch"])
