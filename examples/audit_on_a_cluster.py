"""Many observations on a Ray cluster.

usage: python examples/audit_on_a_cluster.py [--observations 1e12] [--device cuda] [--address auto]      needs pip install misdeal[ray]

Without --address a cluster is started on this machine.
"""

import argparse

import misdeal.cluster
import ray

parser = argparse.ArgumentParser()
parser.add_argument("--observations", type=float, default=1e12)
parser.add_argument("--noise-multiplier", type=float, default=0.5)
parser.add_argument("--device", default="cpu")
parser.add_argument("--address")
arguments = parser.parse_args()

ray.init(address=arguments.address, log_to_driver=False)
setting = misdeal.Setting(noise_multiplier=arguments.noise_multiplier)
report = misdeal.cluster.audit(setting, observations=arguments.observations, device=arguments.device, threshold_choice="band")
print(report.verdict())
print(f"{report.observations:,} observations in {report.seconds:.1f} s, {report.observations_per_second:,.0f} a second")
