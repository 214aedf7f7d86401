"""What jobs hand back: the documents that the command line prints as JSON, with their fields as attributes."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from . import _native, notebook

if TYPE_CHECKING:
    import os

    import pandas


Kind = TypeVar("Kind", bound="Report")


class Report:
    """A result. Its fields are attributes; in a notebook it shows as a table with a plot.

    >>> from misdeal import account
    >>> report = account(noise_multiplier=1, steps_per_epoch=100, scheme="poisson")
    >>> round(report.schemes["poisson"]["epsilon_upper_bound"], 3)
    0.718
    >>> report.to_dict()["command"]
    'account'
    """

    schema_version: int
    command: str
    version: str

    # The field that is a list of alike entries, and the parts of an entry that tables for people show.
    _entries: ClassVar[tuple[str, tuple[str, ...]] | None] = None

    def __init__(self, native: _native.Report) -> None:
        self._set(native.json, native)

    def _set(self, text: str, native: _native.Report | None) -> None:
        self._json = text
        self._native = native
        self._fields = json.loads(text)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_fields"][name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Report) and self._fields == other._fields

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _read, (type(self), self._json)

    def with_fields(self: Kind, **changes: Any) -> Kind:
        """The same result with some fields changed."""
        report = _read(type(self), json.dumps({**self._fields, **changes}))
        report._native = self._native
        return report

    def to_dict(self) -> dict[str, Any]:
        """The document as the command line prints it, as a dictionary of its own."""
        return json.loads(self._json)

    def to_json(self) -> str:
        """The document as the command line prints it."""
        return self._json

    def to_series(self) -> pandas.Series:
        """The document as a pandas Series; fields within fields have names such as `setting.epochs`."""
        import pandas

        return pandas.Series(dict(notebook.flattened(self._fields)), dtype=object)

    def verdict(self) -> str:
        """What was found, in a sentence."""
        found = self._fields.get("verdict")
        return found["sentence"] if isinstance(found, dict) else ""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.verdict() or self.command}>"

    def __str__(self) -> str:
        rows = notebook.rows(self._fields)
        width = max(len(name) for name, _ in rows)
        lines = [f"{name.ljust(width)}  {value}" for name, value in rows]
        return "\n".join([*lines, *notebook.lines(self._table()), *([self.verdict()] if self.verdict() else [])])

    def _repr_html_(self) -> str:
        figure = self._native.svg() if self._native else None
        return notebook.page(self._fields, self.verdict(), figure, self._table())

    def _table(self) -> list[list[str]]:
        """The entries of a result that is a list, with a heading; nothing for others."""
        if self._entries is None or not self._fields.get(self._entries[0]):
            return []
        name, columns = self._entries
        return notebook.table(self._fields[name], columns)

    def save_plot(self, path: str | os.PathLike[str]) -> None:
        """Draws the figure into a file that ends in .svg or .png: a diagnosis, or the curve of a result made with `trade_off=True`."""
        if self._native is None or self._native.svg() is None:
            raise ValueError("trade_off is missing, but only a result with it is drawn; pass trade_off=True")
        self._native.save_plot(path)


def _read(kind: type[Kind], text: str) -> Kind:
    report = kind.__new__(kind)
    report._set(text, None)
    return report


class _Judged(Report):
    empirical_epsilon: float
    delta: float
    significance: float
    valid: bool
    claimed_epsilon: float | None
    violated: bool | None


class AuditReport(_Judged):
    """What an audit found, beside what was promised."""

    setting: dict[str, Any]
    observations: int
    stopped_early: bool
    seed: int
    estimator: str
    threshold_choice: str
    guarantee: str
    raw_epsilon: float | None
    largest_epsilon: float | None
    threshold: float | None
    false_positives: int
    false_negatives: int
    observations_per_world: int | None
    theory: dict[str, dict[str, Any]]
    engine: str
    seconds: float
    observations_per_second: float


class EpsilonEstimate(_Judged):
    """What the scores of a store show."""

    estimator: str
    threshold_choice: str
    guarantee: str
    raw_epsilon: float | None
    largest_epsilon: float | None
    threshold: float | None
    false_positives: int
    false_negatives: int
    claimed_epsilon = None
    violated = None

    def verdict(self) -> str:
        return _native.verdict(self._json)


class EstimateReport(_Judged):
    """What scores from anywhere show: one estimate, or `estimates` by name if `all` were asked for."""

    seconds: float

    def verdict(self) -> str:
        remark = self._fields.get("remark", "")
        sentences = [super().verdict(), f"{remark[:1].upper()}{remark[1:]}." if remark else ""]
        return " ".join(sentence for sentence in sentences if sentence)


class Verdict(str):
    """What follows for a claim: the sentence, with its `kind` (refuted, holds, undecided or no-claim)."""

    kind: str

    def __new__(cls, kind: str, sentence: str) -> Verdict:
        verdict = super().__new__(cls, sentence)
        verdict.kind = kind
        return verdict

    @property
    def sentence(self) -> str:
        return str(self)

    def __call__(self) -> str:
        return str(self)

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return self.kind, str(self)


class TestedCurve(dict[str, Any]):
    """A claimed curve, tested as a whole: a dictionary whose entries are attributes too."""

    __test__ = False

    name: str
    points: list[list[float]]
    """The claimed points: delta, then epsilon."""
    claimed_total_variation: float
    claimed_right_rate: float
    """The largest share of coins that can be guessed right if the claim is true."""
    p_value: float
    """The p-value of the claim, for any dependence between the canaries of a run."""
    right_guesses_p_value: float | None
    e_value: float | None
    """The evidence of a bet; reaching 20 refutes at 5 %, whenever one stops. None if infinite, or if coins may not be independent."""
    log_e_value: float | None
    refuted: bool

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"curve has no field {name!r}") from None


class OutputsReport(_Judged):
    """What the outputs of somebody's own training show.

    Judged by coins, it also says how many were guessed right, why they are independent, and what the test of the claimed curve found.
    """

    setting: dict[str, Any]
    observations: int
    score: str
    estimates: dict[str, dict[str, Any]]
    theory: dict[str, dict[str, Any]]
    runs: int
    canaries: int
    coins: int
    right_guesses: int
    independence: str | None

    @property
    def verdict(self) -> Verdict:  # type: ignore[override]
        """What follows for the claim: `kind`, `sentence`, and the sentence when it is called."""
        found = self._fields["verdict"]
        return Verdict(found["kind"], found["sentence"])

    @property
    def curve(self) -> TestedCurve | None:
        """The test of the claimed curve; None if no curve was claimed."""
        found = self._fields.get("curve")
        return None if found is None else TestedCurve(found)


class AccountReport(Report):
    """Bounds on epsilon, scheme by scheme."""

    schemes: dict[str, dict[str, Any]]
    claimed_epsilon: float | None

    def to_frame(self) -> pandas.DataFrame:
        """The bounds as a pandas DataFrame, a row for each scheme."""
        import pandas

        return pandas.DataFrame.from_dict(self.schemes, orient="index").rename_axis("scheme")


class CalibrateReport(Report):
    """A calibrated noise multiplier; with all schemes `schemes` has one for each."""

    noise_multiplier: float
    epsilon: float
    schemes: dict[str, Any]
    target_epsilon: float
    bound: str


class MergeReport(Report):
    """What was merged."""

    stores: int
    observations: int
    missing_trials: list[list[int]]
    setting: dict[str, Any]
    output: str


class _Listed(Report):
    def to_frame(self) -> pandas.DataFrame:
        """The entries as a pandas DataFrame, a row for each; fields within fields have names such as `setting.epochs`."""
        import pandas

        name = self._entries[0] if self._entries else ""
        if name not in self._fields:
            raise ValueError(f"{name} are missing, and a table has a row for each of them; to_series() has what there is")
        return pandas.DataFrame([dict(notebook.flattened(entry)) for entry in self._fields[name]])


class CheckReport(_Listed):
    """Model cards with a verdict on each; bounds and the claim of an only card are attributes of the report too."""

    _entries = "cards", ("name", "delta", "claimed_epsilon", "epsilon_lower_bound", "epsilon_upper_bound", "verdict")
    _schemes: ClassVar[tuple[str, ...]] = ("scheme", "epsilon_lower_bound", "epsilon_upper_bound", "noise_multiplier_needed")

    cards: list[dict[str, Any]]

    @property
    def verdict(self) -> Verdict:  # type: ignore[override]
        """The verdict on the only card, or on all together: `kind`, `sentence`, and the sentence when it is called."""
        found = self._fields["verdict"]
        return Verdict(found["kind"], found["sentence"])

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__.get("_fields", {})
        if name not in fields and len(fields.get("cards", ())) == 1 and name in fields["cards"][0]:
            return fields["cards"][0][name]
        return super().__getattr__(name)

    def __str__(self) -> str:
        lines = [self.verdict(), *notebook.lines(self._table())]
        for card in self.cards:
            told = f"{card['name']}: " if len(self.cards) > 1 else ""
            lines += [f"- {told}{remark}" for remark in card["remarks"]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        figure = self._native.svg() if self._native else None
        if len(self.cards) > 1:
            return notebook.page({}, self.verdict(), figure, self._table())
        [card] = self.cards
        shown = {name: value for name, value in card.items() if name not in ("verdict", "audit")}
        return notebook.page(shown, self.verdict(), None, self._table(), card["remarks"])

    def _table(self) -> list[list[str]]:
        """The schemes of an only card, or a row for each card."""
        if len(self.cards) == 1:
            return notebook.table([{"scheme": name, **found} for name, found in self.schemes.items()], self._schemes)
        cards = [{**card, "verdict": card["verdict"]["kind"]} for card in self.cards]
        return notebook.table(cards, self._entries[1])  # type: ignore[index]


class SweepReport(_Listed):
    """A model card at each point of a range: `cards` in order, and the `varied` fields. `to_frame()` has a row for each point."""

    _entries = "cards", ("name", "claimed_epsilon", "epsilon_lower_bound", "epsilon_upper_bound")

    cards: list[dict[str, Any]]
    varied: list[dict[str, Any]]


class DiagnoseReport(_Listed):
    """Which scheme made the batches of a log."""

    _entries = "candidates", ("scheme", "log_likelihood", "p_value")

    scheme: str
    parameters: dict[str, Any]
    certain: bool
    candidates: list[dict[str, Any]]
    defects: list[dict[str, Any]]

    def verdict(self) -> str:
        made = f"The batches are made by {self.scheme}{'' if self.certain else ', which is not certain'}."
        return f"{made} {super().verdict()}"


class ScanReport(_Listed):
    """Sampling mistakes in sources, or counts of pipelines."""

    _entries = "findings", ("path", "line", "rule", "message", "fix")

    findings: list[dict[str, Any]]

    def verdict(self) -> str:
        return f"{len(self._fields['findings'])} findings." if "findings" in self._fields else ""


class ReproduceReport(_Listed):
    """The paper's numbers beside ours: `rows`, in the order of the paper."""

    _entries = "rows", ("name", "printed_claim", "printed", "ours", "valid_epsilon", "observations", "runs", "verdict")

    name: str
    seed: int
    quick: bool
    artefacts: list[dict[str, Any]]
    rows: list[dict[str, Any]]
    deals: list[dict[str, Any]]
    seconds: float

    def verdict(self) -> str:
        if not self.rows:
            return "The paper draws how records move; here they are dealt again."
        found = Counter(row["verdict"] for row in self.rows if row["printed"] is not None)
        if not found:
            played = sum(row["ours"] is not None for row in self.rows)
            return f"The paper prints no numbers here; {played} of {len(self.rows)} row{'' if len(self.rows) == 1 else 's'} were played."
        counted = ", ".join(f"{number} {verdict}" for verdict, number in found.items())
        numbers = sum(found.values())
        return f"Of {numbers} printed number{'' if numbers == 1 else 's'}: {counted}."


class DevicesReport(_Listed):
    """What there is to compute on."""

    _entries = "devices", ("device", "name", "engine", "cores", "memory_bytes")

    devices: list[dict[str, Any]]
    cuda_missing: str | None

    def verdict(self) -> str:
        return "There is " + " and ".join(f"{one['name']} ({one['device']})" for one in self.devices) + " to compute on."


class SelfTestReport(_Listed):
    """Whether this machine computes right."""

    _entries = "checks", ("name", "passed", "detail", "seconds")

    passed: bool
    checks: list[dict[str, Any]]
    cuda_missing: str | None
    seconds: float

    def verdict(self) -> str:
        failed = [check["name"] for check in self.checks if not check["passed"]]
        if failed:
            return f"{len(failed)} of {len(self.checks)} checks FAILED: {', '.join(failed)}."
        return f"All {len(self.checks)} checks passed."
