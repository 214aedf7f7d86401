"""Logs what a PyTorch data loader deals, for `misdeal diagnose`.

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
print(f"{path}: {sum(1 for _ in open(path))} batches; now run: misdeal diagnose {path}")
