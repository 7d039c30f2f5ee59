"""CUAVerifierBench: parquet tables of trajectories, with their screenshots inside, and of what people said of them.

`trajectories/SPLIT-….parquet` has one row a task, with the verdicts of published verifiers;
`annotations/SPLIT-….parquet` one row a task and person, who labeled twice: blind, and then by agreeing with the
Universal Verifier or not. So an informed label is the verifier's verdict or its opposite. DuckDB (the extra `parquet`)
reads the files within bounds.
"""

import importlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from webassay.core.errors import InputError, boundary, to_install
from webassay.core.rater import LabelMeaning, decided, persons_verdict, published_verdict, read_label
from webassay.core.text import well_formed, well_formed_json
from webassay.core.trajectory import AgentInfo, BlobRef, Trajectory, WritableBlobs
from webassay.core.verdict import Verdict
from webassay.importers.base import ImportedRun, Importer, LooseVerdict, OnError, many_only
from webassay.importers.fara import NO_ANSWER, ending_of, events_of, steps_of
from webassay.importers.reading import MAX_PICTURE, goal, head_of, media_type_of, optional, printable, required

NAME = "cuaverifierbench"
GOOD_PROCESS = 0.8
MOST_SCREENSHOTS = 2000
_AT_ONCE = 4
_LIMITS = {"memory_limit": "2GB", "threads": "1", "autoinstall_known_extensions": "false"}
_TRAJECTORIES = ("task_id", "instruction", "web_surfer_log", "screenshots")
_ANNOTATIONS = ("task_id", "annotator", "human_judgement_outcome")
_JUDGES = {"mm_is_success": "webtailbench-multimodal", "verifier_is_success": "webtailbench-text"}
UNIVERSAL = "universal-verifier"


def recognizes(place: Path) -> bool:
    return place.suffix == ".parquet" and place.is_file() and head_of(place).startswith(b"PAR1")


def read_many(path: Path, blobs: WritableBlobs, report: OnError) -> Iterator[ImportedRun | LooseVerdict]:
    with Parquet(path) as table:
        if set(_TRAJECTORIES) <= set(table.columns):
            yield from _trajectories(table, blobs, report)
        elif set(_ANNOTATIONS) <= set(table.columns):
            yield from _annotations(table, report)
        else:
            raise InputError(
                f"{printable(path)} has neither trajectories nor annotations of CUAVerifierBench.",
                hint=f"Its columns: {', '.join(table.columns[:12])}.",
            )


def split_of(path: Path) -> str:
    """`internal-00000-of-00002.parquet` is of the split `internal`."""
    return well_formed(re.sub(r"-\d+-of-\d+$", "", path.stem))


# --- trajectories -------------------------------------------------------------------------------------------------


def _trajectories(table: "Parquet", blobs: WritableBlobs, report: OnError) -> Iterator[ImportedRun]:
    for number, row in table.rows():
        place = Path(f"{table.path}#{number}")
        try:
            with boundary(InputError, f"{printable(place)} cannot be read as {NAME}"):
                yield ImportedRun(_trajectory(row, table.path, blobs), tuple(_published(row)), f"#{number}")
        except InputError as error:
            report(place, error)


def _trajectory(row: Mapping[str, Any], path: Path, blobs: WritableBlobs) -> Trajectory:
    shots = _pictures(row.get("screenshots"), path, blobs)
    events = list(events_of(str(row.get("web_surfer_log") or ""), path))
    answer = optional(row, "final_answer")
    return Trajectory(
        id="",
        task_id=required(row, "task_id", path),
        benchmark=f"{NAME}/{split_of(path)}",
        goal=goal(required(row, "instruction", path), optional(row, "init_url")),
        agent=AgentInfo(name="fara"),
        started_at=optional(row, "start_timestamp"),
        steps=steps_of(events, shots),
        answer="" if answer == NO_ANSWER else answer,
        ending=ending_of(events, answer, aborted=bool(row.get("is_aborted"))),
        source=NAME,
        provenance={
            "file": well_formed(path.name),
            "split": split_of(path),
            "row": {key: _kept(value) for key, value in row.items() if key not in ("screenshots", "web_surfer_log")},
            "web_surfer_log": blobs.write(str(row.get("web_surfer_log") or "").encode(), "text/plain").model_dump(),
        },
    )


def _kept(value: Any) -> Any:
    """What JSON can hold; not every number of a table can."""
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)


def _pictures(listed: Any, path: Path, blobs: WritableBlobs) -> list[BlobRef]:
    """Bytes in the table; a path beside them is of the machine that wrote it."""
    given = listed if isinstance(listed, list) else []
    if len(given) > MOST_SCREENSHOTS:
        raise InputError(f"{printable(path)}: {len(given)} screenshots; the limit is {MOST_SCREENSHOTS}.")
    made = []
    for one in given:
        data = one.get("bytes") if isinstance(one, dict) else one
        kind = media_type_of(data) if isinstance(data, bytes) else ""
        if not isinstance(data, bytes) or not kind or len(data) > MAX_PICTURE:
            raise InputError(f"{printable(path)}: a screenshot is too large, or not a PNG, JPEG, WebP or GIF.")
        made.append(blobs.write(data, kind))
    return made


def _published(row: Mapping[str, Any]) -> Iterator[Verdict]:
    """What verifiers said, and what all people together did."""
    score = _share(row.get("uv_rubric_score"))
    if row.get("uv_outcome_success") is not None or score is not None:
        yield published_verdict(UNIVERSAL, read_label(row.get("uv_outcome_success")), score=score)
    for column, judge in _JUDGES.items():
        if row.get(column) is not None:
            yield published_verdict(judge, read_label(row[column]))
    if row.get("final_human_outcome_label") is not None:
        process = read_label(row.get("final_human_process_label"))
        yield published_verdict(
            "people-together", read_label(row["final_human_outcome_label"]), process=decided(process)
        )


def _share(value: Any) -> float | None:
    """Rounded: the tables hold single precision, in which 0.8 is a little more or less than that."""
    return round(float(value), 6) if isinstance(value, int | float) and 0 <= value <= 1 else None


# --- annotations --------------------------------------------------------------------------------------------------


def _annotations(table: "Parquet", report: OnError) -> Iterator[LooseVerdict]:
    split = split_of(table.path)
    shown_to_people = _universal(table.path, split)
    for number, row in table.rows():
        place = Path(f"{table.path}#{number}")
        try:
            task = required(row, "task_id", table.path)
            for verdict in _labels(row, required(row, "annotator", table.path), shown_to_people.get(task)):
                yield LooseVerdict(task, verdict, "", f"{NAME}/{split}", printable(place))
        except InputError as error:
            report(place, error)


def _labels(row: Mapping[str, Any], annotator: str, seen: tuple[bool | None, bool | None] | None) -> Iterator[Verdict]:
    said = read_label(row.get("human_judgement_outcome"))
    process = decided(read_label(row.get("human_judgement_process")))
    score = _share(row.get("human_process_score"))
    if said != "missing" or process is not None or score is not None:
        comment = optional(row, "outcome_comment")
        yield persons_verdict(annotator, said, score=score, process=process, comment=comment)
    agreed = [_agrees(row.get(f"informed_{aspect}_agreement")) for aspect in ("outcome", "process")]
    if seen is None or agreed == [None, None]:
        return
    outcome, good = (
        None if verdict is None or agrees is None else verdict == agrees
        for verdict, agrees in zip(seen, agreed, strict=True)
    )
    informed: LabelMeaning = "missing" if outcome is None else "pass" if outcome else "fail"
    comment = optional(row, "informed_outcome_comment")
    yield persons_verdict(annotator, informed, process=good, comment=comment, stage="informed")


def _agrees(value: Any) -> bool | None:
    word = str(value or "").strip().lower()
    if word.startswith(("disagree", "no", "false", "0")):
        return False
    return True if word.startswith(("agree", "yes", "true", "1")) else None


def _universal(path: Path, split: str) -> dict[str, tuple[bool | None, bool | None]]:
    """Task to what the Universal Verifier said of outcome and process, from the trajectories of the same split."""
    places = [path.parent.parent / "trajectories", path.parent / "trajectories", path.parent]
    found: dict[str, tuple[bool | None, bool | None]] = {}
    for place in dict.fromkeys(places):
        for file in sorted(place.glob("*.parquet")) if place.is_dir() else ():
            if split_of(file) != split or file == path or not recognizes(file):
                continue
            with Parquet(file) as table:
                wanted = ("task_id", "uv_outcome_success", "uv_rubric_score")
                if not set(wanted) <= set(table.columns):
                    continue
                for _, row in table.rows(wanted):
                    score = _share(row["uv_rubric_score"])
                    process = None if score is None else score >= GOOD_PROCESS
                    found[str(row["task_id"])] = decided(read_label(row["uv_outcome_success"])), process
    return found


# --- parquet ------------------------------------------------------------------------------------------------------


class Parquet:
    """One parquet file, a few rows at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db: Any = None
        self.columns: list[str] = []

    def __enter__(self) -> "Parquet":
        try:
            duckdb = importlib.import_module("duckdb")
        except ImportError:
            raise InputError(
                f"{printable(self.path)} is a Parquet file, but DuckDB is not installed.",
                hint=to_install("parquet"),
            ) from None
        with boundary(InputError, f"{printable(self.path)} cannot be read"):
            self._db = duckdb.connect(":memory:", config=_LIMITS)
            # A table may hold anything, also what the engine could take for the name of another file.
            self._db.execute(f"SET allowed_paths = [{_quoted(str(self.path.resolve()))}]")
            self._db.execute("SET enable_external_access = false")
            self._db.execute("SET lock_configuration = true")
            self.columns = [row[0] for row in self._db.execute(f"DESCRIBE {self._select('*')}").fetchall()]
        return self

    def __exit__(self, *_: object) -> None:
        if self._db is not None:
            self._db.close()

    def _select(self, columns: str) -> str:
        return f"SELECT {columns} FROM read_parquet({_quoted(str(self.path.resolve()))})"

    def rows(self, columns: Sequence[str] = ()) -> Iterator[tuple[int, dict[str, Any]]]:
        named = list(columns) or self.columns
        wanted = ", ".join('"' + name.replace('"', '""') + '"' for name in named)
        with boundary(InputError, f"{printable(self.path)} cannot be read"):
            cursor = self._db.execute(self._select(wanted))
            number = 0
            while found := cursor.fetchmany(_AT_ONCE):
                for row in found:
                    yield number, {name: _plain(value) for name, value in zip(named, row, strict=True)}
                    number += 1


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _plain(value: Any) -> Any:
    return well_formed_json(value) if isinstance(value, str) else value


CUAVERIFIERBENCH = Importer(
    name=NAME,
    summary="CUAVerifierBench: parquet tables of trajectories and annotations.",
    recognizes=recognizes,
    read=many_only,
    read_many=read_many,
)
