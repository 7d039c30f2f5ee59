"""Answer keys in short: `Key.answer(3)`, `Key.update("orders", where={"id": 7}, status="canceled")`.

Keys combine: `Key.insert(…) & Key.insert(…) & Key.checkpoint("cart", page)` asks for all of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import Literal, Self

from webassay.core.errors import TaskError
from webassay.core.interaction import STATUSES
from webassay.core.record import Json
from webassay.core.task import Checkpoint, Expectation, ExpectedChange, PagePattern


def money(cents: int, currency: str = "USD") -> Expectation:
    return Expectation(type="currency", value=f"{cents // 100}.{cents % 100:02d}", currency=currency)


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
    def refusal(cls, *status: str, visits: Sequence[PagePattern]) -> Self:
        """The task cannot be done, and any of these codes says so. Every page of `visits` must have been loaded: a
        refusal that did not look is a guess."""
        for code in status or ("",):
            if code not in STATUSES or code == "SUCCESS":
                raise TaskError(f"{code!r} is not a status of a refusal.", hint=f"Choose from {', '.join(STATUSES)}.")
        if not visits:
            raise TaskError("A refusal needs evidence.", hint="Give `visits`: pages that an honest search loads.")
        return cls(status=status, visits=tuple((page,) for page in visits))

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
        )

    def on(self, sites: Sequence[str]) -> Self:
        """The same key with a site for every change: the only one, where none was given."""
        vague = [change.table for change in self.changes if not change.site]
        if vague and len(sites) > 1:
            raise TaskError(
                f"On which site is {vague[0]}? The template has {' and '.join(sites)}.", hint="Give `site=…`."
            )
        changes = (change.model_copy(update={"site": change.site or sites[0]}) for change in self.changes)
        return replace(self, changes=tuple(changes))
