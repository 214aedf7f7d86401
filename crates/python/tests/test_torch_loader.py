"""PyTorch's loader of dealt batches, and Opacus with the accountant that knows them."""

import pytest

torch = pytest.importorskip("torch")
opacus = pytest.importorskip("opacus")

import misdeal  # noqa: E402
from misdeal.testing import assert_scheme  # noqa: E402
from torch.utils.data import DataLoader, IterableDataset, TensorDataset  # noqa: E402


def dataset(records=600):
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(records, 5, generator=generator)
    return TensorDataset(features, (features.sum(1) > 0).long())


def training(**changes):
    model = torch.nn.Linear(5, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    words = dict(target_epsilon=2.0, delta=1e-5, epochs=2, batch_size=20, seed=1) | changes
    return misdeal.torch.make_private(model, optimizer, dataset(), **words)


@pytest.mark.parametrize("scheme", ["poisson", "balls-in-bins"])
@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_makes_its_batches_as_it_says(scheme, workers):
    loader = misdeal.torch.loader(dataset(), batch_size=20, epochs=4, scheme=scheme, seed=1, num_workers=workers)
    assert len(loader) == 30
    found = assert_scheme(loader, scheme, epochs=4)
    assert found.certain


def test_epochs_are_counted_and_a_training_resumes():
    words = dict(batch_size=20, epochs=2, seed=1)
    loader = misdeal.torch.loader(dataset(), **words)
    batches = [features for _ in range(2) for features, _ in loader]
    with pytest.raises(ValueError, match="^epochs is 2, but this pass would be one more"):
        next(iter(loader))
    resumed = misdeal.torch.loader(dataset(), first_step=40, **words)
    for ours, theirs in zip(resumed, batches[40:], strict=True):
        assert torch.equal(ours[0], theirs)


def test_empty_batches_have_the_shapes_of_the_others():
    loader = misdeal.torch.loader(dataset(60), batch_size=1, epochs=1, seed=1, num_workers=1)
    sizes = [len(features) for features, labels in loader if features.shape[1:] == (5,) and labels.dtype == torch.int64]
    assert len(sizes) == 60 and 0 in sizes


@pytest.mark.parametrize("scheme", ["poisson", "balls-in-bins"])
def test_opacus_trains_and_reports_the_proven_bound(scheme):
    model, optimizer, loader, engine = training(scheme=scheme)
    assert engine.get_epsilon(1e-5) == 0
    for epoch in range(2):
        for features, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(features), labels).backward()
            optimizer.step()
        spent = engine.get_epsilon(1e-5)
        assert spent <= 2 and (epoch == 0 or spent > 1.99)
    proven = misdeal.account(
        noise_multiplier=optimizer.noise_multiplier, dataset_size=600, batch_size=20, epochs=2, scheme=scheme, quiet=True
    )
    assert engine.get_epsilon(1e-5) == proven.schemes[scheme]["epsilon_upper_bound"]
    assert opacus.accountants.create_accountant("misdeal").mechanism() == "misdeal"
    state = engine.accountant.state_dict()
    again = opacus.accountants.create_accountant("misdeal")
    again.load_state_dict(state)
    assert again.get_epsilon(1e-5) == engine.get_epsilon(1e-5)


def test_batches_too_large_for_the_memory_are_split():
    from opacus.utils.batch_memory_manager import BatchMemoryManager

    model, optimizer, loader, engine = training()
    with BatchMemoryManager(data_loader=loader, max_physical_batch_size=8, optimizer=optimizer) as split:
        for features, labels in split:
            assert len(features) <= 8
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(features), labels).backward()
            optimizer.step()
    assert len(engine.accountant) == 30


@pytest.mark.parametrize("scheme", ["poisson", "balls-in-bins"])
def test_an_audit_does_not_accuse_a_training_on_dealt_batches(scheme):
    """At significance 1e-6, which is the rate of false alarms."""
    auditor = misdeal.torch.Auditor(threat_model="worst-case", canaries=1, seed=0)
    for index, run in enumerate(auditor.runs(40)):
        model = torch.nn.Linear(5, 2)
        loader = misdeal.torch.loader(dataset(), batch_size=20, epochs=1, scheme=scheme, seed=index)
        engine = misdeal.torch.PrivacyEngine()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model, optimizer, loader = engine.make_private(
            module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=1.0, max_grad_norm=1.0
        )
        run.plant(optimizer, loader)
        for features, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(features), labels).backward()
            optimizer.step()
    report = auditor.judge(claimed_epsilon=engine.get_epsilon(1e-5), delta=1e-5, significance=1e-6)
    assert auditor.setting.scheme == scheme and report.valid and not report.violated


def test_other_loaders_are_refused():
    model = torch.nn.Linear(5, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    engine = misdeal.torch.PrivacyEngine()
    for loader in (DataLoader(dataset(), batch_size=20, shuffle=True), opacus.data_loader.DPDataLoader(dataset(), sample_rate=0.1)):
        with pytest.raises(ValueError, match="^data_loader is a .* misdeal.torch.loader is allowed"):
            engine.make_private(module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=1.0, max_grad_norm=1.0)


def test_what_would_change_the_law_is_refused():
    class Endless(IterableDataset):
        def __iter__(self):
            return iter(range(10))

    with pytest.raises(ValueError, match="^dataset is iterable only.*misdeal.deal.stream"):
        misdeal.torch.loader(Endless(), batch_size=2, epochs=1)
    with pytest.raises(ValueError, match="^shuffle is True"):
        misdeal.torch.loader(dataset(), batch_size=20, epochs=1, shuffle=True)
    with pytest.raises(ValueError, match="^batch_size is 601"):
        misdeal.torch.loader(dataset(), batch_size=601, epochs=1)
    with pytest.raises(ValueError, match="^first_step is 31"):
        misdeal.torch.loader(dataset(), batch_size=20, epochs=1, first_step=31)


def test_check_reads_the_loader():
    for scheme in ("poisson", "balls-in-bins"):
        loader = misdeal.torch.loader(dataset(), batch_size=20, epochs=2, scheme=scheme, seed=1)
        found = misdeal.check(dict(noise_multiplier=2.0, claimed_epsilon=2.0, epochs=2), data_loader=loader, delta=1e-5, quiet=True)
        setting = found.cards[0]["setting"]
        assert (setting["scheme"], setting["dataset_size"], setting["batch_size"]) == (scheme, 600, 20)
