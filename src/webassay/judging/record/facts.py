"""What the record says about an answer, without a model: where its values are, and what adds up to them.

Nothing here decides. These are pointers for whoever does: which page holds a value and what is next to it, which sums
and counts over the rows match a number of the answer, what else was on such pages, and which rows of the sites differ.
"""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from urllib.parse import urlsplit

from webassay.core.interaction import Goal
from webassay.core.record import Json
from webassay.core.trajectory import Trajectory
from webassay.core.verdict import Finding
from webassay.judging.case import clip
from webassay.judging.record.findings import answer_values, changed_rows, describe_change
from webassay.judging.record.pages import Book, PageText
from webassay.judging.record.paging import extent_in
from webassay.judging.record.readings import (
    DATES,
    MONEY,
    PagesRead,
    amounts_in,
    appears_in,
    claimed_numbers,
    dates_in,
    is_date,
    line_read,
    without_long_runs,
    words_of,
)

_MOST_PLACES = 6
_MOST_VALUES = 40
_MOST_SUMS = 6
_MOST_OTHER_SUMS = 4
_MOST_ROWS = 20
_MOST_PARTS = 8
_SHORT_WORD = 3
_MOST_CELLS = 3
_MOST_LISTS = 3
_LONGEST_LIST = 100_000
_DIGITS = re.compile(r"\d[\d,.]*")
_BESIDE = 160
_QUOTED = re.compile(r"[\"“”']([^\"“”']{2,80})[\"“”']")
_MINUS = ("-", "\N{MINUS SIGN}", "\N{EN DASH}")
_TOKEN = re.compile(r"\b\w+(?:-\w+)*\b")
_LONG_NUMBER = re.compile(r"\b\d{4,}\b")


Form = tuple[str, ...]
"""The kind of each cell of a row, up to the last one that is more than text."""


_TELLING = 1000


def facts_of(goal: Goal, trajectory: Trajectory, book: Book) -> tuple[Finding, ...]:
    values = values_of(goal, trajectory)
    return (
        *_places(values, book),
        *_opened(goal, book),
        *_recomputed(values, goal, book),
        *_unused(values, book),
        *_rows(trajectory),
    )


def values_of(goal: Goal, trajectory: Trajectory) -> tuple[Json, ...]:
    """The values that the answer gives; of an answer in prose, what looks like one."""
    response = trajectory.response
    if response is not None:
        found: list[Json] = [claim.value for claim in answer_values(goal, response)]
    else:
        found = list(named_in(trajectory.answer))
    return tuple(dict.fromkeys(value for value in found if isinstance(value, str | int | float)))[:_MOST_VALUES]


def named_in(text: str) -> Iterator[str]:
    """Amounts, dates, quoted names and codes."""
    text = without_long_runs(text)
    dates = DATES.findall(text)
    yield from dates
    rest = DATES.sub(" ", text)
    yield from MONEY.findall(rest)
    yield from (match.strip() for match in _QUOTED.findall(rest) if match.strip())
    for token in _TOKEN.findall(MONEY.sub(" ", rest)):
        if re.search(r"\d", token) and re.search("[A-Za-z]", token):
            yield token
        else:
            yield from _LONG_NUMBER.findall(token)


def is_telling(value: Json) -> bool:
    """Whether a page that holds it says something by that: small numbers are on many pages, and `yes` on none."""
    if isinstance(value, int | float):
        return abs(value) >= _TELLING
    return not appears_in(value, PagesRead([""]))


def values_on(page: PageText, values: Iterable[Json]) -> list[Json]:
    read = PagesRead([page.text])
    return [value for value in values if appears_in(value, read)]


def lines_with(value: Json, page: PageText) -> list[str]:
    return [line for line in (*page.lines, *page.around) if appears_in(value, line_read(line))]


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
    """Pages of the same kind as one that holds a value of the answer, and what stood on them in rows like its own."""
    told: set[str] = set()
    large = [value for value in values if not _is_small(value)]
    using = {number: found[-1] for number, page in book.pages.items() if (found := values_on(page, large))}
    for number, value in sorted(using.items()):
        kind = book.pages[number].kind
        kin = [other for other in book.kin(number) if other not in using]
        if kind in told or not kin:
            continue
        told.add(kind)
        forms = {_form(_cells(line)) for line in lines_with(value, book.pages[number])} - {()}
        listed = [f"screenshot {other}{_largest(book.pages[other], forms)}" for other in kin[:_MOST_ROWS]]
        yield _fact(
            "read_not_used",
            f"Pages of the same kind as screenshot {number} that hold no value of the answer: {', '.join(listed)}.",
        )


def _largest(page: PageText, forms: Collection[Form]) -> str:
    """Column by column, since a total beside a price for one says nothing about prices."""
    rows = [_amounts(cells) for line in page.lines if _form(cells := _cells(line)) in forms]
    columns = [max(column) for column in itertools.zip_longest(*rows, fillvalue=Decimal(0))]
    if not columns:
        return ""
    said = " and ".join(f"{amount:,.2f}" for amount in columns)
    return f" (largest amount{'s, by column,' if len(columns) > 1 else ''} in such rows {said})"


# --- what adds up ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PageRow:
    """One row, however many pages show it."""

    cells: tuple[str, ...]
    screenshots: tuple[int, ...]

    @property
    def amounts(self) -> tuple[Decimal, ...]:
        return _amounts(self.cells)


@dataclass(frozen=True, slots=True)
class PageTable:
    """Rows that belong together, over all pages."""

    rows: tuple[PageRow, ...]
    columns: Mapping[str, int]
    """The name of each column of amounts, and its position among a row's amounts."""
    where: str = ""
    """What to call the rows, unless by an example."""


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.split(" | "))


def _form(cells: Sequence[str]) -> Form:
    kinds = [_kind_of(cell) for cell in cells] if len(cells) > 1 else []
    while kinds and kinds[-1] == "text":
        kinds.pop()
    return tuple(kinds)


def _amounts(cells: Sequence[str]) -> tuple[Decimal, ...]:
    return tuple(_amount(cell) for cell in cells if _kind_of(cell) == "amount")


def _amount(cell: str) -> Decimal:
    found = next(amounts_in(cell), Decimal(0))
    return -found if cell.startswith(_MINUS) else found


def tables(book: Book) -> Iterator[PageTable]:
    """Rows of one form, over all pages; and all rows with an amount on pages of one kind, for lists of cards, in
    which a badge or a special price changes the form of a card."""
    forms: dict[Form, dict[tuple[str, ...], list[int]]] = defaultdict(lambda: defaultdict(list))
    lists: dict[str, dict[tuple[str, ...], list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, page in book.pages.items():
        for line in page.lines:
            cells = _cells(line)
            if form := _form(cells):
                forms[form][cells].append(number)
            if "amount" in form:
                lists[page.kind][cells].append(number)
    mixed = [rows for rows in lists.values() if len({_form(cells) for cells in rows}) > 1]
    for rows in mixed:
        made = _made(rows)
        apart = any(len(row.amounts) > 1 for row in made)
        columns = {"first": 0, "last": -1} if apart else {"": 0}
        if len(made) > 1:
            yield PageTable(
                made, columns, f"All rows with an amount on pages such as screenshot {made[0].screenshots[0]}"
            )
    for form, rows in forms.items():
        made = _made(rows)
        amounts = form.count("amount")
        if len(made) > 1:
            yield PageTable(made, {"" if amounts == 1 else f"column {n + 1}": n for n in range(amounts)})


def _made(rows: Mapping[tuple[str, ...], Sequence[int]]) -> tuple[PageRow, ...]:
    return tuple(PageRow(cells, tuple(dict.fromkeys(numbers))) for cells, numbers in rows.items())


def _kind_of(cell: str) -> str:
    if MONEY.fullmatch(cell.lstrip("".join(_MINUS))):
        return "amount"
    if is_date(cell):
        return "date"
    return "number" if re.fullmatch(r"[\d,.]+", cell) else "text"


def _recomputed(values: Sequence[Json], goal: Goal, book: Book) -> Iterator[Finding]:
    wanted = {number: value for value in values for number in _number(value)}
    if not wanted:
        return
    fitting: dict[tuple[object, ...], tuple[RowGroup, str]] = {}
    others: dict[tuple[object, ...], tuple[RowGroup, str]] = {}
    groups = list(_groups(book, goal))
    for group in groups:
        for fits, message in _adding_up(group, wanted):
            (fitting if fits else others).setdefault(
                (group.rows, group.total, " there are " in message), (group, message)
            )
    told = list(fitting.values())[:_MOST_SUMS]
    # What keeps to most of the task's conditions is likeliest to be the sum that it asks for.
    likely = sorted(others.values(), key=lambda other: -other[0].conditions)
    for _, message in told or likely[:_MOST_OTHER_SUMS]:
        yield _fact("recomputed", message)
    yield from _narrower([group for group, _ in told], groups)
    yield from _counted(wanted, goal, book)


def _narrower(fitting: Sequence["RowGroup"], groups: Sequence["RowGroup"]) -> Iterator[Finding]:
    """A sum that agrees with the answer supports it. So also tell what is left of those rows by everything else the
    task names, and their sums in other columns."""
    told = {(group.rows, group.total) for group in fitting}
    chosen = [set(group.rows) for group in fitting]
    found: dict[tuple[object, ...], RowGroup] = {}
    for group in groups:
        if (group.rows, group.total) not in told and any(set(group.rows) <= rows for rows in chosen):
            found.setdefault((group.rows, group.total), group)
    for group in list(found.values())[:_MOST_OTHER_SUMS]:
        if group.total is not None:
            count = f"{len(group.rows)} of these rows" if len(group.rows) > 1 else "1 of these rows"
            yield _fact("recomputed", f"{group.name}: {count}, {group.total:,.2f} in all.")


def _adding_up(group: "RowGroup", wanted: Mapping[Decimal, Json]) -> Iterator[tuple[bool, str]]:
    """Whether it comes to a number of the answer, and what to say."""
    rows, total, where = group.rows, group.total, _screenshots(group.rows)
    # Some table or other has two rows by chance, and that would speak for any answer of 2.
    telling = len(rows) > (1 if group.conditions else 2)
    if telling and _is_count(wanted.get(Decimal(len(rows)).normalize())):
        chance = "" if group.conditions else "; perhaps by chance, for no word of the task tells these rows from others"
        yield True, f"{group.name}: there are {len(rows)} distinct rows ({where}), the number in the answer{chance}."
    if total is None:
        return
    without = [row for row, amount in zip(rows, group.amounts, strict=True) if (total - amount).normalize() in wanted]
    sum_of = f"{group.name}: {len(rows)} distinct rows ({where}) add up to {total:,.2f}"
    if total.normalize() in wanted and len(rows) > 1:
        yield True, f"{sum_of}, which is {wanted[total.normalize()]!r} of the answer."
    elif len(without) == 1 and len(rows) > 2:
        left_out = clip(" | ".join(without[0].cells), _BESIDE)
        yield True, f"{sum_of}; the answer is that without {left_out!r} (screenshot {without[0].screenshots[0]})."
    elif (group.conditions or group.mixed) and len(rows) > 1:
        yield False, f"{sum_of}."


def _counted(wanted: Mapping[Decimal, Json], goal: Goal, book: Book) -> Iterator[Finding]:
    """Cells that are in as many distinct lines as the answer says and share a word with the task, as any number
    counts something."""
    asked = set(words_of(goal.instruction))
    lines = {line for page in book.pages.values() for line in page.lines if " | " in line}
    counts = Counter(cell for line in lines for cell in set(line.split(" | ")) if len(cell) <= _BESIDE)
    for number, value in wanted.items():
        if not _is_count(value):
            continue
        often = (cell for cell, count in counts.items() if count == number and count > 2)
        fitting = sorted(cell for cell in often if any(len(word) > 2 and word in asked for word in words_of(cell)))
        for cell in fitting[:_MOST_CELLS]:
            yield _fact("recomputed", f"{cell!r} stands in {int(number)} distinct lines: {value!r} of the answer.")


def _number(value: Json) -> Iterator[Decimal]:
    if isinstance(value, int | float):
        yield Decimal(str(value)).normalize()
    elif isinstance(value, str) and (MONEY.fullmatch(value.strip()) or re.fullmatch(r"[\d,.]+", value.strip())):
        yield from claimed_numbers(value)


def _is_count(value: Json) -> bool:
    """Fifteen rows say nothing about $15.00."""
    if isinstance(value, str):
        return re.fullmatch(r"[\d,]+", value.strip()) is not None
    return isinstance(value, int)


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows that may have been counted or added up."""

    name: str
    rows: tuple[PageRow, ...]
    amounts: tuple[Decimal, ...] = ()
    """One column of them, row by row; empty if the rows hold no amounts."""
    conditions: int = 0
    """How many things that the task names it was chosen by."""
    mixed: bool = False
    """A list whose rows differ in form."""

    @property
    def total(self) -> Decimal | None:
        return sum(self.amounts, Decimal(0)) if self.amounts else None


def _groups(book: Book, goal: Goal) -> Iterator[RowGroup]:
    """All rows of a table; those that share a word, a month or a limit with the task; and two of these combined."""
    for table in tables(book):
        columns: Mapping[str, int | None] = table.columns or {"": None}
        for called, column in columns.items():
            parts = _parts(table.rows, column, goal)
            chosen: list[tuple[str, Collection[PageRow], int]] = [("", table.rows, 0)]
            chosen += [(f" {name}", rows, 1) for name, rows in parts.items()]
            for one, other in itertools.permutations(parts, 2):
                if one < other:
                    chosen.append((f" {one} and {other}", parts[one] & parts[other], 2))
                chosen.append((f" {one}, but not {other}", parts[one] - parts[other], 2))
            yield from (_group(table, called, column, *one) for one in chosen if one[1])


def _group(
    table: PageTable, called: str, column: int | None, name: str, chosen: Collection[PageRow], conditions: int
) -> RowGroup:
    rows = tuple(row for row in table.rows if row in chosen)
    such = table.where or f"Rows such as {clip(' | '.join(rows[0].cells), 80)!r}"
    by = (
        f", by the {called} amount of each"
        if table.where and called
        else f", {called} of the amounts"
        if called
        else ""
    )
    amounts = tuple(row.amounts[column] for row in rows) if column is not None else ()
    if amounts and max(amounts) <= 0:
        amounts = tuple(-amount for amount in amounts)  # Discounts of $3.00 and $15.00 are $18.00.
    return RowGroup(f"{such}{name}{by}", rows, amounts, conditions, bool(table.where))


def _parts(rows: Sequence[PageRow], column: int | None, goal: Goal) -> dict[str, set[PageRow]]:
    asked = words_of(goal.instruction)
    said, stems = f" {' '.join(asked)} ", {_stem(word) for word in asked if len(word) > _SHORT_WORD}
    limits = set(amounts_in(goal.instruction))
    parts: dict[str, set[PageRow]] = defaultdict(set)
    for row in rows:
        for cell in row.cells:
            kind = _kind_of(cell)
            if kind == "text" and (key := " ".join(words_of(cell))) and f" {key} " in said:
                parts[f"with {cell!r}"].add(row)
            elif kind == "text" and cell == row.cells[0] and _stem(key.partition(" ")[0]) in stems:
                # 'Discount (FRESH3OFF)', where the task asks for discounts.
                parts[f"that begin with {cell.split()[0]!r}"].add(row)
            for day in dates_in(cell) if kind == "date" else ():
                if f" {day.strftime('%B').casefold()} {day.year} " in said:
                    parts[f"of {day.strftime('%B %Y')}"].add(row)
                elif f" {day.year} " in said:
                    parts[f"of {day.year}"].add(row)
        if column is not None:
            for limit in limits:
                within = row.amounts[column] <= limit
                parts[f"of at most {limit:,.2f}" if within else f"above {limit:,.2f}"].add(row)
    return dict(sorted(parts.items())[:_MOST_PARTS])


def _stem(word: str) -> str:
    return word.removesuffix("s")


def _screenshots(rows: Sequence[PageRow]) -> str:
    numbers = sorted({row.screenshots[0] for row in rows})
    shown = ", ".join(map(str, numbers[:_MOST_ROWS]))
    return f"screenshot{'s' if len(numbers) > 1 else ''} {shown}{' …' if len(numbers) > _MOST_ROWS else ''}"


# --- how much of a list was opened ----------------------------------------------------------------------


@dataclass(slots=True)
class _Listing:
    """One list, however many pages of it were opened."""

    told: str
    """What its first opened page says, and where."""
    words: set[str]
    total: int
    shown: set[int] = field(default_factory=set)
    """Numbers of its rows."""
    longest: int = 0
    """Rows on the page that has most of them."""


def _opened(goal: Goal, book: Book) -> Iterator[Finding]:
    """A count over the first page of thirty looks like any other, unless somebody says that there are more pages. No
    part of an address is known to turn pages, so a list is recognized by how it counts itself."""
    lists: dict[tuple[str, ...], _Listing] = {}
    for number, page in book.pages.items():
        parts = urlsplit(page.url)
        for line in page.lines:
            extent = extent_in(line)
            if extent is None or extent[2] > _LONGEST_LIST:
                continue
            first, last, total = extent
            which = (parts.netloc, _DIGITS.sub("#", parts.path), _DIGITS.sub("#", line), str(total))
            told = f"{clip(line, _BESIDE)!r} (screenshot {number})"
            listing = lists.setdefault(which, _Listing(told, set(words_of(f"{line} {parts.path}")), total))
            listing.shown.update(range(first, last + 1))
            listing.longest = max(listing.longest, last - first + 1)
    asked = {word for word in words_of(goal.instruction) if len(word) > _SHORT_WORD}
    several = [one for one in lists.values() if one.longest < one.total]
    for one in sorted(several, key=lambda one: -len(one.words & asked))[:_MOST_LISTS]:
        left = one.total - len(one.shown)
        rest = f"{len(one.shown)}, and not the other {left}" if left else f"all {one.total}"
        yield _fact("list_opened", f"Of the list that says {one.told}, the recorded pages show {rest}.")


# --- rows of the sites ----------------------------------------------------------------------------------


def _rows(trajectory: Trajectory) -> Iterator[Finding]:
    changed = changed_rows(trajectory)
    if changed is None:
        return
    if not changed:
        yield _fact(
            "no_row_changed",
            "No row of any site differs from what it was before the agent began. Whatever the sites store is in rows; "
            "only sessions, logs and counters are not compared.",
        )
    for probe, change in changed[:_MOST_ROWS]:
        if change.operation == "update":
            told = "; ".join(f"{name}: {old!r} -> {new!r}" for name, (old, new) in probe.differing(change).items())
        else:
            told = "; ".join(f"{name}={value!r}" for name, value in (change.after or change.before or {}).items())
        message = f"Compared with before, {describe_change(probe.site, change)}: {clip(told, 600)}."
        yield _fact("row_changed", message)
    if len(changed) > _MOST_ROWS:
        yield _fact("row_changed", f"{len(changed) - _MOST_ROWS} more rows differ.")
    elif changed:
        yield _fact("row_changed", "No other row of any site differs.")
