"""The same episodes under two protocols: what the old one gets wrong by the new one's word (the paper's Table 4).

A false negative is an episode that only the verified protocol passes, a false positive one that only the old one does.
The paper does not say of what its 11.3 % are a share, so both shares are here: of the episodes that the verified
protocol passes (fails), and of all that both decided.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from webassay.analysis.numbers import stats
from webassay.analysis.numbers.intervals import interval
from webassay.analysis.output import text
from webassay.analysis.output.document import Section
from webassay.core.record import Record
from webassay.core.report import Interval
from webassay.core.verdict import Status

SCORED = frozenset(("pass", "fail"))


class EpisodePair(Record):
    """One episode."""

    agent: str
    task: str
    """Its number, which both benchmarks share."""
    template: str
    site: str
    kind: str
    hard: bool
    old: Status
    verified: Status
    why_old: str = ""
    why_verified: str = ""

    @property
    def decided(self) -> bool:
        return {self.old, self.verified} <= SCORED


class EpisodeGroup(Record):
    """Some of the episodes, such as those of one site."""

    name: str
    episodes: int
    undecided: int
    """That at least one of the protocols could not decide."""
    both_pass: int
    only_verified: int
    only_old: int
    both_fail: int
    missed: Interval
    """False negatives among what the verified protocol passes, Wilson."""
    credited: Interval
    """False positives among what the verified protocol fails, Wilson."""
    missed_of_all: Interval
    credited_of_all: Interval


class Scores(Record):
    """A line of Table 4: the old protocol's plain rate, and the verified protocol's mean over templates."""

    agent: str
    tasks: str
    old: Interval
    """Share of the episodes that the old protocol decided, with Wilson's interval."""
    verified: Interval
    verified_as_published: Interval
    """With the paper's t-interval."""


class Protocols(Record):
    scores: tuple[Scores, ...]
    parts: tuple[EpisodeGroup, ...]
    pairs: tuple[EpisodePair, ...]


def compare_protocols(pairs: Sequence[EpisodePair]) -> Protocols:
    agents = dict.fromkeys(pair.agent for pair in pairs)
    subsets: dict[str, Callable[[EpisodePair], bool]] = {"full": lambda pair: True, "hard": lambda pair: pair.hard}
    return Protocols(
        scores=tuple(
            _scores(agent, name, [pair for pair in pairs if pair.agent == agent and wanted(pair)])
            for agent in agents
            for name, wanted in subsets.items()
            if any(pair.agent == agent and wanted(pair) for pair in pairs)
        ),
        parts=(
            _part("all", pairs),
            *_by("kind", pairs, lambda pair: pair.kind),
            *_by("site", pairs, lambda pair: pair.site),
        ),
        pairs=tuple(pairs),
    )


def _by(what: str, pairs: Sequence[EpisodePair], group: Callable[[EpisodePair], str]) -> Iterable[EpisodeGroup]:
    for name in sorted({group(pair) for pair in pairs}):
        yield _part(f"{what}: {name}", [pair for pair in pairs if group(pair) == name])


def _part(name: str, pairs: Sequence[EpisodePair]) -> EpisodeGroup:
    cells = Counter((pair.old, pair.verified) for pair in pairs if pair.decided)
    both, missed, credited, neither = (
        cells[one] for one in (("pass", "pass"), ("fail", "pass"), ("pass", "fail"), ("fail", "fail"))
    )
    decided = cells.total()
    return EpisodeGroup(
        name=name,
        episodes=len(pairs),
        undecided=len(pairs) - decided,
        both_pass=both,
        only_verified=missed,
        only_old=credited,
        both_fail=neither,
        missed=_share(missed, both + missed),
        credited=_share(credited, credited + neither),
        missed_of_all=_share(missed, decided),
        credited_of_all=_share(credited, decided),
    )


def _share(count: int, of: int) -> Interval:
    return interval(stats.wilson(count, of))


def _scores(agent: str, tasks: str, pairs: Sequence[EpisodePair]) -> Scores:
    old = [pair.old for pair in pairs if pair.old in SCORED]
    scored = [(one.template, one.task, float(one.verified == "pass")) for one in pairs if one.verified in SCORED]
    rates = stats.template_rates(scored).values()
    return Scores(
        agent=agent,
        tasks=tasks,
        old=_share(old.count("pass"), len(old)),
        verified=interval(stats.mean_share(rates, len({task for _, task, _ in scored}))),
        verified_as_published=interval(stats.t_interval(rates)),
    )


def of_protocols(made: Protocols) -> list[Section]:
    scores = [
        (
            one.agent,
            one.tasks,
            text.with_bounds(one.old),
            text.with_bounds(one.verified),
            _half_width(one.verified_as_published),
        )
        for one in made.scores
    ]  # fmt: skip
    parts = [
        (one.name, str(one.episodes), str(one.undecided), str(one.both_pass), str(one.only_verified), str(one.only_old),
         str(one.both_fail), text.with_bounds(one.missed), text.with_bounds(one.credited),
         text.with_bounds(one.missed_of_all), text.with_bounds(one.credited_of_all))
        for one in made.parts
    ]  # fmt: skip
    differing = [
        (one.agent, one.task, one.site, one.kind, one.old, one.verified, one.why_old, one.why_verified)
        for one in made.pairs
        if one.old != one.verified
    ]
    return [
        Section(
            "Success under both",
            ("agent", "tasks", "old protocol", "verified, template-macro", "with the published interval"),
            scores,
            "The two columns are not comparable: one is a share of episodes, the other a mean over templates.",
        ),
        Section(
            "Where they part",
            ("episodes of", "all", "undecided", "both pass", "only verified", "only old", "both fail",
             "false negatives", "false positives", "FN of all", "FP of all"),
            parts,
            "False negatives: the old protocol fails what the verified one passes, as a share of the latter. "
            "False positives: the old protocol passes what the verified one fails.",
            narrow=(0, 1, 2, 3, 4, 5, 6, 7, 8),
        ),
        Section(
            "Episodes that differ",
            ("agent", "task", "site", "kind", "old", "verified", "old says", "verified says"),
            differing,
        ),
    ]  # fmt: skip


def _half_width(share: Interval) -> str:
    if share.value is None or share.low is None or share.high is None:
        return "–"
    return f"{100 * share.value:.1f} % ± {50 * (share.high - share.low):.1f} %"
