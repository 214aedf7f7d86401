"""A training with Opacus, and one fault at a time planted in it: for the tests of check-ups and for `bench/faults.py`."""

import warnings

import torch
from opacus import PrivacyEngine
from opacus.optimizers import DPOptimizer
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore", category=UserWarning)
torch.set_num_threads(1)

RECORDS, BATCH_SIZE, NOISE, CLIP_NORM, DELTA = 1280, 80, 0.8, 2.0, 1e-3
generator = torch.Generator().manual_seed(0)
FEATURES = torch.randn(RECORDS, 20, generator=generator)
DATA = TensorDataset(FEATURES, (FEATURES[:, 0] > 0).long())


def noise_times(factor):
    class Noise(DPOptimizer):
        def add_noise(self):
            norm, self.max_grad_norm = self.max_grad_norm, factor * self.max_grad_norm
            super().add_noise()
            self.max_grad_norm = norm

    return Noise


class NoClipping(DPOptimizer):
    def clip_and_accumulate(self):
        for parameter in self.params:
            parameter.summed_grad = parameter.grad_sample.sum(dim=0)
            parameter.grad_sample._processed = True


class ClippingPerTensor(DPOptimizer):
    """Gives every tensor the whole clipping norm."""

    def clip_and_accumulate(self):
        for parameter in self.params:
            rows = parameter.grad_sample
            factors = (self.max_grad_norm / (rows.flatten(1).norm(dim=1) + 1e-6)).clamp(max=1.0)
            parameter.summed_grad = torch.einsum("i,i...", factors, rows)
            parameter.grad_sample._processed = True


class CountedTwice(DPOptimizer):
    """Accumulates every batch twice."""

    def clip_and_accumulate(self):
        super().clip_and_accumulate()
        for parameter in self.params:
            parameter.summed_grad = 2 * parameter.summed_grad


class QuietFifthStep(DPOptimizer):
    """Adds no noise in every fifth step."""

    steps = 0

    def add_noise(self):
        self.steps += 1
        multiplier, self.noise_multiplier = self.noise_multiplier, 0.0 if self.steps % 5 == 0 else self.noise_multiplier
        super().add_noise()
        self.noise_multiplier = multiplier


class QuietBiases(DPOptimizer):
    """Adds no noise to biases."""

    def add_noise(self):
        super().add_noise()
        for parameter in self.params:
            if parameter.dim() == 1:
                parameter.grad = parameter.summed_grad.clone()


class SameNoiseEveryStep(DPOptimizer):
    def add_noise(self):
        if not hasattr(self, "noise_seed"):
            self.noise_seed = torch.initial_seed() % 2**31
        self.generator = torch.Generator().manual_seed(self.noise_seed)
        super().add_noise()


class ConstantSeed(DPOptimizer):
    def add_noise(self):
        if self.generator is None:
            self.generator = torch.Generator().manual_seed(42)
        super().add_noise()


class Ghost(DPOptimizer):
    """Takes the gradients of records from elsewhere, as ghost clipping does: what is planted in `grad_sample` does nothing."""

    def clip_and_accumulate(self):
        for parameter in self.params:
            parameter.grad_sample = 0.1 * self.max_grad_norm * torch.ones_like(parameter.grad_sample) / parameter.grad_sample[0].numel()
        super().clip_and_accumulate()


class DividedByItsSize(DPOptimizer):
    """Divides by the size of the batch, not by the expected one."""

    def scale_grad(self):
        for parameter in self.params:
            parameter.grad /= max(len(parameter.grad_sample), 1)


# Each with the test that must find it; None where none may.
FAULTS = {
    "correct": (None, None),
    "shuffled": (None, "batch-sizes"),
    "noise halved": (noise_times(0.5), "noise-scale"),
    "noise 10 % too small": (noise_times(0.9), "noise-scale"),
    "no clipping": (NoClipping, "clipping"),
    "clipping per tensor": (ClippingPerTensor, "clipping"),
    "every fifth step without noise": (QuietFifthStep, "noise-in-every-step"),
    "constant seed": (ConstantSeed, "fresh-noise-in-runs"),
    "same noise each step": (SameNoiseEveryStep, "fresh-noise-in-steps"),
    "no noise on biases": (QuietBiases, "noise-in-every-tensor"),
    "ghost": (Ghost, "canaries-planted"),
    "accumulation": (CountedTwice, "clipping"),
    "divided by its size": (DividedByItsSize, "fixed-normalisation"),
    "double noise": (noise_times(2.0), None),
}


def make_private(fault="correct", data=DATA):
    """Model, optimizer, loader and engine, as Opacus's tutorial has them, with one fault."""
    model = torch.nn.Sequential(torch.nn.Linear(20, 32), torch.nn.Tanh(), torch.nn.Linear(32, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    engine = PrivacyEngine()
    model, optimizer, loader = engine.make_private(
        module=model, optimizer=optimizer, data_loader=DataLoader(data, batch_size=BATCH_SIZE, shuffle=True), noise_multiplier=NOISE,
        max_grad_norm=CLIP_NORM, poisson_sampling=fault != "shuffled",
    )  # fmt: skip
    mistake = FAULTS[fault][0]
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


def audited(auditor, fault="correct", epochs=3):
    """The auditor after the run that a fault needs; a constant seed needs two."""
    for run in auditor.runs(2 if fault == "constant seed" else 1):
        model, optimizer, loader, _ = make_private(fault)
        run.plant(optimizer, loader)
        train(model, optimizer, loader, epochs)
    return auditor
