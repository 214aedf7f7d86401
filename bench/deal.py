"""Samplers side by side in one run: batches a second, and memory, for data sets of 10^5, 10^7 and 10^9 records.

usage: python3 bench/deal.py [samplers] [plan] [training] [--records 1e8]        with misdeal, torch, opacus and jax-privacy installed

samplers: Opacus's UniformWithReplacementSampler, jax-privacy's selections, PyTorch's RandomSampler with a BatchSampler, and misdeal.deal.Batches; batches of
          1024. Each runs in a process of its own, on one thread, and processor time counts. The first batch is timed apart. Peers that list all records are
          left out at 10^9.
plan:     the rate at which `misdeal deal` writes one epoch of --records records (1e8; 1e9 need 4 GB of disk), which is removed afterwards.
training: a small network on the loader of misdeal.torch and on DataLoader(shuffle=True), the two in turn.
"""
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import measuring

BATCH = 1024
RECORDS = [10**5, 10**7, 10**9]
SECONDS = 1.5


def ours(scheme):
    def batches(records):
        from misdeal.deal import Batches

        return iter(Batches(dataset_size=records, batch_size=BATCH, epochs=1, scheme=scheme))

    return batches


def opacus_sampler(records):
    from opacus.utils.uniform_sampler import UniformWithReplacementSampler

    return iter(UniformWithReplacementSampler(num_samples=records, sample_rate=BATCH / records, steps=records // BATCH))


def torch_sampler(records):
    from torch.utils.data import BatchSampler, RandomSampler

    return iter(BatchSampler(RandomSampler(range(records)), BATCH, drop_last=True))


def jax_poisson(records):
    from jax_privacy.batch_selection import CyclicPoissonSampling

    return iter(CyclicPoissonSampling(sampling_prob=BATCH / records, iterations=records // BATCH).batch_iterator(records))


def jax_bins(records):
    from jax_privacy.batch_selection import BallsInBinsSampling

    steps = records // BATCH
    return iter(BallsInBinsSampling(cycle_length=steps, iterations=steps).batch_iterator(records))


SAMPLERS = {
    "misdeal poisson": ours("poisson"),
    "misdeal balls-in-bins": ours("balls-in-bins"),
    "Opacus UniformWithReplacementSampler": opacus_sampler,
    "PyTorch RandomSampler": torch_sampler,
    "jax-privacy CyclicPoissonSampling": jax_poisson,
    "jax-privacy BallsInBinsSampling (bins drawn once)": jax_bins,
}


def one(name, records):
    """Times a sampler in this process, on one thread, in processor time: the first batch, then batches for some seconds."""
    list(zip(SAMPLERS[name](10 * BATCH), range(2)))  # imports
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    batches = SAMPLERS[name](records)
    next(batches)
    first = time.process_time() - start
    count, start = 0, time.process_time()
    while time.process_time() - start < SECONDS:
        if next(batches, None) is None:
            batches = SAMPLERS[name](records)
        else:
            count += 1
    elapsed = time.process_time() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(json.dumps({"first_batch_seconds": round(first, 5), "batches_per_second": round(count / elapsed, 2), "megabytes_more": round(grown, 1)}))


def samplers():
    rows = []
    for records in RECORDS:
        for name in SAMPLERS:
            if records > 10**7 and not name.startswith("misdeal"):
                # A list or a vector of 10^9 numbers: 4 to 36 GB.
                rows.append({"sampler": name, "records": records, "left_out": "needs more than 4 GB of memory"})
                continue
            done = subprocess.run([sys.executable, __file__, "one", name, str(records)], capture_output=True, text=True)
            row = {"sampler": name, "records": records}
            row |= json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"failed": done.stderr.strip().splitlines()[-1]}
            rows.append(row)
            print(row, file=sys.stderr)
    return rows


def plan(records):
    program = os.environ.get("MISDEAL", measuring.MISDEAL)
    rows = []
    for scheme in ("balls-in-bins", "poisson"):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "plan.parquet")
            words = ["deal", "--dataset-size", str(records), "--batch-size", str(BATCH), "--scheme", scheme, "--output", path, "--format", "json", "--quiet"]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            before, start = before.ru_utime + before.ru_stime, time.perf_counter()
            done = subprocess.run([program, *words], check=True, capture_output=True, text=True)
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            rows.append({"scheme": scheme, "records": records, "seconds": round(time.perf_counter() - start, 2),
                         "processor_seconds": round(used.ru_utime + used.ru_stime - before, 2),
                         "bytes": json.loads(done.stdout)["bytes"], "most_megabytes_so_far": round(used.ru_maxrss / 1024)})
            print(rows[-1], file=sys.stderr)
    return rows


def training():
    """Seconds of one epoch of a small network, the loaders in turn."""
    import misdeal
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    torch.set_num_threads(1)
    records, batch_size, epochs = 60_000, 512, 7
    data = TensorDataset(torch.randn(records, 1, 28, 28), torch.randint(10, (records,)))
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 5, 2), torch.nn.ReLU(), torch.nn.Conv2d(8, 16, 5, 2), torch.nn.ReLU(), torch.nn.Flatten(),
                                torch.nn.Linear(256, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loaders = {"DataLoader(shuffle=True)": DataLoader(data, batch_size=batch_size, shuffle=True, drop_last=True),
               "misdeal balls-in-bins": misdeal.torch.loader(data, batch_size=batch_size, epochs=epochs, scheme="balls-in-bins"),
               "misdeal poisson": misdeal.torch.loader(data, batch_size=batch_size, epochs=epochs)}
    seconds = {name: [] for name in loaders}
    for _ in range(epochs):
        for name, loader in loaders.items():
            start = time.process_time()
            for features, labels in loader:
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(features), labels).backward()
                optimizer.step()
            seconds[name].append(time.process_time() - start)
    usual = statistics.median(seconds["DataLoader(shuffle=True)"][1:])
    return [{"loader": name, "processor_seconds_per_epoch": round(statistics.median(times[1:]), 3),
             "times_shuffled": round(statistics.median(times[1:]) / usual, 3)} for name, times in seconds.items()]


def main(words):
    if words[:1] == ["one"]:
        return one(words[1], int(words[2]))
    records = int(float(words[words.index("--records") + 1])) if "--records" in words else 10**8
    parts = [word for word in ("plan", "samplers", "training") if word in words] or ["plan", "samplers", "training"]
    jobs = {"samplers": samplers, "plan": lambda: plan(records), "training": training}
    measuring.keep("deal", batch_size=BATCH, **{part: jobs[part]() for part in parts})


if __name__ == "__main__":
    main(sys.argv[1:])
