"""A study of judges as tables and pictures."""

from collections.abc import Iterator, Mapping, Sequence

from webassay.analysis.numbers.metrics import METRICS
from webassay.analysis.output.document import Section
from webassay.analysis.output.svg import Bar, forest
from webassay.analysis.output.text import DASH, percent
from webassay.core.report import Interval
from webassay.study.results import JudgeRow, Study

NAMES: Mapping[str, str] = {
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "kappa": "kappa",
    "fpr": "FPR",
    "fnr": "FNR",
    "mcc": "MCC",
}
_AGREEING = ("accuracy", "f1", "kappa", "mcc")
_MISTAKES = ("fpr", "fnr", "precision", "recall")
_SHORT = ("accuracy", "f1", "kappa", "fpr", "fnr")


def of_study(study: Study) -> list[Section]:
    sections = [
        *_judges(study),
        *_ceiling(study),
        *_pairs(study),
        *_scores(study),
        *_stages(study),
        *_groups(study),
        *_repeats(study),
        *_endings(study),
        _labels(study),
    ]
    return [section._replace(lines=True) for section in sections]


def _judges(study: Study) -> Iterator[Section]:
    for aspect in ("outcome", "process"):
        rows = [row for row in study.judges if row.aspect == aspect]
        if not rows:
            continue
        counts = ("judge", "items", "no verdict")
        agreeing = [(_name(row), str(row.items), _silent(row), *_cells(row, _AGREEING)) for row in rows]
        mistakes = [
            (_name(row), *_cells(row, _MISTAKES), *map(str, (row.true_positives, row.false_positives)),
             *map(str, (row.false_negatives, row.true_negatives)))
            for row in rows
        ]  # fmt: skip
        yield Section(
            f"Agreement on the {aspect}",
            [*counts, *(NAMES[name] for name in _AGREEING)],
            agreeing,
            _note(study, rows) if aspect == "outcome" or study.judges[0].aspect == "process" else _process_note(rows),
            picture=_forest(study, rows, "kappa"),
        )
        yield Section(
            f"Mistakes about the {aspect}",
            ["judge", *(NAMES[name] for name in _MISTAKES), "TP", "FP", "FN", "TN"],
            mistakes,
            "FPR: share of the failures that the judge passes. FNR: share of the successes that it fails.",
            picture=_forest(study, rows, "fpr"),
        )


def _note(study: Study, rows: Sequence[JudgeRow]) -> str:
    counted = "count as failures" if study.missing == "failure" else "are left out"
    stage = f", {study.stage} labels" if study.by_stage else ""
    said = [
        f"{study.items} items in {study.clusters} clusters{stage}. 95 % intervals from resampling whole "
        f"clusters. Items without a verdict (missing / unsure / third) {counted}.",
    ]
    unknown = [row.judge for row in rows if row.baseline and row.items == 0]
    columns = {"it terminated": "terminated", "shortest wins": "steps"}
    said += [f"{name}: unknown without a column `{columns[name]}`." for name in unknown if name in columns]
    return " ".join([*said, *study.notes])


def _process_note(rows: Sequence[JudgeRow]) -> str:
    taken = [row.judge for row in rows if row.process_from == "outcome"]
    return f"Without scores of their own, taken by their outcome: {', '.join(taken)}." if taken else ""


def _ceiling(study: Study) -> Iterator[Section]:
    if not study.ceiling:
        return
    rows = [
        (f"{one.kind}, {one.stage}", str(one.raters), str(one.items), str(one.disagreements), _cell(one.same),
         _cell(one.kappa), _cell(one.alpha), _cell(one.pearson), _cell(one.mean_absolute_difference))
        for one in study.ceiling
    ]  # fmt: skip
    headings = ("labels", "raters", "items", "disagree", "same", "kappa", "alpha", "Pearson", "mean abs. difference")
    note = "Two people on one item, over the items that several people labeled. No judge can be shown to do better."
    yield Section("The ceiling: people among themselves", headings, rows, note)
    pairs = [
        (
            f"{one.kind}, {one.stage}",
            _line(pair.first),
            _line(pair.second),
            str(pair.items),
            _cell(pair.same),
            _cell(pair.kappa),
        )
        for one in study.ceiling
        if len(one.pairs) > 1
        for pair in one.pairs
    ]
    if pairs:
        yield Section("Pairs of people", ("labels", "rater", "rater", "items", "same", "kappa"), pairs)


def _pairs(study: Study) -> Iterator[Section]:
    if not study.pairs:
        return
    shown = ("accuracy", "kappa", "fpr", "fnr")
    rows = [
        (_line(pair.first), _line(pair.second), *map(str, (pair.items, pair.only_first_right, pair.only_second_right)),
         *(_difference(pair.differences[name], pair.p_values[name]) for name in shown))
        for pair in study.pairs
    ]  # fmt: skip
    headings = ("first", "second", "items", "only first right", "only second right", *(NAMES[name] for name in shown))
    note = "First minus second, on the items on which both decided; p-values are adjusted by Holm's method."
    yield Section("Judges against each other", headings, rows, note)


def _scores(study: Study) -> Iterator[Section]:
    if study.scores:
        rows = [
            (_line(row.judge), row.against, str(row.items), _cell(row.pearson), _cell(row.spearman),
             _cell(row.mean_absolute_difference))
            for row in study.scores
        ]  # fmt: skip
        headings = ("judge", "against", "pairs", "Pearson", "Spearman", "mean abs. difference")
        yield Section("Process scores", headings, rows)


def _stages(study: Study) -> Iterator[Section]:
    if study.by_stage:
        rows = [
            (_name(row), row.aspect, row.stage, str(row.items), *_cells(row, _SHORT)) for row in study.by_stage
        ]  # fmt: skip
        headings = ("judge", "labels", "stage", "items", *(NAMES[name] for name in _SHORT))
        yield Section("Before and after people saw a judge", headings, rows)
    if study.flips:
        flips = [
            (_line(one.judge), one.aspect, str(one.labels), f"{one.flipped} ({percent(one.flipped / one.labels)})",
             str(one.to_fail), str(one.to_pass), str(one.towards_judge_fail), str(one.towards_judge_pass),
             str(one.away), str(one.unknown))
            for one in study.flips
        ]  # fmt: skip
        headings = ("judge", "labels", "in both", "flipped", "to fail", "to pass")
        headings += ("to its fail", "to its pass", "away from it", "it was silent")
        yield Section("Minds that were changed", headings, flips)


def _groups(study: Study) -> Iterator[Section]:
    for dimension in dict.fromkeys(row.dimension for row in study.groups):
        for aspect in ("outcome", "process"):
            own = [row for row in study.groups if (row.dimension, row.aspect) == (dimension, aspect)]
            if own:
                rows = [
                    (_line(row.group), _name(row), str(row.items), _silent(row), percent(row.unterminated),
                     percent(row.reference_rate), percent(row.judge_rate), *_cells(row, _SHORT))
                    for row in own
                ]  # fmt: skip
                headings = [dimension, "judge", "items", "no verdict", "over budget", "reference", "judge says"]
                headings += [NAMES[name] for name in _SHORT]
                yield Section(f"By {dimension}: {aspect}", headings, rows, narrow=(0, 1, 2, 7, 9, 10, 11))


def _repeats(study: Study) -> Iterator[Section]:
    if study.repeats:
        rows = [
            (_line(one.judge), one.aspect, str(one.runs), percent(one.unstable),
             *(_plus_minus(one.mean[name], one.deviation[name]) for name in METRICS))
            for one in study.repeats
        ]  # fmt: skip
        headings = ("judge", "labels", "runs", "unstable items", *(NAMES[name] for name in METRICS))
        yield Section("The same judge again: mean ± standard deviation over its runs", headings, rows)


def _endings(study: Study) -> Iterator[Section]:
    if study.endings:
        rows = [
            (one.ending, str(one.passed), str(one.failed), str(one.passed + one.failed), percent(one.rate.value))
            for one in study.endings
        ]
        yield Section("By how it ended", ("trajectory", "success", "failure", "total", "success rate"), rows)


def _labels(study: Study) -> Section:
    own = study.reference
    rows = [
        ("annotators", f"{len(own.raters)}: {_line(', '.join(own.raters[:6]))}{'…' if len(own.raters) > 6 else ''}"),
        *((f"labels: {said}", str(count)) for said, count in own.said.items()),
        ("items that passed", str(own.passed)),
        ("items that failed", str(own.failed)),
        ("ties broken by a third", str(own.ties_broken)),
        ("tied, left out", str(own.tied)),
        ("undecided, left out", str(own.undecided)),
        *((f"third label {word!r}", str(count)) for word, count in own.third_labels.items()),
    ]
    return Section("The labels", ("what", "count"), rows)


def data_of(study: Study) -> Section:
    """Every metric of every row, for a spreadsheet."""
    headings = ("judge", "baseline", "labels", "stage", "dimension", "group", "items", "missing", "unsure", "third")
    rows = [
        (row.judge, str(row.baseline), row.aspect, row.stage, row.dimension, row.group,
         *map(str, (row.items, row.missing, row.unsure, row.third)), name, *map(_exact, (one.value, one.low, one.high)))
        for row in (*study.judges, *study.groups, *study.by_stage)
        for name, one in row.metrics.items()
    ]  # fmt: skip
    return Section("data", (*headings, "metric", "value", "low", "high"), rows)


# --- cells --------------------------------------------------------------------------------------------------------


def _exact(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"


def _name(row: JudgeRow) -> str:
    return f"{_line(row.judge)} (baseline)" if row.baseline else _line(row.judge)


def _line(name: str) -> str:
    """Names come from outside."""
    return " ".join(name.split())


def _silent(row: JudgeRow) -> str:
    """Missing, unsure, third."""
    silent = (row.missing, row.unsure, row.third)
    return "0" if not any(silent) else " / ".join(map(str, silent))


def _cells(row: JudgeRow, names: Sequence[str]) -> list[str]:
    return [_cell(row.metrics[name]) for name in names]


def _cell(interval: Interval | None) -> str:
    """The interval stands below the number: eight of them beside each other fit no terminal."""
    if interval is None or interval.value is None:
        return DASH
    if interval.low is None or interval.high is None:
        return f"{interval.value:.3f}"
    return f"{interval.value:.3f}\n[{interval.low:.2f}, {interval.high:.2f}]"


def _difference(interval: Interval, p: float | None) -> str:
    if interval.value is None:
        return DASH
    bounds = "" if interval.low is None else f"\n[{interval.low:+.2f}, {interval.high:+.2f}]"
    return f"{interval.value:+.3f}{bounds}" + ("" if p is None else f"\np = {p:.3f}")


def _plus_minus(mean: float | None, deviation: float | None) -> str:
    if mean is None:
        return DASH
    return f"{mean:.3f}" if deviation is None else f"{mean:.3f} ± {deviation:.3f}"


def _forest(study: Study, rows: Sequence[JudgeRow], metric: str) -> str:
    bars = [
        Bar(_name(row), one, _cell(one).replace("\n", " "), row.baseline)
        for row in rows
        if (one := row.metrics[metric]).value is not None
    ]
    if metric == "kappa":
        bars += [
            Bar(f"two people, {one.kind}", one.kappa, _cell(one.kappa).replace("\n", " "), faint=True)
            for one in study.ceiling
            if one.stage == study.stage and one.kind == rows[0].aspect
        ]
    if not bars:
        return ""
    least = min(bar.interval.low if bar.interval.low is not None else bar.interval.value or 0.0 for bar in bars)
    low = -0.4 if metric == "kappa" and least < -0.2 else -0.2 if metric == "kappa" and least < 0 else 0.0
    drawn = forest(bars, low=low, high=1.0, step=0.2, percent=False)
    return f'<p class="note">{NAMES[metric]}, with 95 % intervals</p>{drawn}'
