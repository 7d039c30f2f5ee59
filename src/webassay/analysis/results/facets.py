"""Results narrowed down: by agent, status, template, finding, and every grouping that a run knows."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from webassay.analysis.numbers.rows import ResultRow
from webassay.core.groupings import GROUPINGS, ordered

Values = Callable[[ResultRow], Sequence[str]]


def code_of(finding: tuple[str, str]) -> str:
    """`state.collateral:collateral`, as the addresses of the viewer and `--format csv` write it."""
    check, code = finding
    return f"{check}:{code}" if code else check


def _failures(row: ResultRow) -> Sequence[str]:
    return tuple(dict.fromkeys(map(code_of, row.findings)))


OWN: Mapping[str, Values] = {
    "status": lambda row: (row.status,),
    "failure": _failures,
    "ending": lambda row: (row.ending,) if row.ending else (),
    "model": lambda row: (row.model,) if row.model else (),
    "template": lambda row: (row.template or row.task_id,),
    "task": lambda row: (row.task_id,),
}
"""What every result says beside its groupings. A grouping of the same name stands back."""


def facet(name: str) -> Values:
    """The values of one facet; of one that nobody knows, none."""
    if name in OWN:
        return OWN[name]
    grouping = next((one for one in GROUPINGS if one.name == name), None)
    return grouping.groups_of if grouping is not None else lambda row: row.groups.get(name, ())


def names_in(rows: Iterable[ResultRow]) -> list[str]:
    """Every facet that these rows have values of."""
    kept = {name for groups in {id(row.groups): row.groups for row in rows}.values() for name in groups}
    return [*OWN, *(name for name in ordered(kept | {one.name for one in GROUPINGS}) if name not in OWN)]


def narrowed(rows: Iterable[ResultRow], wanted: Mapping[str, Sequence[str]]) -> list[bool]:
    """Whether each row has one of the wanted values of every facet."""
    tests = [(facet(name), frozenset(values)) for name, values in wanted.items() if values]
    return [all(not values.isdisjoint(of(row)) for of, values in tests) for row in rows]


def counted(rows: Sequence[ResultRow], names: Iterable[str]) -> dict[str, Counter[str]]:
    """Facet to how many rows have each of its values."""
    found = {}
    for name in names:
        of = facet(name)
        counts: Counter[str] = Counter()
        for row in rows:
            counts.update(of(row))
        found[name] = counts
    return found
