"""Tables of labels and predictions that somebody wrote: CSV, TSV, JSON lines or a JSON list, with any names."""

import csv
import io
import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from webassay.core.errors import InputError
from webassay.core.files import read_regular
from webassay.core.rater import LabelMeaning, Stage, decided, read_label
from webassay.core.registry import nearest
from webassay.core.text import capped, lines_of, well_formed_json
from webassay.study.ratings import Facts, Rating

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


class LabelColumn(NamedTuple):
    """A column, or whether a number in it is large enough."""

    name: str
    test: Callable[[float, float], bool] | None = None
    bound: float = 0.0

    @classmethod
    def read(cls, text: str, known: Sequence[str]) -> "LabelColumn":
        found = _MORE_THAN.fullmatch(text.strip())
        if found is None or text.strip() in known:
            return cls(text.strip())
        return cls(found[1], _COMPARE[found[2]], float(found[3]))

    @property
    def label(self) -> str:
        sign = next((sign for sign, test in _COMPARE.items() if test is self.test), "")
        return f"{self.name}{sign}{self.bound:g}" if sign else self.name

    def of(self, value: Any) -> Any:
        number = _number(value)
        return value if self.test is None else None if number is None else self.test(number, self.bound)


@dataclass(frozen=True)
class LabelColumns:
    """What the user said of columns and words."""

    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    words: Mapping[str, LabelMeaning] = field(default_factory=dict)

    @classmethod
    def read(cls, given: Sequence[str], passing: Sequence[str] = (), failing: Sequence[str] = ()) -> "LabelColumns":
        columns = {}
        for one in given:
            role, equals, names = one.partition("=")
            if not equals or not names:
                raise InputError(
                    f"{one!r} is not a mapping.", hint="Write ROLE=COLUMN, such as --map label=human_success."
                )
            if role.strip() not in ROLES:
                raise nearest("column role", role, ROLES, hint=f"Roles: {', '.join(ROLES)}.")
            columns[role.strip()] = [name.strip() for name in names.split(",") if name.strip()]
        words: dict[str, LabelMeaning] = {" ".join(word.split()).lower(): "pass" for word in passing}
        words |= {" ".join(word.split()).lower(): "fail" for word in failing}
        return cls(columns, words)


_FACTS = ("cluster", "split", "benchmark", "agent", "terminated", "steps")


class LabelFile(NamedTuple):
    ratings: list[Rating]
    facts: dict[str, Facts]


class _Process(NamedTuple):
    """What was said of the process, row by row."""

    scores: list[float | None]
    good: list[bool | None]


class LabelTable:
    """One file, and which of its columns is what."""

    def __init__(self, path: Path, mapped: LabelColumns) -> None:
        self.path = path
        self.mapped = mapped
        self.lines, self.columns = read_table(path)
        self.uses = {role: self._columns(role) for role in ROLES}
        if self.uses["cluster"] == self.uses["id"]:
            self.uses["cluster"] = []
        self.notes: list[str] = []
        """What of this table cannot be used."""

    def _columns(self, role: str) -> list[LabelColumn]:
        known = list(self.columns)
        wanted = [LabelColumn.read(name, known) for name in self.mapped.columns.get(role, ())]
        if wanted and all(column.name in self.columns for column in wanted):
            return wanted
        return next(([LabelColumn(name)] for name in ROLES[role] if name in self.columns), [])

    def misses(self, role: str) -> list[str]:
        """Columns that the user named and that are not here."""
        known = list(self.columns)
        return [
            name for name in self.mapped.columns.get(role, ()) if LabelColumn.read(name, known).name not in self.columns
        ]

    def need(self, *roles: str) -> list[LabelColumn]:
        found: list[LabelColumn] = next((self.uses[role] for role in roles if self.uses[role]), [])
        if not found:
            named = " or ".join(roles)
            wanted = [name for role in roles for name in self.misses(role)]
            missing = f"{self.path} has no column {', '.join(wanted) or named}."
            shown = ", ".join(list(self.columns)[:12]) + ("…" if len(self.columns) > 12 else "")
            raise InputError(missing, hint=f"It has {shown}. Name the right one: --map {roles[0]}=COLUMN.")
        return found

    # --- ratings ------------------------------------------------------------------------------------------
    #
    # Column by column, and not row by row: a hundred thousand rows are read in a second or two.

    def labels(self) -> LabelFile:
        """Several label columns are several annotators."""
        values, ids = self.need("label", "prediction"), self.ids
        stages = [_stage(self.path, line, text) for line, text in zip(self.lines, self._texts("stage"), strict=True)]
        made: list[Rating] = []
        for place, column in enumerate(values):
            raters = self._raters(column, len(values), "", self._texts("annotator"))
            made += self._ratings(raters, column, self._process(place, len(values)), stages)
        made += self._informed(ids, self._raters(values[0], 1, "", self._texts("annotator")))
        self._refuse_twice(made, len(ids))
        return LabelFile(made, self.facts)

    def predictions(self, judge: str = "", run: str = "", *, beside_labels: bool = False) -> LabelFile:
        """Several prediction columns are several judges. `beside_labels`: the labels are in this table, too. Then the
        annotator, the score and the process are those of people."""
        values, ids = self.need("prediction", "label"), self.ids
        blind: list[Stage] = ["blind"] * len(ids)
        runs = [text or run for text in self._texts("run")]
        names = self._judges if beside_labels else self._texts("annotator")
        made: list[Rating] = []
        for place, column in enumerate(values):
            raters = self._raters(column, len(values), judge, names)
            process = self._unknown if beside_labels else self._process(place, len(values))
            found = self._ratings(raters, column, process, blind)
            made += [one._replace(run=time) for one, time in zip(found, runs, strict=True)] if any(runs) else found
        return LabelFile(made, self.facts)

    def _ratings(
        self, raters: list[str], column: LabelColumn, process: _Process, stages: Sequence[Stage]
    ) -> list[Rating]:
        values = self._values(column)
        said = self._said(values)
        words = [""] * len(said)
        if "third" in said:
            words = [_text(value) if one == "third" else "" for value, one in zip(values, said, strict=True)]
        return list(map(Rating, self.ids, raters, said, words, process.scores, process.good, stages))

    def _process(self, place: int, count: int) -> _Process:
        """What was said of the process by the author of one of `count` columns of labels or predictions."""
        scores, good = self._unknown
        if (column := self._own("score", place, count)) is not None:
            found = self._values(column)
            scores = [_score(self.path, line, value) for line, value in zip(self.lines, found, strict=True)]
        if (column := self._own("process", place, count)) is not None:
            good = [decided(one) for one in self._said(self._values(column))]
        return _Process(scores, good)

    @property
    def _unknown(self) -> _Process:
        return _Process([None] * len(self.lines), [None] * len(self.lines))

    def _own(self, role: str, place: int, count: int) -> LabelColumn | None:
        """Columns of a role belong, in order, to the columns of labels or predictions, if there are as many."""
        columns = self.uses[role]
        if len(columns) == count:
            return columns[place]
        if columns and place == 0:
            named = ", ".join(column.name for column in columns)
            self.notes.append(
                f"{self.path.name}: {named} is left out, because it is not clear whose {role} it is. Columns of labels "
                f"or predictions: {count}, of {role}: {len(columns)}. Name as many: --map {role}=ONE,OTHER."
            )
        return None

    def _informed(self, ids: list[str], raters: list[str]) -> list[Rating]:
        if not self.uses["informed"] and not self.uses["informed_process"]:
            return []
        values = self._column("informed")
        said, process = self._said(values), self._decided("informed_process")
        return [
            Rating(id, rater, one, _text(value) if one == "third" else "", None, good, "informed")
            for id, rater, one, value, good in zip(ids, raters, said, values, process, strict=True)
            if one != "missing" or good is not None
        ]

    def _raters(self, column: LabelColumn, count: int, judge: str, names: Sequence[str]) -> list[str]:
        """`judge`: a name that was given for the whole table. `names`: row by row, where the table has some."""
        if count > 1:
            return [f"{judge}: {column.label}" if judge else column.label] * len(self.lines)
        if judge:
            return [judge] * len(self.lines)
        return [name or self.path.stem for name in names]

    @property
    def _judges(self) -> list[str]:
        """Who predicted, in a table that also says who labeled: only a column `judge` can tell."""
        is_judge = "judge" in self.columns and "judge" not in self.mapped.columns.get("annotator", ())
        return _stripped(self.columns["judge"]) if is_judge else [""] * len(self.lines)

    def _refuse_twice(self, ratings: Sequence[Rating], count: int) -> None:
        if len({(one.item, one.rater, one.stage) for one in ratings}) == len(ratings):
            return
        seen: dict[tuple[str, str, str], int] = {}
        for place, one in enumerate(ratings):
            line = self.lines[place % count]
            if (key := (one.item, one.rater, one.stage)) in seen:
                raise InputError(
                    f"{self.path}, line {line}: {one.rater} already has a label for {one.item}, in line {seen[key]}.",
                    hint="Add a column `annotator` to tell people apart, or `stage` for blind and informed labels.",
                )
            seen[key] = line

    # --- columns ------------------------------------------------------------------------------------------

    def _values(self, column: LabelColumn) -> list[Any]:
        found = self.columns[column.name]
        return found if column.test is None else [column.of(value) for value in found]

    def _column(self, role: str) -> list[Any]:
        return self._values(self.uses[role][0]) if self.uses[role] else [None] * len(self.lines)

    def _texts(self, role: str) -> list[str]:
        """Several columns of one role are joined."""
        columns = [_stripped(self._values(column)) for column in self.uses[role]]
        if len(columns) < 2:
            return columns[0] if columns else [""] * len(self.lines)
        return ["/".join(row) for row in zip(*columns, strict=True)]

    def _said(self, values: Sequence[Any]) -> list[LabelMeaning]:
        """There are few words and many rows."""
        texts = [*map(str, values)]
        known = {
            text: read_label(value, self.mapped.words) for text, value in dict(zip(texts, values, strict=True)).items()
        }
        return [*map(known.__getitem__, texts)]

    def _decided(self, role: str) -> list[bool | None]:
        if not self.uses[role]:
            return [None] * len(self.lines)
        return [decided(one) for one in self._said(self._column(role))]

    @cached_property
    def ids(self) -> list[str]:
        for column in self.need("id"):
            texts = _stripped(self._values(column))
            if "" in texts:
                raise InputError(f"{self.path}, line {self.lines[texts.index('')]}, has no {column.name}.")
        return self._texts("id") if len(self.uses["id"]) > 1 else texts

    @cached_property
    def facts(self) -> dict[str, Facts]:
        """What the first row of each id says."""
        if not any(self.uses[role] for role in _FACTS):
            return {}
        ended = self._decided("terminated")
        steps = [_number(value) for value in self._column("steps")] if self.uses["steps"] else self._column("steps")
        texts = [self._texts(role) for role in _FACTS[:4]]
        rows = list(map(Facts, *texts, ended, steps))
        return dict(zip(reversed(self.ids), reversed(rows), strict=True))


# --- reading ------------------------------------------------------------------------------------------------------


def read_table(path: Path) -> tuple[list[int], dict[str, list[Any]]]:
    """The numbers of the lines, and the columns."""
    if path.suffix.lower() == ".parquet" or path.is_dir():
        raise InputError(
            f"{path} is neither a table nor a run directory.",
            hint="Import data sets first: webassay import PATH --out runs/NAME, then webassay agree runs/NAME.",
        )
    try:
        text = read_regular(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text.") from error
    delimiter = {".csv": ",", ".tsv": "\t"}.get(path.suffix.lower())
    if delimiter:
        lines, columns = _csv(path, text, delimiter)
    else:
        rows = list(_json(path, text))
        names = dict.fromkeys(name for _, row in rows for name in row)
        lines, columns = [line for line, _ in rows], {name: [row.get(name) for _, row in rows] for name in names}
    if not lines:
        raise InputError(f"{path} has no rows.", hint="A table of labels has the columns id and label.")
    return lines, columns


def _csv(path: Path, text: str, delimiter: str) -> tuple[list[int], dict[str, list[Any]]]:
    # Not `splitlines`: a cell may hold a line separator of Unicode, which ends no line of a table.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    lines, rows = [], []
    try:
        names = [name.strip() for name in next(reader, [])]
        if len(set(names)) < len(names):
            raise InputError(f"{path} has two columns with the same name.", hint="The first line names them.")
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(names):
                if len(cells) > len(names):
                    raise InputError(f"{path}, line {reader.line_num}, has more cells than the first line has columns.")
                cells += [""] * (len(names) - len(cells))
            lines.append(reader.line_num)
            rows.append(cells)
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}.") from error
    return lines, dict(zip(names, map(list, zip(*rows, strict=True)), strict=False)) if rows else {}


def _json(path: Path, text: str) -> Iterator[tuple[int, Row]]:
    if text.lstrip().startswith("["):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path} is not JSON: {error}.") from error
        lines = list(enumerate(found, 1))
    else:
        numbered = enumerate(lines_of(text), 1)
        lines = [(number, _line(path, number, line)) for number, line in numbered if line.strip()]
    for number, row in lines:
        if not isinstance(row, dict):
            raise InputError(f"{path}, row {number}, is not an object.", hint='Write {"id": …, "label": …}.')
        whole = well_formed_json(row)
        assert isinstance(whole, dict)
        yield number, whole


def _line(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        hint = "Write one object per line, or one list of objects. The name of a CSV file must end in .csv."
        raise InputError(f"{path}, line {number}, is not JSON: {error}.", hint=hint) from error


_SHORT = 1000


def _stripped(values: Sequence[Any]) -> list[str]:
    """As `_text` for each; a column of a CSV file is short texts, and takes one loop in C."""
    if {type(value) for value in values} <= {str} and max(map(len, values), default=0) < _SHORT:
        return [*map(str.strip, values)]
    return [_text(value) for value in values]


def _text(value: Any) -> str:
    if type(value) is str and len(value) < _SHORT:
        return value.strip()
    return "" if value is None else capped(str(value).strip())


def _truth(value: Any) -> bool | None:
    return decided(read_label(value))


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number == number else None  # nan is nothing


def _score(path: Path, line: int, value: Any) -> float | None:
    number = _number(value)
    if number is not None and 0 <= number <= 1:
        return number
    text = _text(value)
    if text.lower() in ("", "nan", "none", "null"):
        return None
    raise InputError(f"{path}, line {line}: the score {text!r} is not a number from 0 to 1.")


def _stage(path: Path, line: int, text: str) -> Stage:
    if not text:
        return "blind"
    word = text.lower().replace("uv-", "")
    if word in ("blind", "informed"):
        return "informed" if word == "informed" else "blind"
    raise InputError(f"{path}, line {line}: there is no stage {text!r}.", hint="Write blind or informed.")
