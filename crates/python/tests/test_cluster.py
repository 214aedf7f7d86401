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


@pytest.fixture
def alone():
    """One node, with what a test says it has; Ray believes it."""

    def start(**resources):
        ray.init(include_dashboard=False, log_to_driver=False, **resources)

    yield start
    ray.shutdown()


def test_parts_for_gpus_get_one_each(alone, monkeypatch, tmp_path):
    """Two GPUs are declared that are not there: the processor's engine plays where Ray puts the parts."""
    alone(num_cpus=1, num_gpus=2)
    seen = tmp_path / "seen"
    seen.mkdir()

    def play(words, first, last):
        import os
        import time

        begun = time.monotonic()
        played = misdeal.cluster._play(words, first, last)
        time.sleep(0.2)
        (seen / str(first)).write_text(f"{os.environ['CUDA_VISIBLE_DEVICES']} {begun} {time.monotonic()}")
        return played

    with monkeypatch.context() as patched:
        patched.setattr(misdeal.cluster, "_play", play)
        options = dict(observations=2e6, engine="cpu", claimed_epsilon=1.0, quiet=True)
        setting = misdeal.Setting(noise_multiplier=0.8)
        ours = misdeal.cluster.audit(setting, device="cuda", parts=8, **options)
    theirs = misdeal.audit_mechanism(setting, **options)
    assert timeless(ours.to_dict()) == timeless(theirs.to_dict())
    parts = [file.read_text().split() for file in seen.iterdir()]
    assert len(parts) == 8 and {gpu for gpu, _, _ in parts} == {"0", "1"}
    for gpu in ("0", "1"):
        times = sorted((float(begun), float(ended)) for one, begun, ended in parts if one == gpu)
        assert all(ended <= begun for (_, ended), (begun, _) in zip(times, times[1:])), "two parts at a time on one GPU"


@pytest.mark.parametrize("threads", [0, -1, 1.5, 5000])
def test_a_number_of_threads_that_cannot_be_is_refused_before_anything_starts(threads):
    with pytest.raises(ValueError, match="threads"):
        misdeal.cluster.audit(observations=1e6, threads=threads, quiet=True)


@pytest.mark.skipif(misdeal.devices().cuda_missing is None, reason="there is a GPU")
def test_a_missing_driver_is_told_in_a_sentence(alone):
    alone(num_cpus=1, num_gpus=2)
    with pytest.raises(RuntimeError) as told:
        misdeal.cluster.audit(observations=1e9, device="cuda", quiet=True)
    assert type(told.value) is RuntimeError
    sentence = str(told.value)
    assert sentence.startswith("no CUDA device: ") and "(on the node " in sentence and "\n" not in sentence


def test_what_no_node_can_play_is_refused(alone, monkeypatch):
    monkeypatch.setattr(misdeal.cluster, "JOINING_TIME", 0.0)
    alone(num_cpus=1, num_gpus=2, resources={"accelerator_type:A100": 1})
    with pytest.raises(RuntimeError, match="^no node of the Ray cluster has 3 processor cores; "):
        misdeal.cluster.audit(observations=1e6, threads=3, quiet=True)
    with pytest.raises(RuntimeError, match="^no node of the Ray cluster has a GPU of the kind H100; "):
        misdeal.cluster.audit(observations=1e6, device="cuda", accelerator_type="H100", quiet=True)
    with pytest.raises(ValueError, match="^accelerator_type is 'A100', but None is allowed with device='cpu'"):
        misdeal.cluster.audit(observations=1e6, accelerator_type="A100", quiet=True)


def test_one_kind_of_gpu_is_pinned(monkeypatch):
    node = dict(Alive=True, Resources={"CPU": 4.0, "GPU": 2.0})
    kinds = [{**node, "Resources": {**node["Resources"], f"accelerator_type:{kind}": 1.0}} for kind in ("A100", "H100", "H100")]
    workers = misdeal.cluster._Workers
    monkeypatch.setattr(ray, "nodes", lambda: kinds)
    with pytest.raises(ValueError, match="^accelerator_type is None, but one of A100, H100 is allowed in this cluster; "):
        workers("cuda", 2, None)
    assert workers("cuda", 2, "H100").number() == 4 and workers("cuda", 2, "A100").number() == 2
    assert workers("cpu", 3, None).number() == 3
    monkeypatch.setattr(ray, "nodes", lambda: kinds[1:])
    pinned = workers("cuda", 2, None)
    assert pinned.kind == "H100" and pinned.number() == 4
    # Whoever joins later and is of another kind gets no part.
    monkeypatch.setattr(ray, "nodes", lambda: kinds)
    assert pinned.number() == 4
    options = pinned.task()._default_options
    assert options["num_gpus"] == 1 and options["accelerator_type"] == "H100"
