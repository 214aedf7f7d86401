"""Audits on a real Ray cluster of several nodes: bit-identical to one machine, also when nodes die."""

import threading
import time

import misdeal
import pytest

ray = pytest.importorskip("ray")

import misdeal.cluster  # noqa: E402
from ray.cluster_utils import Cluster  # noqa: E402
from test_package import timeless  # noqa: E402


@pytest.fixture
def cluster():
    """A head without workers and four nodes of one worker each."""
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    made.workers = [made.add_node(num_cpus=1) for _ in range(4)]
    ray.init(address=made.address, log_to_driver=False)
    made.wait_for_nodes()
    yield made
    ray.shutdown()
    made.shutdown()


def test_killing_two_of_four_workers_changes_nothing(cluster, tmp_path):
    setting = misdeal.Setting(noise_multiplier=0.7, steps_per_epoch=50, seed=3)
    options = dict(observations=4e8, threshold_choice="band", claimed_epsilon=1.0)
    found = {}

    def play():
        found["report"] = misdeal.cluster.audit(setting, parts=40, store=tmp_path / "run", quiet=True, **options)

    player = threading.Thread(target=play)
    player.start()
    killed = 0
    for node in cluster.workers[:2]:
        # Each is killed while parts are on their way.
        time.sleep(1.5)
        killed += player.is_alive()
        cluster.remove_node(node, allow_graceful=False)
    player.join()
    assert killed == 2, "the run was over before the workers were killed: ask for more observations"
    whole = misdeal.audit_mechanism(setting, store=tmp_path / "whole", device="cpu", quiet=True, **options)
    assert timeless(found["report"].to_dict()) == timeless(whole.to_dict())
    assert (tmp_path / "run").read_bytes() == (tmp_path / "whole").read_bytes()

    # A run that was saved goes on, and one that is whole plays nothing.
    resumed = misdeal.cluster.audit(setting, store=tmp_path / "run", resume=True, quiet=True, **options)
    assert timeless(resumed.to_dict()) == timeless(whole.to_dict())
    more = misdeal.cluster.audit(setting, store=tmp_path / "run", resume=True, quiet=True, **{**options, "observations": 4.1e8})
    assert more.observations == 410_000_000
    with pytest.raises(ValueError, match="^store is "):
        misdeal.cluster.audit(setting, store=tmp_path / "run", quiet=True, **options)

    # A confidence sequence stops at the look at which one machine stops.
    stopping = dict(observations=1e7, threshold_choice="sequential", stop_when="violated")
    ours = misdeal.cluster.audit(misdeal.Setting(), quiet=True, **stopping)
    theirs = misdeal.audit_mechanism(device="cpu", quiet=True, **stopping)
    assert theirs.stopped_early and timeless(ours.to_dict()) == timeless(theirs.to_dict())

    with pytest.raises(ValueError, match="^observations is 7"):
        misdeal.cluster.audit(setting, observations=7)
    with pytest.raises(ValueError, match="^device is 'auto'"):
        misdeal.cluster.audit(setting, device="auto")
