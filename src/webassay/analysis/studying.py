"""Each judge against people, against trivial baselines and against each other, beside how far people agree among
themselves.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import fmean, stdev
from typing import Literal

import numpy as np

from webassay.analysis import metrics, stats
from webassay.analysis.behaviour import interval
from webassay.analysis.ceiling import ceilings
from webassay.analysis.ratings import (
    Aspect,
    Facts,
    Gathered,
    Judge,
    Rating,
    Truth,
    baselines,
    decide,
    judges_of,
    words_of,
)
from webassay.analysis.stats import Floats
from webassay.analysis.study import (
    DIMENSIONS,
    EndingRow,
    Flips,
    JudgeRow,
    Paired,
    Reference,
    Repeats,
    ScoreRow,
    Study,
    StudyOptions,
)
from webassay.core.errors import InputError
from webassay.core.labels import Said, Stage, decided

MOST_PAIRS = 45
"""Of judges; beyond that each is compared with the best one only."""
_SHOWN = 3


def study(gathered: Gathered, options: StudyOptions) -> Study:
    return _Studying(gathered, options).made()


class _Studying:
    def __init__(self, gathered: Gathered, options: StudyOptions) -> None:
        self.options = options
        self.labels = gathered.labels
        self.facts: Mapping[str, Facts] = defaultdict(Facts, gathered.facts)
        self.judges = judges_of(gathered.predictions)
        self.stages: list[Stage] = [s for s in ("blind", "informed") if any(one.stage == s for one in self.labels)]
        # A file without blind labels is judged by the others.
        self.stage: Stage = options.stage if options.stage in self.stages else self.stages[0]
        self.items = list(dict.fromkeys(one.item for one in self.labels))
        _refuse_strangers(self.items, self.judges)

    @cached_property
    def truths(self) -> Mapping[Stage, Truth]:
        return {stage: self._truth(stage) for stage in self.stages}

    def _truth(self, stage: Stage) -> Truth:
        own = (one for one in self.labels if one.stage == stage)
        return decide(own, tie_breaker=self.options.tie_breaker, threshold=self.options.threshold)

    def cluster_of(self, item: str) -> str:
        return self.facts[item].cluster or item

    def made(self) -> Study:
        truth = self.truths[self.stage]
        if not truth.outcome and not truth.process:
            raise InputError(
                "No label says pass or fail.",
                hint=f"Found: {', '.join(map(repr, self._words()))}. Say what they mean: --pass WORD --fail WORD.",
            )
        aspects: list[Aspect] = [aspect for aspect in ("outcome", "process") if truth.of(aspect)]
        trivial = baselines(self.facts, list(truth.outcome))
        rows = [
            self.row(judge, aspect)
            for aspect in aspects
            for judge in (*self.judges, *(trivial if aspect == "outcome" else ()))
        ]
        return Study(
            items=len(self.items),
            clusters=len({self.cluster_of(item) for item in self.items}),
            stage=self.stage,
            threshold=self.options.threshold,
            missing=self.options.missing,
            draws=self.options.draws,
            reference=self._reference(truth),
            judges=tuple(rows),
            groups=tuple(self._groups(aspects)),
            by_stage=tuple(self._by_stage()),
            scores=tuple(self._scores(truth)),
            ceiling=ceilings(self.labels, self.cluster_of, self.options.threshold, self.options.draws),
            pairs=tuple(self._pairs(truth)),
            flips=tuple(self._flips()),
            repeats=tuple(self._repeats(aspects)),
            endings=tuple(self._endings(truth)),
            notes=tuple(self._notes()),
        )

    def _words(self) -> list[str]:
        return list(words_of(self.labels))[:_SHOWN] or ["nothing"]

    def _reference(self, truth: Truth) -> Reference:
        own = [one for one in self.labels if one.stage == self.stage]
        return Reference(
            raters=tuple(dict.fromkeys(one.rater for one in own)),
            said=dict(Counter(one.said for one in own)),
            third_labels=words_of(own),
            passed=sum(truth.outcome.values()),
            failed=len(truth.outcome) - sum(truth.outcome.values()),
            tied=len(truth.tied),
            ties_broken=len(truth.broken),
            undecided=len(truth.undecided),
        )

    # --- against the reference ----------------------------------------------------------------------------

    def row(
        self,
        judge: Judge,
        aspect: Aspect,
        stage: Stage | None = None,
        only: Sequence[str] | None = None,
        named: tuple[str, str] = ("", ""),
    ) -> JudgeRow:
        stage = stage or self.stage
        truth = self.truths[stage].of(aspect)
        items = list(truth) if only is None else [item for item in only if item in truth]
        compared = [self.compared(judge, run, aspect, items, truth) for run in judge.runs]
        cells = np.concatenate([metrics.counts_of(one.said, one.truth) for one in compared])
        cluster = np.concatenate([one.cluster for one in compared])
        total = cells.sum(axis=0) if len(cells) else np.zeros(4)
        found = metrics.measure(metrics.by_cluster(cells, cluster), draws=self.options.draws, seed=self.options.seed)
        silent = Counter(kind for one in compared for kind in one.silent)
        ended = [end for item in items if (end := self.facts[item].terminated) is not None]
        return JudgeRow(
            judge=judge.name,
            aspect=aspect,
            stage=stage,
            dimension=named[0],
            group=named[1],
            baseline=judge.baseline,
            process_from=judge.process_from() if aspect == "process" else "",
            runs=len(judge.runs),
            items=len(cells),
            missing=silent["missing"],
            unsure=silent["unsure"],
            third=silent["third"],
            true_positives=int(total[metrics.TP]),
            false_positives=int(total[metrics.FP]),
            false_negatives=int(total[metrics.FN]),
            true_negatives=int(total[metrics.TN]),
            reference_rate=sum(truth[item] for item in items) / len(items) if items else None,
            judge_rate=float(total[metrics.TP] + total[metrics.FP]) / len(cells) if len(cells) else None,
            unterminated=1 - sum(ended) / len(ended) if ended else None,
            metrics={name: interval(one) for name, one in found.estimates.items()},
        )

    def compared(
        self, judge: Judge, run: str, aspect: Aspect, items: Sequence[str], truth: Mapping[str, bool]
    ) -> "_Compared":
        verdicts = judge.verdicts(run, aspect, self.options.threshold)
        kept, said, silent = [], [], []
        for item in items:
            verdict = verdicts.get(item)
            if verdict is None:
                silent.append(_silence(judge.runs[run].get(item)))
                # A baseline that nothing is known for is no baseline that always fails.
                if self.options.missing == "left-out" or judge.baseline:
                    continue
            kept.append(item)
            said.append(bool(verdict))
        return _Compared(
            kept,
            np.array(said, dtype=bool),
            np.array([truth[item] for item in kept], dtype=bool),
            np.array([self.cluster_of(item) for item in kept], dtype=object if not kept else None),
            silent,
        )

    def _groups(self, aspects: Sequence[Aspect]) -> Iterator[JudgeRow]:
        wanted = self.options.by or [(name,) for name in DIMENSIONS if len(self._members((name,))) > 1]
        for dimensions in wanted:
            for group, members in self._members(dimensions).items():
                for aspect in aspects:
                    for judge in self.judges:
                        named = (" × ".join(dimensions), group)
                        yield self.row(judge, aspect, only=members, named=named)

    def _members(self, dimensions: Sequence[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for item in self.items:
            names = [str(getattr(self.facts[item], name)) for name in dimensions]
            if any(names):
                found[" × ".join(name or "none" for name in names)].append(item)
        return dict(sorted(found.items()))

    def _by_stage(self) -> Iterator[JudgeRow]:
        if len(self.stages) < 2:
            return
        for aspect in ("outcome", "process"):
            for judge in self.judges:
                for stage in self.stages:
                    if self.truths[stage].of(aspect):
                        yield self.row(judge, aspect, stage)

    # --- scores -------------------------------------------------------------------------------------------

    def _scores(self, truth: Truth) -> Iterator[ScoreRow]:
        single = [one for one in self.labels if one.stage == self.stage and one.score is not None]
        several = len({one.rater for one in single}) > 1
        for judge in (one for one in self.judges if one.has_scores):
            ratings = [one for own in judge.runs.values() for one in own.values() if one.score is not None]
            medians = [(one.item, one.score, truth.scores[one.item]) for one in ratings if one.item in truth.scores]
            yield self._score_row(judge.name, "median", medians)
            if several:
                given: dict[str, list[float]] = defaultdict(list)
                for label in single:
                    given[label.item].append(label.score or 0.0)
                each = [(one.item, one.score, score) for one in ratings for score in given[one.item]]
                yield self._score_row(judge.name, "each annotator", each)

    def _score_row(
        self,
        judge: str,
        against: Literal["median", "each annotator"],
        rows: Sequence[tuple[str, float | None, float]],
    ) -> ScoreRow:
        found = metrics.correlations(
            np.array([row[1] for row in rows], dtype=float),
            np.array([row[2] for row in rows], dtype=float),
            np.array([self.cluster_of(row[0]) for row in rows]),
            draws=self.options.draws,
            seed=self.options.seed,
        )
        return ScoreRow(
            judge=judge,
            against=against,
            items=len(rows),
            pearson=interval(found.pearson),
            spearman=interval(found.spearman),
            mean_absolute_difference=interval(found.mean_absolute_difference),
        )

    # --- two judges ---------------------------------------------------------------------------------------

    def _pairs(self, truth: Truth) -> list[Paired]:
        """By their first runs where they have several: pooled runs would pair a judge with itself."""
        items = list(truth.outcome)
        said = {
            judge.name: self.compared(judge, next(iter(judge.runs)), "outcome", items, truth.outcome)
            for judge in self.judges
        }
        wanted = list(combinations(said, 2))
        if len(wanted) > MOST_PAIRS:
            best = max(said, key=lambda name: float(np.mean(said[name].said == said[name].truth)))
            wanted = [(best, name) for name in said if name != best]
        made = [self._paired(first, second, said) for first, second in wanted]
        return _adjusted(made)

    def _paired(self, first: str, second: str, said: Mapping[str, "_Compared"]) -> Paired:
        one, other = said[first], said[second]
        places = {item: place for place, item in enumerate(other.items)}
        shared = [place for place, item in enumerate(one.items) if item in places]
        theirs = [places[one.items[place]] for place in shared]
        truth, cluster = one.truth[shared], one.cluster[shared]
        mine, yours = one.said[shared], other.said[theirs]
        parts = [metrics.by_cluster(metrics.counts_of(values, truth), cluster) for values in (mine, yours)]
        found = metrics.differences(parts[0], parts[1], draws=self.options.draws, seed=self.options.seed)
        right, also = mine == truth, yours == truth
        return Paired(
            first=first,
            second=second,
            items=len(shared),
            both_right=int((right & also).sum()),
            only_first_right=int((right & ~also).sum()),
            only_second_right=int((~right & also).sum()),
            both_wrong=int((~right & ~also).sum()),
            differences={name: interval(estimate) for name, (estimate, _) in found.items()},
            p_values={name: p for name, (_, p) in found.items()},
        )

    # --- blind and informed -------------------------------------------------------------------------------

    def _flips(self) -> Iterator[Flips]:
        if len(self.stages) < 2:
            return
        before = {(one.item, one.rater): one for one in self.labels if one.stage == "blind"}
        both = [
            (before[key], one)
            for one in self.labels
            if one.stage == "informed" and (key := (one.item, one.rater)) in before
        ]
        for aspect in ("outcome", "process"):
            changes = [
                (first.item, old, new)
                for first, second in both
                if (old := self._label(first, aspect)) is not None and (new := self._label(second, aspect)) is not None
            ]
            for judge in self.judges if changes else ():
                verdicts = judge.verdicts(next(iter(judge.runs)), aspect, self.options.threshold)
                yield _flips(aspect, judge.name, changes, verdicts)

    def _label(self, rating: Rating, aspect: Aspect) -> bool | None:
        """What a person said in so many words; the score only where they did not."""
        if aspect == "outcome":
            return decided(rating.said)
        if rating.process is not None or rating.score is None:
            return rating.process
        return rating.score >= self.options.threshold

    # --- the rest -----------------------------------------------------------------------------------------

    def _repeats(self, aspects: Sequence[Aspect]) -> Iterator[Repeats]:
        for judge in (one for one in self.judges if len(one.runs) > 1):
            for aspect in aspects:
                truth = self.truths[self.stage].of(aspect)
                compared = [self.compared(judge, run, aspect, list(truth), truth) for run in judge.runs]
                values = [metrics.measured(metrics.counts_of(one.said, one.truth).sum(axis=0)) for one in compared]
                known: dict[str, list[float]] = {
                    name: [float(one[name]) for one in values if not np.isnan(one[name])] for name in metrics.METRICS
                }
                votes: dict[str, set[bool]] = defaultdict(set)
                for one in compared:
                    for item, said in zip(one.items, one.said, strict=True):
                        votes[item].add(bool(said))
                yield Repeats(
                    judge=judge.name,
                    aspect=aspect,
                    runs=len(judge.runs),
                    mean={name: fmean(own) if own else None for name, own in known.items()},
                    deviation={name: stdev(own) if len(own) > 1 else None for name, own in known.items()},
                    lowest={name: min(own, default=None) for name, own in known.items()},
                    highest={name: max(own, default=None) for name, own in known.items()},
                    unstable=sum(len(own) > 1 for own in votes.values()) / len(votes) if votes else None,
                )

    def _endings(self, truth: Truth) -> Iterator[EndingRow]:
        for wanted in (False, True):
            own = [passed for item, passed in truth.outcome.items() if self.facts[item].terminated is wanted]
            if own:
                yield EndingRow(
                    ending="terminated" if wanted else "over budget",
                    passed=sum(own),
                    failed=len(own) - sum(own),
                    rate=interval(stats.wilson(sum(own), len(own))),
                )

    def _notes(self) -> Iterator[str]:
        labelled = set(self.items)
        for judge in self.judges:
            strangers = {item for own in judge.runs.values() for item in own} - labelled
            if strangers:
                named = ", ".join(sorted(strangers)[:_SHOWN]) + ("…" if len(strangers) > _SHOWN else "")
                yield f"{judge.name}: {len(strangers)} predictions have no label and are left out ({named})."
            words = words_of(one for own in judge.runs.values() for one in own.values())
            if words:
                yield f"{judge.name} gave third labels: {_listed(words)}."
        if words := words_of(one for one in self.labels if one.stage == self.stage):
            yield f"Third labels, left out of every comparison: {_listed(words)}."
        if self.stage != self.options.stage:
            yield f"There are no {self.options.stage} labels; the {self.stage} ones are used."
        if not any(self.facts[item].cluster for item in self.items):
            yield "No column `cluster`: every item counts as independent of the others."


@dataclass(frozen=True)
class _Compared:
    """One run of a judge beside the truth, item by item."""

    items: list[str]
    said: Floats
    truth: Floats
    cluster: Floats
    silent: list[Said]


def _silence(rating: Rating | None) -> Said:
    return rating.said if rating is not None and rating.said in ("unsure", "third") else "missing"


def _flips(
    aspect: Aspect, judge: str, changes: Sequence[tuple[str, bool, bool]], verdicts: Mapping[str, bool | None]
) -> Flips:
    flipped = [(verdicts.get(item), new) for item, old, new in changes if old != new]
    return Flips(
        aspect=aspect,
        judge=judge,
        labels=len(changes),
        flipped=len(flipped),
        to_fail=sum(not new for _, new in flipped),
        to_pass=sum(new for _, new in flipped),
        towards_judge_fail=sum(said is False and not new for said, new in flipped),
        towards_judge_pass=sum(said is True and new for said, new in flipped),
        away=sum(said is not None and said != new for said, new in flipped),
        unknown=sum(said is None for said, _ in flipped),
    )


def _adjusted(pairs: Sequence[Paired]) -> list[Paired]:
    """Holm's adjustment over the pairs, metric by metric."""
    changed: list[dict[str, float | None]] = [dict(pair.p_values) for pair in pairs]
    for name in metrics.METRICS:
        places = [place for place, own in enumerate(changed) if own[name] is not None]
        for place, p in zip(places, stats.holm([changed[place][name] or 0.0 for place in places]), strict=True):
            changed[place][name] = p
    return [pair.model_copy(update={"p_values": own}) for pair, own in zip(pairs, changed, strict=True)]


def _listed(words: Mapping[str, int]) -> str:
    shown = [f"{word!r} {count} times" for word, count in list(words.items())[:_SHOWN]]
    return ", ".join(shown) + (f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else "")


def _refuse_strangers(items: Sequence[str], judges: Sequence[Judge]) -> None:
    """If no id fits, something is named differently: better said at once than shown as empty tables."""
    if not items:
        raise InputError("There are no labels.", hint="The first file needs the columns id and label.")
    known = set(items)
    for judge in judges:
        theirs = [item for own in judge.runs.values() for item in own]
        if not known.intersection(theirs):
            raise InputError(
                f"No id of {judge.name} has a label: {', '.join(theirs[:_SHOWN])} against {', '.join(items[:_SHOWN])}.",
                hint="Say which columns make the id: --map id=COLUMN, or --map id=ONE,OTHER.",
            )
