"""Do my hyper-parameters hold what Poisson accounting promises, if my loader shuffles?

usage: python examples/audit_hyperparameters.py [--noise-multiplier 0.79] [--steps-per-epoch 117] [--epochs 10] [--observations 1e6]
"""

import argparse

import misdeal

parser = argparse.ArgumentParser()
parser.add_argument("--noise-multiplier", type=float, default=0.79)
parser.add_argument("--steps-per-epoch", type=int, default=117)
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--observations", type=float, default=1e6)
arguments = parser.parse_args()

shape = dict(steps_per_epoch=arguments.steps_per_epoch, epochs=arguments.epochs)
claimed = misdeal.account(noise_multiplier=arguments.noise_multiplier, scheme="poisson", **shape).claimed_epsilon
report = misdeal.audit_mechanism(
    noise_multiplier=arguments.noise_multiplier, observations=arguments.observations, claimed_epsilon=claimed, **shape
)
print(report.verdict())
if report.violated:
    enough = misdeal.calibrate(target_epsilon=claimed, scheme="shuffle", **shape).noise_multiplier
    print(f"With shuffling, a noise multiplier of {enough:.3f} is proven to be enough for that claim.")
