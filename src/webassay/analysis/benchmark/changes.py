"""What a revised benchmark changed, task by task: the goal, the key and how it is checked (WebArena Verified, B)."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from urllib.parse import unquote, urlsplit

from webassay.analysis.benchmark import legacy
from webassay.analysis.output.document import Section
from webassay.core.record import Record
from webassay.core.task import Expectation, LegacyCheck, NetworkCheck, ResponseCheck, Task

WHAT = {
    "goal reworded": "the instruction reads differently",
    "other kind": "it asks for something else than before: an answer, a page, a change",
    "values changed": "an answer that the old key names is not in the new one",
    "target changed": "the page of the old key is none of the new one",
    "substring replaced": "a part of the answer or of an element's text was enough",
    "model replaced": "a language model compared the answer",
    "page replaced": "a page was looked at; now a request is",
    "code for N/A": "N/A was enough; now a status code is asked for",
    "new": "the task is only in the revised benchmark",
    "gone": "the task is only in the old benchmark",
}
"""What can have changed, and what that means."""


class TaskChange(Record):
    task: str
    """Its number, which both benchmarks share."""
    template: str
    sites: tuple[str, ...]
    what: tuple[str, ...]
    goal_before: str
    goal_after: str
    key_before: str
    key_after: str
    checks_before: tuple[str, ...]
    checks_after: tuple[str, ...]


class Changes(Record):
    before: str
    after: str
    tasks: int
    """In both."""
    unchanged_goals: int
    counts: dict[str, int]
    changes: tuple[TaskChange, ...]


def changes(before: Sequence[Task], after: Sequence[Task]) -> Changes:
    old, new = {_number(task): task for task in before}, {_number(task): task for task in after}
    found = [_change(number, old[number], new[number]) for number in old if number in new]
    found += [_one_sided(number, task, "gone") for number, task in old.items() if number not in new]
    found += [_one_sided(number, task, "new") for number, task in new.items() if number not in old]
    counts = Counter(what for one in found for what in one.what)
    return Changes(
        before=before[0].benchmark if before else "",
        after=after[0].benchmark if after else "",
        tasks=len(old.keys() & new.keys()),
        unchanged_goals=sum("goal reworded" not in one.what for one in found if old.keys() & new.keys() & {one.task}),
        counts={name: counts[name] for name in WHAT},
        changes=tuple(found),
    )


def _number(task: Task) -> str:
    return task.id.rpartition(".")[2]


def _one_sided(number: str, task: Task, what: str) -> TaskChange:
    goal, key, checks = task.goal.instruction, _key(task), _checks(task)
    gone = what == "gone"
    return TaskChange(
        task=number,
        template=task.template,
        sites=task.sites,
        what=(what,),
        goal_before=goal if gone else "",
        goal_after="" if gone else goal,
        key_before=key if gone else "",
        key_after="" if gone else key,
        checks_before=checks if gone else (),
        checks_after=() if gone else checks,
    )


def _change(number: str, old: Task, new: Task) -> TaskChange:
    return TaskChange(
        task=number,
        template=new.template,
        sites=new.sites,
        what=tuple(_what(old, new)),
        goal_before=old.goal.instruction,
        goal_after=new.goal.instruction,
        key_before=_key(old),
        key_after=_key(new),
        checks_before=_checks(old),
        checks_after=_checks(new),
    )


def _what(old: Task, new: Task) -> Iterator[str]:
    if legacy.compact(old.goal.instruction) != legacy.compact(new.goal.instruction):
        yield "goal reworded"
    if old.kind != new.kind:
        yield "other kind"
    if _left_out(old, new):
        yield "values changed"
    if _elsewhere(old, new):
        yield "target changed"
    before, after = set(_checks(old)), set(_checks(new))
    if any("must_include" in check for check in before - after):
        yield "substring replaced"
    if any("fuzzy_match" in check for check in before - after) and old.kind != "unachievable":
        yield "model replaced"
    if any(check.startswith("program_html") for check in before) and "network" in after:
        yield "page replaced"
    if old.kind == "unachievable" and any(_codes(new)):
        yield "code for N/A"


def _left_out(old: Task, new: Task) -> bool:
    """By words and numbers, so that another spelling of the same value is not a change."""
    key = legacy.key_of(old)
    if key is None or key.says_not_possible or "string_match" not in key.types:
        return False
    fuzzy = key.fuzzy if isinstance(key.fuzzy, tuple) else ()
    values = [value for value in (key.exact, *(key.includes or ()), *fuzzy) if value]
    known = set(_words(" ".join(_answers(new))))
    return any(not set(_words(value)) & known for value in values)


def _elsewhere(old: Task, new: Task) -> bool:
    key = legacy.key_of(old)
    opened = [check for check in new.checks if isinstance(check, NetworkCheck) and check.last_navigation]
    asked = [text for check in opened for text in _values(check.url)]
    if key is None or not key.url or not asked:
        return False
    paths = [_path(url) for url in re.split(r" \|OR\| ", key.url)]
    return not any(path in _path(text) or _path(text) in path for path in paths for text in asked)


def _path(url: str) -> str:
    return unquote(urlsplit(re.sub(r"__[A-Z_]+?__", "http://site", url).strip("^$")).path).rstrip("/").lower()


def _words(text: str) -> list[str]:
    same = {"true": "yes", "false": "no"}
    return [same.get(word, word) for word in re.findall(r"[^\W_]+", text.lower().replace(",", ""))]


def _codes(task: Task) -> Iterator[str]:
    for check in task.checks:
        if isinstance(check, ResponseCheck):
            yield from (code for code in check.status if code != "SUCCESS")


def _answers(task: Task) -> Iterator[str]:
    for check in task.checks:
        if isinstance(check, ResponseCheck) and check.results is not None:
            yield from _values(check.results)


def _values(wanted: Expectation) -> Iterator[str]:
    for one in (*wanted.any_of, *(wanted.items or ())):
        yield from _values(one)
    for name, one in (wanted.fields or {}).items():
        yield name
        yield from _values(one)
    if wanted.value is not None or wanted.pattern:
        yield str(wanted.pattern if wanted.value is None else wanted.value)


def _key(task: Task) -> str:
    key = legacy.key_of(task)
    if key is not None:
        return key.text.strip()
    asked = [
        f"{check.method} {' or '.join(_values(check.url))}" for check in task.checks if isinstance(check, NetworkCheck)
    ]
    return "; ".join([*_codes(task), *_answers(task), *asked])


def _checks(task: Task) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for check in task.checks:
        if not isinstance(check, LegacyCheck):
            found[check.kind] = None
            continue
        key = legacy.read_key(check.eval, check.flavor)
        found |= dict.fromkeys(key.answers) if "string_match" in key.types else {}
        found |= {"url_match": None} if "url_match" in key.types else {}
        for target in key.targets if "program_html" in key.types else ():
            found[f"program_html.{'must_include' if target.exact is None else 'exact_match'}"] = None
    return tuple(found)


def of_changes(made: Changes) -> list[Section]:
    counts = [
        ("tasks in both", str(made.tasks), ""),
        ("goal as before", str(made.unchanged_goals), ""),
        *((name, str(made.counts[name]), meaning) for name, meaning in WHAT.items()),
    ]
    rows = [
        (one.task, one.template, ", ".join(one.sites), ", ".join(one.what), one.goal_before, one.goal_after,
         one.key_before[:300], one.key_after[:300], ", ".join(one.checks_before), ", ".join(one.checks_after))
        for one in made.changes
        if one.what
    ]  # fmt: skip
    headings = ("task", "template", "sites", "what changed", "goal before", "goal after", "key before", "key after",
                "checks before", "checks after")  # fmt: skip
    return [
        Section(f"From {made.before} to {made.after}", ("what", "tasks", "meaning"), counts),
        Section("Task by task", headings, rows, narrow=(0, 3, 4, 5)),
    ]
