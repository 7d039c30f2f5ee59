"""Tables of labels and predictions that somebody wrote: CSV, TSV, JSON lines or a JSON list, with any names."""

import csv
import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from webassay.analysis.ratings import Facts, Rating
from webassay.core.errors import InputError
from webassay.core.files import read_regular
from webassay.core.labels import Said, Stage, decided, read_label
from webassay.core.text import capped
from webassay.registry import nearest

Row = Mapping[str, Any]

ROLES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "trajectory_id"),
    "label": ("label",),
    "prediction": ("prediction",),
    "score": ("score", "process_score"),
    "process": ("process",),
    "informed": ("informed",),
    "informed_process": ("informed_process",),
    "annotator": ("annotator", "rater", "judge"),
    "stage": ("stage",),
    "run": ("run",),
    "cluster": ("cluster", "task_id", "task"),
    "split": ("split",),
    "benchmark": ("benchmark",),
    "agent": ("agent",),
    "terminated": ("terminated",),
    "steps": ("steps", "n_steps"),
}
"""What a column can be for, and what it is called unless the user says otherwise."""

_MORE_THAN = re.compile(r"(.+?)\s*(>=|>)\s*([0-9.]+)")
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {">": operator.gt, ">=": operator.ge}


class Column(NamedTuple):
    """A column, or whether a number in it is large enough."""

    name: str
    test: Callable[[float, float], bool] | None = None
    bound: float = 0.0

    @classmethod
    def read(cls, text: str, known: Sequence[str]) -> "Column":
        found = _MORE_THAN.fullmatch(text.strip())
        if found is None or text.strip() in known:
            return cls(text.strip())
        return cls(found[1], _COMPARE[found[2]], float(found[3]))

    @property
    def label(self) -> str:
        sign = next((sign for sign, test in _COMPARE.items() if test is self.test), "")
        return f"{self.name}{sign}{self.bound:g}" if sign else self.name

    def of(self, row: Row) -> Any:
        value = row.get(self.name)
        if self.test is None:
            return value
        number = _number(value)
        return None if number is None else self.test(number, self.bound)


@dataclass(frozen=True)
class Mapped:
    """What the user said of columns and words."""

    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    words: Mapping[str, Said] = field(default_factory=dict)

    @classmethod
    def read(cls, given: Sequence[str], passing: Sequence[str] = (), failing: Sequence[str] = ()) -> "Mapped":
        columns = {}
        for one in given:
            role, equals, names = one.partition("=")
            if not equals or not names:
                raise InputError(f"{one!r} maps nothing.", hint="Write ROLE=COLUMN, such as --map label=human_success.")
            if role.strip() not in ROLES:
                raise nearest("role of a column", role, ROLES, hint=f"Roles: {', '.join(ROLES)}.")
            columns[role.strip()] = [name.strip() for name in names.split(",") if name.strip()]
        words: dict[str, Said] = {" ".join(word.split()).lower(): "pass" for word in passing}
        words |= {" ".join(word.split()).lower(): "fail" for word in failing}
        return cls(columns, words)


class Table:
    """One file, and which of its columns is what."""

    def __init__(self, path: Path, mapped: Mapped) -> None:
        self.path = path
        self.mapped = mapped
        self.columns, self.rows = _read(path)
        self.uses = {role: self._columns(role) for role in ROLES}
        if self.uses["cluster"] == self.uses["id"]:
            self.uses["cluster"] = []

    def _columns(self, role: str) -> list[Column]:
        known = list(self.columns)
        wanted = [Column.read(name, known) for name in self.mapped.columns.get(role, ())]
        if wanted and all(column.name in self.columns for column in wanted):
            return wanted
        return next(([Column(name)] for name in ROLES[role] if name in self.columns), [])

    def misses(self, role: str) -> list[str]:
        """Columns that the user named and that are not here."""
        known = list(self.columns)
        return [name for name in self.mapped.columns.get(role, ()) if Column.read(name, known).name not in self.columns]

    def need(self, *roles: str) -> list[Column]:
        found: list[Column] = next((self.uses[role] for role in roles if self.uses[role]), [])
        if not found:
            named = " or ".join(roles)
            wanted = [name for role in roles for name in self.misses(role)]
            missing = f"{self.path} has no column {', '.join(wanted) or named}."
            shown = ", ".join(list(self.columns)[:12]) + ("…" if len(self.columns) > 12 else "")
            raise InputError(missing, hint=f"It has {shown}. Say which one it is: --map {roles[0]}=COLUMN.")
        return found

    def one(self, row: Row, role: str) -> Any:
        return self.uses[role][0].of(row) if self.uses[role] else None

    def facts(self, row: Row) -> Facts:
        terminated = read_label(self.one(row, "terminated")) if self.uses["terminated"] else "missing"
        return Facts(
            cluster="/".join(_text(column.of(row)) for column in self.uses["cluster"]),
            split=_text(self.one(row, "split")),
            benchmark=_text(self.one(row, "benchmark")),
            agent=_text(self.one(row, "agent")),
            terminated=decided(terminated),
            steps=_number(self.one(row, "steps")),
        )

    # --- ratings ------------------------------------------------------------------------------------------

    def labels(self) -> Iterator[tuple[Rating, Facts]]:
        """Several label columns are several annotators."""
        values = self.need("label", "prediction")
        seen: dict[tuple[str, str, str], int] = {}
        for line, item, row in self._items():
            facts = self.facts(row)
            for column in values:
                rater = column.label if len(values) > 1 else _text(self.one(row, "annotator")) or self.path.stem
                for rating in self._stages(item, rater, column, row, line):
                    key = (item, rater, rating.stage)
                    if key in seen:
                        raise InputError(
                            f"{self.path}, line {line}: {rater} has a label for {item} already, in line {seen[key]}.",
                            hint="A column `annotator` tells people apart, `stage` blind from informed labels.",
                        )
                    seen[key] = line
                    yield rating, facts

    def _stages(self, item: str, rater: str, column: Column, row: Row, line: int) -> Iterator[Rating]:
        stage = _stage(self.path, line, _text(self.one(row, "stage")))
        yield self._rating(item, rater, column.of(row), row, line)._replace(stage=stage)
        informed, process = self.one(row, "informed"), _truth(self.one(row, "informed_process"))
        said = read_label(informed, self.mapped.words)
        if said != "missing" or process is not None:
            word = _text(informed) if said == "third" else ""
            yield Rating(item, rater, said, word, process=process, stage="informed")

    def predictions(self, judge: str = "", run: str = "") -> Iterator[tuple[Rating, Facts]]:
        """Several prediction columns are several judges."""
        values = self.need("prediction", "label")
        scores = self.uses["score"]
        for line, item, row in self._items():
            facts = self.facts(row)
            time = _text(self.one(row, "run")) or run
            for place, column in enumerate(values):
                name = judge or _text(self.one(row, "annotator")) or self.path.stem
                if len(values) > 1:
                    name = f"{judge}: {column.label}" if judge else column.label
                score = scores[place] if len(scores) == len(values) else None
                rating = self._rating(item, name, column.of(row), row, line, score)
                yield rating._replace(run=time), facts

    def _items(self) -> Iterator[tuple[int, str, Row]]:
        columns = self.need("id")
        for line, row in self.rows:
            parts = [_text(column.of(row)) for column in columns]
            if not all(parts):
                raise InputError(f"{self.path}, line {line}, has no {columns[parts.index('')].name}.")
            yield line, "/".join(parts), row

    def _rating(self, item: str, rater: str, value: Any, row: Row, line: int, score: Column | None = None) -> Rating:
        said = read_label(value, self.mapped.words)
        scored = score or (self.uses["score"][0] if len(self.uses["score"]) == 1 else None)
        number = None if scored is None else _score(self.path, line, scored.of(row))
        process = _truth(self.one(row, "process")) if self.uses["process"] else None
        return Rating(item, rater, said, _text(value) if said == "third" else "", number, process)


# --- reading ------------------------------------------------------------------------------------------------------


def _read(path: Path) -> tuple[Mapping[str, None], list[tuple[int, Row]]]:
    try:
        text = read_regular(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text.") from error
    delimiter = {".csv": ",", ".tsv": "\t"}.get(path.suffix.lower())
    rows = list(_csv(path, text, delimiter)) if delimiter else list(_json(path, text))
    if not rows:
        raise InputError(f"{path} has no rows.", hint="A table of labels has the columns id and label.")
    return dict.fromkeys(name for _, row in rows for name in row), rows


def _csv(path: Path, text: str, delimiter: str) -> Iterator[tuple[int, Row]]:
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
        if len(set(names)) < len(names):
            raise InputError(f"{path} has two columns of one name.", hint="The first line names them.")
        for cells in reader:
            if not cells:
                continue
            if len(cells) > len(names):
                raise InputError(f"{path}, line {reader.line_num}, has more cells than there are columns.")
            yield reader.line_num, dict(zip(names, cells, strict=False))
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}.") from error


def _json(path: Path, text: str) -> Iterator[tuple[int, Row]]:
    if text.lstrip().startswith("["):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path} is not JSON: {error}.") from error
        lines = list(enumerate(found, 1))
    else:
        lines = [
            (number, _line(path, number, line)) for number, line in enumerate(text.splitlines(), 1) if line.strip()
        ]
    for number, row in lines:
        if not isinstance(row, dict):
            raise InputError(f"{path}, row {number}, is not an object.", hint='Write {"id": …, "label": …}.')
        yield number, row


def _line(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        hint = "CSV files end in .csv. Otherwise: one object a line, or one list of objects."
        raise InputError(f"{path}, line {number}, is not JSON: {error}.", hint=hint) from error


def _text(value: Any) -> str:
    return "" if value is None else capped(str(value).strip())


def _truth(value: Any) -> bool | None:
    return decided(read_label(value))


def _number(value: Any) -> float | None:
    try:
        number = float(_text(value))
    except ValueError:
        return None
    return number if number == number else None  # nan is nothing


def _score(path: Path, line: int, value: Any) -> float | None:
    text = _text(value)
    if text.lower() in ("", "nan", "none", "null"):
        return None
    number = _number(text)
    if number is None or not 0 <= number <= 1:
        raise InputError(f"{path}, line {line}: the score {text!r} is not a number from 0 to 1.")
    return number


def _stage(path: Path, line: int, text: str) -> Stage:
    word = text.lower().replace("uv-", "")
    if word in ("", "blind", "informed"):
        return "informed" if word == "informed" else "blind"
    raise InputError(f"{path}, line {line}: there is no stage {text!r}.", hint="Stages are blind and informed.")
