"""Why episodes failed, in the words of two papers: by what the record shows, and by a judge's diagnosis.

WebArena Verified's A.1 has five classes of errors, WebChoreArena's section 6 four patterns. Neither paper says how a
failure was told to be one or the other, so the rules are ours, and they are here. Each class has its code in the one
taxonomy that judges use (`judging/taxonomy.py`). An episode can have several classes; what shows none is `unexplained`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from webassay.analysis.numbers import stats
from webassay.analysis.numbers.intervals import interval
from webassay.analysis.output import text
from webassay.analysis.output.document import Section
from webassay.core.record import Json, Record
from webassay.core.report import Interval
from webassay.core.trajectory import Trajectory
from webassay.core.verdict import Finding, Verdict, decides


@dataclass(frozen=True)
class ErrorClass:
    name: str
    paper: str
    meaning: str
    code: str
    """In the taxonomy `webassay`."""
    diagnosed: tuple[str, ...]
    """Codes of a judge's diagnosis that mean it, too."""


CLASSES: tuple[ErrorClass, ...] = (
    ErrorClass("timing", "A.1", "acted on what was not there yet, or not any more", "7.4", ("3.4",)),
    ErrorClass(
        "criteria", "A.1", "took the task for another one: other action or status", "5.2", ("1.3", "5.1", "5.2")
    ),
    ErrorClass("element", "A.1", "an element that does not exist or cannot be used", "7.1", ("7.1", "7.2", "7.3")),
    ErrorClass("navigation", "A.1", "ended on, or tried to open, a wrong page", "3.6", ("3.2",)),
    ErrorClass("content", "A.1", "the answer or the change is not what was asked for", "1.4", ("1.1", "1.2", "1.4")),
    ErrorClass("counting", "section 6", "a wrong number of things", "3.7", ("3.7",)),
    ErrorClass("exploration", "section 6", "answered without having seen enough, or went in circles", "3.5", ("3.5",)),
    ErrorClass("calculation", "section 6", "a wrong result of a calculation", "3.1", ("3.1",)),
    ErrorClass("operation", "section 6", "what had to be done on the site was not done", "3.3", ("2.2", "2.4", "3.3")),
)
"""WebChoreArena calls `exploration` navigation errors; A.1's navigation is another thing."""
UNEXPLAINED = "unexplained"

_STALE = re.compile(
    r"(?i)any more|changed (since|after)|lost the focus|took the focus|did not respond|may be stuck|timeout|"
    r"not attached|detached|no answer within|covered by|intercepts pointer"
)
_UNUSABLE = re.compile(
    r"(?i)no element|not an element id|could not find element|not visible|disabled|scrolled into view|outside the "
    r"viewport|is not a|no such element|does not exist|no tab|no key"
)
_UNOPENED = re.compile(r"(?i)(could not|cannot) be opened|net::err|navigat\w+ (to|failed)|page\.goto")
_COUNTED = re.compile(r"(?i)\bhow many\b|\bnumber of\b|\bcount(ed|s)?\b|\btotal of\b|\btop \d+\b")
_CALCULATED = re.compile(r"(?i)\baverage\b|\bsum\b|\bmean\b|\btotal\b|\bdifference\b|\bmultipl|\bpercent|\bratio\b|%")
_RELEASED = {"6.1": "7.1", "6.2": "7.2", "6.3": "7.3", "7.1": "5.1", "7.2": "5.2"}
"""The released verifier's numbers, where they are not the paper's."""
CIRCLES = 4
"""So often in a row on one page, with nothing but looking, is going in circles."""


def classes_of(trajectory: Trajectory, verdict: Verdict) -> frozenset[str]:
    """What shows in one failed episode."""
    failed = [one for one in verdict.findings if one.status == "fail" and decides(one)]
    found = set(_in_steps(trajectory)) | {name for one in failed for name in _in_finding(one, trajectory)}
    found |= {one.name for one in CLASSES for finding in failed if _diagnosed(finding, one)}
    if trajectory.ending.kind in ("step_limit", "time_limit") or _in_circles(trajectory):
        found.add("exploration")
    return frozenset(found or {UNEXPLAINED})


def _in_steps(trajectory: Trajectory) -> Iterator[str]:
    """Errors that the agent got over are no reason: only those of the last third of its steps count."""
    steps = trajectory.steps[len(trajectory.steps) * 2 // 3 :]
    for error in filter(None, (step.error or step.seen.last_error for step in steps)):
        if _UNOPENED.search(error):
            yield "navigation"
        elif _STALE.search(error):
            yield "timing"
        elif _UNUSABLE.search(error):
            yield "element"


def _in_finding(finding: Finding, trajectory: Trajectory) -> Iterator[str]:
    check, code = finding.check, finding.code
    if check in ("response.action", "response.status"):
        yield "criteria"
    elif check == "response.results" or check in ("legacy.exact_match", "legacy.must_include", "legacy.fuzzy_match"):
        yield _wrong_answer(finding, trajectory.goal.instruction)
    elif check == "response.format":
        yield "content"
    elif check in ("page", "legacy.url_match") or code in ("wrong_page", "page_invented"):
        yield "navigation"
    elif code in ("no_evidence", "no_activity", "never_served"):
        yield "exploration"
    elif code == "missing_change" or check == "network" or check.startswith("legacy.program_html"):
        yield "operation"
    elif code == "collateral_damage":
        yield "content"


def _wrong_answer(finding: Finding, goal: str) -> str:
    wanted, found = _numbers(finding.expected), _numbers(finding.actual)
    if not wanted or not found or wanted == found:
        return "content"
    whole = all(number == int(number) for number in wanted)
    if whole and _COUNTED.search(goal):
        return "counting"
    return "calculation" if _CALCULATED.search(goal) or not whole else "counting" if len(wanted) == 1 else "content"


def _numbers(value: Json) -> list[float]:
    """For a value that is nothing but numbers; a title with a number in it is no number."""
    if isinstance(value, list | tuple):
        parts = [_numbers(one) for one in value]
        return [number for part in parts for number in part] if all(parts) else []
    if isinstance(value, bool) or value is None:
        return []
    text = str(value).replace(",", "").strip().strip("$€£% ")
    return [float(text)] if re.fullmatch(r"-?\d+(\.\d+)?", text) else []


def _diagnosed(finding: Finding, one: ErrorClass) -> bool:
    if finding.check != "diagnosis":
        return False
    taxonomy, _, rest = finding.code.partition(":")
    code = rest.partition(":")[0]
    return (_RELEASED.get(code, code) if taxonomy == "released" else code) in (one.code, *one.diagnosed)


def _in_circles(trajectory: Trajectory) -> bool:
    same, last = 0, ""
    for step in trajectory.steps:
        looking = {action.name for action in step.actions} <= {"scroll", "noop", "goto", "go_back", "go_forward"}
        same = same + 1 if step.actions and looking and step.seen.url == last else 0
        last = step.seen.url
        if same >= CIRCLES:
            return True
    return False


# --- over many episodes ---------------------------------------------------------------------------------


class FailedEpisode(Record):
    agent: str
    task: str
    site: str
    chore: str
    classes: tuple[str, ...]


class ClassCount(Record):
    group: str
    name: str
    episodes: int
    share: Interval
    """Wilson's interval; shares add up to more than 1 where episodes have several classes."""


class Errors(Record):
    episodes: int
    failed: int
    counts: tuple[ClassCount, ...]
    failures: tuple[FailedEpisode, ...]


def errors(episodes: int, failures: Sequence[FailedEpisode]) -> Errors:
    groups: dict[str, Callable[[FailedEpisode], str]] = {
        "all": lambda one: "all",
        "agent": lambda one: one.agent,
        "site": lambda one: one.site,
        "chore": lambda one: one.chore,
    }
    counts = [line for name, key in groups.items() for line in _counted(name, key, failures)]
    return Errors(episodes=episodes, failed=len(failures), counts=tuple(counts), failures=tuple(failures))


def _counted(what: str, key: Callable[[FailedEpisode], str], failures: Iterable[FailedEpisode]) -> Iterator[ClassCount]:
    grouped: dict[str, list[FailedEpisode]] = defaultdict(list)
    for one in failures:
        grouped[key(one)].append(one)
    for group, members in sorted(grouped.items()):
        if not group:
            continue
        seen = Counter(name for one in members for name in one.classes)
        for name in (*(one.name for one in CLASSES), UNEXPLAINED):
            share = interval(stats.wilson(seen[name], len(members)))
            shown = group if what == "all" else f"{what}: {group}"
            yield ClassCount(group=shown, name=name, episodes=seen[name], share=share)


def of_errors(made: Errors) -> list[Section]:
    groups = list(dict.fromkeys(one.group for one in made.counts))
    cells = {(one.group, one.name): one for one in made.counts}
    whole = [
        (one.name, one.paper, one.code, str(cell.episodes), text.with_bounds(cell.share), one.meaning)
        for one in CLASSES
        if (cell := cells.get(("all", one.name))) is not None
    ]
    rest = cells.get(("all", UNEXPLAINED))
    if rest is not None:
        nothing = "nothing in the record or in a diagnosis says why"
        whole.append((UNEXPLAINED, "", "", str(rest.episodes), text.with_bounds(rest.share), nothing))
    names = [*(one.name for one in CLASSES), UNEXPLAINED]
    table = [(group, *(str(cells[group, name].episodes) for name in names)) for group in groups]
    failed = [(one.agent, one.task, one.site, one.chore, ", ".join(one.classes)) for one in made.failures]
    return [
        Section(
            "Why episodes failed",
            ("class", "paper", "code", "episodes", "share of failures", "meaning"),
            whole,
            f"{made.failed} of {made.episodes} scored episodes failed. An episode can have several classes.",
        ),
        Section("By agent, site and type", ("episodes of", *names), table),
        Section("Failed episodes", ("agent", "task", "site", "type", "classes"), failed),
    ]
