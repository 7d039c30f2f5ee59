"""The tables of the Universal Verifier paper on agreement, made from files whose answers are known beforehand.

    python -m scripts.paper_tables

Tables 2, 13 and 14 come from parquet files of the shape that CUAVerifierBench has (`scripts.cuaverifierbench_like`),
imported and compared like the published ones would be; Tables 3, 15 and 16 from tables of predictions. What is expected
stands here as counts, worked out by hand from the design of those files.
"""

import csv
import json
import math
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scripts import cuaverifierbench_like as like
from webassay.workbench import AgreeOptions, StudyOptions, Workbench

UNIVERSAL = "published:universal-verifier"
BROWSERBASE = "cuaverifierbench/fara7b_om2w_browserbase"
INTERNAL = "cuaverifierbench/internal"
SHOWN = ("accuracy", "f1", "kappa", "fnr", "fpr")


class Cells(NamedTuple):
    tp: int
    fp: int
    fn: int
    tn: int

    def metrics(self) -> dict[str, float]:
        """By the definitions, from nothing but these counts."""
        tp, fp, fn, tn = self
        n = sum(self)
        chance = ((tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)) / n**2
        return {
            "accuracy": (tp + tn) / n,
            "precision": tp / (tp + fp),
            "recall": tp / (tp + fn),
            "f1": 2 * tp / (2 * tp + fp + fn),
            "kappa": ((tp + tn) / n - chance) / (1 - chance),
            "fpr": fp / (fp + tn),
            "fnr": fn / (fn + tp),
            "mcc": (tp * tn - fp * fn) / math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)),
        }


class Line(NamedTuple):
    table: str
    what: str
    expected: str
    found: str

    @property
    def same(self) -> bool:
        return self.expected == self.found

    def __str__(self) -> str:
        return f"| {self.table} | {self.what} | {self.expected} | {self.found} | {'yes' if self.same else '**no**'} |"


# --- Tables 2, 13 and 14 --------------------------------------------------------------------------------

TABLE_2 = {
    (BROWSERBASE, "outcome"): Cells(23, 3, 10, 62),
    (BROWSERBASE, "process"): Cells(27, 3, 0, 76),
    (INTERNAL, "outcome"): Cells(45, 1, 30, 64),
    (INTERNAL, "process"): Cells(45, 1, 30, 64),
}
"""The Universal Verifier against blind labels; eight ties of the first split have no third person."""
TABLE_13 = {
    ("outcome", "informed"): Cells(23, 0, 4, 76),
    ("process", "informed"): Cells(27, 0, 0, 76),
}
TABLE_14 = {
    ("outcome", "blind"): Cells(33, 11, 3, 65),
    ("process score", "blind"): Cells(27, 17, 3, 65),
    ("process", "blind"): Cells(27, 17, 3, 65),
    ("outcome", "informed"): Cells(27, 3, 6, 76),
    ("process", "informed"): Cells(27, 3, 6, 76),
}
"""Pairs of labels of one item: both pass, only the first, only the second, neither."""


def from_parquet(folder: Path) -> Iterator[Line]:
    like.write(folder / "data")
    bench = Workbench()
    bench.import_trajectories([folder / "data"], folder / "run")
    found = json.loads(bench.agree(folder / "run").json)
    for (benchmark, aspect), cells in TABLE_2.items():
        row = _only(found["groups"], judge=UNIVERSAL, group=benchmark, aspect=aspect)
        yield from _lines("2", f"{benchmark}, {aspect}", cells, row)
    for (aspect, stage), cells in TABLE_13.items():
        row = _only(found["by_stage"], judge=UNIVERSAL, aspect=aspect, stage=stage)
        yield from _lines("13", f"{aspect}, {stage}", cells, row)
    flips = _only(found["flips"], judge=UNIVERSAL, aspect="outcome")
    said = [flips[name] for name in ("labels", "flipped", "towards_judge_fail", "towards_judge_pass", "away")]
    yield Line("13", "outcome labels, flipped, to its fail, to its pass, away", "[215, 23, 20, 3, 0]", str(said))
    for (kind, stage), cells in TABLE_14.items():
        row = _only(found["ceiling"], kind=kind, stage=stage)
        expected = cells.metrics()
        yield _line("14", f"{kind}, {stage}: % agree", expected["accuracy"], row["same"]["value"])
        yield _line("14", f"{kind}, {stage}: kappa", expected["kappa"], row["kappa"]["value"])
    row = _only(found["ceiling"], kind="process score", stage="blind")
    yield from _scores(row)


def _scores(row: Mapping[str, Any]) -> Iterator[Line]:
    pairs = [
        (one, other)
        for kind in like.BROWSERBASE
        for i, (_, one) in enumerate(kind.blind)
        for _, other in kind.blind[i + 1 :]
        for _ in range(kind.count)
    ]
    pearson = statistics.correlation(*zip(*pairs, strict=True))
    yield _line("14", "scores: Pearson", pearson, row["pearson"]["value"])
    gap = statistics.fmean(abs(one - other) for one, other in pairs)
    yield _line("14", "scores: mean absolute difference", gap, row["mean_absolute_difference"]["value"])


# --- Tables 3, 15 and 16 --------------------------------------------------------------------------------

TABLE_3 = {
    ("webvoyager", "fara"): (Cells(37, 35, 1, 27), 4),
    ("webvoyager", "gpt"): (Cells(70, 20, 2, 8), 3),
    ("om2w", "fara"): (Cells(13, 19, 3, 65), 5),
}
"""The native verifier against the Universal Verifier, and how many of the hundred ran out of steps."""
RUNS = (Cells(30, 6, 10, 54), Cells(32, 6, 8, 54), Cells(28, 9, 12, 51))
TABLE_16 = {"over budget": (44, 663), "terminated": (312, 283)}


def table_3(folder: Path) -> Iterator[Line]:
    universal, native = [], []
    for (benchmark, agent), (cells, unterminated) in TABLE_3.items():
        for number, (said, truth) in enumerate(_items(cells)):
            name, ended = f"{benchmark}/{agent}/{number}", number >= unterminated
            universal.append([name, int(truth), benchmark, agent, int(ended)])
            native.append([name, int(said)])
    _write(folder / "universal.csv", ["id", "prediction", "benchmark", "agent", "terminated"], universal)
    _write(folder / "native.csv", ["id", "prediction"], native)
    options = AgreeOptions(study=StudyOptions(by=[["benchmark", "agent"]]))
    found = json.loads(Workbench().agree(folder / "universal.csv", [folder / "native.csv"], options).json)
    for (benchmark, agent), (cells, unterminated) in TABLE_3.items():
        row = _only(found["groups"], group=f"{benchmark} × {agent}")
        yield from _lines("3", f"{benchmark}, {agent}", cells, row)
        rates = [row["items"], row["unterminated"], row["judge_rate"], row["reference_rate"]]
        expected = [100, unterminated / 100, (cells.tp + cells.fp) / 100, (cells.tp + cells.fn) / 100]
        what = f"{benchmark}, {agent}: N, unterminated, native success, reference success"
        yield Line("3", what, str(expected), str([round(one, 9) for one in rates]))


def table_15(folder: Path) -> Iterator[Line]:
    truth = [[i, int(i < 40)] for i in range(100)]
    _write(folder / "labels.csv", ["id", "label"], truth)
    given = []
    for number, cells in enumerate(RUNS, 1):
        path = folder / f"run{number}.csv"
        passed = {*range(cells.tp), *range(40, 40 + cells.fp)}
        _write(path, ["id", "prediction"], [[i, int(i in passed)] for i in range(100)])
        given.append(f"universal={path}")
    found = json.loads(Workbench().agree(folder / "labels.csv", given).json)
    (row,) = found["repeats"]
    for name in SHOWN:
        values = [cells.metrics()[name] for cells in RUNS]
        expected = f"{statistics.fmean(values):.6f} ± {statistics.stdev(values):.6f}"
        yield Line("15", name, expected, f"{row['mean'][name]:.6f} ± {row['deviation'][name]:.6f}")


def table_16(folder: Path) -> Iterator[Line]:
    rows, number = [], 0
    for ending, (passed, failed) in TABLE_16.items():
        for place in range(passed + failed):
            rows.append([number, int(place < passed), 0, int(ending == "terminated")])
            number += 1
    _write(folder / "all.csv", ["id", "label", "prediction", "terminated"], rows)
    found = json.loads(Workbench().agree(folder / "all.csv").json)
    for ending, (passed, failed) in TABLE_16.items():
        row = _only(found["endings"], ending=ending)
        said = f"{row['passed']} {row['failed']} {100 * row['rate']['value']:.1f} %"
        yield Line("16", ending, f"{passed} {failed} {100 * passed / (passed + failed):.1f} %", said)


# --- helpers --------------------------------------------------------------------------------------------


def _items(cells: Cells) -> list[tuple[bool, bool]]:
    kinds = ((True, True), (True, False), (False, True), (False, False))
    return [kind for kind, count in zip(kinds, cells, strict=True) for _ in range(count)]


def _write(path: Path, headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([headings, *rows])


def _only(rows: Sequence[Mapping[str, Any]], **wanted: str) -> Mapping[str, Any]:
    (row,) = (row for row in rows if all(row[name] == value for name, value in wanted.items()))
    return row


def _lines(table: str, what: str, cells: Cells, row: Mapping[str, Any]) -> Iterator[Line]:
    counts = [row[name] for name in ("true_positives", "false_positives", "false_negatives", "true_negatives")]
    yield Line(table, f"{what}: TP, FP, FN, TN", str(list(cells)), str(counts))
    expected = cells.metrics()
    for name in SHOWN:
        yield _line(table, f"{what}: {name}", expected[name], row["metrics"][name]["value"])


def _line(table: str, what: str, expected: float, found: float) -> Line:
    return Line(table, what, f"{expected:.6f}", f"{found:.6f}")


def lines() -> list[Line]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        return [*from_parquet(folder), *table_3(folder), *table_15(folder), *table_16(folder)]


def checked() -> Iterator[str]:
    made = lines()
    yield "| table | what | expected | found | same |"
    yield "|---|---|---|---|---|"
    yield from map(str, made)
    yield f"\n{sum(line.same for line in made)} of {len(made)} as expected."


if __name__ == "__main__":
    print("\n".join(checked()))
