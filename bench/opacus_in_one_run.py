"""What audits of real Opacus show in one run: many canaries with a coin each, against the curve that Opacus claims.

usage: python bench/opacus_in_one_run.py PART... [--device cuda] [--processes 8] [--audits 10]
PART: curve-64, epsilon-512, curve-1, poisson, network, overhead. Needs the package with torch and opacus; MISDEAL_DATA has fashion-mnist.
"""

import argparse
import functools
import gzip
import multiprocessing
import os
import pathlib
import time
import warnings

import measuring
import numpy as np
import torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset

import misdeal
import misdeal.torch

warnings.filterwarnings("ignore")
NOISE, BATCH, STEPS, EPOCHS, DELTA = 0.8, 512, 117, 10, 1e-5
SIGNIFICANCE = 0.05


def tiny_data():
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(BATCH * STEPS, 16, generator=generator)
    return TensorDataset(features, (features[:, 0] > 0).long())


def tiny_model():
    return torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))


def fashion(kind):
    folder = pathlib.Path(os.environ["MISDEAL_DATA"]) / "fashion-mnist"
    images = np.frombuffer(gzip.open(folder / f"{kind}-images-idx3-ubyte.gz").read(), np.uint8, offset=16).reshape(-1, 1, 28, 28)
    labels = np.frombuffer(gzip.open(folder / f"{kind}-labels-idx1-ubyte.gz").read(), np.uint8, offset=8)
    return TensorDataset(torch.from_numpy(images / 255.0).float(), torch.from_numpy(labels.astype(np.int64)))


def network():
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 8, 2, padding=2), torch.nn.ReLU(), torch.nn.MaxPool2d(2, 1), torch.nn.Conv2d(16, 32, 4, 2), torch.nn.ReLU(),
        torch.nn.MaxPool2d(2, 1), torch.nn.Flatten(), torch.nn.Linear(512, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10),
    )  # fmt: skip


def make_private(data, model, device, poisson=False, rate=0.05):
    model = model().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    engine = PrivacyEngine()
    model, optimizer, loader = engine.make_private(
        module=model, optimizer=optimizer, data_loader=DataLoader(data, batch_size=BATCH, shuffle=True, drop_last=True),
        noise_multiplier=NOISE, max_grad_norm=1.0, poisson_sampling=poisson,
    )  # fmt: skip
    return model, optimizer, loader, engine


def train(model, optimizer, loader, device, epochs=EPOCHS):
    for _ in range(epochs):
        for features, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(features.to(device)), labels.to(device)).backward()
            optimizer.step()


def accuracy(model, data, device):
    with torch.no_grad():
        return float((model(data.tensors[0].to(device)).argmax(1).cpu() == data.tensors[1]).float().mean())


def claim_of(engine):
    """The curve that Opacus claims, each point asked for once."""
    return functools.cache(engine.get_epsilon)


def share(store, runs, device, poisson, canaries, seed):
    """One process of several that fill a store."""
    torch.set_num_threads(1)
    auditor = misdeal.torch.Auditor(threat_model="worst-case", canaries=canaries, seed=seed, store=store, quiet=True)
    data = tiny_data()
    for run in auditor.runs(runs):
        model, optimizer, loader, engine = make_private(data, tiny_model, device, poisson)
        run.plant(optimizer, loader)
        train(model, optimizer, loader, device)


def filled(folder, audits, arguments):
    """Stores of several audits (seed, canaries, runs, poisson), trained by several processes."""
    jobs = [(str(folder / f"{poisson}-{canaries}-{seed}"), runs, arguments.device, poisson, canaries, seed) for seed, canaries, runs, poisson in audits]
    # An audit of many runs is shared by many processes.
    repeated = [job for job in jobs for _ in range(min(job[1], arguments.processes))]
    with multiprocessing.get_context("spawn").Pool(arguments.processes, maxtasksperchild=4) as pool:
        pool.starmap(share, repeated, chunksize=1)
    return [misdeal.torch.Auditor(threat_model="worst-case", canaries=job[4], seed=job[5], store=job[0], quiet=True) for job in jobs]


@functools.cache
def claimed(poisson=False):
    """What Opacus answers after the training: its accountant counts steps, whatever was trained."""
    _, _, _, engine = make_private(tiny_data(), tiny_model, "cpu", poisson)
    engine.accountant.history = [(NOISE, 1 / STEPS, STEPS * EPOCHS)]
    return claim_of(engine)


def first_runs(auditor, runs):
    """The same audit with its first runs alone, judged as if no more had been planned."""
    part = misdeal.torch.Auditor(threat_model=auditor.threat_model, canaries=auditor.canaries, seed=auditor.seed, quiet=True)
    auditor.refresh()
    part.dataset_size = auditor.records[0].dataset_size
    for record in auditor.records[:runs]:
        part.keep(record)
    return part


def judged(auditor, poisson=False):
    report = auditor.judge(claimed_epsilon=claimed(poisson), delta=DELTA, significance=SIGNIFICANCE)
    curve = report.curve
    return {
        "seed": auditor.seed, "runs": len(auditor.records), "canaries": auditor.canaries, "independence": report.independence, "valid": report.valid,
        "verdict": report.verdict.kind, "epsilon": round(report.empirical_epsilon, 3), "p_value": curve.p_value, "log_e_value": curve.log_e_value,
        "right": report.right_guesses, "coins": report.coins,
    }  # fmt: skip


def opacus(part, folder, arguments):
    seeds = range(arguments.audits)
    if part == "curve-64":
        return [judged(auditor) for auditor in filled(folder, [(seed, 64, 1, False) for seed in seeds], arguments)]
    if part == "epsilon-512":
        auditors = filled(folder, [(seed, 512, 2, False) for seed in seeds], arguments)
        joined = misdeal.torch.Auditor(threat_model="worst-case", canaries=512, quiet=True)
        for auditor in auditors:
            auditor.refresh()
            joined.merge(auditor)
        rows = [judged(first_runs(auditor, runs)) for runs in (1, 2) for auditor in auditors]
        five = [first_runs(joined, 0) for _ in range(len(joined.records) // 5)]
        for number, record in enumerate(joined.records[: 5 * len(five)]):
            five[number // 5].keep(record)
        return rows + [judged(part) for part in five] + [judged(joined)]
    if part == "curve-1":
        return [judged(auditor) for auditor in filled(folder, [(seed, 1, 48, False) for seed in list(seeds)[: max(1, len(seeds) // 5)]], arguments)]
    return [judged(auditor, True) for auditor in filled(folder, [(seed, 64, 1, True) for seed in seeds], arguments)]


def of_the_network(arguments):
    """A convolutional network on Fashion-MNIST, others train, canaries in the null space."""
    data, test = fashion("train"), fashion("t10k")
    auditor = misdeal.torch.Auditor(threat_model="partially-informed", quiet=True)
    rows, accuracies = [], []
    for run in auditor.runs(5):
        model, optimizer, loader, engine = make_private(data, network, arguments.device, rate=0.25)
        run.plant(optimizer, loader)
        train(model, optimizer, loader, arguments.device)
        accuracies.append(accuracy(model, test, arguments.device))
    claim = claim_of(engine)
    for runs in (1, 5):
        part = misdeal.torch.Auditor(threat_model="partially-informed", canaries=auditor.canaries, quiet=True)
        part.dataset_size = auditor.dataset_size
        for record in auditor.records[:runs]:
            part.keep(record)
        report = part.judge(claimed_epsilon=claim, delta=DELTA)
        curve = report.curve
        rows.append({
            "runs": runs, "canaries": auditor.canaries, "directions": auditor.directions.kind, "independence": report.independence, "verdict": report.verdict.kind,
            "epsilon": round(report.empirical_epsilon, 3), "claimed": round(claim(DELTA), 3), "p_value": curve.p_value, "log_e_value": curve.log_e_value,
            "accuracy": round(float(np.mean(accuracies[:runs])), 3), "steps_per_epoch": auditor.setting.steps_per_epoch,
        })  # fmt: skip
    return rows


def overhead(arguments):
    """Seconds an epoch with 512 canaries and without, in turn."""
    data = fashion("train")
    seconds = {"plain": [], "planted": []}
    auditor = misdeal.torch.Auditor(threat_model="worst-case", canaries=512, quiet=True)
    for run in auditor.runs(5):
        for kind in seconds:
            model, optimizer, loader, _ = make_private(data, network, arguments.device)
            if kind == "planted":
                run.plant(optimizer, loader)
            # The first epoch prepares directions and kernels.
            train(model, optimizer, loader, arguments.device, 1)
            start = time.perf_counter()
            train(model, optimizer, loader, arguments.device, 3)
            if arguments.device == "cuda":
                torch.cuda.synchronize()
            seconds[kind].append(round((time.perf_counter() - start) / 3, 4))
    ratio = min(seconds["planted"]) / min(seconds["plain"])
    return {**seconds, "ratio_of_fastest": round(ratio, 3), "parameters": sum(p.numel() for p in network().parameters())}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="+")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--audits", type=int, default=10)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("target/opacus_in_one_run"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    results = {}
    for part in arguments.parts:
        start = time.perf_counter()
        if part == "network":
            results[part] = of_the_network(arguments)
        elif part == "overhead":
            results[part] = overhead(arguments)
        else:
            results[part] = opacus(part, arguments.folder, arguments)
        results[part + "_seconds"] = round(time.perf_counter() - start, 1)
        print(part, results[part], flush=True)
        device = torch.cuda.get_device_name() if arguments.device == "cuda" else "processor"
        measuring.keep("opacus_in_one_run", setting=dict(noise=NOISE, batch=BATCH, steps=STEPS, epochs=EPOCHS, delta=DELTA), device=device, **results)


if __name__ == "__main__":
    main()
