"""What differs between two states of an application, as changed rows.

A state is whatever JSON the application answers with. A list of objects that have an id is a table, named by the way to
it; an object is a row; whatever else is a column. So a change reads like one of our own sites: `update in emails
(id=7): isStarred: False → True`, and graders need to know nothing new.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from webassay.core.record import Json, canonical_json
from webassay.core.trajectory import ColumnClass, RowChange

IDS = ("id", "_id", "uuid", "key")
"""What identifies an object in a list, in this order."""
ORDER = "(order)"
"""The column that stands for the order of a table."""
_SPLIT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_STAMPS = frozenset(
    (
        "created",
        "updated",
        "modified",
        "edited",
        "saved",
        "synced",
        "changed",
        "visited",
        "viewed",
        "seen",
        "accessed",
        "opened",
        "touched",
        "login",
        "active",
        "activity",
        "used",
    )
)
_STAMP_ENDS = frozenset(("at", "on", "time", "date", "timestamp", "ts", "ms"))

Step = str | tuple[str, str, Json]
"""A key of an object, or in a list: its table's name, the column that identifies, and its value."""


@dataclass(frozen=True)
class TreeDifference:
    row: RowChange
    way: tuple[Step, ...]
    """To the row, from the root."""
    place: int = 0
    """Where in its list a row was that is gone."""


def differences(before: Json, after: Json) -> list[TreeDifference]:
    return list(_compare((), before, after))


def column_classes(found: Sequence[TreeDifference], journal: Sequence[str] = ()) -> dict[str, dict[str, ColumnClass]]:
    """Time stamps, counters, and what the application says that no task is about, are no content."""
    classes: dict[str, dict[str, ColumnClass]] = {}
    for one in found:
        names = {**(one.row.before or {}), **(one.row.after or {})}
        known = classes.setdefault(one.row.table, {})
        for name in names:
            known[name] = "journal" if name in journal or is_journal(name) else "content"
    return classes


def is_journal(name: str) -> bool:
    """Whether a field is named like a time stamp of the application's own, or like a counter. `due_date` is not."""
    words = [word.lower() for word in _SPLIT.split(name) if word]
    if not words:
        return False
    if words[0] == "next" and words[-1] in ("id", "number", "key"):
        return True
    if words[-1] in _STAMP_ENDS and len(words) > 1:
        words = words[:-1]
    if words[0] == "last" and len(words) > 1:
        words = words[1:]
    return words == ["timestamp"] or (len(words) == 1 and words[0] in _STAMPS and name.lower() != words[0])


def without_journal(state: Json, journal: Sequence[str] = ()) -> Json:
    """For comparing two states that should be the same."""
    if isinstance(state, dict):
        return {
            key: without_journal(value, journal)
            for key, value in state.items()
            if key not in journal and not is_journal(key)
        }
    return [without_journal(value, journal) for value in state] if isinstance(state, list) else state


def same(a: Json, b: Json, journal: Sequence[str] = ()) -> bool:
    return canonical_json(without_journal(a, journal)) == canonical_json(without_journal(b, journal))


def undone(state: Json, change: TreeDifference) -> Any:
    """The later state as it would be without this one change."""
    result: Any = deepcopy(state)
    holder, last = _follow(result, change.way[:-1]), change.way[-1] if change.way else ""
    before = deepcopy(change.row.before)
    if isinstance(last, tuple):
        index = next((n for n, item in enumerate(holder) if item.get(last[1]) == last[2]), None)
        if index is None:
            holder.insert(min(change.place, len(holder)), before)
        elif before is None:
            del holder[index]
        else:
            _restore(holder[index], change.row)
    elif change.row.operation == "update":
        _restore(holder[last] if change.way else result, change.row)
    elif before is None:
        del holder[last]
    else:
        holder[last] = before
    return result


def _restore(row: Any, change: RowChange) -> None:
    before, after = change.before or {}, change.after or {}
    for column in {**before, **after}:
        if before.get(column) == after.get(column) and (column in before) == (column in after):
            continue
        if column.startswith(ORDER):
            name = column.removeprefix(f"{ORDER} ")
            order, items = before[column], row[name]
            rank = {canonical_json(key): n for n, key in enumerate(order if isinstance(order, list) else [])}
            identity = _identity_in(items, rank)
            items.sort(key=lambda item: rank.get(canonical_json(item.get(identity)), len(rank)))
        elif column in before:
            row[column] = deepcopy(before[column])
        else:
            row.pop(column, None)


def _follow(value: Any, way: Sequence[Step]) -> Any:
    for step in way:
        if isinstance(step, tuple):
            value = next(item for item in value if item.get(step[1]) == step[2])
        else:
            value = value[step]
    return value


# --- comparing ----------------------------------------------------------------------------------------------


def _compare(way: tuple[Step, ...], before: Json, after: Json) -> Iterator[TreeDifference]:
    if not isinstance(before, dict) or not isinstance(after, dict):
        if canonical_json(before) != canonical_json(after):
            yield _difference(way, {"value": before}, {"value": after})
        return
    old: dict[str, Json] = {}
    new: dict[str, Json] = {}
    for key in {**before, **after}:
        a, b = before.get(key), after.get(key)
        if key in before and key in after and canonical_json(a) == canonical_json(b):
            continue
        if isinstance(a, dict) and isinstance(b, dict):
            yield from _compare((*way, key), a, b)
        elif _tables(a, b):
            assert isinstance(a, list) and isinstance(b, list)
            yield from _compare_tables((*way, key), a, b)
            orders = _orders(a, b)
            if orders is not None:
                old[f"{ORDER} {key}"], new[f"{ORDER} {key}"] = orders
        elif isinstance(a, dict) and key not in after:
            yield _difference((*way, key), a, None)
        elif isinstance(b, dict) and key not in before:
            yield _difference((*way, key), None, b)
        else:
            old |= {key: a} if key in before else {}
            new |= {key: b} if key in after else {}
    if old or new:
        yield _difference(way, old, new)


def _compare_tables(way: tuple[Step, ...], before: list[Any], after: list[Any]) -> Iterator[TreeDifference]:
    identity, name = _identity([*before, *after]), str(way[-1])
    old = {canonical_json(item[identity]): item for item in before}
    new = {canonical_json(item[identity]): item for item in after}
    for place, (key, item) in enumerate(old.items()):
        step = (*way, (name, identity, item[identity]))
        if key not in new:
            yield _difference(step, item, None, place)
        else:
            yield from _compare(step, item, new[key])
    for key, item in new.items():
        if key not in old:
            yield _difference((*way, (name, identity, item[identity])), None, item)


def _tables(a: Json, b: Json) -> bool:
    """Both are lists of objects with an id of their own; one of them may be empty."""
    if not isinstance(a, list) or not isinstance(b, list) or not (a or b):
        return False
    identity = _identity([*a, *b])
    return bool(identity) and all(_unique(items, identity) for items in (a, b))


def _identity(items: Any) -> str:
    return next((name for name in IDS if all(isinstance(item, dict) and name in item for item in items)), "")


def _identity_in(items: list[Any], ids: Collection[str]) -> str:
    """By which these ids were found: earlier rows may have lacked another that all of these have."""
    known = {name: {canonical_json(item[name]) for item in items if name in item} for name in IDS}
    return next((name for name in IDS if known[name].issuperset(ids)), "")


def _unique(items: list[Any], identity: str) -> bool:
    return len({canonical_json(item[identity]) for item in items}) == len(items)


def _orders(a: list[Any], b: list[Any]) -> tuple[Json, Json] | None:
    """The ids that both have, in either order, where that differs."""
    identity = _identity([*a, *b])
    old, new = [item[identity] for item in a], [item[identity] for item in b]
    old, new = [key for key in old if key in new], [key for key in new if key in old]
    return None if old == new else (old, new)


def _difference(
    way: tuple[Step, ...], before: dict[str, Json] | None, after: dict[str, Json] | None, place: int = 0
) -> TreeDifference:
    names = [step for step in way if isinstance(step, str)]
    key: dict[str, Json] = {}
    for step in way:
        if isinstance(step, tuple):
            inner = step is way[-1]
            key[step[1] if inner else f"{step[0]}.{step[1]}"] = step[2]
    return TreeDifference(RowChange(table=".".join(names) or "state", key=key, before=before, after=after), way, place)
