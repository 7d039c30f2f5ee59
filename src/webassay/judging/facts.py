"""What the record says for and about an answer, without a model: where its values stand, and what adds up to them.

Nothing here decides anything. These are pointers for whoever has to decide: which page holds a value and what stands
beside it, which sums and counts over the rows of the pages come to a number of the answer, what else was on pages of
the same kind, and which rows of the sites differ.
"""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from webassay.core.interaction import Goal
from webassay.core.record import Json
from webassay.core.trajectory import Trajectory
from webassay.core.verdict import Finding
from webassay.judging.case import clip
from webassay.judging.pages import Book, Page
from webassay.judging.readings import DATES, MONEY, Pages, amounts_in, dates_in, is_date, numbers_in, stood, words_of
from webassay.judging.record_findings import changed_rows, claims, describe_change

_MOST_PLACES = 6
_MOST_VALUES = 40
_MOST_SUMS = 6
_MOST_OTHER_SUMS = 4
_MOST_ROWS = 20
_MOST_PARTS = 8
_MOST_CELLS = 3
_BESIDE = 160
_QUOTED = re.compile(r"[\"“”']([^\"“”']{2,80})[\"“”']")
_CODE = re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w]+(?:-[\w]+)*\b|\b\d{4,}\b")


def positive_facts(goal: Goal, trajectory: Trajectory, book: Book) -> tuple[Finding, ...]:
    values = values_of(goal, trajectory)
    return (
        *_places(values, book),
        *_recomputed(values, goal, book),
        *_unused(values, book),
        *_rows(trajectory),
    )


def values_of(goal: Goal, trajectory: Trajectory) -> tuple[Json, ...]:
    """The values that the answer gives; of an answer in prose, what looks like one."""
    response = trajectory.response
    if response is not None:
        found: list[Json] = [claim.value for claim in claims(goal, response)]
    else:
        found = list(named_in(trajectory.answer))
    return tuple(dict.fromkeys(value for value in found if isinstance(value, str | int | float)))[:_MOST_VALUES]


def named_in(text: str) -> Iterator[str]:
    """Amounts, dates, quoted names and codes."""
    dates = DATES.findall(text)
    yield from dates
    rest = DATES.sub(" ", text)
    yield from MONEY.findall(rest)
    yield from (match.strip() for match in _QUOTED.findall(rest) if match.strip())
    yield from _CODE.findall(MONEY.sub(" ", rest))


def holds(value: Json, page: Page) -> bool:
    return stood(value, Pages([page.text]))


def lines_with(value: Json, page: Page) -> list[str]:
    return [line for line in (*page.lines, *page.around) if stood(value, Pages([line]))]


# --- where values stand ---------------------------------------------------------------------------------


def _fact(code: str, message: str, actual: Json = None) -> Finding:
    return Finding(check="facts", status="pass", message=message, actual=actual, code=code)


def _places(values: Sequence[Json], book: Book) -> Iterator[Finding]:
    for value in values:
        if not words_of(str(value)) or _is_small(value):
            continue  # a 22 stands on many pages, and means something else on each
        places = [(number, lines) for number, page in book.pages.items() if (lines := lines_with(value, page))]
        if not places:
            continue
        told = [f"screenshot {number}, in {_near(lines[0], value)!r}" for number, lines in places[:_MOST_PLACES]]
        more = len(places) - _MOST_PLACES
        rest = f"; and on {more} more" if more > 0 else ""
        yield _fact("value_stands", f"{value!r} of the answer stands on {'; '.join(told)}{rest}.", value)


def _is_small(value: Json) -> bool:
    return isinstance(value, int | float) and abs(value) < 1000 and float(value).is_integer()


def _near(line: str, value: Json) -> str:
    """What stands beside the value, if the line is long."""
    at = max(line.casefold().find(str(value).casefold()), 0)
    start = max(0, min(at - _BESIDE // 2, len(line) - _BESIDE))
    return f"{'…' if start else ''}{line[start : start + _BESIDE]}{'…' if start + _BESIDE < len(line) else ''}"


def _unused(values: Sequence[Json], book: Book) -> Iterator[Finding]:
    """Pages of the same kind as one that holds a value of the answer, and what stood on them."""
    using = {n for value in values if not _is_small(value) for n, page in book.pages.items() if holds(value, page)}
    told: set[str] = set()
    for number in sorted(using):
        kind = book.pages[number].kind
        kin = [other for other in book.kin(number) if other not in using]
        if kind in told or not kin:
            continue
        told.add(kind)
        listed = [f"screenshot {other}{_largest(book.pages[other])}" for other in kin[:_MOST_ROWS]]
        yield _fact(
            "read_not_used",
            f"Pages of the same kind as screenshot {number} that hold no value of the answer: {', '.join(listed)}.",
        )


def _largest(page: Page) -> str:
    amounts = [number for line in page.lines for number in amounts_in(line)]
    return f" (largest amount {max(amounts):,.2f})" if amounts else ""


# --- what adds up ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """One row, however many pages show it."""

    cells: tuple[str, ...]
    screenshots: tuple[int, ...]


def tables(book: Book) -> dict[tuple[str, ...], list[Row]]:
    """Rows of one form, over all pages. A form is the kind of each cell, up to the last one that is more than text."""
    found: dict[tuple[str, ...], dict[tuple[str, ...], list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, page in book.pages.items():
        for line in page.lines:
            cells = tuple(cell.strip() for cell in line.split(" | "))
            if len(cells) >= 2:
                kinds = [_kind_of(cell) for cell in cells]
                while kinds and kinds[-1] == "text":
                    kinds.pop()
                if kinds:
                    found[tuple(kinds)][cells].append(number)
    return {
        form: [Row(cells, tuple(dict.fromkeys(numbers))) for cells, numbers in rows.items()]
        for form, rows in found.items()
        if len(rows) >= 2
    }


def _kind_of(cell: str) -> str:
    if MONEY.fullmatch(cell):
        return "amount"
    if is_date(cell):
        return "date"
    return "number" if re.fullmatch(r"[\d,.]+", cell) else "text"


def _recomputed(values: Sequence[Json], goal: Goal, book: Book) -> Iterator[Finding]:
    wanted = {number: value for value in values for number in _number(value)}
    if not wanted:
        return
    fitting: dict[tuple[object, ...], tuple[Group, str]] = {}
    others: list[str] = []
    groups = list(_groups(book, goal))
    for group in groups:
        for fits, message in _adding_up(group, wanted):
            if fits:
                fitting.setdefault((group.rows, message.rpartition(" add up to ")[2]), (group, message))
            else:
                others.append(message)
    told = list(fitting.values())[:_MOST_SUMS]
    for message in [message for _, message in told] or others[:_MOST_OTHER_SUMS]:
        yield _fact("recomputed", message)
    yield from _narrower([group for group, _ in told], groups)
    yield from _counted(wanted, book)


def _narrower(fitting: Sequence["Group"], groups: Sequence["Group"]) -> Iterator[Finding]:
    """A sum that agrees with the answer speaks for it; so what is left of those rows by everything else that the task
    names is told as well."""
    told = {group.rows for group in fitting}
    chosen = [set(rows) for rows in told]
    found: dict[tuple[Row, ...], Group] = {}
    for group in groups:
        if group.rows not in told and any(set(group.rows) < rows for rows in chosen):
            found.setdefault(group.rows, group)
    for group in list(found.values())[:_MOST_OTHER_SUMS]:
        for column in group.columns:
            total = sum((next(amounts_in(row.cells[column]), Decimal(0)) for row in group.rows), Decimal(0))
            count = f"{len(group.rows)} of these rows" if len(group.rows) > 1 else "1 of these rows"
            yield _fact("recomputed", f"{group.name}: {count}, {total:,.2f} in all.")


def _adding_up(group: "Group", wanted: Mapping[Decimal, Json]) -> Iterator[tuple[bool, str]]:
    """Whether it comes to a number of the answer, and what to say."""
    rows, where = group.rows, _screenshots(group.rows)
    if len(rows) > 1 and Decimal(len(rows)).normalize() in wanted:
        yield True, f"{group.name}: there are {len(rows)} distinct rows ({where}), as the answer says."
    for column in group.columns:
        amounts = [next(amounts_in(row.cells[column]), Decimal(0)) for row in rows]
        total = sum(amounts, Decimal(0))
        without = [row for row, amount in zip(rows, amounts, strict=True) if (total - amount).normalize() in wanted]
        sum_of = f"{group.name}: {len(rows)} distinct rows ({where}) add up to {total:,.2f}"
        if total.normalize() in wanted and len(rows) > 1:
            yield True, f"{sum_of}, which is {wanted[total.normalize()]!r} of the answer."
        elif len(without) == 1 and len(rows) > 2:
            left_out = clip(" | ".join(without[0].cells), _BESIDE)
            yield True, f"{sum_of}; the answer is that without {left_out!r} (screenshot {without[0].screenshots[0]})."
        elif group.part and len(rows) > 1:
            yield False, f"{sum_of}."


def _counted(wanted: Mapping[Decimal, Json], book: Book) -> Iterator[Finding]:
    """Cells that stand in as many distinct lines as the answer says."""
    lines = {line for page in book.pages.values() for line in page.lines if " | " in line}
    counts = Counter(cell for line in lines for cell in set(line.split(" | ")) if len(cell) <= _BESIDE)
    for number, value in wanted.items():
        fitting = sorted(cell for cell, count in counts.items() if count == number and count > 2)
        for cell in fitting[:_MOST_CELLS]:
            yield _fact("recomputed", f"{cell!r} stands in {int(number)} distinct lines: {value!r} of the answer.")


def _number(value: Json) -> Iterator[Decimal]:
    if isinstance(value, int | float):
        yield Decimal(str(value)).normalize()
    elif isinstance(value, str) and (MONEY.fullmatch(value.strip()) or re.fullmatch(r"[\d,.]+", value.strip())):
        yield from numbers_in(value)


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that may have been counted or added up."""

    name: str
    rows: tuple[Row, ...]
    columns: tuple[int, ...]
    """Of amounts."""
    part: bool = False
    """Chosen by something that the task names."""


def _groups(book: Book, goal: Goal) -> Iterator[Group]:
    """All rows of one form; those that share a word, a month or a limit with the task; and two of these combined."""
    for form, rows in tables(book).items():
        columns = tuple(index for index, kind in enumerate(form) if kind == "amount")
        example = clip(" | ".join(rows[0].cells), 80)
        parts = _parts(form, rows, goal)
        yield Group(f"Rows such as {example!r}", tuple(rows), columns)
        for name, chosen in parts.items():
            yield Group(f"Rows such as {example!r} {name}", _those(rows, chosen), columns, part=True)
        for one, other in itertools.permutations(parts, 2):
            if one < other and (both := parts[one] & parts[other]):
                yield Group(f"Rows such as {example!r} {one} and {other}", _those(rows, both), columns, part=True)
            if rest := parts[one] - parts[other]:
                yield Group(f"Rows such as {example!r} {one}, but not {other}", _those(rows, rest), columns, part=True)


def _those(rows: Sequence[Row], chosen: set[Row]) -> tuple[Row, ...]:
    return tuple(row for row in rows if row in chosen)


def _parts(form: Sequence[str], rows: Sequence[Row], goal: Goal) -> dict[str, set[Row]]:
    said = f" {' '.join(words_of(goal.instruction))} "
    limits = set(amounts_in(goal.instruction))
    parts: dict[str, set[Row]] = defaultdict(set)
    for row in rows:
        for cell, kind in itertools.zip_longest(row.cells, form, fillvalue="text"):
            if kind == "text" and (key := " ".join(words_of(cell))) and f" {key} " in said:
                parts[f"with {cell!r}"].add(row)
            for day in dates_in(cell) if kind == "date" else ():
                if f" {day.strftime('%B').casefold()} {day.year} " in said:
                    parts[f"of {day.strftime('%B %Y')}"].add(row)
                elif f" {day.year} " in said:
                    parts[f"of {day.year}"].add(row)
            for limit in limits if kind == "amount" else ():
                amount = next(amounts_in(cell), Decimal(0))
                parts[f"above {limit:,.2f}" if amount > limit else f"of at most {limit:,.2f}"].add(row)
    return dict(sorted(parts.items())[:_MOST_PARTS])


def _screenshots(rows: Sequence[Row]) -> str:
    numbers = sorted({row.screenshots[0] for row in rows})
    shown = ", ".join(map(str, numbers[:_MOST_ROWS]))
    return f"screenshot{'s' if len(numbers) > 1 else ''} {shown}{' …' if len(numbers) > _MOST_ROWS else ''}"


# --- rows of the sites ----------------------------------------------------------------------------------


def _rows(trajectory: Trajectory) -> Iterator[Finding]:
    changed = changed_rows(trajectory)
    if changed is None:
        return
    if not changed:
        yield _fact("no_row_changed", "No row of any site differs from what it was before the agent began.")
    for probe, change in changed[:_MOST_ROWS]:
        if change.operation == "update":
            told = "; ".join(f"{name}: {old!r} -> {new!r}" for name, (old, new) in probe.differing(change).items())
        else:
            told = "; ".join(f"{name}={value!r}" for name, value in (change.after or change.before or {}).items())
        message = f"Compared with before, {describe_change(probe.site, change)}: {clip(told, 600)}."
        yield _fact("row_changed", message)
    if len(changed) > _MOST_ROWS:
        yield _fact("row_changed", f"{len(changed) - _MOST_ROWS} more rows differ.")
