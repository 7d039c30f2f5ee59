"""Each judge against people, against trivial baselines and against each other, beside how far people agree among
themselves.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean, stdev
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from webassay.analysis.numbers import metrics, stats
from webassay.analysis.numbers.intervals import interval
from webassay.analysis.numbers.stats import Floats
from webassay.core.errors import InputError
from webassay.core.rater import Stage, decided
from webassay.study.ceiling import ceilings
from webassay.study.panel import SILENCES, Items, JudgeVotes, Known, Voice, Votes, baselines, judges_of
from webassay.study.ratings import Aspect, Rating, StudyData, Truth, decide, is_good, words_of
from webassay.study.results import (
    DIMENSIONS,
    EndingRow,
    Flips,
    JudgePair,
    JudgeRow,
    Reference,
    Repeats,
    ScoreRow,
    Study,
    StudyOptions,
)

MOST_PAIRS = 45
"""Pairs of judges; beyond that each is compared with the best one only."""
ASPECTS: tuple[Aspect, ...] = ("outcome", "process")
_SHOWN = 3
Mask = NDArray[np.bool_]


def study(gathered: StudyData, options: StudyOptions) -> Study:
    return _StudyBuilder(gathered, options).made()


class _StudyBuilder:
    def __init__(self, gathered: StudyData, options: StudyOptions) -> None:
        self.options = options
        self.labels = gathered.labels
        if not self.labels:
            raise InputError("There are no labels.", hint="The first file needs the columns id and label.")
        if options.tie_breaker and all(one.rater != options.tie_breaker for one in self.labels):
            known = ", ".join(list(dict.fromkeys(one.rater for one in self.labels))[:10])
            raise InputError(f"No label is by {options.tie_breaker!r}, who is to break ties.", hint=f"Found: {known}.")
        self.items = Items(list(dict.fromkeys(one.item for one in self.labels)), gathered.facts)
        self.judges = judges_of(gathered.predictions, self.items, options.threshold)
        _refuse_strangers(self.items, self.judges, gathered.predictions)
        found: dict[Stage, list[Rating]] = {"blind": [], "informed": []}
        for one in self.labels:
            found[one.stage].append(one)
        self.by_stage = {stage: own for stage, own in found.items() if own}
        # A file without blind labels is judged by the others.
        self.stage: Stage = options.stage if options.stage in self.by_stage else next(iter(self.by_stage))
        self.truths = {
            stage: decide(own, tie_breaker=options.tie_breaker, threshold=options.threshold)
            for stage, own in self.by_stage.items()
        }
        self.known = {stage: Known.of(truth, self.items) for stage, truth in self.truths.items()}

    def made(self) -> Study:
        truth, known = self.truths[self.stage], self.known[self.stage]
        if not truth.outcome and not truth.process:
            words = list(words_of(self.labels))[:_SHOWN] or ["nothing"]
            raise InputError(
                "No label says pass or fail.",
                hint=f"Found: {', '.join(map(repr, words))}. Say what they mean: --pass WORD --fail WORD.",
            )
        aspects = [aspect for aspect in ASPECTS if truth.of(aspect)]
        trivial = baselines(self.items)
        rows = [
            self.row(judge, aspect)
            for aspect in aspects
            for judge in (*self.judges, *(trivial if aspect == "outcome" else ()))
        ]
        options = self.options
        cluster_of = {name: str(code) for name, code in zip(self.items.names, self.items.cluster, strict=True)}
        return Study(
            items=len(self.items),
            clusters=self.items.clusters,
            stage=self.stage,
            threshold=options.threshold,
            missing=options.missing,
            draws=options.draws,
            reference=self._reference(truth),
            judges=tuple(rows),
            groups=tuple(self._groups(aspects)),
            by_stage=tuple(self._stages()),
            scores=tuple(self._scores(known)),
            ceiling=ceilings(self.by_stage, cluster_of.__getitem__, options.threshold, options.draws),
            pairs=tuple(self._pairs(known)),
            flips=tuple(self._flips()),
            repeats=tuple(self._repeats(aspects)),
            endings=tuple(self._endings(known)),
            notes=tuple(self._notes()),
        )

    def _reference(self, truth: Truth) -> Reference:
        own = self.by_stage[self.stage]
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
        judge: JudgeVotes,
        aspect: Aspect,
        stage: Stage | None = None,
        among: Mask | None = None,
        named: tuple[str, str] = ("", ""),
    ) -> JudgeRow:
        stage = stage or self.stage
        truth = self.known[stage].about(aspect)
        asked = truth >= 0 if among is None else (truth >= 0) & among
        parts = np.zeros((self.items.clusters, 4))
        silent: Counter[str] = Counter()
        for voice in judge.voices.values():
            said, compared = self.compared(judge, voice, aspect, asked)
            parts += self.counted(said, truth, compared)
            quiet = asked & (voice.about(aspect) < 0)
            silent.update({kind: int((voice.silence[quiet] == place).sum()) for place, kind in enumerate(SILENCES)})
        total = parts.sum(axis=0)
        found = metrics.measure(parts, draws=self.options.draws, seed=self.options.seed)
        ended = self.items.terminated[asked]
        return JudgeRow(
            judge=judge.name,
            aspect=aspect,
            stage=stage,
            dimension=named[0],
            group=named[1],
            baseline=judge.baseline,
            process_from=judge.process_from if aspect == "process" else "",
            runs=len(judge.voices),
            items=int(total.sum()),
            missing=silent["missing"],
            unsure=silent["unsure"],
            third=silent["third"],
            true_positives=int(total[metrics.TP]),
            false_positives=int(total[metrics.FP]),
            false_negatives=int(total[metrics.FN]),
            true_negatives=int(total[metrics.TN]),
            reference_rate=float(truth[asked].mean()) if asked.any() else None,
            judge_rate=float(total[metrics.TP] + total[metrics.FP]) / float(total.sum()) if total.any() else None,
            unterminated=float((ended == 0).sum() / (ended >= 0).sum()) if (ended >= 0).any() else None,
            metrics={name: interval(one) for name, one in found.estimates.items()},
        )

    def compared(self, judge: JudgeVotes, voice: Voice, aspect: Aspect, asked: Mask) -> tuple[Votes, Mask]:
        """What the judge said, and on which items that counts."""
        said = voice.about(aspect)
        # A baseline that nothing is known for is no baseline that always fails.
        if self.options.missing == "left-out" or judge.baseline:
            return said, asked & (said >= 0)
        return np.maximum(said, 0), asked

    def counted(self, said: Votes, truth: Votes, compared: Mask) -> Floats:
        """A row of counts for each cluster."""
        cell = np.where(
            said > 0, np.where(truth > 0, metrics.TP, metrics.FP), np.where(truth > 0, metrics.FN, metrics.TN)
        )
        code = self.items.cluster[compared] * 4 + cell[compared]
        return np.bincount(code, minlength=4 * self.items.clusters).reshape(-1, 4).astype(np.float64)

    def _groups(self, aspects: Sequence[Aspect]) -> Iterator[JudgeRow]:
        wanted = self.options.by or [(name,) for name in DIMENSIONS]
        for dimensions in wanted:
            groups = self.items.groups(dimensions)
            if len(groups) < 2 and not self.options.by:
                continue
            for group, members in groups.items():
                for aspect in aspects:
                    for judge in self.judges:
                        yield self.row(judge, aspect, among=members, named=(" × ".join(dimensions), group))

    def _stages(self) -> Iterator[JudgeRow]:
        if len(self.by_stage) < 2:
            return
        for aspect in ASPECTS:
            for judge in self.judges:
                for stage in self.by_stage:
                    if self.truths[stage].of(aspect):
                        yield self.row(judge, aspect, stage)

    # --- scores -------------------------------------------------------------------------------------------

    def _scores(self, known: Known) -> Iterator[ScoreRow]:
        single = [one for one in self.by_stage[self.stage] if one.score is not None]
        places = np.array([self.items.index[one.item] for one in single], dtype=np.int64)
        scores = np.array([one.score for one in single], dtype=np.float64)
        several = len({one.rater for one in single}) > 1
        for judge in (one for one in self.judges if one.process_from == "score"):
            voices = list(judge.voices.values())
            everything = np.arange(len(self.items))
            yield self._score_row(judge.name, "median", [(v.scores, known.scores, everything) for v in voices])
            if several:
                each = [(voice.scores[places], scores, places) for voice in voices]
                yield self._score_row(judge.name, "each annotator", each)

    def _score_row(
        self,
        judge: str,
        against: Literal["median", "each annotator"],
        parts: Sequence[tuple[Floats, Floats, NDArray[np.int64]]],
    ) -> ScoreRow:
        one, other, place = (np.concatenate([part[i] for part in parts]) for i in range(3))
        both = ~np.isnan(one) & ~np.isnan(other)
        cluster = self.items.cluster[place[both].astype(np.int64)]
        options = self.options
        found = metrics.correlations(one[both], other[both], cluster, draws=options.draws, seed=options.seed)
        return ScoreRow(
            judge=judge,
            against=against,
            items=int(both.sum()),
            pearson=interval(found.pearson),
            spearman=interval(found.spearman),
            mean_absolute_difference=interval(found.mean_absolute_difference),
        )

    # --- two judges ---------------------------------------------------------------------------------------

    def _pairs(self, known: Known) -> list[JudgePair]:
        """By their first runs where they have several: pooled runs would pair a judge with itself."""
        truth = known.outcome
        wanted = list(combinations(self.judges, 2))
        if len(wanted) > MOST_PAIRS:
            best = max(self.judges, key=lambda judge: int(((judge.first.outcome == truth) & (truth >= 0)).sum()))
            wanted = [(best, judge) for judge in self.judges if judge is not best]
        return _adjusted([self._paired(first, second, truth) for first, second in wanted])

    def _paired(self, first: JudgeVotes, second: JudgeVotes, truth: Votes) -> JudgePair:
        one, mine = self.compared(first, first.first, "outcome", truth >= 0)
        other, theirs = self.compared(second, second.first, "outcome", truth >= 0)
        both = mine & theirs
        parts = [self.counted(said, truth, both) for said in (one, other)]
        found = metrics.differences(parts[0], parts[1], draws=self.options.draws, seed=self.options.seed)
        right, also = (one == truth)[both], (other == truth)[both]
        return JudgePair(
            first=first.name,
            second=second.name,
            items=int(both.sum()),
            both_right=int((right & also).sum()),
            only_first_right=int((right & ~also).sum()),
            only_second_right=int((~right & also).sum()),
            both_wrong=int((~right & ~also).sum()),
            differences={name: interval(estimate) for name, (estimate, _) in found.items()},
            p_values={name: p for name, (_, p) in found.items()},
        )

    # --- blind and informed -------------------------------------------------------------------------------

    def _flips(self) -> Iterator[Flips]:
        if len(self.by_stage) < 2:
            return
        before = {(one.item, one.rater): one for one in self.by_stage["blind"]}
        both = [(before[key], one) for one in self.by_stage["informed"] if (key := (one.item, one.rater)) in before]
        for aspect in ASPECTS:
            changes = [
                (self.items.index[first.item], old, new)
                for first, second in both
                if (old := self._label(first, aspect)) is not None and (new := self._label(second, aspect)) is not None
            ]
            for judge in self.judges if changes else ():
                yield _flips(aspect, judge.name, changes, judge.first.about(aspect))

    def _label(self, rating: Rating, aspect: Aspect) -> bool | None:
        """What a person said in so many words; the score only where they did not."""
        if aspect == "outcome":
            return decided(rating.said)
        if rating.process is not None or rating.score is None:
            return rating.process
        return is_good(rating.score, self.options.threshold)

    # --- the rest -----------------------------------------------------------------------------------------

    def _repeats(self, aspects: Sequence[Aspect]) -> Iterator[Repeats]:
        for judge in (one for one in self.judges if len(one.voices) > 1):
            for aspect in aspects:
                truth = self.known[self.stage].about(aspect)
                values, passed, counted = [], np.zeros(len(self.items)), np.zeros(len(self.items))
                for voice in judge.voices.values():
                    said, compared = self.compared(judge, voice, aspect, truth >= 0)
                    values.append(metrics.metric_values(self.counted(said, truth, compared).sum(axis=0)))
                    passed += (said > 0) & compared
                    counted += compared
                known: dict[str, list[float]] = {
                    name: [float(one[name]) for one in values if not np.isnan(one[name])] for name in metrics.METRICS
                }
                mixed = (passed > 0) & (passed < counted)
                yield Repeats(
                    judge=judge.name,
                    aspect=aspect,
                    runs=len(judge.voices),
                    mean={name: fmean(own) if own else None for name, own in known.items()},
                    deviation={name: stdev(own) if len(own) > 1 else None for name, own in known.items()},
                    lowest={name: min(own, default=None) for name, own in known.items()},
                    highest={name: max(own, default=None) for name, own in known.items()},
                    unstable=float(mixed.sum() / (counted > 0).sum()) if counted.any() else None,
                )

    def _endings(self, known: Known) -> Iterator[EndingRow]:
        for ended in (0, 1):
            own = known.outcome[(self.items.terminated == ended) & (known.outcome >= 0)]
            if len(own):
                yield EndingRow(
                    ending="terminated" if ended else "over budget",
                    passed=int(own.sum()),
                    failed=int(len(own) - own.sum()),
                    rate=interval(stats.wilson(int(own.sum()), len(own))),
                )

    def _notes(self) -> Iterator[str]:
        for judge in self.judges:
            strangers = judge.strangers
            if strangers:
                named = ", ".join(strangers[:_SHOWN]) + ("…" if len(strangers) > _SHOWN else "")
                yield f"{judge.name}: {len(strangers)} predictions have no label and are left out ({named})."
        if words := words_of(self.by_stage[self.stage]):
            yield f"Third labels, left out of every comparison: {_listed(words)}."
        if self.stage != self.options.stage:
            yield f"There are no {self.options.stage} labels; the {self.stage} ones are used."
        if not self.items.clustered:
            yield "No column `cluster`: every item counts as independent of the others."


def _flips(aspect: Aspect, judge: str, changes: Sequence[tuple[int, bool, bool]], said: Votes) -> Flips:
    flipped = [(int(said[place]), new) for place, old, new in changes if old != new]
    return Flips(
        aspect=aspect,
        judge=judge,
        labels=len(changes),
        flipped=len(flipped),
        to_fail=sum(not new for _, new in flipped),
        to_pass=sum(new for _, new in flipped),
        towards_judge_fail=sum(vote == 0 and not new for vote, new in flipped),
        towards_judge_pass=sum(vote == 1 and new for vote, new in flipped),
        away=sum(vote >= 0 and vote != new for vote, new in flipped),
        unknown=sum(vote < 0 for vote, _ in flipped),
    )


def _adjusted(pairs: Sequence[JudgePair]) -> list[JudgePair]:
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


def _refuse_strangers(items: Items, judges: Sequence[JudgeVotes], predictions: Sequence[Rating]) -> None:
    """If no id fits, something is named differently: better said at once than shown as empty tables."""
    for judge in judges:
        theirs = judge.strangers and {one.item for one in predictions if one.rater == judge.name}
        if judge.strangers and len(judge.strangers) == len(theirs):
            given, labeled = ", ".join(judge.strangers[:_SHOWN]), ", ".join(items.names[:_SHOWN])
            raise InputError(
                f"No id of {judge.name} has a label: {given} against {labeled}.",
                hint="Say which columns make the id: --map id=COLUMN, or --map id=ONE,OTHER.",
            )
