"""From a model card, or from what has trained, to a verdict."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _native
from .ledgers import Ledger, is_checkpoint, load_checkpoint, read_ledger
from .loaders import BATCHES, LoaderFacts, lost_step, read_loader
from .progress import watched
from .results import CheckReport, SweepReport

Path = str | os.PathLike[str]

# The words of a card; the others say what to do with it.
CARD = (
    "name", "dataset_size", "batch_size", "epochs", "steps", "noise_multiplier", "delta", "claimed_epsilon", "scheme", "buffer_size",
)  # fmt: skip


def check(
    engine_or_card: Any = None,
    data_loader: Any = None,
    *,
    name: str | None = None,
    dataset_size: float | None = None,
    batch_size: float | None = None,
    epochs: float | None = None,
    steps: float | None = None,
    noise_multiplier: float | None = None,
    delta: float | None = None,
    claimed_epsilon: float | None = None,
    scheme: str | None = None,
    buffer_size: float | None = None,
    audit: bool = False,
    observations: float | None = None,
    plot: Path | None = None,
    seed: float = 0,
    threads: float | None = None,
    quiet: bool = False,
) -> CheckReport:
    """What a training claims, what is proven of it, and a verdict.

    - `engine_or_card`: one of these, or nothing if the numbers are given by name.
      An Opacus `PrivacyEngine` after training: its accountant's steps, and its epsilon as the claim.
      What `engine.save_checkpoint` wrote (a path, or the dictionary in it), or an accountant's `state_dict()`.
      An event or accountant of `dp_accounting`.
      A path to a model card (.toml, .md, .txt), or a list of such paths.
      A dictionary with a card's keys, which are the names of these parameters.
    - `data_loader`: the loader that you train on, which `make_private` returned. It says how batches are really made. Opacus keeps no
      loader, so that without it (or `scheme`) the training is judged as shuffled and as Poisson sampled.
    - `name`: the model's name. `dataset_size`: records in the training data. `batch_size`: records in a batch, on average.
      `epochs`: passes over the data. `steps`: steps in all epochs together, instead of `epochs`.
      `noise_multiplier`: noise standard deviation divided by the clipping norm.
    - `delta`: where epsilon is claimed; 1 / dataset_size if not given. `claimed_epsilon`: the claim.
    - `scheme`, `buffer_size`: how batches are made, and the records in the buffer of the schemes that have one.
    - `audit`: also audit the mechanism, with so many `observations`. `plot`: where to draw the figure (.svg or .png).

    What is given by name replaces what an engine, a checkpoint, an event or a dictionary says.

    >>> card = dict(dataset_size=60_000, batch_size=512, epochs=15, noise_multiplier=0.8, delta=1e-5, claimed_epsilon=2.1)
    >>> report = check(card, scheme="shuffle")
    >>> report.verdict.kind, report.cards[0]["refuted_under_poisson"]
    ('refuted', True)
    """
    words: dict[str, Any] = {word: value for word, value in locals().items() if value is not None}
    for ours in ("engine_or_card", "data_loader", "quiet"):
        words.pop(ours, None)
    cards, source = _source(engine_or_card)
    if cards:
        given = [word for word in CARD if word in words] + ["data_loader"] * (data_loader is not None)
        if given:
            raise ValueError(f"{given[0]} is given, but nothing beside cards in files is allowed; write it into the card")
        words["cards"] = [os.fspath(path) for path in cards]
    else:
        words = stated(source, data_loader, words)
    with watched(quiet) as show:
        return CheckReport(_native.check(words, show))


def sweep(
    vary: Mapping[str, Sequence[Any]] | Sequence[str],
    *,
    name: str | None = None,
    dataset_size: float | None = None,
    batch_size: float | None = None,
    epochs: float | None = None,
    steps: float | None = None,
    noise_multiplier: float | None = None,
    delta: float | None = None,
    claimed_epsilon: float | None = None,
    scheme: str | None = None,
    buffer_size: float | None = None,
    plot: Path | None = None,
    threads: float | None = None,
    quiet: bool = False,
) -> SweepReport:
    """A model card over a range of one or two fields: claimed against proven epsilon at each point.

    - `vary`: fields with their values, `{"noise_multiplier": [0.5, 1, 2]}`, or as the command line has them, `["epochs=1:20:5"]`.
    - The other parameters are those of `check`. Without `claimed_epsilon` the claim is what Poisson sampling would justify at each point.

    >>> found = sweep({"noise_multiplier": [1, 2]}, dataset_size=1000, batch_size=100, epochs=1, delta=1e-5, scheme="shuffle")
    >>> [card["verdict"]["kind"] for card in found.cards]
    ['refuted', 'refuted']
    """
    words: dict[str, Any] = {word: value for word, value in locals().items() if value is not None}
    del words["quiet"]
    if isinstance(vary, Mapping):
        words["vary"] = [f"{field}={','.join(map(str, values))}" for field, values in vary.items()]
    else:
        words["vary"] = [vary] if isinstance(vary, str) else list(vary)
    with watched(quiet) as show:
        return SweepReport(_native.sweep(words, show))


def _source(given: Any) -> tuple[Sequence[Path], Any]:
    """Cards in files, or else what is to be read here."""
    if isinstance(given, (str, os.PathLike)):
        return ([], load_checkpoint(given)) if is_checkpoint(given) else ([given], None)
    if isinstance(given, (list, tuple)) and not hasattr(given, "class_name"):
        if not given or not all(isinstance(path, (str, os.PathLike)) for path in given):
            raise ValueError("engine_or_card is a list of other things, but a list of paths to cards is allowed; check engines one by one")
        return given, None
    return [], given


def stated(source: Any, data_loader: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The card of an engine, a checkpoint, an event or a dictionary with a data loader; what is given by name comes first."""
    loader = read_loader(data_loader) if data_loader is not None else LoaderFacts()
    ledger = read_ledger(source) if source is not None else None
    if ledger is None:
        if source is not None and not isinstance(source, dict):
            raise ValueError(
                f"engine_or_card is a {type(source).__name__}, but a PrivacyEngine, a checkpoint of one, a dp_accounting event, a card or "
                "paths to cards are allowed; see help(misdeal.check)"
            )
        card = {word: value for word, value in (source or {}).items() if value is not None}
        return {**_of_loader(loader), **card, **given}
    return {**_of_ledger(ledger, loader, given), **given}


def _of_loader(loader: LoaderFacts) -> dict[str, Any]:
    return {word: value for word, value in vars(loader).items() if value is not None}


def _of_ledger(ledger: Ledger, loader: LoaderFacts, given: dict[str, Any]) -> dict[str, Any]:
    card: dict[str, Any] = dict(name="this training", noise_multiplier=ledger.noise_multiplier, sampling_probability=ledger.rate)
    card |= _of_loader(loader)
    if "epochs" not in given:
        card["steps"] = ledger.steps
    card.setdefault("steps_per_epoch", round(1 / ledger.rate))
    if loader.batch_size and loader.steps_per_epoch and loader.scheme != "poisson":
        # Opacus multiplies the rate by the batches whose gradients add up to one step.
        accumulated = round(ledger.rate * loader.steps_per_epoch)
        if accumulated > 1:
            card["batch_size"] *= accumulated
            card["steps_per_epoch"] = -(-loader.steps_per_epoch // accumulated)
            card["remarks"].append(f"Gradients of {accumulated} batches add up to a step: a step has {card['batch_size']:,} records.")
    records = given.get("dataset_size", loader.dataset_size or ledger.dataset_size)
    batch_size = given.get("batch_size", card.get("batch_size"))
    if records is None and batch_size is not None:
        records = round(batch_size / ledger.rate)
    if records is None:
        raise ValueError(f"dataset_size is missing, but a whole number is allowed; {ledger.library} keeps the sampling rate alone")
    card["dataset_size"] = records
    card["batch_size"] = min(batch_size or max(1, round(ledger.rate * records)), records)
    if "claimed_epsilon" not in given:
        # The card's delta, if it has none.
        card["claimed_epsilon"] = float(ledger.epsilon(given.get("delta", 1 / records)))
    card["remarks"] = [*_remarks(ledger, loader, given, card), *card["remarks"]]
    return card


def _remarks(ledger: Ledger, loader: LoaderFacts, given: dict[str, Any], card: dict[str, Any]) -> list[str]:
    """What the library said, and what is true."""
    scheme = given.get("scheme", loader.scheme)
    printed = "accounts" if "claimed_epsilon" in given else f"printed {card['claimed_epsilon']:.4g}"
    if ledger.library != "Opacus" and printed != "accounts":
        printed = f"gives {card['claimed_epsilon']:.4g}"
    if scheme == "poisson":
        remarks = [f"{ledger.library} {printed} for Poisson sampling, and these batches are drawn so."]
    elif scheme is None:
        remarks = [
            f"{ledger.library} {printed} as if batches were drawn by Poisson sampling. It does not say how they are drawn: pass "
            "data_loader=..., the loader that you train on, or scheme=..."
        ]
    else:
        made = BATCHES.get(scheme, f"made by {scheme}")
        remarks = [f"{ledger.library} {printed} as if batches were drawn by Poisson sampling; these batches are {made}."]
        if ledger.library == "Opacus" and "scheme" not in given:
            remarks.append('The documentation of Opacus calls poisson_sampling=False "a good approximation"; the bounds here are what is proven.')
    lost = lost_step(ledger.rate)
    if lost and ledger.library == "Opacus" and scheme != "poisson":
        remarks.append(lost.replace("a step is lost", "with Poisson sampling a step would be lost"))
    return remarks
