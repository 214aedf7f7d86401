"""A small training with Opacus as anybody writes it, and three that have mistakes."""

import warnings

import torch
from opacus import PrivacyEngine
from opacus.optimizers import DPOptimizer
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore", category=UserWarning)
torch.set_num_threads(1)

# 100 records in 25 batches, so that delta is one over the number of records.
RECORDS, BATCH_SIZE, NOISE, CLIP_NORM, DELTA = 100, 4, 0.7, 2.0, 0.01
generator = torch.Generator().manual_seed(0)
FEATURES = torch.randn(RECORDS, 5, generator=generator)
DATA = TensorDataset(FEATURES, (FEATURES[:, 0] > 0).long())


class HalfNoise(DPOptimizer):
    """Forgets that the noise is a multiple of the clipping norm, which is 2 here."""

    def add_noise(self):
        norm, self.max_grad_norm = self.max_grad_norm, 1.0
        super().add_noise()
        self.max_grad_norm = norm


class NoClipping(DPOptimizer):
    """Sums gradients as they are."""

    def clip_and_accumulate(self):
        for parameter in self.params:
            parameter.summed_grad = parameter.grad_sample.sum(dim=0)
            parameter.grad_sample._processed = True


class NoiseOfEveryStepTheSame(DPOptimizer):
    """Makes its generator anew in every step, from a seed that differs from run to run."""

    def add_noise(self):
        if not hasattr(self, "noise_seed"):
            self.noise_seed = torch.initial_seed() % 2**31
        self.generator = torch.Generator().manual_seed(self.noise_seed)
        super().add_noise()


class NoiseOfEveryRunTheSame(DPOptimizer):
    """Makes its generator from a constant, once."""

    def add_noise(self):
        if self.generator is None:
            self.generator = torch.Generator().manual_seed(42)
        super().add_noise()


def make_private(poisson_sampling=True, shuffle=True, mistake=None, **options):
    """Model, optimizer, loader and engine, as Opacus's tutorial has them."""
    model = torch.nn.Linear(5, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(DATA, batch_size=BATCH_SIZE, shuffle=shuffle)
    engine = PrivacyEngine()
    model, optimizer, loader = engine.make_private(
        module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=NOISE, max_grad_norm=CLIP_NORM,
        poisson_sampling=poisson_sampling, **options,
    )  # fmt: skip
    if mistake is not None:
        optimizer.__class__ = mistake
    return model, optimizer, loader, engine


def train(model, optimizer, loader, epochs=1):
    loss = torch.nn.CrossEntropyLoss()
    for _ in range(epochs):
        for features, labels in loader:
            optimizer.zero_grad()
            loss(model(features), labels).backward()
            optimizer.step()


def quiet(optimizer):
    """What `add_noise` does, without the noise."""
    for parameter in optimizer.params:
        parameter.grad = parameter.summed_grad.clone()
        parameter.summed_grad._processed = True


def audited(auditor, runs, epochs=1, **options):
    """The audit, and the epsilon that Opacus prints at each delta."""
    for run in auditor.runs(runs):
        model, optimizer, loader, engine = make_private(**options)
        run.plant(optimizer, loader)
        train(model, optimizer, loader, epochs)
    return engine.get_epsilon
