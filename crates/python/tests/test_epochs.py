"""The proven epsilon in the logs of what people train with. What is not installed is skipped by name."""

import warnings

import misdeal
import pytest

torch = pytest.importorskip("torch", reason="torch is missing: pip install torch opacus")
opacus = pytest.importorskip("opacus", reason="opacus is missing: pip install opacus")
from misdeal.epochs import EpsilonSoFar  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

warnings.filterwarnings("ignore")
DATA = TensorDataset(torch.randn(200, 2), torch.zeros(200).long())
NAMES = {"claimed_epsilon", "proven_epsilon", "epsilon_lower_bound"}


def make_private(poisson_sampling=False):
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    engine = opacus.PrivacyEngine(accountant="rdp")
    model, optimizer, loader = engine.make_private(
        module=model, optimizer=optimizer, data_loader=DataLoader(DATA, batch_size=10, shuffle=True), noise_multiplier=1.0,
        max_grad_norm=1.0, poisson_sampling=poisson_sampling,
    )  # fmt: skip
    return model, optimizer, loader, engine


def step(model, optimizer, batch):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(batch[0]), batch[1]).backward()
    optimizer.step()


def assert_logged(rows):
    """Both numbers grow from epoch to epoch, and shuffling leaks more than is claimed."""
    assert len(rows) == 2 and all(set(row) >= NAMES for row in rows)
    first, second = rows
    for row in rows:
        assert row["claimed_epsilon"] < row["epsilon_lower_bound"] < row["proven_epsilon"]
    assert all(first[name] < second[name] for name in NAMES)


def test_epsilons_after_each_epoch():
    model, optimizer, loader, engine = make_private()
    epsilon = EpsilonSoFar(engine, loader, delta=1e-3)
    rows = []
    for epoch in (1, 2):
        for batch in loader:
            step(model, optimizer, batch)
        rows.append(epsilon.after(epoch))
    assert_logged(rows)
    assert rows[-1]["claimed_epsilon"] == engine.get_epsilon(1e-3)
    theirs = misdeal.check(engine, loader, delta=1e-3)
    assert rows[-1]["proven_epsilon"] == theirs.epsilon_upper_bound
    words = dict(dataset_size=200, batch_size=10, noise_multiplier=1.0, scheme="shuffle", delta=1e-3)
    assert EpsilonSoFar(**words, claimed_epsilon=3.0).after(2) == {**rows[-1], "claimed_epsilon": 3.0}
    assert "claimed_epsilon" not in EpsilonSoFar(**words).after(2)
    with pytest.raises(ValueError, match="^epochs is given"):
        EpsilonSoFar(engine, loader, epochs=3)


def test_lightning_logs_them(tmp_path):
    lightning = pytest.importorskip("lightning", reason="lightning is missing: pip install lightning")
    model, optimizer, loader, engine = make_private()

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model, self.privacy_engine = model, engine
            self.automatic_optimization = False

        def configure_optimizers(self):
            return optimizer

        def training_step(self, batch, index):
            step(self.model, optimizer, batch)

    rows = []

    class Keep(lightning.Callback):
        def on_train_epoch_end(self, trainer, module):
            rows.append({name: float(value) for name, value in trainer.callback_metrics.items()})

    callbacks = [misdeal.lightning.ProvenEpsilon(delta=1e-3), Keep()]
    options = dict(accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    lightning.Trainer(max_epochs=2, callbacks=callbacks, default_root_dir=tmp_path, **options).fit(Module(), loader)
    assert_logged(rows)


def test_the_trainer_of_hugging_face_logs_them(tmp_path):
    transformers = pytest.importorskip("transformers", reason="transformers is missing: pip install transformers accelerate")
    pytest.importorskip("accelerate", reason="accelerate is missing: pip install accelerate")

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(2, 2)

        def forward(self, features, labels):
            logits = self.linear(features)
            return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

    data = [{"features": features, "labels": label} for features, label in zip(*DATA.tensors)]
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path), num_train_epochs=2, per_device_train_batch_size=10, report_to=[], save_strategy="no", use_cpu=True,
        disable_tqdm=True, remove_unused_columns=False,
    )  # fmt: skip
    trainer = transformers.Trainer(model=Model(), args=arguments, train_dataset=data)
    seen = misdeal.transformers.ProvenEpsilon(noise_multiplier=1.0, delta=1e-3, claimed_epsilon=0.1).attach(trainer)
    trainer.train()
    rows = [row for row in trainer.state.log_history if "proven_epsilon" in row]
    # The trainer shuffles.
    assert len(rows) == 2 and rows[0]["proven_epsilon"] < rows[1]["proven_epsilon"] and rows[1]["claimed_epsilon"] == 0.1
    assert rows[1]["proven_epsilon"] == seen.epsilon.after(2)["proven_epsilon"] > rows[1]["epsilon_lower_bound"] > 0.1
    alone = misdeal.transformers.ProvenEpsilon(noise_multiplier=1.0, delta=1e-3)
    trainer = transformers.Trainer(model=Model(), args=arguments, train_dataset=data, callbacks=[alone])
    trainer.train()
    assert [row["epoch"] for row in trainer.state.log_history if "proven_epsilon" in row] == [1.0, 2.0]


def test_wandb_logs_them(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb", reason="wandb is missing: pip install wandb")
    model, optimizer, loader, engine = make_private()
    with pytest.raises(ValueError, match="^run is None"):
        misdeal.wandb.log_epsilon(engine, loader)
    run = wandb.init(mode="offline", dir=tmp_path)
    try:
        for batch in loader:
            step(model, optimizer, batch)
        found = misdeal.wandb.log_epsilon(engine, loader, delta=1e-3)
        assert set(found) == NAMES and {name: run.summary[name] for name in NAMES} == found
    finally:
        run.finish()
