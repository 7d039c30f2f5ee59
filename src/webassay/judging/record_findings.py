"""What the record itself says against an answer, without a model.

A trajectory with page texts, a network log or a row diff can show three things:

- the answer gives a value that was on no page the agent saw (`unseen_value`);
- the answer claims a change that neither rows nor requests show (`claimed_change_absent`);
- something was changed that the task did not ask for (`unasked_change`).

A finding with the status `fail` is certain and outranks every opinion. If the record has gaps (a page without text,
several actions between two observations, text read off a picture), the same finding is an `abstain`: a suspicion, for
the judge to weigh.

Only values that were read must have been on a page; computed ones need not. The answer's schema can say which is which
(`"x-origin": "read"` or `"computed"` in a field). If it does not, the words of the task decide: a number in the answer
to "how many" or "in total" was computed.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any, Literal
from urllib.parse import unquote_plus

import msgspec

from webassay.compare import KINDS, Unreadable, fold
from webassay.core.errors import GradingError
from webassay.core.interaction import Goal, Response
from webassay.core.record import Json
from webassay.core.trajectory import BlobRef, Blobs, Exchange, RecordedObservation, RowChange, RowsResult, Trajectory
from webassay.core.verdict import Finding, Status

Origin = Literal["read", "computed"]
ReadPicture = Callable[[bytes], str]

_MAX_TEXT = 2_000_000
_WINDOW_SLACK = 4


def record_findings(
    goal: Goal, trajectory: Trajectory, blobs: Blobs, read_picture: ReadPicture | None = None
) -> tuple[Finding, ...]:
    """Everything in the record that speaks against the answer. `read_picture` is OCR, for pages without text."""
    pages = Pages.of(goal, trajectory, blobs, read_picture)
    return (*_unseen_values(goal, trajectory, pages), *_changes(goal, trajectory, blobs))


# --- what stood on the pages ----------------------------------------------------------------------------

_WORD = re.compile(r"[^\W_]+(?:\.\d+)?")
_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d])|\d+(?:\.\d+)?")
_MONEY = re.compile(r"[$€£¥]\s?\d[\d,]*(?:\.\d+)?|\d[\d,]*(?:\.\d+)?\s?[$€£¥]|\b\d[\d,]*\.\d{2}\b")
_LONG_NUMBER = re.compile(r"([\d,.]{60})[\d,.]+")
"""No amount is that long, and looking for amounts in a run of digits takes quadratic time."""
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DATE = re.compile(
    rf"\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}"
    rf"|{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}\.?,? \d{{4}}",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")


@dataclass
class Pages:
    """The words, numbers and dates of everything the agent could read."""

    texts: list[str] = field(default_factory=list)
    complete: bool = True
    """Every page was recorded, with its text."""

    @classmethod
    def of(cls, goal: Goal, trajectory: Trajectory, blobs: Blobs, read_picture: ReadPicture | None) -> "Pages":
        pages = cls([goal.instruction, *goal.hints, *goal.start_urls])
        seen = [step.seen for step in trajectory.steps]
        if trajectory.last_seen is not None:
            seen.append(trajectory.last_seen)
        known: set[str] = set()
        for page in seen:
            pages._add(page, blobs, read_picture, known)
        # Between two actions of one step, a page can come and go unrecorded.
        pages.complete = pages.complete and bool(seen) and all(len(step.actions) <= 1 for step in trajectory.steps)
        return pages

    def _add(self, page: RecordedObservation, blobs: Blobs, read_picture: ReadPicture | None, known: set[str]) -> None:
        self.texts += [unquote_plus(page.url), page.title, page.last_error, *page.notices]
        if page.text is None and page.tree is None:
            self.complete = False
            if read_picture is not None and page.screenshot is not None and page.screenshot.hash not in known:
                known.add(page.screenshot.hash)
                self.texts.append(read_picture(blobs.read(page.screenshot)))
        for ref, is_tree in ((page.text, False), (page.tree, True)):
            if ref is not None and ref.hash not in known:
                known.add(ref.hash)
                text = _decoded(blobs, ref)
                self.texts.append(_names(text) if is_tree else text)

    @cached_property
    def words(self) -> str:
        """All words in order, each between two spaces. A mark that is no word separates the pages."""
        return " \n ".join(f" {' '.join(_words(text))} " for text in self.texts)

    @cached_property
    def sequences(self) -> list[list[str]]:
        return [_words(text) for text in self.texts]

    @cached_property
    def numbers(self) -> frozenset[Decimal]:
        return frozenset(number for text in self.texts for number in numbers_in(text))

    @cached_property
    def amounts(self) -> frozenset[Decimal]:
        """Numbers written as money: with a currency sign, or with two decimals."""
        return frozenset(number for text in self.texts for number in amounts_in(text))

    @cached_property
    def dates(self) -> frozenset[date]:
        return frozenset(day for text in self.texts for day in dates_in(text))

    def hold_text(self, value: str) -> bool:
        wanted = _words(value)
        if not wanted:
            return True
        return f" {' '.join(wanted)} " in self.words or self._hold_nearby(wanted)

    def _hold_nearby(self, wanted: Sequence[str]) -> bool:
        """The same words close together, in any order: `Lopez, Emma` for `Emma Lopez`."""
        if len(wanted) < 2 or not all(f" {word} " in self.words for word in wanted):
            return False
        need = Counter(wanted)
        width = len(wanted) + _WINDOW_SLACK
        return any(
            need <= Counter(sequence[at : at + width])
            for sequence in self.sequences
            for at, word in enumerate(sequence)
            if word in need
        )


def _decoded(blobs: Blobs, ref: BlobRef) -> str:
    return blobs.read(ref)[:_MAX_TEXT].decode("utf-8", "replace")


def _names(tree: str) -> str:
    """The quoted names and values of an accessibility tree, without roles and element ids."""
    found = [one or other for one, other in _QUOTED.findall(tree)]
    return "\n".join(re.sub(r"\\(.)", r"\1", name) for name in found) if found else tree


def _words(text: str) -> list[str]:
    try:
        return _WORD.findall(fold(text[:_MAX_TEXT]))
    except Unreadable:
        return _WORD.findall(text.casefold())


def numbers_in(text: str) -> Iterator[Decimal]:
    for found in _NUMBER.findall(text):
        try:
            yield Decimal(found.replace(",", "")).normalize()
        except InvalidOperation:
            continue


def amounts_in(text: str) -> Iterator[Decimal]:
    for found in _MONEY.findall(_LONG_NUMBER.sub(r"\1", text)):
        yield from numbers_in(found)


def _read_date(text: str) -> date:
    day: date = KINDS["date"].read(text)
    return day


def dates_in(text: str) -> Iterator[date]:
    for found in _DATE.findall(text):
        try:
            yield _read_date(found)
        except Unreadable:
            continue


# --- values that were read ------------------------------------------------------------------------------

_COMPUTES = re.compile(
    r"\b(how many|how much (more|less|longer|is|did|do|does|have|would)|number of|counts?|counting|totals?|totall?ed"
    r"|sums?|altogether|together|combined|in all|counted|averages?|mean|median|differences?|percent(age)?|ratio|share"
    r"|fraction|add(ing)? up|multipl\w+|divid\w+|subtract\w*|spent|spend|rounded"
    r"|net|frequen\w+|days? between|longest gap)\b|%",
    re.IGNORECASE,
)
_COMPUTED_FIELD = re.compile(
    r"(count|total|sum|average|mean|median|difference|percent|ratio|share|number|num_|_num|amount_spent|quantity)", re.I
)
_NOT_A_VALUE = frozenset(("", "yes", "no", "true", "false", "none", "null", "n a"))
_MONEY_IN_PROSE = re.compile(r"[$€£¥]\s?\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Claim:
    """One value of the answer."""

    where: str
    value: Json
    origin: Origin


def claims(goal: Goal, response: Response) -> Iterator[Claim]:
    """The values in the results: where each stands, and whether it was read or computed."""
    schema = _properties(goal.protocol.answer_schema)
    marks = schema.get("results") or schema.get("retrieved_data") or {}
    yield from _claims(goal, response.results, marks if isinstance(marks, dict) else {}, "results")


def _claims(goal: Goal, value: Json, schema: Mapping[str, Any], where: str) -> Iterator[Claim]:
    if isinstance(value, list):
        items = schema.get("items")
        for number, item in enumerate(value):
            yield from _claims(goal, item, items if isinstance(items, dict) else {}, f"{where}[{number}]")
    elif isinstance(value, dict):
        fields = _properties(schema)
        for key, item in value.items():
            below = fields.get(key)
            yield from _claims(goal, item, below if isinstance(below, dict) else {}, f"{where}.{key}")
    elif value is not None and not isinstance(value, bool) and "enum" not in schema:
        marked = schema.get("x-origin")
        origin: Origin = marked if marked in ("read", "computed") else _guess(goal, value, where)
        yield Claim(where, value, origin)


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = schema.get("properties")
    return found if isinstance(found, dict) else {}


def _guess(goal: Goal, value: Json, where: str) -> Origin:
    """Texts are read. Numbers are computed if the task asks for a calculation, or the field's name says so."""
    text = str(value).strip()
    if text.startswith(("http://", "https://", "/")):
        return "computed"  # an address may be put together from a link that no text shows
    is_number = isinstance(value, int | float) or re.fullmatch(r"[-+]?[$€£]?\s?[\d.,]+\s?(%|[a-z]{0,10})", text, re.I)
    if not is_number:
        return "read"
    field_name = where.rpartition(".")[2] if "." in where else ""
    return "computed" if _COMPUTES.search(goal.instruction) or _COMPUTED_FIELD.search(field_name) else "read"


def _unseen_values(goal: Goal, trajectory: Trajectory, pages: Pages) -> Iterator[Finding]:
    if not trajectory.answer:
        return
    response = trajectory.response
    if response is None:
        yield from _unseen_in_prose(goal, trajectory, pages)
        return
    if len(pages.texts) == 0 or (not pages.complete and not pages.numbers):
        return
    for claim in claims(goal, response):
        if claim.origin == "read" and not stood(claim.value, pages):
            yield _unseen(claim.where, claim.value, "fail" if pages.complete else "abstain", trajectory)


def _unseen(where: str, value: Json, status: Status, trajectory: Trajectory) -> Finding:
    doubt = "" if status == "fail" else " as far as the pages were recorded"
    return Finding(
        check="facts",
        status=status,
        message=f"The answer gives {value!r} ({where}), which stood on no page that the agent saw{doubt}.",
        actual=value,
        steps=(trajectory.steps[-1].index,) if trajectory.steps else (),
        code="unseen_value",
    )


def stood(value: Json, pages: Pages) -> bool:
    """Whether the value was on a page, however it is written."""
    if isinstance(value, int | float):
        return _number_of(str(value)) in pages.numbers
    text = str(value)
    is_amount = _MONEY.fullmatch(text.strip()) is not None and bool(pages.amounts)
    if " ".join(_words(text)) in _NOT_A_VALUE or (not is_amount and pages.hold_text(text)):
        return True
    try:
        return _read_date(text) in pages.dates
    except Unreadable:
        pass
    found = list(numbers_in(text))
    letters = re.sub(r"[\d.,$€£¥%+\-\s]", "", text)
    if len(found) != 1 or len(letters) > 5:
        return False
    # An amount must have stood there as an amount: a "7" among the page's other numbers is not "$7.00".
    return found[0] in (pages.amounts if _MONEY.search(text) and pages.amounts else pages.numbers)


def _number_of(text: str) -> Decimal:
    try:
        return abs(Decimal(text)).normalize()
    except InvalidOperation:
        return Decimal("NaN")


def _unseen_in_prose(goal: Goal, trajectory: Trajectory, pages: Pages) -> Iterator[Finding]:
    """In free text, only amounts of money and dates can be recognised, and only as a suspicion."""
    if _COMPUTES.search(goal.instruction) or not any(step.seen.text or step.seen.tree for step in trajectory.steps):
        return
    for amount in dict.fromkeys(_MONEY_IN_PROSE.findall(trajectory.answer)):
        if not any(number in pages.amounts for number in numbers_in(amount)):
            yield _unseen("answer", amount, "abstain", trajectory)
    for written in dict.fromkeys(_DATE.findall(trajectory.answer)):
        if not set(dates_in(written)) <= pages.dates:
            yield _unseen("answer", written, "abstain", trajectory)


# --- changes --------------------------------------------------------------------------------------------


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_CHANGE_VERBS = _set(
    "add apply approve assign book buy cancel change checkout clear close comment create decline delete demote "
    "disable dislike downvote duplicate edit empty enable enter extend file fill follow fork give grant increase "
    "decrease invite join like lower lock make mark merge move mute order pay pin place post promote publish "
    "purchase put raise rate reduce refund register reject remove rename reopen reorder replace reply report reserve "
    "resolve reset restore return review revoke save schedule send set share ship sign star submit subscribe "
    "swap switch toggle transfer turn unfollow unlike unlock unpin unstar unsubscribe update upload upvote use vote "
    "withdraw write"
)
_CLAUSE = re.compile(r"[.!?;:,\n]|\b(?:and|then|also|or|afterwards|finally|next|now)\b")
_ORDER = re.compile(rf"{_CLAUSE.pattern}|\b(?:please|to)\b")
"""Outside a question, "I want you to buy it" is an order, too."""
_QUESTION = re.compile(
    r"^\W*(what|which|who|whom|whose|when|where|why|how|is|are|was|were|does|do|did|has|have|can|could|list|find|show"
    r"|tell|give me|get|count|look|check|compare|identify|name|report|open|go|navigate|display|retrieve|compute"
    r"|calculate|determine|extract|search|browse|visit|see|read|summari[sz]e|collect|among|for each|of all)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(added|placed|ordered|bought|purchased|created|posted|submitted|changed|updated|edited|deleted|removed"
    r"|cancell?ed|renamed|subscribed|unsubscribed|sent|saved|set|booked|reserved|rated|replied|published|moved|cleared)\b",
    re.IGNORECASE,
)
_WRITING = frozenset(("POST", "PUT", "PATCH", "DELETE"))
_LOG_IN = re.compile(r"log-?in|sign-?in|session|auth|log-?out|csrf|token|track|analytics|beacon|suggest|search", re.I)


_OBJECT = re.compile(r"\W*[a-z-]+\s+(it|them|this|that|these|those|the|a|an|my|one|all)\b")


def asks_for_change(instruction: str) -> bool:
    """Whether a clause of the task begins with a verb that changes something."""
    for sentence in re.split(r"(?<=[.!?])\s+|\n", instruction):
        question = bool(_QUESTION.match(sentence))
        clauses = (_CLAUSE if question else _ORDER).split(sentence.lower())
        if any(_orders(clause, number, question) for number, clause in enumerate(clauses)):
            return True
    return False


def _orders(clause: str, number: int, question: bool) -> bool:
    """Inside a question, only a clause with its own object is an order: "which is cheapest? … then add it"."""
    first = re.match(r"\W*([a-z-]+)", clause)
    leaves = re.match(r"\W*leave (a|an|the|my) (\w+ )?(review|comment|reply|message|rating|note|feedback)", clause)
    if first is None or (first[1].replace("-", "") not in _CHANGE_VERBS and not leaves):
        return False
    return not question or (number > 0 and bool(_OBJECT.match(clause)))


def _changes(goal: Goal, trajectory: Trajectory, blobs: Blobs) -> Iterator[Finding]:
    probes = list(trajectory.probed(RowsResult))
    asked = asks_for_change(goal.instruction)
    if probes:
        changed = [(probe.site, change) for probe in probes for change in probe.changes if probe.counts(change)]
        yield from _unasked_changes(goal, trajectory, changed, asked)
        certain, absent, missing = True, not changed, "no row of any site differs."
    else:
        writes = _writes(trajectory, blobs)
        if writes is None:
            return
        certain, absent = trajectory.source == "webassay", not writes
        missing = "no request that could have made one was answered."
    if absent and asked and _claims_change(trajectory):
        yield Finding(
            check="facts",
            status="fail" if certain else "abstain",
            message=f"The answer claims a change, but {missing}",
            code="claimed_change_absent",
        )


def _unasked_changes(
    goal: Goal, trajectory: Trajectory, changed: Sequence[tuple[str, RowChange]], asked: bool
) -> Iterator[Finding]:
    response = trajectory.response
    refused = response is not None and isinstance(response.status, str) and response.status != "SUCCESS"
    if refused or not asked:
        why = "The answer says that it could not be done" if asked else "The task asks for nothing to be changed"
        for site, change in changed:
            yield _unasked(site, change, why, "fail")
        return
    fitting = [change for _, change in changed if _fits(goal.instruction, change)]
    # If no changed row is named as in the task, the site may just use other words.
    status: Status = "fail" if fitting else "abstain"
    for site, change in changed:
        if change not in fitting and not any(_belongs(change, to) for to in fitting):
            yield _unasked(site, change, "The task says nothing about it", status)


def _claims_change(trajectory: Trajectory) -> bool:
    response = trajectory.response
    if response is not None:
        return response.action in ("mutate", "MUTATE") and response.status == "SUCCESS"
    return bool(_DONE.search(trajectory.answer))


def _unasked(site: str, change: RowChange, why: str, status: Status) -> Finding:
    key = ", ".join(f"{name}={value}" for name, value in change.key.items())
    return Finding(
        check="facts",
        status=status,
        message=f"{why}, but on {site} a row of {change.table} ({key}) was {_PAST[change.operation]}.",
        actual=change.after if change.after is not None else change.before,
        code="unasked_change",
    )


_PAST = {"insert": "added", "update": "changed", "delete": "deleted"}
_GENERIC = _set("item items list lists line lines entry entries row rows detail details link map data log")


def _table_of(*rows: tuple[str, str]) -> Mapping[str, frozenset[str]]:
    return {word: _set(touched) for words, touched in rows for word in words.split()}


_DOES = _table_of(
    # What an instruction may touch, beyond what it names.
    ("buy purchase order checkout pay reorder ship deliver place", "order cart payment shipment invoice address quote"),
    ("review rate", "review rating vote"),
    ("subscribe unsubscribe register sign", "newsletter subscription subscriber customer account user"),
    ("move change update edit set", "customer account user profile"),
    ("contact message write inquire send tell inform", "contact message inquiry mail"),
    ("cancel refund return", "order refund return payment cart"),
    ("post comment reply", "post comment submission thread vote notification"),
    ("vote upvote downvote like", "vote like submission comment post"),
    ("merge", "merge request note commit event"),
)
_MEANS = _table_of(
    # What a site may call a thing.
    ("cart basket bag", "cart quote"),
    ("wish wishlist favorite favourite", "wish wishlist favorite"),
    ("star rating feedback opinion", "review rating"),
    ("newsletter", "newsletter subscription subscriber"),
    ("address street", "address"),
    ("email e-mail phone password account profile birthday", "customer account user profile"),
    ("message inquiry complaint", "contact message inquiry mail"),
    ("thread submission forum", "post comment submission thread"),
    ("issue ticket bug", "issue label milestone assignee event note comment"),
)


def _fits(instruction: str, change: RowChange) -> bool:
    """Whether the task is about this kind of row, or names what is in it."""
    said = {_stem(word) for word in _words(instruction)}
    touched = set(said)
    for word in said:
        touched |= _MEANS.get(word, frozenset())
    for clause in _ORDER.split(instruction.lower()):
        touched |= _DOES.get(" ".join(clause.split()[:1]), frozenset())
    return bool(_kinds(change.table) & touched) or any(
        isinstance(value, str)
        and len(value) > 3
        and f" {' '.join(_words(value))} " in f" {' '.join(_words(instruction))} "
        for row in (change.after, change.before)
        if row is not None
        for value in row.values()
    )


def _kinds(table: str) -> set[str]:
    """The words in a table's name that say what it holds."""
    words = {_stem(word) for word in re.split(r"[_\W]+", table.lower()) if word}
    return words - {_stem(word) for word in _GENERIC} or words


def _belongs(change: RowChange, to: RowChange) -> bool:
    """A row that points to another one (`order_id`) came with it."""
    row = change.after or change.before or {}
    keys = set(map(str, to.key.values()))
    return any(
        str(value) in keys and _kinds(to.table) & {_stem(word) for word in name.lower().split("_")}
        for name, value in row.items()
    )


def _stem(word: str) -> str:
    for ending in ("ies", "sses", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)] + {"ies": "y", "sses": "ss"}.get(ending, "e" if ending == "es" else "")
    return word


def _writes(trajectory: Trajectory, blobs: Blobs) -> list[Exchange] | None:
    """Answered requests that may have changed something; None if there is no network log of ours."""
    if trajectory.network is None or trajectory.network.format != "exchanges":
        return None
    found = []
    with blobs.open(trajectory.network.blob) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                exchange = Exchange.model_validate(msgspec.json.decode(line))
            except (msgspec.DecodeError, ValueError) as error:
                raise GradingError(f"Line {number} of the network log cannot be read: {error}") from None
            answered = exchange.status is not None and exchange.status < 400
            if exchange.method in _WRITING and answered and not _LOG_IN.search(exchange.url):
                found.append(exchange)
    return found
