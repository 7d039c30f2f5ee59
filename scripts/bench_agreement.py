"""The numbers behind docs/agreement.md. `python -m scripts.bench_agreement`

Every metric against scikit-learn, scipy and statsmodels on random tables, in an environment of its own; how often the
intervals hold the truth; what a hundred thousand labels cost; published numbers, if the data is available; and the
tables of the Universal Verifier paper, from files of the same shape whose answers are known.
"""

import argparse
import csv
import json
import math
import random
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scripts.peers import peer_python

from webassay.analysis.numbers import metrics
from webassay.workbench import AgreeOptions, LabelColumns, StudyOptions, Workbench

DATA = Path(__file__).parents[2] / "shared" / "data"
PEERS = ("scikit-learn", "scipy", "statsmodels")

# --- other people's libraries ---------------------------------------------------------------------------

_PROGRAM = """
import json, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
from scipy import stats
from sklearn import metrics as m
from statsmodels.stats.inter_rater import cohens_kappa
for line in sys.stdin:
    job = json.loads(line)
    said, truth = np.array(job["said"]), np.array(job["truth"])
    tn, fp, fn, tp = m.confusion_matrix(truth, said, labels=[0, 1]).ravel()
    undefined = float("nan")
    print(json.dumps({
        "accuracy": m.accuracy_score(truth, said),
        "precision": m.precision_score(truth, said, zero_division=undefined),
        "recall": m.recall_score(truth, said, zero_division=undefined),
        "f1": m.f1_score(truth, said, zero_division=undefined),
        "kappa": m.cohen_kappa_score(truth, said, labels=[0, 1]),
        "kappa (statsmodels)": float(cohens_kappa([[tp, fp], [fn, tn]], return_results=False)),
        "fpr": fp / (fp + tn) if fp + tn else undefined,
        "fnr": fn / (fn + tp) if fn + tp else undefined,
        "mcc": m.matthews_corrcoef(truth, said),
        "pearson": float(stats.pearsonr(job["one"], job["other"])[0]),
        "spearman": float(stats.spearmanr(job["one"], job["other"])[0]),
        "mean absolute difference": m.mean_absolute_error(job["one"], job["other"]),
    }))
"""


def random_tables(count: int, seed: int = 0) -> Iterator[dict[str, list[float]]]:
    draw = random.Random(seed)
    for _ in range(count):
        size, rate, right = draw.choice((3, 8, 30, 200)), draw.random(), draw.random()
        truth = [int(draw.random() < rate) for _ in range(size)]
        said = [one if draw.random() < right else 1 - one for one in truth]
        one = [round(draw.random(), draw.choice((1, 2, 6))) for _ in range(size)]
        other = [round(min(1, max(0, value + draw.gauss(0, 0.3))), draw.choice((1, 2, 6))) for value in one]
        yield {"said": said, "truth": truth, "one": one, "other": other}


def ours(table: Mapping[str, Sequence[float]]) -> dict[str, float]:
    counts = metrics.counts_of(np.array(table["said"]), np.array(table["truth"])).sum(axis=0)
    found: dict[str, float] = {name: float(value) for name, value in metrics.metric_values(counts).items()}
    one, other = np.array(table["one"]), np.array(table["other"])
    scores = metrics.correlations(one, other, np.arange(len(one)), draws=1)
    for name, estimate in (
        ("pearson", scores.pearson),
        ("spearman", scores.spearman),
        ("mean absolute difference", scores.mean_absolute_difference),
    ):
        found[name] = math.nan if estimate.value is None else estimate.value
    return found | {"kappa (statsmodels)": found["kappa"]}


def against_peers(python: Path, count: int) -> list[str]:
    tables = list(random_tables(count))
    done = subprocess.run(
        [str(python), "-c", _PROGRAM],
        input="\n".join(map(json.dumps, tables)),
        capture_output=True,
        text=True,
        check=True,
    )
    worst: dict[str, float] = {}
    compared: dict[str, int] = {}
    apart: dict[str, int] = {}
    for table, line in zip(tables, done.stdout.splitlines(), strict=True):
        mine = ours(table)
        for name, theirs in json.loads(line).items():
            if math.isnan(mine[name]):
                # We leave open what they set to 0, such as a correlation with a constant.
                apart[name] = apart.get(name, 0) + (not math.isnan(theirs) and theirs != 0)
            else:
                compared[name] = compared.get(name, 0) + 1
                gap = abs(mine[name] - theirs) if not math.isnan(theirs) else math.inf
                worst[name] = max(worst.get(name, 0.0), gap)
    lines = [
        "| metric | tables compared | largest difference | undefined here, another number there |",
        "|---|---|---|---|",
    ]
    return lines + [f"| {name} | {compared[name]} | {worst[name]:.1e} | {apart.get(name, 0)} |" for name in compared]


# --- coverage -------------------------------------------------------------------------------------------

JudgeRates = tuple[float, float, float]
"""How often items pass, how often the judge passes those, and how often it fails the others."""


def drawn(draw: np.random.Generator, clusters: int, size: int, judge: JudgeRates, correlation: float) -> np.ndarray:
    """Counts by cluster. Tasks differ in how hard they are, for the agent and for the judge."""
    spread = (1 - correlation) / correlation
    rate, sensitivity, specificity = (draw.beta(p * spread, (1 - p) * spread, (clusters, 1)) for p in judge)
    truth = draw.random((clusters, size)) < rate
    said = np.where(truth, draw.random((clusters, size)) < sensitivity, draw.random((clusters, size)) > specificity)
    return metrics.counts_of(said, truth).sum(axis=1)


def coverage(
    clusters: int, size: int, judge: JudgeRates, *, repeats: int, correlation: float = 0.2, percentiles: bool = False
) -> dict[str, float]:
    """Share of intervals that hold the truth, metric by metric; or the same of percentiles of the resamples."""
    truth = metrics.metric_values(drawn(np.random.default_rng(7), 100_000, size, judge, correlation).sum(axis=0))
    draw = np.random.default_rng(0)
    held = dict.fromkeys(metrics.METRICS, 0)
    known = dict.fromkeys(metrics.METRICS, 0)
    for _ in range(repeats):
        found = metrics.measure(drawn(draw, clusters, size, judge, correlation), draws=300)
        for name in metrics.METRICS:
            low, high = found.estimates[name].low, found.estimates[name].high
            if percentiles:
                draws = found.draws[name][~np.isnan(found.draws[name])]
                low, high = np.quantile(draws, (0.025, 0.975)) if len(draws) else (None, None)
            if low is not None and high is not None:
                known[name] += 1
                held[name] += bool(low <= truth[name] <= high)
    return {name: held[name] / known[name] for name in held if known[name]}


JUDGES: Mapping[str, JudgeRates] = {
    "usual": (0.4, 0.8, 0.9),
    "strict": (0.3, 0.5, 0.98),
    "nearly perfect": (0.5, 0.95, 0.97),
}


def coverage_table(repeats: int) -> Iterator[str]:
    yield "| judge | clusters × items | " + " | ".join(metrics.METRICS) + " |"
    yield "|---|---|" + "---|" * len(metrics.METRICS)
    for name, judge in JUDGES.items():
        for clusters, size in ((10, 4), (30, 4), (100, 2), (300, 1)):
            own = coverage(clusters, size, judge, repeats=repeats)
            other = coverage(clusters, size, judge, repeats=repeats, percentiles=True)
            cells = [f"{100 * own[m]:.0f} ({100 * other[m]:.0f})" for m in metrics.METRICS]
            yield f"| {name} | {clusters} × {size} | {' | '.join(cells)} |"


# --- speed ----------------------------------------------------------------------------------------------


def many_labels(folder: Path, count: int) -> tuple[Path, Path]:
    draw = random.Random(1)
    labels, predictions = folder / "labels.csv", folder / "judge.csv"
    with labels.open("w", newline="") as one, predictions.open("w", newline="") as other:
        truth, said = csv.writer(one), csv.writer(other)
        truth.writerow(["id", "label", "cluster", "annotator", "split", "score"])
        said.writerow(["id", "prediction", "score"])
        for i in range(count):
            passed = draw.random() < 0.4
            score = min(1.0, max(0.0, draw.gauss(0.8 if passed else 0.4, 0.2)))
            truth.writerow([f"item-{i}", int(passed), f"task-{i // 4}", "anna", "ab"[i % 2], f"{score:.3f}"])
            guess = passed if draw.random() < 0.85 else not passed
            said.writerow([f"item-{i}", int(guess), f"{min(1.0, max(0.0, score + draw.gauss(0, 0.1))):.3f}"])
    return labels, predictions


def speed(count: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        labels, predictions = many_labels(Path(folder), count)
        before, started = resource.getrusage(resource.RUSAGE_SELF).ru_utime, time.perf_counter()
        Workbench().agree(labels, [predictions])
        took = time.perf_counter() - started
        used = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    started_loop = time.process_time()
    sum(range(30_000_000))
    loop = time.process_time() - started_loop
    beside = f"{used:.2f} s of processor; summing 30 million numbers took {loop:.2f} s"
    return f"{count:,} labeled rows: {took:.2f} s ({beside})"


# --- published numbers ----------------------------------------------------------------------------------


def published() -> Iterator[str]:
    folder = DATA / "agreement" / "om2w"
    for agent, file, wanted in (("Agent-E", "agente", 86.3), ("Browser_Use", "browser_use", 89.3)):
        columns = ["id=task_id", f"label={agent}_human_label", "prediction=final_eval"]
        options = AgreeOptions(LabelColumns.read(columns, failing=["2"]), study=StudyOptions(missing="failure"))
        judged = folder / "webjudge_o4-mini" / f"{file}_results.json"
        found = json.loads(Workbench().agree(folder / "human_label.json", [judged], options).json)
        row = found["judges"][0]
        accuracy = row["metrics"]["accuracy"]
        yield (
            f"Online-Mind2Web, {agent}: {100 * accuracy['value']:.1f} % of {row['items']} "
            f"[{100 * accuracy['low']:.1f}, {100 * accuracy['high']:.1f}]; published {wanted} %"
        )


def dev_table() -> Iterator[str]:
    columns = [
        "id=benchmark,agent,task_id",
        "label=human_success",
        "prediction=webjudge_gpt4o,webjudge_7B,webjudge_o4_mini,cum_reward>0.5",
    ]
    made = Workbench().agree(
        DATA / "agreement" / "arb_dev_predictions.csv", [], AgreeOptions(LabelColumns.read(columns))
    )
    found = json.loads(made.json)
    yield "| judge | items | missing | " + " | ".join(metrics.METRICS) + " |"
    yield "|---|---|---|" + "---|" * len(metrics.METRICS)
    for row in found["judges"]:
        yield f"| {row['judge']} | {row['items']} | {row['missing']} | {' | '.join(cells(row))} |"


def cells(row: Mapping[str, Any]) -> list[str]:
    return [_cell(row["metrics"][name]) for name in metrics.METRICS]


def _cell(one: Mapping[str, float | None]) -> str:
    if one["value"] is None:
        return "–"
    if one["low"] is None or one["high"] is None:
        return f"{one['value']:.3f}"
    return f"{one['value']:.3f} [{one['low']:.2f}, {one['high']:.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--peers-python", type=Path)
    given = parser.parse_args()
    print(speed(given.rows), flush=True)
    python = given.peers_python or peer_python("agreement", *PEERS)
    if python is not None:
        print(f"\n{given.tables} random tables against {', '.join(PEERS)}:\n")
        print("\n".join(against_peers(python, given.tables)), flush=True)
    print(
        "\nHow often nominal 95 % intervals hold the truth, in per cent (in brackets: percentiles of the resamples):\n"
    )
    for line in coverage_table(given.repeats):
        print(line, flush=True)
    if (DATA / "agreement").is_dir():
        print("\nPublished numbers:\n")
        print("\n".join(published()))
        print("\nAgentRewardBench, development split:\n")
        print("\n".join(dev_table()), flush=True)
    if find_spec("duckdb") is not None:
        from scripts import paper_tables

        print("\nThe tables of the Universal Verifier paper, from files with known answers:\n")
        print("\n".join(paper_tables.checked()))


if __name__ == "__main__":
    main()
