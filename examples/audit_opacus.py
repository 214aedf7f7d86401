"""Audits a training with Opacus, as it is and with `poisson_sampling=False`.

usage: python examples/audit_opacus.py [--runs 1000]          needs pip install misdeal[torch]
"""

import argparse

import torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset

import misdeal.torch

parser = argparse.ArgumentParser()
parser.add_argument("--runs", type=int, default=1000)
arguments = parser.parse_args()

features = torch.randn(100, 5, generator=torch.Generator().manual_seed(0))
data = TensorDataset(features, (features[:, 0] > 0).long())
delta = 1 / len(data)


def make_private(poisson_sampling):
    model = torch.nn.Linear(5, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    engine = PrivacyEngine()
    model, optimizer, loader = engine.make_private(
        module=model, optimizer=optimizer, data_loader=DataLoader(data, batch_size=4, shuffle=True),
        noise_multiplier=0.7, max_grad_norm=1.0, poisson_sampling=poisson_sampling,
    )  # fmt: skip
    return model, optimizer, loader, engine


def train(model, optimizer, loader):
    for inputs, labels in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()


for poisson_sampling in (True, False):
    auditor = misdeal.torch.Auditor(threat_model="worst-case", canaries=1)
    for run in auditor.runs(arguments.runs):
        model, optimizer, loader, engine = make_private(poisson_sampling)
        run.plant(optimizer, loader)
        train(model, optimizer, loader)
    report = auditor.judge(claimed_epsilon=engine.get_epsilon(delta), delta=delta)
    print(f"poisson_sampling={poisson_sampling}: {report.verdict()}")
