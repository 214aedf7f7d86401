"""The words of Python are those of the command line: parameters, defaults, refusals."""

import inspect
import re

import misdeal
import pytest

COMMANDS = {
    ("audit", "mechanism"): misdeal.audit_mechanism,
    ("audit", "training"): misdeal.audit_training,
    ("estimate",): misdeal.estimate,
    ("check",): misdeal.check,
    ("sweep",): misdeal.sweep,
    ("account",): misdeal.account,
    ("calibrate",): misdeal.calibrate,
    ("deal",): misdeal.deal.plan,
    ("diagnose",): misdeal.diagnose,
    ("scan",): misdeal.scan,
    ("report",): misdeal.report,
    ("reproduce",): misdeal.reproduce,
    ("devices",): misdeal.devices,
    ("self-test",): misdeal.self_test,
}
# Parameters that the command line takes without a flag.
OF_PYTHON = {"setting", "log", "paths", "results", "name", "engine_or_card", "data_loader"}
# Commands whose arguments are files alone, or that a shell alone needs.
WITHOUT_FLAGS = {"merge", "completions", "man", "help"}
# What only a shell needs: how and where to print, and the exit code.
OF_A_SHELL = {"format", "output", "check", "help", "list_rules", "explain", "fix", "diff", "add_ignores", "report", "color", "title", "date", "name"}
# Common flags that a function has only if they do something there.
COMMON = {"seed", "threads", "quiet"}


def flags(help_text):
    """Every flag of a help page, with its default where it has one."""
    found = {}
    help_text = help_text.split("\nExamples:")[0]
    for paragraph in re.split(r"\n(?=\s+(?:-\w, )?--)", help_text):
        name = re.match(r"\s+(?:-\w, )?--([a-z-]+)", paragraph)
        if name:
            default = re.search(r"\[default:\s+([^\]\s]+)\]", paragraph)
            found[name[1].replace("-", "_")] = default[1] if default else None
    return found


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_parameters_are_flags(command, words):
    ours = dict(inspect.signature(COMMANDS[words]).parameters)
    theirs = flags(command(*words, "--help"))
    for of_python in OF_PYTHON - set(theirs):
        ours.pop(of_python, None)
    assert len(theirs) > 5
    missing = set(theirs) - set(ours) - OF_A_SHELL - COMMON
    assert not missing, f"flags without a parameter: {missing}"
    assert not set(ours) - set(theirs), f"parameters without a flag: {set(ours) - set(theirs)}"


def test_every_command_is_a_function(command):
    text = command("--help")
    listed = re.search(r"^Commands:\n(.*?)\n\n", text, re.M | re.S)[1]
    names = set(re.findall(r"^  ([a-z-]+)", listed, re.M))
    assert len(names) > 10
    assert names - WITHOUT_FLAGS == {words[0] for words in COMMANDS}
    assert callable(misdeal.merge)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_defaults_are_the_same(command, words):
    theirs = flags(command(*words, "--help"))
    for name, parameter in inspect.signature(COMMANDS[words]).parameters.items():
        if name in OF_PYTHON or parameter.default is inspect.Parameter.empty:
            continue
        default, text = parameter.default, theirs[name]
        if text is None:
            assert default in (None, False, ()), name
        elif isinstance(default, str):
            assert default == text, name
        else:
            assert float(default) == float(text), name


@pytest.mark.parametrize(
    "flag, value",
    [
        ("noise_multiplier", -1.0), ("steps_per_epoch", 0), ("epochs", 0), ("batch_size", 0), ("observations", 7),
        ("delta", 1.0), ("significance", 0.0), ("estimator", "nobody"), ("threshold_choice", "nobody"), ("claimed_epsilon", -1.0),
        ("target_index", 10**6), ("threads", 0), ("shard", "3/2"), ("stop_when", "never"), ("plot", "curve.pdf"),
    ],
)  # fmt: skip
def test_refusals_name_the_same_field_value_and_range(command, flag, value):
    told = command("audit", "mechanism", f"--{flag.replace('_', '-')}", value, code=2)
    with pytest.raises(ValueError) as refused:
        misdeal.audit_mechanism(**{flag: value}, quiet=True)
    field, ours = flag, str(refused.value)
    assert ours.startswith(f"{field} is "), ours
    allowed = re.search(r"but (.*) is allowed; (.*)", ours)
    assert f"--{flag.replace('_', '-')}" in told
    # Names are listed by the parser of flags, which has no hint.
    names = allowed[1].removeprefix("one of ")
    assert names in told and (allowed[2] in told or names != allowed[1]), (told, ours)


@pytest.mark.parametrize(
    "words, field",
    [
        (dict(observations=1.5), "observations"), (dict(observations="many"), "observations"), (dict(epochs=-1), "epochs"),
        (dict(scheme=3), "scheme"), (dict(resume="yes"), "resume"), (dict(delta="small"), "delta"), (dict(scores="all"), "scores"),
        (dict(device="tpu"), "device"), (dict(scheme="nobody"), "scheme"), (dict(adversary_scheme="partial-shuffle"), "adversary_buffer_size"),
    ],
)  # fmt: skip
def test_what_is_no_value_at_all_is_refused_by_name(words, field):
    with pytest.raises(ValueError, match=f"^{field} is "):
        misdeal.audit_mechanism(**words)


def test_schemes_and_threat_models_have_the_same_names(command):
    text = " ".join(command("audit", "mechanism", "--help").split())
    schemes = re.search(r"--scheme <NAME>.*?\[possible values: ([^\]]+)\]", text, re.S)[1]
    for scheme in re.split(r",\s+", schemes):
        misdeal.Setting(scheme=scheme, buffer_size=100 if scheme in ("partial-shuffle", "stream-shuffle") else None)
    models = re.search(r"--threat-model <NAME>.*?\[possible values: ([^\]]+)\]", text, re.S)[1]
    for model in re.split(r",\s+", models):
        misdeal.Setting(threat_model=model)


def test_reproduce_refuses_what_the_command_line_refuses(command, tmp_path):
    usage = " ".join(command("reproduce", "--help").split())
    names = re.split(r",\s+", re.search(r"\[possible values: ([^\]]+)\]", usage)[1])
    with pytest.raises(ValueError, match="^name is nobody, but one of ") as refused:
        misdeal.reproduce("nobody")
    assert f"one of {', '.join(names)} is allowed" in str(refused.value)
    for flag, value in (("runs", 0), ("runs", 1001), ("observations", 7), ("observations", 8e15), ("only", "no such row"), ("plot", "figure.pdf"), ("threads", 0)):
        told = command("reproduce", "figure-3", "--quick", f"--{flag}", value, code=2)
        with pytest.raises(ValueError, match=f"^{flag} is ") as refused:
            misdeal.reproduce("figure-3", quick=True, **{flag: value})
        allowed = re.search(r"but (.*) is allowed; ", str(refused.value))[1]
        assert f"--{flag}" in told and allowed in told
    with pytest.raises(ValueError, match="^resume is given, but resume with store is allowed"):
        misdeal.reproduce("figure-3", resume=True)
    with pytest.raises(ValueError, match="^device is tpu, but one of auto, cpu, cuda"):
        misdeal.reproduce("figure-3", device="tpu")
    with pytest.raises(ValueError, match="^device is tpu, but one of auto, cpu, cuda"):
        misdeal.self_test(device="tpu")
