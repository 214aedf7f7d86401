"""The package as a user meets it."""

import doctest
import importlib
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import misdeal
import numpy as np
import pytest

# What a clock decides.
TIMES = ("seconds", "observations_per_second", "models_per_second", "store", "request")


def timeless(document):
    return {name: value for name, value in document.items() if name not in TIMES}


@pytest.mark.parametrize(
    "module",
    ["misdeal"] + [f"misdeal.{name}" for name in "accounting audits batches canary_scores diagnoses estimates machine outputs pages paper results settings stores".split()],
)
def test_examples_in_docstrings_run(module):
    found = doctest.testmod(importlib.import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0 and found.attempted > 0


@pytest.mark.parametrize(
    "words",
    [
        dict(observations=200_000),
        dict(scheme="stream-shuffle", buffer_size=60, steps_per_epoch=10, batch_size=20, epochs=2, observations=20_000, threat_model="target-canary", seed=3),
        dict(scheme="poisson", adversary_scheme="shuffle", observations=20_000, scores="exact", threshold_choice="band"),
        dict(observations=10_000, threshold_choice="sequential", stop_when="violated", trade_off=True, estimator="jeffreys"),
    ],
)
def test_an_audit_is_the_command_lines_document(command, words):
    flags = []
    for name, value in words.items():
        flags += [f"--{name.replace('_', '-')}"] + ([] if value is True else [value])
    theirs = command.json("audit", "mechanism", *flags)
    ours = misdeal.audit_mechanism(**words, quiet=True).to_dict()
    assert timeless(ours) == timeless(theirs)
    assert list(ours) == list(theirs)


def test_training_is_the_command_lines_document(command):
    theirs = command.json("audit", "training", "--dataset-size", 500, "--observations", 20, "--canary", "null-space", "--seed", 5)
    ours = misdeal.audit_training(dataset_size=500, observations=20, canary="null-space", seed=5, quiet=True).to_dict()
    assert timeless(ours) == timeless(theirs)


def test_what_cannot_be_refuted_is_warned_of_and_said():
    with pytest.warns(UserWarning, match="20 observations can show epsilon 0.7033 at most and cannot refute the claim of 0.71; that takes") as told:
        few = misdeal.audit_mechanism(scheme="poisson", observations=20, claimed_epsilon=0.71, quiet=True)
    assert told[0].filename == __file__, "the warning is about the call"
    assert few.largest_epsilon < 0.71 and few.verdict().startswith("Theory contradicts the claim of epsilon 0.71")
    scores = np.linspace(0, 1, 40)
    found = misdeal.estimate(scores + 0.4, scores, claimed_epsilon=9)
    assert "is not refuted, and could not be: with this estimator and threshold choice so few" in found.verdict()
    assert misdeal.estimate(scores + 0.4, scores).verdict().endswith("whoever claims less is refuted.")


def test_theory_is_the_command_lines_document(command):
    theirs = command.json("account", "--noise-multiplier", 2, "--steps-per-epoch", 20, "--buffer-size", 500, "--epsilon", 0.3, "--compare")
    ours = misdeal.account(noise_multiplier=2, steps_per_epoch=20, buffer_size=500, epsilon=0.3, compare=True)
    assert ours.verdict() == ours.to_dict()["verdict"]["sentence"] and "right for Poisson sampling, is proven to be too small" in ours.verdict()
    assert ours.to_dict() == theirs
    theirs = command.json("account", "--sampling-probability", 0.01, "--steps", 50)
    assert misdeal.account(sampling_probability=0.01, steps=50).to_dict() == theirs
    theirs = command.json("calibrate", "--target-epsilon", 2, "--scheme", "shuffle", "--bound", "lower")
    ours = misdeal.calibrate(target_epsilon=2, scheme="shuffle", bound="lower")
    assert ours.to_dict() == theirs
    # Less noise is known not to do, so that the number is not rounded up.
    shown = float(ours.verdict().split("than ")[1].split(" ")[0])
    assert ours.noise_multiplier * (1 - 1e-4) < shown <= ours.noise_multiplier and "may not be enough" in ours.verdict()
    ours = misdeal.calibrate(target_epsilon=2, scheme="poisson")
    shown = float(ours.verdict().split("of ")[1].split(" ")[0])
    assert ours.noise_multiplier <= shown < ours.noise_multiplier * (1 + 1e-4) and "proven" in ours.verdict()


def test_hints_name_arguments_and_not_flags(tmp_path):
    with pytest.raises(ValueError) as told:
        misdeal.account(noise_multiplier=1, steps_per_epoch=10, scheme="partial-shuffle")
    assert "buffer_size" in str(told.value) and "--" not in str(told.value)
    # What only looks like a flag stays as it is.
    with pytest.raises(FileNotFoundError, match="no--such-file"):
        misdeal.Store.load(tmp_path / "no--such-file")


def test_scores_that_are_no_real_numbers_are_refused():
    rng = np.random.default_rng(0)
    scores, others = rng.normal(1, 1, 1000), rng.normal(0, 1, 1000)
    theirs = misdeal.estimate(scores, others)
    for refused in (np.ma.array(scores, mask=scores > 1), scores + 0j, scores > 0, [str(x) for x in scores], None, (x for x in scores), b"scores"):
        with pytest.raises(ValueError, match="scores_in is"):
            misdeal.estimate(refused, others)
        with pytest.raises(ValueError):
            misdeal.CanaryScoreAuditor(refused, others)
    unaligned = np.frombuffer(b"x" + scores.tobytes(), "u1")[1:].view("f8")
    for taken in (unaligned, scores[::-1][::-1], list(scores), scores.astype(">f8")):
        assert misdeal.estimate(taken, others, trade_off=np.False_).empirical_epsilon == theirs.empirical_epsilon


def test_places_and_lists_that_cannot_be_meant(tmp_path):
    with pytest.raises(ValueError, match="store is ''"):
        misdeal.reproduce("figure-3", quick=True, only="1e5", store="", quiet=True)
    with pytest.raises(ValueError, match="at least one"):
        misdeal.report([], tmp_path / "page.html")
    with pytest.raises(FileNotFoundError, match="one.store"):
        misdeal.merge(tmp_path / "one.store", tmp_path / "both.store")
    with pytest.raises(ValueError, match="setting is 'x'"):
        misdeal.cluster.audit("x")


def test_a_survey_has_no_table_of_findings(tmp_path):
    (tmp_path / "train.py").write_text("from torch.utils.data import DataLoader\nDataLoader([1], shuffle=True)\n")
    found = misdeal.scan([tmp_path / "train.py"], survey=True)
    with pytest.raises(ValueError, match="findings are missing.*to_series"):
        found.to_frame()
    assert found.to_series()["command"] == "scan"


def without_seconds(value):
    """A document without what a clock decides, however deep."""
    if isinstance(value, dict):
        return {name: without_seconds(part) for name, part in value.items() if name not in TIMES}
    return [without_seconds(part) for part in value] if isinstance(value, list) else value


def test_the_paper_is_the_command_lines_document(command, tmp_path):
    only = "T 100, noise 1.0, 1e6"
    theirs = command.json("reproduce", "figure-3", "--quick", "--only", only, "--seed", 2, "--device", "cpu")
    words = dict(quick=True, only=only, seed=2, device="cpu", store=tmp_path / "scores", quiet=True)
    ours = misdeal.reproduce("figure-3", plot=tmp_path / "figure.svg", **words)
    assert without_seconds(ours.to_dict()) == without_seconds(theirs)
    assert "<svg" in (tmp_path / "figure.svg").read_text() and "<img" in ours._repr_html_()
    with pytest.raises(ValueError, match="^store is "):
        misdeal.reproduce("figure-3", **words)
    again = misdeal.reproduce("figure-3", resume=True, **words)
    assert without_seconds(again.to_dict()) == without_seconds(theirs)
    assert "no numbers here" in repr(ours) and "T 100, noise 1.0" in str(ours)
    printed = misdeal.reproduce("table-1", quick=True, only="CIFAR-10", quiet=True)
    assert "Of 1 printed number: 1 too few observations." in repr(printed) and "6.39" in printed._repr_html_()
    pandas = pytest.importorskip("pandas")
    frame = ours.to_frame()
    assert list(frame["ours"]) == [ours.rows[0]["ours"]] and frame.loc[0, "setting.scheme"] == "shuffle"
    assert list(pandas.DataFrame(ours.rows)["name"]) == [ours.rows[0]["name"]]
    dealt = misdeal.reproduce("figure-8")
    assert dealt._repr_html_().count("<img") == 1 and without_seconds(dealt.to_dict()) == without_seconds(command.json("reproduce", "figure-8"))


def test_devices_are_the_command_lines_document(command):
    ours = misdeal.devices()
    assert ours.to_dict() == command.json("devices")
    assert "cpu" in ours._repr_html_() and list(ours.to_frame()["device"])[0] == "cpu"
    if ours.cuda_missing:
        for refused in (lambda: misdeal.self_test(device="cuda"), lambda: misdeal.reproduce("figure-5", quick=True, device="cuda")):
            with pytest.raises(RuntimeError, match="CUDA"):
                refused()


def test_the_self_test_is_the_command_lines_document(command):
    told = []
    from misdeal import _native

    theirs = command.json("self-test", "--device", "cpu", "--seed", 1)
    report = misdeal.SelfTestReport(_native.self_test(dict(device="cpu", seed=1, threads=None), lambda *step: told.append(step)))
    checks = [(check["name"], check["passed"]) for check in report.checks]
    assert checks == [(check["name"], check["passed"]) for check in theirs["checks"]] and report.passed
    assert told and told[0][1] == len(checks)
    assert report.verdict() == f"All {len(checks)} checks passed." and "generator" in report._repr_html_()
    failing = report.with_fields(checks=[{**report.checks[0], "passed": False}, *report.checks[1:]])
    assert failing.verdict() == f"1 of {len(checks)} checks FAILED: generator."


def test_estimates_from_arrays_are_those_from_files(command, tmp_path):
    generator = np.random.default_rng(1)
    scores_in, scores_out = generator.normal(1.5, 1, 3000), generator.normal(0, 1, 2900)
    np.save(tmp_path / "in.npy", scores_in)
    np.save(tmp_path / "out.npy", scores_out)
    files = ["--scores-in", tmp_path / "in.npy", "--scores-out", tmp_path / "out.npy"]
    for estimator in ("clopper-pearson", "all"):
        theirs = timeless(command.json("estimate", *files, "--estimator", estimator, "--claimed-epsilon", 1))
        assert theirs.pop("scores_in") == str(tmp_path / "in.npy") and theirs.pop("scores_out") == str(tmp_path / "out.npy")
        for given in ((scores_in, scores_out), (tmp_path / "in.npy", str(tmp_path / "out.npy")), (list(scores_in), scores_out[::1])):
            ours = misdeal.estimate(*given, estimator=estimator, claimed_epsilon=1).to_dict()
            assert {name: value for name, value in timeless(ours).items() if name not in ("scores_in", "scores_out")} == theirs
    strided = np.repeat(scores_in, 2)[::2].astype(np.float32)
    assert misdeal.estimate(strided, scores_out).empirical_epsilon > 0
    with pytest.raises(ValueError, match="scores_in"):
        misdeal.estimate(scores_in.reshape(2, -1), scores_out)
    with pytest.raises(FileNotFoundError):
        misdeal.estimate(tmp_path / "absent.npy", scores_out)


def test_arrays_are_used_in_place():
    """A copy of an array of 0.4 GB would show in the process's peak memory."""
    code = """
import numpy, resource, misdeal
scores_in, scores_out = numpy.linspace(0, 1, 50_000_000), numpy.zeros(1000)
scores_in[:8] = -1
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
misdeal.score_outputs(misdeal.Setting(steps_per_epoch=50_000_000, batch_size=1, scheme="poisson"), scores_in.reshape(1, -1), score="spread")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    grown = int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
    assert grown < 100_000, f"{grown} kilobytes more"


def test_shards_merge_to_the_whole(tmp_path):
    whole = misdeal.audit_mechanism(observations=60_000, store=tmp_path / "whole", quiet=True)
    for i in (1, 2, 3):
        misdeal.audit_mechanism(observations=60_000, shard=f"{i}/3", store=tmp_path / str(i), quiet=True)
    merged = misdeal.merge([tmp_path / str(i) for i in (3, 1, 2)], tmp_path / "merged")
    assert merged.observations == 60_000
    assert (tmp_path / "merged").read_bytes() == (tmp_path / "whole").read_bytes()
    store = misdeal.Store.load(tmp_path / "merged")
    assert store == pickle.loads(pickle.dumps(store)) == misdeal.Store.from_bytes(store.to_bytes())
    assert store.estimate().empirical_epsilon == whole.empirical_epsilon
    assert store.setting == whole.setting
    with pytest.raises(ValueError):
        store.merge(misdeal.Store.load(tmp_path / "1"))
    (tmp_path / "1").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="not a misdeal store"):
        misdeal.Store.load(tmp_path / "1")
    with pytest.raises(ValueError, match="^store is "):
        misdeal.audit_mechanism(observations=60_000, store=tmp_path / "whole")
    resumed = misdeal.audit_mechanism(observations=60_000, store=tmp_path / "whole", resume=True, quiet=True)
    assert resumed.empirical_epsilon == whole.empirical_epsilon


def test_exact_scores_come_back_as_arrays(tmp_path):
    misdeal.audit_mechanism(observations=1000, scores="exact", store=tmp_path / "s", quiet=True)
    scores_in, scores_out = misdeal.Store.load(tmp_path / "s").exact_scores()
    assert scores_in.shape == scores_out.shape == (500,) and scores_in.mean() > scores_out.mean()


def test_results_show_themselves(tmp_path):
    report = misdeal.audit_mechanism(observations=50_000, trade_off=True, quiet=True, plot=tmp_path / "curve.png")
    page = report._repr_html_()
    assert page.count("<svg") == 1 and page.count("data:image/svg+xml;base64,") == 1 and "<table>" in page and "REFUTED" in page
    assert (tmp_path / "curve.png").read_bytes()[:4] == b"\x89PNG"
    report.save_plot(tmp_path / "curve.svg")
    assert "<svg" in (tmp_path / "curve.svg").read_text()
    plain = misdeal.audit_mechanism(observations=50_000, quiet=True)
    assert plain._repr_html_().count("<svg") == 1 and "<img" not in plain._repr_html_()
    with pytest.raises(ValueError, match="trade_off"):
        plain.save_plot(tmp_path / "no.svg")
    assert "empirical_epsilon" in str(plain) and "claim" in repr(plain)
    assert plain.setting["scheme"] == "shuffle" and "empirical_epsilon" in dir(plain)
    with pytest.raises(AttributeError, match="nothing_like_it"):
        plain.nothing_like_it  # noqa: B018
    copy = pickle.loads(pickle.dumps(report))
    assert copy == report and copy.to_dict() == report.to_dict() and json.loads(report.to_json()) == report.to_dict()
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([plain.to_series(), report.to_series()])
    assert list(frame["setting.scheme"]) == ["shuffle", "shuffle"]
    bounds = misdeal.account(scheme="shuffle").to_frame()
    assert bounds.loc["shuffle", "epsilon_lower_bound"] > 4


def test_a_setting_takes_the_place_of_its_words():
    setting = misdeal.Setting(noise_multiplier=2.0, seed=4)
    ours = misdeal.audit_mechanism(setting, observations=1e4, quiet=True)
    theirs = misdeal.audit_mechanism(noise_multiplier=2.0, seed=4, observations=1e4, quiet=True)
    assert timeless(ours.to_dict()) == timeless(theirs.to_dict())
    assert setting.hash != setting.replace(seed=5).hash
    with pytest.raises(ValueError, match="^epochs is 2"):
        misdeal.audit_mechanism(setting, epochs=2)


def test_the_interpreter_is_released_and_threads_do_not_matter():
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    ticker = threading.Thread(target=tick)
    ticker.start()
    one = misdeal.audit_mechanism(observations=4e6, threads=1, quiet=True)
    stop.set()
    ticker.join()
    assert len(ticks) > 3
    two = misdeal.audit_mechanism(observations=4e6, threads=2, quiet=True)
    assert timeless(one.to_dict()) == timeless(two.to_dict())


def test_progress_is_told_and_may_interrupt():
    from misdeal import _native

    told = []

    def stop(done, total):
        told.append((done, total))
        raise RuntimeError("enough")

    words = {**misdeal.Setting().words(), **ANALYSIS}
    with pytest.raises(RuntimeError, match="enough"):
        _native.audit_mechanism({**words, "observations": 1e13}, stop)
    assert told and told[0][1] == 10**13 and 0 <= told[0][0] < 10**13
    with pytest.raises(RuntimeError, match="enough"):
        _native.self_test(dict(device="cpu", seed=0, threads=1), stop)
    assert told[1][1] == 5
    words = dict(name="settings", quick=False, runs=None, observations=None, only=None, device="cpu", precision="f32", data=None, store=None)
    with pytest.raises(RuntimeError, match="enough"):
        _native.reproduce({**words, "resume": False, "plot": None, "seed": 0, "threads": None}, stop)
    assert len(told) == 3 and told[2][0] < told[2][1]


ANALYSIS = dict(
    observations=1e6, delta=1e-5, significance=0.05, estimator="clopper-pearson", threshold_choice="band", scores="counts", device="cpu",
    engine=None, claimed_epsilon=None, stop_when=None, trade_off=False, store=None, save_every=10.0, resume=False, shard=None, plot=None, search_buffer=False,
    uncorrected=False, threads=None,
)  # fmt: skip


def test_control_c_ends_a_run_and_keeps_the_store(tmp_path):
    store = tmp_path / "run"
    code = f"""
import misdeal, signal
# Whoever starts the tests in the background of a shell has the signal ignored, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
print("begun", flush=True)
try:
    misdeal.audit_mechanism(observations=1e13, store={str(store)!r}, device="cpu")
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begun\n"
    time.sleep(1.5)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert out == "interrupted\n", err
    held = misdeal.Store.load(store)
    assert 0 < held.observations < 10**13


def child_audit(_):
    return misdeal.audit_mechanism(observations=1e4, quiet=True).empirical_epsilon


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_has_threads_of_its_own():
    ours = child_audit(0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(child_audit, range(2)).get(timeout=60) == [ours, ours]


def test_outputs_of_the_mechanism_score_as_its_trials():
    """Outputs drawn here by hand: the score's law is the game's, so that both audits agree (false alarm 1e-6)."""
    setting = misdeal.Setting(noise_multiplier=0.7, steps_per_epoch=50, batch_size=10, threat_model="partially-informed", seed=1)
    generator = np.random.default_rng(7)
    runs = 20_000
    outputs = {}
    for world, present in (("in", 1.0), ("out", 0.0)):
        rows = generator.normal(-1, 0.7, (runs, 50))
        rows[np.arange(runs), generator.integers(50, size=runs)] += 1 + present
        outputs[world] = rows
    report = misdeal.judge_outputs(setting, outputs["in"], outputs["out"], delta=1e-3, significance=1e-6)
    theory = report.theory["shuffle"]
    assert report.violated and report.score == "likelihood-ratio"
    assert report.claimed_epsilon < report.empirical_epsilon < theory["epsilon_upper_bound"]
    with pytest.raises(ValueError, match="^outputs_in is an array of 20000 by 49"):
        misdeal.judge_outputs(setting, outputs["in"][:, :49], outputs["out"])
