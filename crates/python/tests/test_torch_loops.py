"""Real training loops with many canaries: what is planted comes out, or the loop is refused by name, before a step."""

import numpy as np
import opacus_training as training
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("opacus")

import misdeal.torch  # noqa: E402
from opacus import PrivacyEngine  # noqa: E402
from opacus.utils.batch_memory_manager import BatchMemoryManager  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

STEPS, BATCH_SIZE = 8, 12
FEATURES = torch.randn(STEPS * BATCH_SIZE, 6, generator=torch.Generator().manual_seed(1))
DATA = TensorDataset(FEATURES, (FEATURES[:, 0] > 0).long())


def network():
    return torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))


def make_private(
    data=DATA, model=network, optimizer=torch.optim.SGD, batch_size=BATCH_SIZE, poisson=False, noise=0.7, drop_last=False, shuffle=True, **options
):
    model = model()
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    private = PrivacyEngine().make_private(
        module=model, optimizer=optimizer(trained, lr=0.01), data_loader=DataLoader(data, batch_size=batch_size, shuffle=shuffle, drop_last=drop_last),
        noise_multiplier=noise or 0.7, max_grad_norm=2.0, poisson_sampling=poisson, **options,
    )  # fmt: skip
    if noise == 0:
        # Outputs then are what was planted.
        private[1].add_noise = lambda: training.quiet(private[1])
    return private


def audited(threat_model="worst-case", runs=1, epochs=2, loop=training.train, canaries=None, plant=None, **options):
    auditor = misdeal.torch.Auditor(threat_model=threat_model, canaries=canaries, seed=5)
    for run in auditor.runs(runs):
        model, optimizer, loader = make_private(**options)
        run.plant(optimizer, loader, **(plant or {}))
        loop(model, optimizer, loader, epochs)
    return auditor


def quiet_outputs_are_what_was_planted(auditor, tolerance=1e-4):
    for record in auditor.records:
        assert record.outputs.shape == record.places.shape
        assert np.abs(record.outputs - record.expected).max() < tolerance
        epochs = record.places.reshape(-1, record.shape["steps_per_epoch"], auditor.canaries)
        if record.shape["scheme"] == "shuffle":
            assert np.all((epochs == 1).sum(1) == 1)


def in_small_batches(model, optimizer, loader, epochs):
    with BatchMemoryManager(data_loader=loader, max_physical_batch_size=5, optimizer=optimizer) as small:
        training.train(model, optimizer, small, epochs)


def accumulating(passes):
    def loop(model, optimizer, loader, epochs):
        for _ in range(epochs):
            for number, (features, labels) in enumerate(loader):
                torch.nn.functional.cross_entropy(model(features), labels).backward()
                if number % passes == passes - 1:
                    optimizer.step()
                    optimizer.zero_grad()

    return loop


@pytest.mark.parametrize("threat_model", ["worst-case", "partially-informed", "target-canary"])
@pytest.mark.parametrize("loop", [training.train, in_small_batches, accumulating(2)])
def test_what_is_planted_comes_out(threat_model, loop):
    auditor = audited(threat_model, runs=2, loop=loop, noise=0)
    merged = 2 if loop.__name__ == "loop" else 1
    assert auditor.canaries == BATCH_SIZE
    assert auditor.outputs.shape == (2, 12, 2 * STEPS // merged) and auditor.coins.shape == (2, 12)
    assert auditor.setting.batch_size == merged * BATCH_SIZE and auditor.setting.epochs == 2
    quiet_outputs_are_what_was_planted(auditor)
    assert auditor.independence == ("symmetric-scores" if threat_model == "target-canary" else "follow")
    first = auditor.records[0]
    assert first.probes.shape[1] == len(first.probe_tensors) and set(first.probe_tensors) == {0, 1, 2, 3}
    if threat_model == "worst-case":
        assert np.abs(first.probes[:, first.probe_free]).max() == 0 and first.tensors_touched.min() >= 2
    else:
        assert auditor.directions.kind == "null-space" and not first.biased and first.probes_biased


def test_clipping_tensor_by_tensor_shows():
    """A canary in m tensors answers with sqrt(m)."""

    class PerTensor(training.DPOptimizer):
        def clip_and_accumulate(self):
            for parameter in self.params:
                norms = parameter.grad_sample.flatten(1).norm(dim=1)
                factors = (self.max_grad_norm / (norms + 1e-6)).clamp(max=1.0)
                parameter.summed_grad = torch.einsum("i,i...", factors, parameter.grad_sample)

    def loop(model, optimizer, loader, epochs):
        optimizer.__class__ = PerTensor
        clip = PerTensor.clip_and_accumulate
        plant = run_of[0]._plant_rows
        optimizer.clip_and_accumulate = lambda: (plant(), clip(optimizer))
        training.train(model, optimizer, loader, epochs)

    auditor = misdeal.torch.Auditor(threat_model="worst-case", seed=5)
    run_of = []
    for run in auditor.runs(1):
        model, optimizer, loader = make_private(noise=0)
        run.plant(optimizer, loader)
        run_of.append(run)
        loop(model, optimizer, loader, 1)
    record = auditor.records[0]
    answers = record.outputs / np.where(record.expected == 0, 1, record.expected)
    assert np.allclose(answers[record.expected != 0], np.broadcast_to(np.sqrt(record.tensors_touched), answers.shape)[record.expected != 0], atol=1e-3)


def frozen():
    model = network()
    model[0].weight.requires_grad = False
    model[0].bias.requires_grad = False
    return model


class LowRank(torch.nn.Module):
    """A frozen layer with a trained correction of rank two, as LoRA has it."""

    def __init__(self):
        super().__init__()
        self.frozen = torch.nn.Linear(6, 2)
        self.frozen.requires_grad_(False)
        self.down = torch.nn.Linear(6, 4, bias=False)
        self.up = torch.nn.Linear(4, 2, bias=False)

    def forward(self, features):
        return self.frozen(features) + self.up(self.down(features))


def grouped(parameters, lr):
    first, *rest = parameters
    return torch.optim.SGD([{"params": [first], "lr": lr}, {"params": rest, "lr": lr / 2}], lr=lr)


def low_precision(model, optimizer, loader, epochs):
    for _ in range(epochs):
        for features, labels in loader:
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = torch.nn.functional.cross_entropy(model(features), labels)
            loss.backward()
            optimizer.step()


@pytest.mark.parametrize(
    "options",
    [
        dict(model=frozen), dict(model=LowRank), dict(optimizer=torch.optim.Adam), dict(optimizer=grouped), dict(loop=low_precision),
        dict(grad_sample_mode="functorch"), dict(loss_reduction="sum"),
    ],
    ids=["frozen", "LoRA", "Adam", "groups", "bfloat16", "functorch", "sum"],
)  # fmt: skip
def test_models_and_optimizers_of_all_kinds(options):
    # Gradients of eight bits are clipped as such.
    tolerance = 0.02 if options.get("loop") is low_precision else 1e-4
    quiet_outputs_are_what_was_planted(audited(noise=0, canaries=8, **options), tolerance)


def test_records_that_fill_no_batch_are_dropped():
    """100 records in batches of 12: 8 batches, and a canary is in none of them with probability 4 %."""
    data = TensorDataset(FEATURES[:96].repeat(2, 1)[:100], DATA.tensors[1].repeat(2)[:100])
    auditor = audited(noise=0, data=data, drop_last=True, epochs=20)
    record = auditor.records[0]
    assert np.abs(record.outputs - record.expected).max() < 1e-4 and auditor.independence == "follow"
    played = (record.places.reshape(20, STEPS, 12) == 1).sum(1)
    assert set(np.unique(played)) <= {0, 1} and 0.8 < played.mean() < 1
    with pytest.raises(ValueError, match="^drop_last is False, but a last batch of 4 records"):
        audited(data=data)


def stopping_early(model, optimizer, loader, epochs):
    training.train(model, optimizer, loader, epochs - 1)
    for number, (features, labels) in enumerate(loader):
        if number == 3:
            break
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(features), labels).backward()
        optimizer.step()


def five_steps_an_epoch(model, optimizer, loader, epochs):
    for _ in range(epochs):
        for number, (features, labels) in enumerate(loader):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(features), labels).backward()
            optimizer.step()
            if number == 4:
                break


def test_early_stops():
    auditor = audited(noise=0, loop=stopping_early, epochs=3)
    assert auditor.setting.epochs == 2 and auditor.outputs.shape == (1, 12, 2 * STEPS)
    quiet_outputs_are_what_was_planted(auditor)
    with pytest.raises(ValueError, match=r"^epoch has 5 steps, but 8 is allowed.*steps_per_epoch=5\)"):
        audited(loop=five_steps_an_epoch)
    auditor = audited(noise=0, loop=five_steps_an_epoch, epochs=3, plant=dict(steps_per_epoch=5))
    record = auditor.records[0]
    assert auditor.setting.steps_per_epoch == 5 and np.abs(record.outputs - record.expected).max() < 1e-4
    with pytest.raises(ValueError, match="^steps is 3, but 8 or more"):
        audited(loop=stopping_early, epochs=1)


def skipping_by_hand(model, optimizer, loader, epochs):
    for number, (features, labels) in enumerate(loader):
        optimizer.signal_skip_step(do_skip=number % 2 == 0)
        torch.nn.functional.cross_entropy(model(features), labels).backward()
        optimizer.step()
        optimizer.zero_grad()


def test_loops_that_cannot_be_audited_are_refused_by_name():
    with pytest.raises(TypeError, match="ghost clipping"):
        make = make_private(grad_sample_mode="ghost", criterion=torch.nn.CrossEntropyLoss(), noise=0.7)
        next(misdeal.torch.Auditor().runs(1)).plant(make[1], make[-1])
    with pytest.raises(ValueError, match="^the optimizer skips a step at the end of a batch"):
        audited(loop=skipping_by_hand)
    with pytest.raises(ValueError, match="^a step accumulates 3 batches"):
        audited(loop=accumulating(3))
    with pytest.raises(ValueError, match="^target_index is 90, but 0 to 84 is allowed"):
        run = next(misdeal.torch.Auditor(target_index=90, canaries=12).runs(1))
        run.plant(*make_private()[1:])
    with pytest.raises(ValueError, match="^runs is 1, but an even number"):
        audited(poisson=True)
    with pytest.raises(ValueError, match="^canaries is 13, but 1 to 12"):
        audited(canaries=13)
    with pytest.raises(ValueError, match="^canary 0 was dealt 0 times in 2 epochs"):
        sampler = torch.utils.data.SubsetRandomSampler(range(48, 96))
        auditor = misdeal.torch.Auditor(threat_model="worst-case")
        for run in auditor.runs(1):
            model, optimizer, _ = make_private()
            loader = DataLoader(DATA, batch_size=12, sampler=sampler)
            run.plant(optimizer, loader)
            training.train(model, optimizer, loader, 2)
    with pytest.raises(ValueError, match="^steps_per_epoch is 9, but 1 to 8"):
        audited(plant=dict(steps_per_epoch=9))


def test_a_constant_seed_is_refused_in_the_second_run():
    def train(seed):
        auditor = misdeal.torch.Auditor(threat_model="worst-case", canaries=4)
        for run in auditor.runs(2):
            torch.manual_seed(run.seed if seed is None else seed)
            model, optimizer, loader = make_private()
            run.plant(optimizer, loader)
            training.train(model, optimizer, loader)
        return auditor

    with pytest.raises(ValueError, match="^the seed of PyTorch is 0 in runs 1 and 2"):
        train(0)
    assert len(train(None).records) == 2


def test_poisson_sampling_takes_as_many_as_are_asked_for():
    auditor = audited(noise=0, poisson=True, canaries=20)
    record = auditor.records[0]
    assert auditor.independence == "memberships" and set(np.unique(record.places)) <= {0, 1}
    assert np.abs(record.outputs - record.expected).max() < 1e-4
    assert len(set(record.batch_sizes)) > 1


def test_noise_of_correct_training_is_standard_normal():
    """Outputs less what was planted, over the noise: mean and spread within five standard errors, which is a false alarm of 1e-6 each."""
    for poisson in (False, True):
        auditor = audited(epochs=20, poisson=poisson, canaries=12)
        record = auditor.records[0]
        residuals = (record.outputs - record.expected) / record.noise_multipliers[:, None]
        assert abs(residuals.mean()) < 5 / np.sqrt(residuals.size)
        assert abs(residuals.std() - 1) < 5 / np.sqrt(2 * residuals.size)
        probes = record.probes[:, record.probe_free] / record.noise_multipliers[:, None]
        assert abs(probes.std() - 1) < 5 / np.sqrt(2 * probes.size)


def test_a_record_survives_its_file(tmp_path):
    record = audited().records[0]
    record.save(tmp_path / "run.npz")
    again = type(record).load(tmp_path / "run.npz")
    assert again.shape == record.shape and again.tensors == record.tensors
    assert all(np.array_equal(getattr(again, name), getattr(record, name)) for name in ("coins", "outputs", "places", "probes"))


def test_the_same_seed_gives_the_same_audit():
    first, second = audited(), audited()
    assert np.array_equal(first.outputs, second.outputs) and np.array_equal(first.coins, second.coins)
    pooled = misdeal.torch.Auditor(threat_model="worst-case", canaries=12, seed=6)
    for run in pooled.runs(200):
        assert run.coins.shape == (12,)
        break
    coins = np.array([pooled.coins_of(run) for run in range(200)])
    # 2,400 fair coins: five standard errors.
    assert abs(coins.mean() - 0.5) < 5 * 0.5 / np.sqrt(coins.size)


def test_a_store_goes_on_where_it_was_left(tmp_path):
    def audit(runs, stop_at=None, seed=5):
        auditor = misdeal.torch.Auditor(threat_model="worst-case", canaries=12, seed=seed, store=tmp_path)
        trained = []
        for run in auditor.runs(runs):
            if run.index == stop_at:
                break
            trained.append(run.index)
            model, optimizer, loader = make_private()
            run.plant(optimizer, loader)
            training.train(model, optimizer, loader, 2)
        return auditor, trained

    assert audit(3, stop_at=2)[1] == [0, 1]
    # A process that trains run 2 at this moment.
    other = misdeal.torch.Auditor(threat_model="worst-case", canaries=12, seed=5, store=tmp_path)
    busy = other.runs(3)
    assert next(busy).index == 2
    assert audit(4)[1] == [3]
    busy.close()
    auditor, trained = audit(4)
    assert trained == [2] and [record.index for record in auditor.records] == [0, 1, 2, 3]
    whole = audited(runs=4)
    assert np.array_equal(auditor.outputs, whole.outputs) and np.array_equal(auditor.coins, whole.coins)
    assert auditor.judge(delta=0.01).valid
    # The look is remembered by whoever opens the store.
    assert not audit(5)[0].judge(delta=0.01).valid
    with pytest.raises(ValueError, match="^seed is 6, but 5 as in the store"):
        audit(4, seed=6)


def test_audits_of_several_processes_are_merged():
    first, second = audited(runs=2), misdeal.torch.Auditor(threat_model="worst-case", canaries=12, seed=9)
    for run in second.runs(1):
        model, optimizer, loader = make_private()
        run.plant(optimizer, loader)
        training.train(model, optimizer, loader, 2)
    first.merge(second)
    assert first.outputs.shape[0] == 3 and first.coins.shape == (3, 12)
    with pytest.raises(ValueError, match="^run 1 of seed 9 is in both auditors"):
        first.merge(second)
