"""Files of the shape that CUAVerifierBench has, with labels and verdicts whose agreement is known beforehand.

    python -m scripts.cuaverifierbench_like FOLDER

Nothing is drawn that matters: every cell of every table is laid out by counts, so that accuracy, kappa and all the
others can be computed by hand from `Design`. Needs DuckDB (the extra `parquet`).
"""

import argparse
import json
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TRAJECTORY_COLUMNS = {
    "task_id": "VARCHAR",
    "instruction": "VARCHAR",
    "init_url": "VARCHAR",
    "start_timestamp": "VARCHAR",
    "end_timestamp": "VARCHAR",
    "final_answer": "VARCHAR",
    "is_aborted": "BOOLEAN",
    "web_surfer_log": "VARCHAR",
    "screenshots": "STRUCT(bytes BLOB, path VARCHAR)[]",
    "n_screenshots": "INTEGER",
    "gpt_eval_json": "VARCHAR",
    "uv_rubric_score": "FLOAT",
    "uv_outcome_success": "INTEGER",
    "mm_is_success": "INTEGER",
    "verifier_is_success": "INTEGER",
    "final_human_outcome_label": "INTEGER",
    "final_human_process_label": "INTEGER",
    "median_human_rubric_score_agnostic": "FLOAT",
    "majority_human_outcome_vote": "INTEGER",
}
ANNOTATION_COLUMNS = {
    "task_id": "VARCHAR",
    "annotator": "VARCHAR",
    "human_judgement_outcome": "VARCHAR",
    "human_judgement_process": "VARCHAR",
    "human_process_score": "FLOAT",
    "outcome_comment": "VARCHAR",
    "process_comment": "VARCHAR",
    "informed_outcome_agreement": "VARCHAR",
    "informed_process_agreement": "VARCHAR",
    "informed_outcome_comment": "VARCHAR",
    "informed_process_comment": "VARCHAR",
}


@dataclass(frozen=True)
class Kind:
    """So many tasks on which everybody says this. Outcomes and scores of the people in the order of their names."""

    count: int
    universal: tuple[bool, float]
    """Outcome and process score."""
    blind: tuple[tuple[bool, float], ...]
    """For each person: outcome and process score; the process label is the score cut at 0.8."""
    informed: tuple[tuple[bool, bool], ...]
    """For each person: outcome and process after seeing the verifier."""
    legacy: tuple[bool, bool] = (False, False)
    """The multimodal and the text verifier."""
    terminated: bool = True


Design = Sequence[Kind]

GOOD, BAD, MIDDLE = 0.9, 0.3, 0.6
BROWSERBASE: Design = (
    Kind(20, (True, GOOD), ((True, GOOD), (True, GOOD)), ((True, True), (True, True)), (True, True)),
    Kind(6, (False, BAD), ((True, GOOD), (True, MIDDLE)), ((False, False), (False, False)), (True, False)),
    Kind(4, (False, GOOD), ((True, GOOD), (True, GOOD)), ((True, True), (True, True)), (True, True)),
    Kind(8, (False, MIDDLE), ((True, GOOD), (False, BAD)), ((False, False), (False, False)), (True, False)),
    Kind(3, (True, GOOD), ((False, BAD), (False, MIDDLE)), ((False, False), (True, True)), (True, False)),
    Kind(50, (False, BAD), ((False, BAD), (False, BAD)), ((False, False), (False, False)), (False, False)),
    Kind(12, (False, BAD), ((False, BAD), (False, BAD)), ((False, False), (False, False)), (True, False), False),
    # Three people, and the third one decides.
    Kind(
        3,
        (True, GOOD),
        ((True, GOOD), (False, BAD), (True, GOOD)),
        ((True, True), (False, False), (True, True)),
        (True, True),
    ),
)
"""106 tasks, like the published split; 215 labels."""
INTERNAL: Design = (
    Kind(45, (True, GOOD), ((True, GOOD),), (), (True, True)),
    Kind(30, (False, MIDDLE), ((True, GOOD),), (), (True, False)),
    Kind(1, (True, GOOD), ((False, BAD),), (), (True, True)),
    Kind(64, (False, BAD), ((False, BAD),), (), (False, False)),
)
"""140 tasks with one person each, who labeled blind only."""
PEOPLE = ("Judge1", "Judge2", "Judge3")


def tasks_of(split: str, design: Design) -> Iterator[tuple[str, Kind]]:
    number = 0
    for kind in design:
        for _ in range(kind.count):
            yield f"{split}--{number:04d}", kind
            number += 1


def picture(number: int) -> bytes:
    """A PNG of one pixel, in its own color."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pixel = bytes([0, number % 256, number // 256 % 256, 90])
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(pixel)) + chunk(b"IEND", b"")


def trajectory_row(task: str, kind: Kind, number: int) -> dict[str, Any]:
    stop = "terminate" if kind.terminated else "click"
    events = [
        {"url": "https://site.example/", "action": "click", "arguments": {"thoughts": "Look.", "target_id": number}},
        {"url": "https://site.example/done", "action": stop, "arguments": {"thoughts": "Done."}},
    ]
    votes = [outcome for outcome, _ in kind.blind]
    return {
        "task_id": task,
        "instruction": f"Do the thing number {number}.",
        "init_url": "https://site.example/",
        "start_timestamp": "2026-01-01T00:00:00",
        "end_timestamp": "2026-01-01T00:01:00",
        "final_answer": "It is done." if kind.terminated else "<no_answer>",
        "is_aborted": False,
        "web_surfer_log": "\n".join(json.dumps(event) for event in events),
        "screenshots": [{"bytes": picture(2 * number + place), "path": f"{place}.png"} for place in range(2)],
        "n_screenshots": 2,
        "gpt_eval_json": "",
        "uv_rubric_score": kind.universal[1],
        "uv_outcome_success": int(kind.universal[0]),
        "mm_is_success": int(kind.legacy[0]),
        "verifier_is_success": int(kind.legacy[1]),
        "final_human_outcome_label": int(2 * sum(votes) > len(votes)),
        "final_human_process_label": None,
        "median_human_rubric_score_agnostic": None,
        "majority_human_outcome_vote": int(2 * sum(votes) > len(votes)),
    }


def annotation_rows(task: str, kind: Kind) -> Iterator[dict[str, Any]]:
    shown = (kind.universal[0], kind.universal[1] >= 0.8)
    for place, (outcome, score) in enumerate(kind.blind):
        agreed = ["", ""]
        if kind.informed:
            said = kind.informed[place]
            agreed = ["Agree" if mine == its else "Disagree" for mine, its in zip(said, shown, strict=True)]
        yield {
            "task_id": task,
            "annotator": PEOPLE[place],
            "human_judgement_outcome": "Correct" if outcome else "Incorrect",
            "human_judgement_process": "Correct" if score >= 0.8 else "Incorrect",
            "human_process_score": score,
            "outcome_comment": "",
            "process_comment": "",
            "informed_outcome_agreement": agreed[0],
            "informed_process_agreement": agreed[1],
            "informed_outcome_comment": "",
            "informed_process_comment": "",
        }


def write(folder: Path, splits: dict[str, Design] | None = None) -> None:
    for split, design in (splits or {"fara7b_om2w_browserbase": BROWSERBASE, "internal": INTERNAL}).items():
        tasks = list(tasks_of(split, design))
        runs = [trajectory_row(task, kind, number) for number, (task, kind) in enumerate(tasks)]
        labels = [row for task, kind in tasks for row in annotation_rows(task, kind)]
        for name, columns, rows in (
            ("trajectories", TRAJECTORY_COLUMNS, runs),
            ("annotations", ANNOTATION_COLUMNS, labels),
        ):
            write_parquet(folder / name / f"{split}-00000-of-00001.parquet", columns, rows)


def write_parquet(path: Path, columns: dict[str, str], rows: Sequence[dict[str, Any]]) -> None:
    import duckdb

    path.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(":memory:") as db:
        db.execute(f"CREATE TABLE t ({', '.join(f'{name} {kind}' for name, kind in columns.items())})")
        marks = ", ".join("?" for _ in columns)
        db.executemany(f"INSERT INTO t VALUES ({marks})", [[row.get(name) for name in columns] for row in rows])
        quoted = str(path).replace("'", "''")
        db.execute(f"COPY t TO '{quoted}' (FORMAT parquet)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    write(parser.parse_args().folder)


if __name__ == "__main__":
    main()
