"""Labels by people, as verdicts: a person is a grader like any other."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from webassay.compose.given import AnyPath
from webassay.compose.setup import Setup
from webassay.core.errors import InputError
from webassay.core.files import read_regular
from webassay.core.rater import LabelMeaning, persons_verdict, read_label
from webassay.core.text import capped, lines_of, quoted
from webassay.core.verdict import Verdict
from webassay.store.runs import open_run

_SHOWN = 5


class PersonsLabel(NamedTuple):
    line: int
    """The line of the file, to name it in messages."""
    id: str
    """A trajectory's, or a unit's: `agent/task/trial`."""
    said: LabelMeaning
    score: float | None = None
    """How good the process was, from 0 to 1."""
    comment: str = ""


def label(setup: Setup, run: AnyPath, labels: AnyPath, annotator: str) -> int:
    """A person's labels, from CSV or JSON lines, as verdicts of the grader `human:ANNOTATOR`; returns how many. Every
    label of the file becomes a verdict, or none does. Labels given before are kept; the newest one counts."""
    name = annotator.strip()
    if not name or not name.isprintable():
        raise InputError("The annotator's name is empty or not printable.", hint="Give one: --annotator anna")
    given = read_labels(Path(labels))
    with open_run(Path(run), setup.tell, writable=True, thorough=False) as store:
        found = [(one, store.find_trajectory(one.id)) for one in given]
        unknown = [one.id for one, place in found if place is None]
        if unknown:
            more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
            raise InputError(
                f"{run} has no trajectory {', '.join(map(quoted, unknown[:_SHOWN]))}{more}. Nothing was written.",
                hint="Give a trajectory's id, which `webassay verify RUN` prints, or a unit's: agent/task/trial.",
            )
        placed = [(one, place) for one, place in found if place is not None]
        _refuse_twice(Path(labels), placed)
        store.add_verdicts(_verdict(one, *place, name) for one, place in placed)
    return len(given)


def _refuse_twice(path: Path, placed: list[tuple[PersonsLabel, tuple[str, str]]]) -> None:
    """One trajectory may be called by its own id and by its unit's."""
    seen: dict[str, PersonsLabel] = {}
    for one, (trajectory_id, _) in placed:
        if (first := seen.setdefault(trajectory_id, one)) is not one:
            raise InputError(
                f"{path}, line {one.line}: {one.id} is the same trajectory as {first.id} in line {first.line}. "
                "Nothing was written.",
                hint="A file holds one label for each trajectory; another person's labels are a file of their own.",
            )


def _verdict(given: PersonsLabel, trajectory_id: str, task_id: str, annotator: str) -> Verdict:
    verdict = persons_verdict(annotator, given.said, score=given.score, comment=given.comment)
    return verdict.model_copy(update={"trajectory_id": trajectory_id, "task_id": task_id})


# --- reading ------------------------------------------------------------------------------------------------------


def read_labels(path: Path) -> list[PersonsLabel]:
    """CSV with a header, or one JSON object a line."""
    try:
        text = read_regular(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text.") from error
    rows = _csv(path, text) if path.suffix.lower() == ".csv" else _json_lines(path, text)
    labels: dict[str, PersonsLabel] = {}
    for line, row in rows:
        one = _label(path, line, row)
        if one.id in labels:
            raise InputError(f"{path}, line {line}: {one.id} already has a label, in line {labels[one.id].line}.")
        labels[one.id] = one
    if not labels:
        raise InputError(
            f"{path} has no labels.", hint="It needs the columns id and label; score and comment may follow."
        )
    return list(labels.values())


def _csv(path: Path, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    # Not `splitlines`: a comment may hold a line separator of Unicode, which ends no line of a table.
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
        missing = {"id", "label"} - set(names)
        if missing:
            raise InputError(
                f"{path} has no column {' and no column '.join(sorted(missing))}.",
                hint="The first line must name them.",
            )
        for cells in filter(None, reader):
            yield reader.line_num, dict(zip(names, _rejoined(cells), strict=False))
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}.") from error


def _rejoined(cells: list[str]) -> list[str]:
    """A name such as flawed[skill=0.6,errors=stop]/task/0 is one cell, also where nobody put quotes around it."""
    joined: list[str] = []
    for cell in cells:
        if joined and joined[-1].count("[") > joined[-1].count("]"):
            joined[-1] += f",{cell}"
        else:
            joined.append(cell)
    return joined


def _json_lines(path: Path, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(lines_of(text), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{path}, line {number}, is not JSON: {error}.", hint="Write one object per line."
            ) from error
        if not isinstance(row, dict):
            raise InputError(f"{path}, line {number}, is not an object.", hint='Write {"id": …, "label": …}.')
        yield number, row


def _label(path: Path, line: int, row: dict[str, Any]) -> PersonsLabel:
    id, word = _text(row.get("id")).strip("'"), row.get("label")  # It may have been copied from a command.
    said = read_label(word)
    if not id:
        raise InputError(f"{path}, line {line}, has no id.")
    if said not in ("pass", "fail", "unsure"):
        raise InputError(
            f"{path}, line {line}: {_text(word) or 'nothing'!r} is not a label.", hint="Write pass, fail or unsure."
        )
    return PersonsLabel(line, id, said, _score(path, line, row.get("score")), _text(row.get("comment")))


def _score(path: Path, line: int, value: Any) -> float | None:
    text = _text(value)
    if not text:
        return None
    try:
        score = float(text)
    except ValueError:
        score = -1.0
    if not 0 <= score <= 1:
        raise InputError(f"{path}, line {line}: the score {text!r} is not a number from 0 to 1.")
    return score


def _text(value: Any) -> str:
    return "" if value is None else capped(str(value).strip())
