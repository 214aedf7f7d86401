"""Twin runs of real Opacus: exact comparisons, so that nothing here is random."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("opacus")

import misdeal.torch  # noqa: E402
import opacus_faults as training  # noqa: E402
from opacus.utils.batch_memory_manager import BatchMemoryManager  # noqa: E402


def twin(fault="correct", *, change="remove", around=None, steps=40, physical=None, **options):
    def train(run):
        model, optimizer, loader, _ = training.make_private(fault, run.data(training.DATA))
        if around is not None:
            around(run, model, optimizer)
        run.plant(optimizer, loader)
        if physical is None:
            training.train(model, optimizer, loader, 4)
        else:
            with BatchMemoryManager(data_loader=loader, max_physical_batch_size=physical, optimizer=optimizer) as small:
                training.train(model, optimizer, small, 4)

    return misdeal.torch.twin(train, change=change, steps=steps, **options)


@pytest.mark.parametrize("fault", ["correct", "shuffled"])
@pytest.mark.parametrize("change, largest", [("remove", 1), ("replace", 2)])
def test_correct_training_moves_by_the_clipping_norm_and_by_nothing_else(fault, change, largest):
    report = twin(fault, change=change)
    assert report.passed, report.sentence
    assert report.largest_difference == pytest.approx(largest, abs=1e-4) and report.allowed_difference == largest
    assert 1 <= report.steps_with_record <= 10 and report.steps == 40


def test_physical_batches_make_no_difference():
    report = twin(physical=16)
    assert report.passed and report.largest_difference == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    "fault, name, low, high",
    [("no clipping", "sensitivity", 9.9, 10.1), ("clipping per tensor", "sensitivity", 1.3, 2.01), ("accumulation", "sensitivity", 1.99, 2.01)],
)
def test_sensitivity_is_measured_exactly(fault, name, low, high):
    report = twin(fault)
    assert not report.passed and report.differences[0].name == name
    assert low < report.largest_difference < high, report.sentence


def test_a_divisor_that_follows_the_batch_is_found():
    names = {difference.name for difference in twin("divided by its size").differences}
    assert names == {"normalisation", "fixed-normalisation"}


def test_noise_that_depends_on_the_record_is_found():
    def around(run, model, optimizer):
        add_noise = optimizer.add_noise

        def adaptive():
            size = sum(float(p.summed_grad.square().sum()) for p in optimizer.params)
            optimizer.noise_multiplier = training.NOISE * (1 + 0.01 * size)
            add_noise()
            optimizer.noise_multiplier = training.NOISE

        optimizer.add_noise = adaptive

    assert twin(around=around).differences[0].name == "noise"


def test_a_learning_rate_that_depends_on_the_record_is_found():
    def around(run, model, optimizer):
        optimizer.attach_step_hook(lambda it: it.original_optimizer.param_groups[0].update(lr=0.1 / (1 + it.params[0].grad_sample.shape[0])))

    assert "settings" in {difference.name for difference in twin(around=around).differences}


def test_records_that_reach_each_other_are_found():
    def around(run, model, optimizer):
        first = model._module[0] if hasattr(model, "_module") else model[0]
        first.register_forward_hook(lambda module, inputs, output: output - output.mean(0, keepdim=True))

    assert twin(around=around).differences[0].name == "other-gradients"


def test_training_that_ends_by_the_record_is_found():
    def train(run):
        model, optimizer, loader, _ = training.make_private(data=run.data(training.DATA))
        run.plant(optimizer, loader)
        training.train(model, optimizer, loader, 1 if run.changed else 2)

    assert [difference.name for difference in misdeal.torch.twin(train).differences] == ["steps"]


def test_batches_that_depend_on_the_record_are_found():
    def train(run):
        model, optimizer, loader, _ = training.make_private("shuffled", run.data(training.DATA))
        if run.changed:
            torch.rand(1)
        run.plant(optimizer, loader)
        training.train(model, optimizer, loader, 1)

    assert misdeal.torch.twin(train).differences[0].name == "batches"


def test_refusals_name_what_is_wrong():
    with pytest.raises(ValueError, match="^change is 'swap'"):
        twin(change="swap")
    with pytest.raises(ValueError, match="^steps is 0"):
        twin(steps=0)
    with pytest.raises(ValueError, match="^steps is 0, but at least one"):
        misdeal.torch.twin(lambda run: None)
    with pytest.raises(TypeError, match="^optimizer is SGD"):
        misdeal.torch.twin(lambda run: run.plant(torch.optim.SGD(torch.nn.Linear(2, 2).parameters(), lr=1), None))
