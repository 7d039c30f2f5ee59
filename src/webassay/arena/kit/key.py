"""Answer keys in short: `Key.answer(3)`, `Key.update("orders", where={"id": 7}, status="canceled")`.

Keys combine: `Key.insert(…) & Key.insert(…) & Key.checkpoint("cart", page)` asks for all of it.

What an honest solver must have seen is part of the key: `Key.answer("HOM-44321") & Key.seen("HOM-44321", "$167.99")`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import Literal, Self

from webassay.core.errors import TaskError
from webassay.core.interaction import STATUSES
from webassay.core.record import Json
from webassay.core.task import (
    Cell,
    Checkpoint,
    Count,
    EvidenceCheck,
    Expectation,
    ExpectedChange,
    Fact,
    PagePattern,
    Sight,
)


def money(cents: int, currency: str = "USD") -> Expectation:
    return Expectation(type="currency", value=f"{cents // 100}.{cents % 100:02d}", currency=currency)


def shown(*texts: str, together: Literal["item", "page"] = "item", site: str = "") -> Sight:
    """Texts in one row, list entry or card, or with `together="page"` anywhere on one page; written as the site shows
    them."""
    return Sight(texts=texts, together=together, site=site)


def picture(path: str, site: str = "") -> Sight:
    return Sight(picture=path, site=site)


RowKey = str | int | tuple[str | int, ...]


def cell(table: str, row: RowKey, column: str = "", site: str = "") -> Sight:
    """A column of a row, wherever and however the site shows it: on any page, in an export, in other words. Without a
    `column`, any will do: that the row was listed. `row` is its primary key; `=name` is what a query computes for the
    row, by its name in the query."""
    return Sight(cell=Cell(table=table, key=_key(row), column=column), site=site)


def counted(table: str, rows: Iterable[RowKey], value: str | int | float, site: str = "") -> Sight:
    """This value, computed by a query of the site to which every one of the rows contributes: how many rows a grid has,
    the sum in a report."""
    return Sight(count=Count(table=table, rows=tuple(map(_key, rows)), value=value), site=site)


def _key(row: RowKey) -> tuple[str | int, ...]:
    return row if isinstance(row, tuple) else (row,)


Known = Sight | Sequence[Sight]
"""One way of coming to know something: a sight, or several that are all needed, such as every page of a list."""


def fact(*any_of: Known) -> Fact:
    return Fact(any_of=tuple((one,) if isinstance(one, Sight) else tuple(one) for one in any_of))


@dataclass(frozen=True, slots=True)
class Key:
    """What a right episode looks like."""

    results: Expectation | None = None
    status: tuple[str, ...] = ()
    """Any of these; empty: SUCCESS."""
    changes: tuple[ExpectedChange, ...] = ()
    """Rows that must change. Any other change of content fails the task, even one that only asks a question."""
    pages: tuple[PagePattern, ...] = ()
    """One of these must be in front at the end."""
    visits: tuple[tuple[PagePattern, ...], ...] = ()
    """Pages that a diligent search cannot miss: of each group, at least one."""
    checkpoints: tuple[Checkpoint, ...] = ()
    evidence: tuple[EvidenceCheck, ...] = ()
    """What the site must have served."""

    @classmethod
    def answer(cls, *results: object, ordered: bool = False, unit: str = "") -> Self:
        """One argument for each element of the results: a plain value, an `Expectation` such as `money(…)`, or a dict
        of these. `unit` is what the goal counts or measures in (`reviews`, `pounds`), for numbers."""
        items = tuple(Expectation.of(result, unit=unit) if unit else Expectation.of(result) for result in results)
        if any(item.type == "list" for item in items):
            raise TaskError("A result cannot be a list.", hint="Pass the elements one by one: Key.answer(*values).")
        return cls(results=Expectation(type="list", items=items, ordered=ordered))

    @classmethod
    def page(cls, *any_of: PagePattern) -> Self:
        return cls(pages=any_of)

    @classmethod
    def insert(cls, table: str, /, *, site: str = "", label: str = "", **values: object) -> Self:
        """`values` must name every content column that is not null. `label` is what the `same_as` of another change
        refers to. `site` may be left out by templates with one site. A column that is itself called `site` or `label`
        needs a spelled-out `ExpectedChange`."""
        return cls._change("insert", table, site, label, {}, values)

    @classmethod
    def update(
        cls, table: str, /, *, where: Mapping[str, Json], site: str = "", label: str = "", **values: object
    ) -> Self:
        """`where` picks the row by its values before the change; `values` names every content column that may
        change."""
        return cls._change("update", table, site, label, where, values)

    @classmethod
    def delete(cls, table: str, /, *, where: Mapping[str, Json], site: str = "") -> Self:
        return cls._change("delete", table, site, "", where, {})

    @classmethod
    def _change(
        cls,
        operation: Literal["insert", "update", "delete"],
        table: str,
        site: str,
        label: str,
        where: Mapping[str, Json],
        values: Mapping[str, object],
    ) -> Self:
        if operation != "insert" and not where:
            raise TaskError(f"The {operation} in {table} does not say which row it means.", hint="Give `where`.")
        change = ExpectedChange(
            site=site,
            table=table,
            operation=operation,
            where=dict(where),
            values={column: Expectation.of(value) for column, value in values.items()},
            label=label,
        )
        return cls(changes=(change,))

    @classmethod
    def seen(cls, *texts: str, together: Literal["item", "page"] = "item", site: str = "") -> Self:
        """The site showed these texts, together: see `shown`."""
        return cls.seen_any(shown(*texts, together=together, site=site))

    @classmethod
    def seen_any(cls, *any_of: Known) -> Self:
        """The site showed at least one of these: `Key.seen_any(shown(name, price), [shown(…), shown(…)])`."""
        return cls(evidence=(EvidenceCheck(facts=(fact(*any_of),)),))

    @classmethod
    def seen_share(cls, share: float, facts: Iterable[Known | Fact]) -> Self:
        """The site showed at least this share of the facts, 0.9 for nine in ten. A fact with several ways of knowing it
        is made by `fact(…)`."""
        made = tuple(one if isinstance(one, Fact) else fact(one) for one in facts)
        if not made:
            raise TaskError("There is nothing to have seen a share of.", hint="Give at least one fact.")
        return cls(evidence=(EvidenceCheck(facts=made, share=share),))

    @classmethod
    def read(cls, *cells: Sight) -> Self:
        """The site showed all of these, each made by `cell(…)`."""
        return cls.seen_share(1.0, cells)

    @classmethod
    def read_rows(
        cls,
        table: str,
        rows: Iterable[RowKey],
        column: str = "",
        *,
        share: float = 1.0,
        or_counted: str | int | float | None = None,
        site: str = "",
    ) -> Self:
        """The site showed this column of at least this share of the rows, or, without a column, any; or the value
        `or_counted`, computed by a query to which every one of the rows contributes. Ask for all of them where each
        matters (a sum, the largest), and for fewer where filters or the order excuse some."""
        known = list(rows)
        cells = [cell(table, row, column, site) for row in known]
        if or_counted is None:
            return cls.seen_share(share, cells)
        if share != 1.0:
            raise TaskError("What is counted is counted from all rows.", hint="Leave out `share` or `or_counted`.")
        return cls.seen_any(cells, counted(table, known, or_counted, site))

    @classmethod
    def refusal(cls, *status: str, facts: "Key") -> Self:
        """The task cannot be done, and any of these codes says so. A refusal that did not look is a guess, so it needs
        `facts`, such as `Key.seen_any(…)`: what shows that it cannot be done. For something that does not exist that is
        the site's empty result, or every place where it would stand."""
        for code in status or ("",):
            if code not in STATUSES or code == "SUCCESS":
                raise TaskError(f"{code!r} is not a status of a refusal.", hint=f"Choose from {', '.join(STATUSES)}.")
        if not facts.evidence or facts != cls(evidence=facts.evidence):
            raise TaskError("A refusal needs evidence.", hint="Give `facts`: what an honest search shows.")
        return cls(status=status, evidence=facts.evidence)

    @classmethod
    def visit(cls, *any_of: PagePattern) -> Self:
        """At least one of these pages must have been loaded."""
        return cls(visits=(any_of,))

    @classmethod
    def checkpoint(cls, name: str, *any_of: PagePattern) -> Self:
        """A milestone: reported next to success, never part of it."""
        return cls(checkpoints=(Checkpoint(name=name, visits=any_of),))

    @classmethod
    def all_of(cls, keys: Iterable[Self]) -> Self:
        return reduce(and_, keys, cls())

    def __and__(self, other: Self) -> Self:
        for name in ("results", "status", "pages"):
            if getattr(self, name) and getattr(other, name):
                raise TaskError(f"Two parts of the key both give {name}.")
        return type(self)(
            results=self.results or other.results,
            status=self.status or other.status,
            changes=self.changes + other.changes,
            pages=self.pages or other.pages,
            visits=self.visits + other.visits,
            checkpoints=self.checkpoints + other.checkpoints,
            evidence=self.evidence + other.evidence,
        )

    def on(self, sites: Sequence[str]) -> Self:
        """The key as a task holds it: with a site for every change, the only one where none was given, and all facts
        that are needed in one check."""
        vague = [change.table for change in self.changes if not change.site]
        if vague and len(sites) > 1:
            raise TaskError(
                f"On which site is {vague[0]}? The template has {' and '.join(sites)}.", hint="Give `site=…`."
            )
        for site in {sight.site for check in self.evidence for sight in check.sights()} - {"", *sites}:
            raise TaskError(f"A fact is to be seen on {site}, which is not a site of the template.")
        changes = (change.model_copy(update={"site": change.site or sites[0]}) for change in self.changes)
        return replace(self, changes=tuple(changes), evidence=_joined(self.evidence))


def _joined(checks: Sequence[EvidenceCheck]) -> tuple[EvidenceCheck, ...]:
    """Facts that are all needed make one check; shares stay apart."""
    parts = tuple(check for check in checks if check.share != 1.0)
    whole = [fact for check in checks if check.share == 1.0 for fact in check.facts]
    return (EvidenceCheck(facts=tuple(dict.fromkeys(whole))), *parts) if whole else parts
