"""Which scheme is behind a PyTorch data loader, and what does it cost?

usage: python examples/diagnose_loader.py [--epochs 3] [--output batches.jsonl]       needs pip install misdeal[torch]
"""

import argparse

import torch
from torch.utils.data import DataLoader, TensorDataset

import misdeal

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--output", default="batches.jsonl")
arguments = parser.parse_args()

data = TensorDataset(torch.arange(1000.0))
loader = DataLoader(data, batch_size=20, shuffle=True)
path = misdeal.record_batches(loader, arguments.epochs, output=arguments.output)
report = misdeal.diagnose(path, noise_multiplier=1.0)
print(report.verdict())
print(f"Leakage at noise multiplier 1: {report.leakage}")
