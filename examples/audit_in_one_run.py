"""Audits a convolutional network on Fashion-MNIST in one run: Opacus with `poisson_sampling=False`, accounted as if it were Poisson.

usage: MISDEAL_DATA=folder python examples/audit_in_one_run.py [--runs 1] [--epochs 10] [--threat-model partially-informed]
Needs pip install misdeal[torch], and fashion-mnist/ with the four files of the data set in the folder.
"""

import argparse
import gzip
import os
import pathlib

import numpy as np
import torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset

import misdeal.torch

parser = argparse.ArgumentParser()
parser.add_argument("--runs", type=int, default=1)
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--records", type=int, help="the first so many records only")
parser.add_argument("--batch-size", type=int, default=512)
parser.add_argument("--threat-model", default="partially-informed", choices=["partially-informed", "worst-case", "target-canary"])
arguments = parser.parse_args()


def fashion_mnist(kind):
    folder = pathlib.Path(os.environ["MISDEAL_DATA"]) / "fashion-mnist"
    images = np.frombuffer(gzip.open(folder / f"{kind}-images-idx3-ubyte.gz").read(), np.uint8, offset=16).reshape(-1, 1, 28, 28)
    labels = np.frombuffer(gzip.open(folder / f"{kind}-labels-idx1-ubyte.gz").read(), np.uint8, offset=8)
    chosen = slice(arguments.records)
    return TensorDataset(torch.from_numpy(images[chosen] / 255.0).float(), torch.from_numpy(labels[chosen].astype(np.int64)))


def make_private(data):
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 8, 2, padding=2), torch.nn.ReLU(), torch.nn.MaxPool2d(2, 1), torch.nn.Conv2d(16, 32, 4, 2), torch.nn.ReLU(),
        torch.nn.MaxPool2d(2, 1), torch.nn.Flatten(), torch.nn.Linear(512, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10),
    )  # fmt: skip
    engine = PrivacyEngine()
    model, optimizer, loader = engine.make_private(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.25), noise_multiplier=0.8, max_grad_norm=1.0, poisson_sampling=False,
        data_loader=DataLoader(data, batch_size=arguments.batch_size, shuffle=True, drop_last=True),
    )  # fmt: skip
    return model, optimizer, loader, engine


data, test = fashion_mnist("train"), fashion_mnist("t10k")
auditor = misdeal.torch.Auditor(threat_model=arguments.threat_model)
for run in auditor.runs(arguments.runs):
    model, optimizer, loader, engine = make_private(data)
    run.plant(optimizer, loader)
    for _ in range(arguments.epochs):
        for images, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()
    with torch.no_grad():
        print(f"run {run.index + 1}: test accuracy {(model(test.tensors[0]).argmax(1) == test.tensors[1]).float().mean():.3f}")
report = auditor.judge(claimed_epsilon=engine.get_epsilon, delta=1e-5)
print(f"{auditor.canaries} canaries, independent by {report.independence}")
print(report.verdict())
