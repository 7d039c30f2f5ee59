"""What is wrong with a benchmark: a table that a maintainer can work through, and the counts behind it.

A *defect* is wrong whatever an agent does; a *risk* lets some wrong run pass (or some right one fail); a *suspect*
is for a person to look at. Detectors say which task, why, and what would mend it; they never change anything.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal
from urllib.parse import unquote

from webassay.analysis.benchmark import legacy
from webassay.analysis.numbers import stats
from webassay.analysis.numbers.agreement import Agreement, Annotation, Label, annotation, between_graders
from webassay.analysis.numbers.rows import ResultRow
from webassay.analysis.output.document import Document, Section
from webassay.analysis.output.text import percent, plain_interval
from webassay.core.record import Record
from webassay.core.task import (
    ActivityCheck,
    EvidenceCheck,
    JudgedCheck,
    NetworkCheck,
    ResponseCheck,
    StateCheck,
    Task,
)
from webassay.core.verdict import Verdict

Severity = Literal["defect", "risk", "suspect"]


class Issue(Record):
    task_id: str
    template: str
    detector: str
    severity: Severity
    reason: str
    fix: str


class Audit(Record):
    """`counts` are tasks per detector; `any_substring` is the union of two of them and has no issues of its own."""

    benchmarks: tuple[str, ...]
    tasks: int
    templates: int
    multi_site: int
    gini: float | None
    """How unevenly tasks are spread over templates."""
    kinds: dict[str, int]
    counts: dict[str, int]
    naive: dict[str, int]
    """Tasks that an answer given without looking passes, by the answer; empty without keys of the original kind."""
    graders: Agreement | None
    """How far the graders of the runs agree; None with fewer than two."""
    annotation: Annotation | None
    """How far the people agree who labeled the tasks."""
    issues: tuple[Issue, ...]


Problem = tuple[Severity, str, str]
"""Severity, reason, fix."""
Detector = Callable[[Task], Iterator[Problem]]


def audit(
    tasks: Sequence[Task],
    rows: Sequence[ResultRow] = (),
    *,
    verdicts: Sequence[Verdict] = (),
    labels: Sequence[Label] = (),
) -> Audit:
    """With runs also what every agent fails and whether graders agree; with manual labels, whether people do."""
    issues = [
        Issue(task_id=task.id, template=task.template, detector=name, severity=severity, reason=reason, fix=fix)
        for task in tasks
        for name, detector in DETECTORS.items()
        for severity, reason, fix in detector(task)
    ]
    issues += [*_duplicates(tasks), *_misaligned(tasks), *_never_solved(tasks, rows)]
    found: dict[str, set[str]] = {name: set() for name in ALL_DETECTORS}
    for issue in issues:
        found[issue.detector].add(issue.task_id)
    found["any_substring"] = found["locator_substring"] | found["response_substring"]
    sizes = Counter((task.benchmark, task.template) for task in tasks)
    return Audit(
        benchmarks=tuple(dict.fromkeys(task.benchmark for task in tasks)),
        tasks=len(tasks),
        templates=len(sizes),
        multi_site=sum(len(task.sites) > 1 for task in tasks),
        gini=stats.gini(sizes.values()),
        kinds=dict(Counter(task.kind for task in tasks).most_common()),
        counts={name: len(ids) for name, ids in found.items()},
        naive=_naive_counts(tasks),
        graders=between_graders(verdicts),
        annotation=annotation(labels) if labels else None,
        issues=tuple(issues),
    )


# --- the six of the paper's Table 6 ---------------------------------------------------------------------


def _page_content(task: Task) -> Iterator[Problem]:
    key = legacy.key_of(task)
    if key is not None and any(not target.locator for target in key.targets):
        yield "risk", "The text may stand anywhere on the page.", "Look at the field, or at the row behind it."


def _locator_substring(task: Task) -> Iterator[Problem]:
    key = legacy.key_of(task)
    if key is None:
        return
    if any(target.includes and "outertext" in legacy.compact(target.locator) for target in key.targets):
        yield "risk", "Part of an element's text is enough.", "Compare the whole value by its type."


def _response_substring(task: Task) -> Iterator[Problem]:
    key = legacy.key_of(task)
    if key is not None and key.includes is not None:
        wanted = ", ".join(key.includes)
        yield "risk", f"Any answer that contains {wanted!r:.120} passes.", "Compare the whole answer by its type."


def _unachievable(task: Task) -> Iterator[Problem]:
    key = legacy.key_of(task)
    if key is not None and key.says_not_possible:
        yield "risk", "N/A is credited without any search.", "Ask for a status code and for the pages of the search."
    elif key is None and _credits_giving_up(task):
        yield "risk", "Giving up is credited without any search.", "Name the pages that a diligent search cannot miss."


def _credits_giving_up(task: Task) -> bool:
    searched = any(
        isinstance(check, EvidenceCheck) or (isinstance(check, ActivityCheck) and check.visits) for check in task.checks
    )
    return task.kind == "unachievable" and not searched


def _llm_judged(task: Task) -> Iterator[Problem]:
    key = legacy.key_of(task)
    if key is not None and key.fuzzy is not None:
        yield "risk", "A language model decides whether the answer is right.", "Give the answer a type and compare it."
    elif any(isinstance(check, JudgedCheck) for check in task.checks):
        yield "risk", "A judge decides.", "Measure the judge's agreement with people before quoting numbers."


# --- keys that cannot be right --------------------------------------------------------------------------


def _unsatisfiable(task: Task) -> Iterator[Problem]:
    key = legacy.key_of(task)
    if key is not None:
        if key.exact is not None and legacy.OR.search(key.exact):
            yield "defect", f"Alternatives are not understood in an exact match: {key.exact!r}.", "Use one value."
        spelled_out = key.flavor == "webarena" and any(legacy.OR.search(item) for item in key.includes or ())
        if spelled_out:
            yield "defect", "Alternatives are not understood in an answer key.", "Write them as a list of values."
        for item in key.includes or ():
            if key.exact is not None and legacy.compact(item) not in legacy.compact(key.exact):
                yield "defect", f"The exact answer does not contain {item!r}, which is required, too.", "Keep one."


def _vacuous(task: Task) -> Iterator[Problem]:
    """Keys that everything satisfies."""
    key = legacy.key_of(task)
    if key is not None:
        if any(not item.strip() for item in key.includes or ()) or key.includes == ():
            yield "defect", "The empty text is in every answer.", "Name the answer."
        if any(target.exact is None and not any(map(str.strip, target.includes)) for target in key.targets):
            yield "defect", "A page is opened and nothing is asked of it.", "Name what must stand there."
        return
    decided = {type(check) for check in task.checks}
    if task.kind == "mutate" and not decided & {StateCheck, NetworkCheck, JudgedCheck}:
        yield "defect", "Nothing looks whether the change was made.", "Check the rows or the request."
    responses = [check for check in task.checks if isinstance(check, ResponseCheck)]
    if task.kind == "retrieve" and any(c.results is None and c.status == ("SUCCESS",) for c in responses):
        yield "defect", "The answer is asked for and never compared.", "Name the expected results."


def _bare_number(task: Task) -> Iterator[Problem]:
    key = legacy.key_of(task)
    if key is None:
        return
    bare = [item for item in key.includes or () if re.fullmatch(r"\d{2,4}", item.strip())]
    if bare:
        longer = f"1{bare[0].strip()}"
        yield "risk", f"{bare[0].strip()} is found in {longer}, too.", "Compare it as a number."


def _naive_solvable(task: Task) -> Iterator[Problem]:
    key = legacy.key_of(task)
    if key is not None:
        said = [name for name in legacy.naive_passes(key, task.goal.instruction) if name != "1 2 3"]
        if said:
            yield "risk", f"Passes without looking: {', '.join(said)}.", "Compare by type; ask for evidence of work."
        return
    constant = all(isinstance(check, ResponseCheck) and check.results is None for check in task.checks)
    if constant:
        yield "risk", "A constant status passes.", "Ask for the pages that a search must touch."
    if _credits_giving_up(task):
        yield "risk", "Giving up at once passes.", "Name the pages that a diligent search cannot miss."


# --- goals ----------------------------------------------------------------------------------------------

_HOST = re.compile(
    r"https?://(?:\d{1,3}(?:\.\d{1,3}){3}|localhost|[\w.-]+\.(?:local|internal|amazonaws\.com))(?::\d+)?"
)
_BLANK = re.compile(r"(?<!\$)\{\{.*?\}\}")
_SHOW = re.compile(r"(?i)^\s*(?:please\s+)?(show|display|view|open|check out|browse|go to)\b")
_ASK = re.compile(
    r"(?i)^\s*(?:please\s+)?"
    r"(what|which|who|when|where|how|tell|get|give|is|are|do|does|did|list|find|show|display|look ?up)\b"
)


def _placeholder(task: Task) -> Iterator[Problem]:
    for text in (task.goal.instruction, *task.goal.start_urls):
        for blank in _BLANK.findall(text):
            yield "defect", f"{blank!r} was never filled in.", "Fill in the template's variable."
    known = {site.upper() for site in task.sites} | {"HOMEPAGE"}
    for url in task.goal.start_urls:
        for name in re.findall(r"__([A-Z_]+?)__", url):
            if name not in known:
                yield (
                    "defect",
                    f"It starts on {name}, which is none of its sites.",
                    "Name the site, or start elsewhere.",
                )


def _hard_coded_host(task: Task) -> Iterator[Problem]:
    key = legacy.key_of(task)
    texts = {
        "the goal": task.goal.instruction,
        "the start page": " ".join(task.goal.start_urls),
        "a parameter": " ".join(str(value) for value in task.parameters.values()),
        "the key": " ".join([key.url, *(target.url for target in key.targets)]) if key is not None else "",
    }
    for place, text in texts.items():
        for host in sorted(set(_HOST.findall(text))):
            yield "defect", f"{host} in {place} exists on one machine only.", "Write the site's place-holder."


def _leaking_goal(task: Task) -> Iterator[Problem]:
    """The goal says what the answer is."""
    key = legacy.key_of(task)
    if key is None or key.types != ("string_match",):
        return
    items = [key.exact] if key.exact is not None else list(key.includes or ())
    goal = f" {_words(task.goal.instruction)} "
    if items and all(len(_words(item)) > 2 and f" {_words(item)} " in goal for item in items):
        yield "suspect", f"The goal names the answer: {', '.join(items)!r:.120}.", "Ask for something to be found."


def _ambiguous(task: Task) -> Iterator[Problem]:
    """ "Show me" can mean: open the page, or say it. The key accepts only one of the two."""
    key = legacy.key_of(task)
    goal = task.goal.instruction
    if key is None or key.says_not_possible:
        return
    by_answer, by_url = "string_match" in key.types, set(key.types) <= {"url_match"} and bool(key.types)
    shown = _SHOW.match(goal)
    if shown and by_answer:
        reason = f"{shown[1]!r} reads as opening a page; the key wants an answer."
        yield "suspect", reason, "Say 'get' or 'return', and the form of the answer."
    elif _ASK.match(goal) and by_url:
        yield "suspect", "It reads as asking for an answer; the key wants a page.", "Say 'open the page'."
    if key.exact is not None and len(key.exact.split()) > 3 and not re.search(r"(?i)\bformat\b|\bonly\b|\bexact", goal):
        yield "suspect", f"{key.exact!r:.80} must be met to the letter and no form is stated.", "State the form."


# --- over several tasks ---------------------------------------------------------------------------------


def _duplicates(tasks: Sequence[Task]) -> Iterator[Issue]:
    first: dict[tuple[str, str, tuple[str, ...], frozenset[tuple[str, str]]], Task] = {}
    for task in tasks:
        # "My dearest purchase" is another task for another customer.
        who = frozenset(task.logins.items())
        goal = legacy.compact(task.goal.instruction)
        same = first.setdefault((task.benchmark, goal, task.goal.start_urls, who), task)
        if same is not task:
            yield _issue(task, "duplicate_goal", "defect", f"Same goal as task {same.id}.", "Drop or change one.")


def _misaligned(tasks: Sequence[Task]) -> Iterator[Issue]:
    """Sibling tasks name a parameter in their keys; this one's key names none of it, or another sibling's."""
    groups: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        if task.kind != "unachievable":
            groups[f"{task.benchmark}/{task.template}"].append(task)
    for siblings in groups.values():
        keys = {task.id: _words(_key_text(task)) for task in siblings}
        for name in dict.fromkeys(name for task in siblings for name in task.parameters):
            yield from _off_key(siblings, keys, name)


def _off_key(siblings: Sequence[Task], keys: Mapping[str, str], name: str) -> Iterator[Issue]:
    values = {task.id: _words(str(task.parameters.get(name, ""))) for task in siblings}
    values = {task: value for task, value in values.items() if len(value) >= 3}
    named = [task for task, value in values.items() if f" {value} " in f" {keys[task]} "]
    if len(values) < 3 or len(set(values.values())) < 2 or len(named) < 0.6 * len(values):
        return
    for task in siblings:
        value = values.get(task.id)
        if value is None or _share_a_word(value, keys[task.id]):
            continue
        others = sorted({v for v in values.values() if v != value and f" {v} " in f" {keys[task.id]} "})
        instead = f" but names {others[0]!r}" if others else ""
        reason = f"The key does not name {name} = {value!r}{instead}; those of its siblings do."
        yield _issue(task, "misaligned", "suspect", reason, "Check the key against the goal.")


def _share_a_word(value: str, key: str) -> bool:
    """Five letters are enough, so that a plural or an ending does not count as another thing."""
    known = {word[:5] for word in key.split()}
    return any(word[:5] in known for word in value.split() if len(word) > 2)


def _never_solved(tasks: Sequence[Task], rows: Sequence[ResultRow]) -> Iterator[Issue]:
    """With runs: what every agent fails is likely wrong itself (section 3.1)."""
    scores: dict[str, dict[str, bool]] = defaultdict(dict)
    for row in rows:
        if row.score is not None and not row.baseline:
            scores[row.task_id][row.agent] = scores[row.task_id].get(row.agent, False) or row.status == "pass"
    for task in tasks:
        tried = scores.get(task.id, {})
        if len(tried) > 1 and not any(tried.values()):
            reason = f"All {len(tried)} agents fail: {', '.join(sorted(tried))}."
            yield _issue(task, "never_solved", "suspect", reason, "Solve it by hand under the grader.")


def _issue(task: Task, detector: str, severity: Severity, reason: str, fix: str) -> Issue:
    return Issue(task_id=task.id, template=task.template, detector=detector, severity=severity, reason=reason, fix=fix)


def _naive_counts(tasks: Sequence[Task]) -> dict[str, int]:
    keys = [(key, task.goal.instruction) for task in tasks if (key := legacy.key_of(task)) is not None]
    if not keys:
        return {}
    passed = Counter(name for key, goal in keys for name in legacy.naive_passes(key, goal))
    return {name: passed[name] for name in legacy.NAIVE_ANSWERS}


# --- helpers --------------------------------------------------------------------------------------------


def _key_text(task: Task) -> str:
    key = legacy.key_of(task)
    return key.text if key is not None else " ".join(check.model_dump_json() for check in task.checks)


def _words(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", unquote(text).lower()))


DETECTORS: dict[str, Detector] = {
    "page_content": _page_content,
    "locator_substring": _locator_substring,
    "response_substring": _response_substring,
    "unachievable": _unachievable,
    "llm_judged": _llm_judged,
    "unsatisfiable": _unsatisfiable,
    "vacuous": _vacuous,
    "bare_number": _bare_number,
    "naive_solvable": _naive_solvable,
    "placeholder": _placeholder,
    "hard_coded_host": _hard_coded_host,
    "leaking_goal": _leaking_goal,
    "ambiguous": _ambiguous,
}
TABLE_SIX = ("page_content", "locator_substring", "response_substring", "any_substring", "unachievable", "llm_judged")
ALL_DETECTORS = tuple(dict.fromkeys((*TABLE_SIX, *DETECTORS, "duplicate_goal", "misaligned", "never_solved")))


# --- as tables ------------------------------------------------------------------------------------------


def audit_document(audit: Audit) -> Document:
    return Document(f"Audit of {', '.join(audit.benchmarks)}", _sections(audit), audit.model_dump_json(indent=1))


def _sections(audit: Audit) -> list[Section]:
    facts = [
        ("tasks", str(audit.tasks)),
        ("templates", str(audit.templates)),
        ("on several sites", str(audit.multi_site)),
        ("Gini of the template sizes", "–" if audit.gini is None else f"{audit.gini:.4f}"),
        *((f"kind: {kind}", str(count)) for kind, count in audit.kinds.items()),
    ]
    counts = [(name.replace("_", " "), str(count)) for name, count in audit.counts.items()]
    sections = [Section("The benchmark", ("fact", "value"), facts), Section("Detectors", ("detector", "tasks"), counts)]
    if audit.naive:
        note = (
            "Answers given without looking, under the original string rules. The published count for the numbers of "
            "the intent, 11, is what the constant 1 2 3 gets."
        )
        naive = [(name, str(count)) for name, count in audit.naive.items()]
        sections.append(Section("Passed without looking", ("answer", "tasks"), naive, note))
    if audit.graders is not None:
        sections += agreement_sections(audit.graders)
    if audit.annotation is not None:
        sections += annotation_sections(audit.annotation)
    order = {"defect": 0, "risk": 1, "suspect": 2}
    issues = [
        (issue.task_id, issue.template, issue.severity, issue.detector.replace("_", " "), issue.reason, issue.fix)
        for issue in sorted(audit.issues, key=lambda issue: order[issue.severity])
    ]
    headings = ("task", "template", "severity", "detector", "reason", "suggested fix")
    return [*sections, Section("To work through", headings, issues)]


def agreement_sections(agreement: Agreement) -> list[Section]:
    pairs = [
        (pair.first, pair.second, str(pair.items), percent(pair.same.value), plain_interval(pair.kappa),
         "–" if pair.weighted is None else plain_interval(pair.weighted))
        for pair in agreement.pairs
    ]  # fmt: skip
    overall = [
        ("Fleiss' kappa", str(agreement.rated_by_all), plain_interval(agreement.fleiss)),
        ("Krippendorff's alpha", str(agreement.items), plain_interval(agreement.alpha)),
    ]
    return [
        Section("Pairs", ("rater", "rater", "items", "same label", "Cohen's kappa", "weighted"), pairs),
        Section("All raters", ("measure", "items", "value and 95 % interval"), overall),
    ]


def annotation_sections(annotation: Annotation) -> list[Section]:
    sites = [(site.site, str(site.tasks), plain_interval(site.kappa)) for site in annotation.sites]
    total = str(sum(site.tasks for site in annotation.sites))
    sites.append(("all, weighted by tasks", total, plain_interval(annotation.overall)))
    return [Section("Inter-rater reliability", ("site", "tasks", "kappa and 95 % interval"), sites)]
