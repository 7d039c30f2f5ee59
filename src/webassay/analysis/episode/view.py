"""One episode as data: what was asked, what the agent did, what it should have done, and what graders found.

`EpisodeView` is what `webassay show` prints, what the page of an episode is made of, and what a notebook gets. It
joins what a run directory keeps apart: the trajectory, the verdicts, and the key, which never travels with the run.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from webassay.analysis.episode.verifier import VerifierView, verifier_view
from webassay.analysis.output.html import framed
from webassay.core.errors import GradingError, StoreError
from webassay.core.interaction import Goal
from webassay.core.rater import rater_id
from webassay.core.record import Json
from webassay.core.summary import Attempt
from webassay.core.trajectory import BlobRef, Blobs, RecordedObservation, Step, Trajectory
from webassay.core.verdict import Finding, Status, Verdict, decides

if TYPE_CHECKING:
    from webassay.analysis.episode.evidence import EvidenceView

RowMark = Literal["expected", "unexpected", "missing", "changed", "undone"]
"""`changed`: the row differs, and without a key nobody can say whether it should. `undone`: it was written and changed
back before the end."""


@dataclass(frozen=True)
class KeyLine:
    """One thing the key asks for, next to what was found."""

    what: str
    expected: str
    found: str
    status: Status | None = None
    """None: not compared."""
    reason: str = ""
    """What whoever compared them says."""


@dataclass(frozen=True)
class RowLine:
    """A row that changed, or should have."""

    mark: RowMark
    site: str
    table: str
    operation: str
    row: str
    """What identifies it."""
    values: tuple[tuple[str, str, str], ...] = ()
    """Column, before and after; for missing rows the column, nothing and what is expected."""
    steps: tuple[int, ...] = ()
    """Indexes of the steps that touched it, where somebody noted that."""


@dataclass(frozen=True)
class KeyView:
    """The task's key against the episode."""

    lines: tuple[KeyLine, ...] = ()
    rows: tuple[RowLine, ...] = ()
    uncounted: int = 0
    """Rows of sessions and counters that changed; no task accounts for those."""
    missing: str = ""
    """Why there is no key; empty if there is one."""
    notes: tuple[str, ...] = ()
    pending: bool = False
    """There will be one."""


@dataclass(frozen=True)
class RequestView:
    method: str
    place: str
    """The address, with the base URLs of the task's sites replaced by their names."""
    status: int | None
    kind: str = ""
    blocked: bool = False
    step: int | None = None
    """Index of the step that caused it; -1: before the first. None: nobody knows."""
    at: float | None = None
    seconds: float | None = None
    sent: str = ""
    received: str = ""
    """What came back, in logs that keep it."""
    media_type: str = ""
    redirect: str = ""

    @property
    def writes(self) -> bool:
        return self.method.upper() not in ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True)
class Traffic:
    """The network log in short: what was not a static file."""

    requests: tuple[RequestView, ...]
    total: int
    """All that were recorded, static files included."""
    left_out: int = 0
    """Beyond what is listed."""


@dataclass(frozen=True)
class EpisodeView:
    run: str
    unit: str
    trajectory: Trajectory
    attempts: tuple[Attempt, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    """The newest of each grader and settings, the rules first."""
    older_verdicts: int = 0
    key: KeyView = KeyView(missing="The key was not built.")
    traffic: Traffic | None = None
    evidence: "tuple[EvidenceView, ...]" = ()
    touched: Mapping[int, tuple[RowLine, ...]] = field(default_factory=dict)
    """Index of a step to the rows that it touched; empty where nobody noted that."""
    targets: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """Index of a step and position of an action to the element that it names, as the tree has it."""
    unreadable: Mapping[str, str] = field(default_factory=dict)
    """Hash of a blob that cannot be read to the reason."""
    notes: tuple[str, ...] = ()
    page: Callable[[], str] | None = field(default=None, compare=False, repr=False)
    """Makes the page, whose pictures are in the run directory."""

    def _repr_html_(self) -> str | None:
        return framed(self.page()) if self.page is not None else None

    @property
    def status(self) -> str:
        """What the first verdict says; without one, what is known."""
        if self.verdicts:
            return self.verdicts[0].status
        return "fault" if self.trajectory.ending.kind == "fault" else "not graded"

    @property
    def goal(self) -> Goal:
        """As the agent was told it, with short addresses."""
        return self.trajectory.goal.at({site: f"{site}:" for site in self.trajectory.bases})

    @property
    def pages(self) -> Iterator[tuple[str, RecordedObservation]]:
        for step in self.trajectory.steps:
            yield f"step {step.index + 1}", step.seen
        if self.trajectory.last_seen is not None:
            yield "the last page", self.trajectory.last_seen

    @property
    def all_notes(self) -> tuple[str, ...]:
        """Whatever could not be shown or compared, in words."""
        return (*self.key.notes, *self.notes, *self.missing_parts)

    @cached_property
    def verifiers(self) -> list[tuple[Verdict, VerifierView]]:
        """The verdicts that say more than findings."""
        found = [(verdict, verifier_view(verdict, self.trajectory)) for verdict in self.verdicts]
        return [(verdict, verifier) for verdict, verifier in found if verifier is not None]

    def verifier_of(self, verdict: Verdict) -> VerifierView | None:
        return next((verifier for one, verifier in self.verifiers if one is verdict), None)

    @property
    def disagree(self) -> bool:
        """Whether one verdict says pass and another fail."""
        return {"pass", "fail"} <= {verdict.status for verdict in self.verdicts}

    def place(self, url: str) -> str:
        return short_address(url, self.trajectory.bases)

    @property
    def missing_parts(self) -> list[str]:
        """What should be there and cannot be read, in words."""
        found = []
        for place, page in self.pages:
            for part, ref in (("picture", page.screenshot), ("tree", page.tree)):
                if ref is not None and ref.hash in self.unreadable:
                    found.append(f"The {part} of {place} is missing: {self.unreadable[ref.hash]}")
        network = self.trajectory.network
        if network is not None and network.blob.hash in self.unreadable:
            found.append(f"The network log is missing: {self.unreadable[network.blob.hash]}")
        return found

    def cited(self, step: Step) -> list[tuple[Verdict, Finding]]:
        """Findings that name this step."""
        return [
            (verdict, finding)
            for verdict in self.verdicts
            for finding in verdict.findings
            if step.index in finding.steps
        ]


@dataclass(frozen=True)
class UnitLine:
    """A unit in a list to choose from."""

    unit: str
    agent: str
    task_id: str
    trial: int
    status: str
    steps: int
    seconds: float
    played: bool
    own_seconds: float | None = None
    """Without those that the agent took to decide; None where nobody knows."""
    difficulty: str = ""


@dataclass(frozen=True)
class EpisodeLink:
    run: str
    line: UnitLine
    href: str = ""
    """Relative to the report; empty: no page was written."""


@dataclass(frozen=True)
class EpisodeList:
    """The episodes behind a report, for its table."""

    links: tuple[EpisodeLink, ...]
    command: str
    """Shows one of them."""
    left_out: int = 0
    several_runs: bool = False


def newest_verdicts(found: Sequence[Verdict], first: str) -> tuple[Verdict, ...]:
    """The newest of each grader and its settings, newest first, and those of the grader `first` before all others. A
    corrected key makes a newer verdict, not another grader."""
    newest: dict[str, Verdict] = {}
    for verdict in found:
        label = rater_id(verdict.fingerprint)
        newest.pop(label, None)
        newest[label] = verdict
    ordered = list(newest.values())[::-1]
    return tuple(sorted(ordered, key=lambda verdict: verdict.fingerprint.grader != first))


def unreadable_parts(trajectory: Trajectory, blobs: Blobs) -> dict[str, str]:
    """Blobs of the trajectory that are missing or damaged, and why."""
    pages = [step.seen for step in trajectory.steps] + [trajectory.last_seen] * (trajectory.last_seen is not None)
    refs = {ref.hash: ref for page in pages if page for ref in (page.screenshot, page.tree) if ref is not None}
    if trajectory.network is not None:
        refs[trajectory.network.blob.hash] = trajectory.network.blob
    found = {}
    for name, ref in refs.items():
        try:
            blobs.open(ref).close()
        except (StoreError, GradingError) as error:
            found[name] = error.message
    return found


def targets_of(steps: Iterable[Step], blobs: Blobs) -> dict[tuple[int, int], str]:
    """What `click('12')` clicked: the line of the tree that the agent saw."""
    found = {}
    for step in steps:
        named = {
            position: str(action.args[name])
            for position, action in enumerate(step.actions)
            for name in ("bid", "from_bid")
            if name in action.args
        }
        if not named or step.seen.tree is None:
            continue
        tree = text_of(step.seen.tree, blobs) or ""
        for position, element in named.items():
            line = re.search(rf"^\t*\[{re.escape(element)}\] (.{{0,200}})", tree, flags=re.M)
            if line:
                found[step.index, position] = line[1]
    return found


def text_of(ref: BlobRef, blobs: Blobs) -> str | None:
    """None: it cannot be read."""
    try:
        return blobs.read(ref).decode("utf-8", "replace")
    except (StoreError, GradingError):
        return None


# --- in words -------------------------------------------------------------------------------------------


def short_address(url: str, bases: Mapping[str, str]) -> str:
    """`shop:/cart` for a page of the task's sites, whose host names are made up for one episode."""
    for site, base in bases.items():
        if url.startswith(base.rstrip("/") + "/"):
            return f"{site}:{url[len(base.rstrip('/')) :]}"
    return url


def cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def compact(value: Json, limit: int = 300) -> str:
    """A value of a row, a key or a finding on one line."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return cut(text, limit)


def actions_of(step: Step) -> list[str]:
    return [action.text for action in step.actions] or ([step.action_text] if step.action_text else [])


def finding_mark(finding: Finding) -> str:
    """`note` is a failing finding that decides nothing."""
    return finding.status if finding.status == "pass" or decides(finding) else "note"


def failures_first(verdict: Verdict) -> list[Finding]:
    return sorted(verdict.findings, key=lambda finding: finding.status == "pass" or not decides(finding))


_IN_WORDS = {
    "response.format": "Its answer is not in the form that was asked for",
    "response.action": "It reported another kind of action",
    "response.status": "It reported the wrong status",
    "response.results": "Its answer is wrong",
    "state.required": "A change that was asked for was not made",
    "state.collateral": "It changed what it was not asked to change",
    "evidence": "It never saw what an honest answer needs",
    "page": "It ended on the wrong page",
    "record": "Its record and the site's do not agree",
    "ending": "It did not finish",
}


def why(view: EpisodeView) -> list[str]:
    """Why an episode did not pass, each in a sentence that needs no knowledge of the checks."""
    verdict = view.verdicts[0] if view.verdicts else None
    told = [] if verdict is None else reasons(verdict)
    if verdict is not None and any(one.check == "state.required" for one in _deciding(verdict)):
        traffic = view.traffic
        if traffic is not None and not traffic.left_out and not any(request.writes for request in traffic.requests):
            told.append("It sent no request that could change anything.")
        if view.trajectory.response is not None and view.trajectory.response.status == "SUCCESS":
            told.append("It reported success all the same.")
    return told


def reasons(verdict: Verdict) -> list[str]:
    return list(dict.fromkeys(_reason(finding) for finding in _deciding(verdict)))


def _deciding(verdict: Verdict) -> list[Finding]:
    return [finding for finding in verdict.findings if finding.status != "pass" and decides(finding)]


def _reason(finding: Finding) -> str:
    detail = re.sub(r"(?<!\.)\.\.$", ".", finding.message)
    if finding.check == "state.required" and (asked := _asked_for(finding.expected)):
        # What the rules say of a row that almost fits tells more than what was asked for.
        _, nearest, why = finding.message.partition(NEAREST)
        detail = f"{asked} {nearest}{why}".rstrip()
    lead = _IN_WORDS.get(finding.check)
    return f"{lead}: {detail.removeprefix('Not asked for: ')}" if lead else detail


NEAREST = "The nearest row does not fit"
_DEEDS = {"insert": "a new row in {}", "update": "a changed row in {}", "delete": "a row less in {}"}


def _asked_for(change: Json) -> str:
    """The change that a finding about the state expected; empty if it is in no form that is known."""
    if not isinstance(change, dict) or not isinstance(values := change.get("values", {}), dict):
        return ""
    deed = _DEEDS.get(str(change.get("operation")))
    if deed is None:
        return ""
    told = {name: one.get("value", one) if isinstance(one, dict) else one for name, one in values.items()}
    where = change.get("where")
    shown = {**(where if isinstance(where, dict) else {}), **told}
    named = ", ".join(f"{name} {cut(json.dumps(value, ensure_ascii=False), 120)}" for name, value in shown.items())
    return deed.format(f"{change.get('table')} of {change.get('site')}") + (f" with {named}" if named else "") + "."


def named_grader(verdict: Verdict) -> str:
    stamp = verdict.fingerprint
    return f"{stamp.grader} {stamp.version}" + (f" ({stamp.model})" if stamp.model else "")


def totals(trajectory: Trajectory) -> list[str]:
    """What the episode took, as far as it is known."""
    usages = [step.usage for step in trajectory.steps if step.usage is not None]
    costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    calls = sum(usage.calls for usage in usages)
    found = [counted(len(trajectory.steps), "step"), f"{trajectory.seconds:.1f} s"]
    if calls:
        found.append(counted(calls, "model call"))
        tokens = sum(usage.input_tokens for usage in usages), sum(usage.output_tokens for usage in usages)
        found.append("{:,} tokens in, {:,} out".format(*tokens))
    if costs:
        found.append(f"${sum(costs):.4f}")
    return found


def counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def timing_of(step: Step) -> str:
    """Only what took any time."""
    parts = {name: getattr(step.timing, name) for name in ("observe", "decide", "act", "settle")}
    return ", ".join(f"{name} {seconds:.2f} s" for name, seconds in parts.items() if seconds >= 0.005)
