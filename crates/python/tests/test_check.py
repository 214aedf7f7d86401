"""Model cards, engines, checkpoints and events to verdicts."""

import pickle

import misdeal
import pytest

CARD = dict(dataset_size=60_000, batch_size=512, epochs=15, noise_multiplier=0.8, delta=1e-5, claimed_epsilon=2.1)
FLAGS = [word for name, value in CARD.items() for word in (f"--{name.replace('_', '-')}", value)]


def test_a_card_is_the_command_lines_document(command, tmp_path):
    theirs = command.json("check", *FLAGS, "--scheme", "shuffle")
    path = tmp_path / "card.toml"
    path.write_text("".join(f"{name} = {value}\n" for name, value in CARD.items()) + 'scheme = "shuffle"\n')
    by_name = misdeal.check(**CARD, scheme="shuffle", plot=tmp_path / "figure.svg", quiet=True)
    assert by_name.to_dict() == theirs == misdeal.check(CARD, scheme="shuffle").to_dict()
    assert "<svg" in (tmp_path / "figure.svg").read_text()
    of_file = misdeal.check(path)
    assert of_file.cards[0]["verdict"] == theirs["cards"][0]["verdict"] and of_file.cards[0]["name"] == str(path)
    two = misdeal.check([path, str(path)])
    assert [card["name"] for card in two.cards] == [str(path)] * 2 and two.verdict.kind == "refuted"
    assert "Of 2 cards" in two.verdict() and two._repr_html_().count("<img") == 1


def test_a_report_leads_with_its_verdict():
    report = misdeal.check(CARD, scheme="shuffle")
    assert report.verdict.kind == "refuted" and report.verdict.sentence == report.verdict() == report.cards[0]["verdict"]["sentence"]
    assert str(report).startswith("The claim of epsilon 2.1 is REFUTED") and "balls-in-bins" in str(report)
    assert report.epsilon_lower_bound > 20 and report.setting["steps"] == 1755 and "REFUTED" in repr(report)
    page = report._repr_html_()
    assert "REFUTED" in page and "<table>" in page and "fill no batch" in page
    copy = pickle.loads(pickle.dumps(report))
    assert copy == report and copy.verdict == report.verdict and pickle.loads(pickle.dumps(report.verdict)).kind == "refuted"
    with pytest.raises(AttributeError, match="nothing_like_it"):
        report.nothing_like_it  # noqa: B018


@pytest.mark.parametrize(
    "words, message",
    [
        (dict(), "^dataset_size is missing"),
        (dict(CARD, batch_size=0), "^batch_size is 0"),
        (dict(CARD, steps=3), "^epochs is 15, but none beside"),
        (dict(CARD, scheme="nobody"), "^scheme is nobody"),
        (dict(engine_or_card=dict(dataset=5)), "^dataset is 5, but no such argument|dataset"),
        (dict(engine_or_card=3.0), "^engine_or_card is a float"),
        (dict(engine_or_card=[CARD]), "^engine_or_card is a list of other things"),
        (dict(engine_or_card="card.toml", delta=0.1), "^delta is given, but nothing beside cards"),
    ],
)
def test_what_cannot_be_checked_is_refused_by_name(words, message):
    with pytest.raises(ValueError, match=message):
        misdeal.check(**words)


def test_files_that_are_absent_or_no_card_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        misdeal.check(tmp_path / "absent.toml")
    (tmp_path / "card.toml").write_text("nothing = 1\n")
    with pytest.raises(ValueError, match="nothing"):
        misdeal.check(tmp_path / "card.toml")


def trained(**options):
    """An Opacus engine after two epochs on 1,000 records, with its data loader."""
    torch = pytest.importorskip("torch", reason="torch is missing: pip install torch opacus")
    opacus = pytest.importorskip("opacus", reason="opacus is missing: pip install opacus")
    from torch.utils.data import DataLoader, TensorDataset

    records, poisson_sampling = options.pop("records", 1000), options.pop("poisson_sampling", True)
    data = TensorDataset(torch.zeros(records, 2), torch.zeros(records).long())
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(data, **{"batch_size": 50, "shuffle": True, **options})
    engine = opacus.PrivacyEngine()
    model, optimizer, loader = engine.make_private(
        module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=0.8, max_grad_norm=1.0, poisson_sampling=poisson_sampling
    )
    for _ in range(2):
        for features, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(features), labels).backward()
            optimizer.step()
    return engine, loader, model, optimizer


def test_an_engine_with_shuffled_batches_is_refuted():
    engine, loader, _, _ = trained(poisson_sampling=False)
    report = misdeal.check(engine, loader, delta=1e-5)
    assert report.verdict.kind == "refuted" and report.setting["scheme"] == "shuffle"
    assert report.claimed_epsilon == engine.get_epsilon(1e-5) < report.epsilon_lower_bound
    assert (report.setting["steps"], report.setting["epochs"], report.setting["batch_size"]) == (40, 2, 50)
    said = report.remarks[0]
    assert said == f"Opacus printed {report.claimed_epsilon:.4g} as if batches were drawn by Poisson sampling; these batches are shuffled."
    assert "a good approximation" in report.remarks[1]
    own = misdeal.check(engine, loader, delta=1e-5, claimed_epsilon=100)
    assert own.verdict.kind == "holds" and "accounts as if" in own.remarks[0]


def test_an_engine_with_poisson_sampling_holds_and_one_without_its_loader_is_undecided():
    engine, loader, _, _ = trained()
    report = misdeal.check(engine, loader, delta=1e-5)
    assert report.setting["scheme"] == "poisson" and report.setting["sampling_probability"] == 1 / 20
    # Opacus rounds up by at most its error of 0.01.
    assert report.verdict.kind == "holds" and report.claimed_epsilon - report.epsilon_upper_bound < 0.02
    alone = misdeal.check(engine, delta=1e-5)
    assert alone.setting["scheme"] is None and alone.verdict.kind == "undecided"
    assert "pass data_loader" in alone.remarks[0] and alone.setting["dataset_size"] == 1000
    assert misdeal.check(engine, delta=1e-5, scheme="shuffle").verdict.kind == "refuted"


def test_a_last_batch_that_is_kept_counts_as_a_step():
    engine, loader, _, _ = trained(poisson_sampling=False, records=1010)
    setting = misdeal.check(engine, loader, delta=1e-5)
    assert setting.setting["steps_per_epoch"] == 21 and setting.setting["epochs"] == 2
    assert any("last batch of an epoch has 10 of 50 records" in remark for remark in setting.remarks)
    dropped = misdeal.check(*trained(poisson_sampling=False, records=1010, drop_last=True)[:2], delta=1e-5)
    assert dropped.setting["steps_per_epoch"] == 20
    # Bounds of a training that keeps its last batch are apart by no less.
    assert setting.epsilon_lower_bound <= dropped.epsilon_lower_bound and setting.epsilon_upper_bound >= dropped.epsilon_upper_bound


def test_a_step_that_opacus_loses_is_named():
    engine, loader, _, _ = trained(records=93 * 4, batch_size=4)
    assert engine.accountant.history[0][2] == 2 * 92
    remarks = misdeal.check(engine, loader, delta=1e-3).remarks
    assert any("93 steps" in remark and "is 92: a step is lost" in remark for remark in remarks), remarks
    engine, loader, _, _ = trained(records=93 * 4, batch_size=4, poisson_sampling=False)
    assert any("would be lost" in remark for remark in misdeal.check(engine, loader, delta=1e-3).remarks)


def test_samplers_are_read_by_name():
    torch = pytest.importorskip("torch")
    from torch.utils.data import DataLoader, RandomSampler, SubsetRandomSampler, TensorDataset, WeightedRandomSampler
    from torch.utils.data.distributed import DistributedSampler

    data = TensorDataset(torch.zeros(100))
    words = dict(noise_multiplier=1.0, epochs=1, delta=1e-3, claimed_epsilon=1.0)

    def setting(**options):
        return misdeal.check(data_loader=DataLoader(data, batch_size=10, **options), **words).setting

    assert setting(shuffle=True)["scheme"] == "shuffle"
    assert setting()["scheme"] == "fixed-order"
    subset = setting(sampler=SubsetRandomSampler(range(50)))
    assert (subset["scheme"], subset["dataset_size"], subset["steps_per_epoch"]) == ("shuffle", 50, 5)
    assert setting(sampler=RandomSampler(data, num_samples=50))["scheme"] is None
    distributed = setting(sampler=DistributedSampler(data, num_replicas=2, rank=0))
    assert distributed["scheme"] == "shuffle" and distributed["batch_size"] == 20
    assert setting(sampler=DistributedSampler(data, num_replicas=2, rank=0, shuffle=False))["scheme"] == "fixed-order"
    for sampler, name in ((RandomSampler(data, replacement=True), r"RandomSampler\(replacement=True\)"), (WeightedRandomSampler([1.0] * 100, 100), "WeightedRandomSampler")):
        with pytest.raises(ValueError, match=f"^data_loader draws records with replacement .{name}"):
            setting(sampler=sampler)


def test_checkpoints_say_what_their_engine_says(tmp_path):
    engine, loader, model, optimizer = trained(poisson_sampling=False)
    path = tmp_path / "checkpoint.pt"
    engine.save_checkpoint(path=path, module=model, optimizer=optimizer)
    theirs = misdeal.check(engine, loader, delta=1e-5)
    assert misdeal.check(path, loader, delta=1e-5) == theirs
    torch = pytest.importorskip("torch")
    assert misdeal.check(torch.load(path, weights_only=True), loader, delta=1e-5) == theirs
    assert misdeal.check(engine.accountant.state_dict(), loader, delta=1e-5) == theirs
    assert misdeal.check(engine.accountant, loader, delta=1e-5) == theirs
    with pytest.raises(ValueError, match="^dataset_size is missing.*Opacus keeps the sampling rate"):
        misdeal.check(path, delta=1e-5)
    torch.save({"weights": torch.zeros(2)}, path)
    with pytest.raises(ValueError, match="privacy_accountant_state_dict"):
        misdeal.check(path)


def test_histories_with_one_noise_and_rate_merge_and_others_are_refused():
    engine, loader, _, _ = trained(poisson_sampling=False)
    [(noise, rate, steps)] = engine.accountant.history
    whole = misdeal.check(engine, loader, delta=1e-5)
    engine.accountant.history = [(noise, rate, steps - 7), (noise, rate, 7)]
    assert misdeal.check(engine, loader, delta=1e-5).epsilon_lower_bound == whole.epsilon_lower_bound
    engine.accountant.history = [(noise, rate, steps), (1.5, rate, 3)]
    with pytest.raises(ValueError, match="^history is 40 steps with noise 0.8 and rate 0.05; 3 steps with noise 1.5"):
        misdeal.check(engine, loader, delta=1e-5)
    engine.accountant.history = []
    with pytest.raises(ValueError, match="^history is empty"):
        misdeal.check(engine, loader)


def test_events_of_dp_accounting_are_read():
    dp = pytest.importorskip("dp_accounting", reason="dp_accounting is missing: pip install dp-accounting")
    step = dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.0))
    events = (
        dp.SelfComposedDpEvent(step, 100),
        dp.ComposedDpEvent([dp.NoOpDpEvent(), step, dp.SelfComposedDpEvent(step, 99)]),
        # Two releases of one sample, with as much noise as one.
        dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(0.01, dp.SelfComposedDpEvent(dp.GaussianDpEvent(2**0.5), 2)), 100),
        dp.SelfComposedDpEvent(step, 100).to_named_tuple(),
    )
    reports = [misdeal.check(event, dataset_size=10_000, delta=1e-5, scheme="shuffle") for event in events]
    for report in reports:
        assert report.verdict.kind == "refuted" and abs(report.claimed_epsilon - 0.72) < 0.02
        assert report.setting["steps"] == 100 and abs(report.epsilon_lower_bound - reports[0].epsilon_lower_bound) < 1e-9
        assert report.remarks[0].startswith("dp_accounting gives 0.7") and "these batches are shuffled" in report.remarks[0]
    for event, message in (
        (dp.SelfComposedDpEvent(dp.LaplaceDpEvent(1.0), 2), "event has a LaplaceDpEvent"),
        (dp.PoissonSampledDpEvent(0.1, step), "event samples twice"),
        (dp.ComposedDpEvent([step, dp.PoissonSampledDpEvent(0.02, dp.GaussianDpEvent(1.0))]), "^event is 1 steps with noise 1 and rate 0.01; 1 "),
        (dp.NoOpDpEvent(), "^event is empty"),
    ):
        with pytest.raises(ValueError, match=message):
            misdeal.check(event, dataset_size=10_000, delta=1e-5)
