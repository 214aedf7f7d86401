"""A data loader's sampling as a unit test."""

import importlib.metadata
import random

import pytest
from misdeal.testing import assert_scheme as asserted

pytest_plugins = ["pytester"]
BATCHES = [[(i * 20 + j) for j in range(20)] for i in range(30)]


class Shuffled:
    """Batches of 20 of 600 records; the order is new in every epoch unless a seed is given."""

    def __init__(self, seed=None):
        self.seed = seed
        self.generator = random.Random(0)

    def __iter__(self):
        generator = self.generator if self.seed is None else random.Random(self.seed)
        records = generator.sample(range(600), 600)
        return iter([records[i : i + 20] for i in range(0, 600, 20)])


def test_the_fixture_passes_what_is_certain(assert_scheme):
    found = assert_scheme(Shuffled(), "shuffle", dataset_size=600)
    assert found.scheme == "shuffle" and found.certain and not found.defects


def test_another_scheme_a_defect_and_doubt_are_failures():
    with pytest.raises(AssertionError, match="^the batches are made by shuffle, not by poisson$"):
        asserted(Shuffled(), "poisson", dataset_size=600)
    with pytest.raises(AssertionError, match="made by (fixed-order|shuffle-once).*not by shuffle"):
        asserted(BATCHES, "shuffle", dataset_size=600)
    with pytest.raises(AssertionError, match="shuffle-once|same-order-every-epoch"):
        asserted(Shuffled(seed=1), "shuffle", dataset_size=600)
    with pytest.raises(AssertionError, match="records-dropped|records-never-dealt"):
        asserted([batch[:-1] for batch in BATCHES], "fixed-order", dataset_size=600)


def test_loaders_of_torch_and_opacus():
    torch = pytest.importorskip("torch")
    opacus = pytest.importorskip("opacus.data_loader", reason="opacus is missing: pip install opacus")
    from torch.utils.data import DataLoader, TensorDataset

    data = TensorDataset(torch.zeros(610, 2), torch.zeros(610))
    loader = DataLoader(data, batch_size=20, shuffle=True, drop_last=True, generator=torch.Generator().manual_seed(0))
    asserted(loader, "shuffle", ignore=["records-dropped"])
    with pytest.raises(AssertionError, match="records-dropped"):
        asserted(loader, "shuffle")
    private = opacus.DPDataLoader.from_data_loader(loader)
    asserted(private, "poisson", epochs=3)
    with pytest.raises(AssertionError, match="made by poisson, not by shuffle"):
        asserted(private, "shuffle", epochs=3)


def test_the_plugin_gives_the_fixture(pytester):
    pytester.makepyfile(
        """
        def test_order(assert_scheme):
            assert_scheme([[0, 1], [2, 3]] * 50, "poisson", epochs=1)
        """
    )
    # An installed package is found by its entry point.
    is_installed = importlib.metadata.entry_points(group="pytest11", name="misdeal")
    found = pytester.runpytest_subprocess(*([] if is_installed else ["-p", "misdeal.pytest_plugin"]))
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["*AssertionError: *poisson*"])
