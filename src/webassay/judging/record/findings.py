"""What the record says against an answer, without a model.

- The answer gives a value that was on no page the agent saw (`unseen_value`).
- It claims a change, and no row differs (`claimed_change_absent`).
- Rows differ although the answer says that it was asked for information only (`unasked_change`).
- It is not the agent's last message (`answer_not_sent`); never certain, since only one of the two reached the person.

`fail` is certain and outranks every opinion, so it rests on the record alone. Where words of the task would have to be
understood, the record has gaps, or a page may hold the value in another form, the finding is an `abstain`: a suspicion
for the judge to weigh.

Only values that were read must be on a page. The answer's schema can mark a field as `"x-origin": "read"` or
`"computed"`; without a mark, only a code such as `HOM-44321` is sure to have been read.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from webassay.compare import KINDS, UnreadableValue
from webassay.core.errors import GradingError
from webassay.core.interaction import Goal, Response
from webassay.core.record import Json
from webassay.core.trajectory import Blobs, Exchange, RowChange, RowsResult, SessionResult, Trajectory
from webassay.core.verdict import Finding, Status
from webassay.judging.case import clip
from webassay.judging.record.readings import (
    DATES,
    MONEY,
    PagesRead,
    ReadPicture,
    amounts_in,
    appears_in,
    dates_in,
    is_date,
    without_long_runs,
    words_of,
)
from webassay.judging.record.unclear import Unclear

Origin = Literal["read", "likely read", "computed"]


def record_findings(
    goal: Goal, trajectory: Trajectory, blobs: Blobs, read_picture: ReadPicture | None = None
) -> tuple[Finding, ...]:
    """Everything in the record that speaks against the answer. `read_picture` is OCR, for pages without text."""
    pages = PagesRead.of(goal, trajectory, blobs, read_picture)
    return (
        *_unseen_values(goal, trajectory, pages),
        *_changes(goal, trajectory, blobs),
        *_not_sent(trajectory),
    )


# --- values that were read ------------------------------------------------------------------------------

_CALCULATES = re.compile(
    r"\b(how (many|much|long|old|far|often)|number|counts?|counting|counted|totals?|totall?ed|sums?|altogether|together"
    r"|combined|overall|in all|averages?|mean|median|differences?|percent(age)?|ratio|share|fraction|half|twice|double"
    r"|add(ing)? up|multipl\w+|divid\w+|subtract\w*|plus|minus|spent|spend|rounded|net|frequen\w+|between|gap|than"
    r"|more|less|fewer|remain\w*|left|rest|per|each|every|all|both|only|without|including|excluding|after|before"
    r"|convert\w*|equivalent|if|would|could|change[ds]?|off|extra|save[ds]?|saving|worth)\b|%",
    re.IGNORECASE,
)
"""Words of calculation, in any field. Where one of them stands, nobody would suspect a number that no page shows."""
_ENGLISH = frozenset(
    ("the", "what", "which", "who", "whose", "when", "where", "how", "my", "your", "and", "find", "give", "tell")
)
"""A task without any of these may be in another language, and share no word with a table that it is about."""
_NUMERIC = re.compile(r"[-+]?[$€£¥]?\s?[\d.,]+\s?(%|[a-z]{0,10})", re.I)
_CODE_ALONE = re.compile(r"[^\W\d_]{2,}[-_/]?\d{3,}[\w-]*")
"""The number of an article, a parcel, a booking. Letters come first: after a number they may be a unit."""
_TIME_OF_DAY = re.compile(r"\d{1,2}(?:[:.]\d{2}){0,2} ?[ap]\.?m\.?", re.I)
_CONVERTIBLE = ("month", "duration", "distance", "coordinates")


@dataclass(frozen=True, slots=True)
class AnswerValue:
    """One value of the answer."""

    where: str
    value: Json
    origin: Origin


def answer_values(goal: Goal, response: Response) -> Iterator[AnswerValue]:
    """The values in the results: where each stands, and whether it was read or computed."""
    schema = _properties(goal.protocol.answer_schema)
    marks = schema.get("results") or schema.get("retrieved_data")
    yield from _claims(goal, response.results, _schema_of(marks), "results")


def _claims(goal: Goal, value: Json, schema: Mapping[str, Any], where: str) -> Iterator[AnswerValue]:
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _claims(goal, item, _schema_of(schema.get("items")), f"{where}[{number}]")
    elif isinstance(value, dict):
        fields = _properties(schema)
        for key, item in value.items():
            yield from _claims(goal, item, _schema_of(fields.get(key)), f"{where}.{key}")
    elif value is not None and not isinstance(value, bool) and "enum" not in schema:
        marked = schema.get("x-origin")
        yield AnswerValue(where, value, marked if marked in ("read", "computed") else _origin(goal, value))


def _schema_of(found: object) -> Mapping[str, Any]:
    """The schema of a value that may also be null."""
    if not isinstance(found, dict):
        return {}
    alternatives = [one for one in found.get("anyOf", ()) if isinstance(one, dict) and one.get("type") != "null"]
    return alternatives[0] if len(alternatives) == 1 else found


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return _schema_of(schema.get("properties"))


def _origin(goal: Goal, value: Json) -> Origin:
    """For a field without a mark. Only a code is neither worked out nor said in other words."""
    text = str(value).strip()
    if text.startswith(("http://", "https://", "/")):
        return "computed"  # an address may be put together from a link that no text shows
    is_numeric = isinstance(value, int | float) or _NUMERIC.fullmatch(text)
    if is_numeric and not is_date(text) and _CALCULATES.search(goal.instruction):
        return "computed"
    return "read" if _CODE_ALONE.fullmatch(text) else "likely read"


def _is_convertible(text: str) -> bool:
    """`1.5 hours` may have stood there as `90 min`, `2:30 pm` as `14:30`, `January 2026` as a day of that month."""
    if is_date(text):
        return False
    return _TIME_OF_DAY.fullmatch(text) is not None or any(_reads(kind, text) for kind in _CONVERTIBLE)


def _reads(kind: str, text: str) -> bool:
    try:
        KINDS[kind].read(text)
    except UnreadableValue:
        return False
    return True


def _is_english(instruction: str) -> bool:
    return not _ENGLISH.isdisjoint(words_of(instruction))


def _unseen_values(goal: Goal, trajectory: Trajectory, pages: PagesRead) -> Iterator[Finding]:
    if not trajectory.answer:
        return
    response = trajectory.response
    if response is None:
        yield from _unseen_in_prose(goal, trajectory, pages)
        return
    if len(pages.texts) == 0 or (not pages.complete and not pages.numbers):
        return
    unclear = Unclear(pages)
    for claim in answer_values(goal, response):
        if claim.origin != "computed" and not appears_in(claim.value, pages):
            is_plain = claim.origin == "read" and not _is_convertible(str(claim.value).strip())
            certain = pages.complete and is_plain and not unclear.may_hold(claim.value)
            yield _unseen(claim.where, claim.value, "fail" if certain else "abstain", trajectory, pages.complete)


def _unseen(where: str, value: Json, status: Status, trajectory: Trajectory, complete: bool) -> Finding:
    doubt = "" if complete else " as far as the pages were recorded"
    perhaps = " It may have been worked out, or be written differently there." if complete and status != "fail" else ""
    return Finding(
        check="facts",
        status=status,
        message=f"The answer gives {value!r} ({where}), which stood on no page that the agent saw{doubt}.{perhaps}",
        actual=value,
        steps=(trajectory.steps[-1].index,) if trajectory.steps else (),
        code="unseen_value",
    )


def _unseen_in_prose(goal: Goal, trajectory: Trajectory, pages: PagesRead) -> Iterator[Finding]:
    """In free text, only amounts of money and dates can be recognized, and only as a suspicion."""
    if _CALCULATES.search(goal.instruction) or not any(step.seen.text or step.seen.tree for step in trajectory.steps):
        return
    for amount in dict.fromkeys(MONEY.findall(without_long_runs(trajectory.answer))):
        if re.search("[$€£¥]", amount) and not any(number in pages.amounts for number in amounts_in(amount)):
            yield _unseen("answer", amount, "abstain", trajectory, pages.complete)
    for written in dict.fromkeys(DATES.findall(trajectory.answer)):
        if not set(dates_in(written)) <= pages.dates:
            yield _unseen("answer", written, "abstain", trajectory, pages.complete)


def _not_sent(trajectory: Trajectory) -> Iterator[Finding]:
    """Where the agent answers by a message, the recorded answer is that message."""
    messages = [
        (step.index, str(action.args["text"]))
        for step in trajectory.steps
        for action in step.actions
        if action.name == "send_msg_to_user" and "text" in action.args
    ]
    if not messages or not trajectory.answer:
        return
    index, sent = messages[-1]
    if words_of(sent) != words_of(trajectory.answer):
        yield Finding(
            check="facts",
            status="abstain",
            message=f"The final answer is not what the agent's last message says: {clip(sent, 500)!r}.",
            actual=sent,
            steps=(index,),
            code="answer_not_sent",
        )


# --- changes --------------------------------------------------------------------------------------------

_WRITING = frozenset(("POST", "PUT", "PATCH", "DELETE"))
_NAMING = re.compile(r"(?:^|_)(?:name|title|number|code|label|subject|nickname|email)$", re.IGNORECASE)
_CODE = re.compile(r"(?=.*\d)(?=.*[A-Z]|\d{4})[A-Z\d][A-Z\d_-]{3,24}")
_LONGEST_NAME = 80
_MOST_NAMES = 3
_PAST = {"insert": "added", "update": "changed", "delete": "deleted"}


def changed_rows(trajectory: Trajectory) -> list[tuple[RowsResult, RowChange]] | None:
    """None if nobody compared the rows."""
    probes = list(trajectory.probed(RowsResult))
    if not probes:
        return None
    return [(probe, change) for probe in probes for change in probe.changes if probe.counts(change)]


def describe_change(site: str, change: RowChange) -> str:
    key = ", ".join(f"{name}={value}" for name, value in change.key.items())
    called = "".join(f"; {name}={value!r}" for name, value in _called(change).items())
    return f"on {site}, a row of {change.table} ({key}{called}) was {_PAST[change.operation]}"


def _called(change: RowChange) -> dict[str, str]:
    """What a page, which shows no keys, is likely to call the row: columns named like a name, and values that are
    codes."""
    before, after = change.before or change.after or {}, change.after or change.before or {}
    kept = {name: value for name, value in before.items() if name not in change.key and after.get(name) == value}
    short = {
        name: value
        for name, value in kept.items()
        if isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME and not DATES.search(value)
    }
    named = [name for name in short if _NAMING.search(name)]
    codes = [name for name, value in short.items() if name not in named and _CODE.fullmatch(value)]
    return {name: short[name] for name in (*named, *codes)[:_MOST_NAMES]}


def _changes(goal: Goal, trajectory: Trajectory, blobs: Blobs) -> Iterator[Finding]:
    response = trajectory.response
    kind = str(response.action).casefold() if response is not None else ""
    done = response is not None and str(response.status).casefold() == "success"
    changed = changed_rows(trajectory)
    if changed is None:
        if kind == "mutate" and done and _writes(trajectory, blobs) == 0:
            yield _absent("abstain", "no request that could have made one was answered.")
        return
    if kind == "mutate" and done and not changed:
        # Logging out leaves no row behind.
        logged_out = any(not probe.user for probe in trajectory.probed(SessionResult))
        yield _absent("abstain" if logged_out else "fail", "no row of any site differs.")
    if response is None or (kind == "mutate" and done):
        return  # whether these were the changes that the task asks for is not for a program to say
    asked = "a page" if kind == "navigate" else "information"
    why = f"The answer says that {asked} was asked for" if done else "The answer says that it was not done"
    for probe, change in changed:
        # Reading leaves traces as well: counters, logs, marks. Certain is only what the site itself calls content.
        certain = change.table in probe.columns and not _may_name(goal.instruction, probe, change)
        yield _unasked(probe.site, change, why, "fail" if certain else "abstain")


def _absent(status: Status, missing: str) -> Finding:
    message = f"The answer claims a change, but {missing}"
    return Finding(check="facts", status=status, message=message, code="claimed_change_absent")


def _unasked(site: str, change: RowChange, why: str, status: Status) -> Finding:
    return Finding(
        check="facts",
        status=status,
        message=f"{why}, but {describe_change(site, change)}.",
        actual=change.after if change.after is not None else change.before,
        code="unasked_change",
    )


def _may_name(instruction: str, probe: RowsResult, change: RowChange) -> bool:
    """Whether the task shares a word with the row's table, its updated columns or its values, or is in another
    language. Then only a reader can tell whether the change was asked for."""
    if not _is_english(instruction):
        return True
    words = words_of(instruction)
    said = {_stem(word) for word in words if len(word) > 2}
    columns = probe.differing(change) if change.operation == "update" else {}
    called = {_stem(word) for name in (change.table, *columns) for word in re.split(r"[_\W]+", name.casefold()) if word}
    if any(word in called or any(_alike(word, other) for other in called) for word in said):
        return True
    row = {**(change.before or {}), **(change.after or {})}
    told = f" {' '.join(words)} "
    values = (" ".join(words_of(str(value))) for value in row.values() if isinstance(value, str | int))
    return any(len(value) > 2 and f" {value} " in told for value in values)


def _alike(word: str, other: str) -> bool:
    """`subscribe` and `subscriber`, `ban` and `bans`: one begins with the other."""
    return min(len(word), len(other)) >= 4 and (word.startswith(other) or other.startswith(word))


def _stem(word: str) -> str:
    for ending in ("ies", "ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


def _writes(trajectory: Trajectory, blobs: Blobs) -> int | None:
    """Answered requests that may have changed something; None if there is no network log of ours."""
    if trajectory.network is None or trajectory.network.format != "exchanges":
        return None
    found = 0
    with blobs.open(trajectory.network.blob) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                exchange = Exchange.model_validate(msgspec.json.decode(line))
            except (msgspec.DecodeError, ValueError) as error:
                raise GradingError(f"Line {number} of the network log cannot be read: {error}") from None
            answered = exchange.status is not None and exchange.status < 400
            found += exchange.method in _WRITING and answered
    return found


def against(findings: Sequence[Finding]) -> tuple[list[Finding], list[Finding]]:
    """The certain ones and the suspicions."""
    certain = [finding for finding in findings if finding.status == "fail"]
    return certain, [finding for finding in findings if finding.status == "abstain"]
