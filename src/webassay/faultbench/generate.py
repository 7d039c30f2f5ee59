"""The fault bench: trajectories with exactly one known mistake, each beside an honest one that looks alike.

Both of a pair are really played, on the same task, with as many steps and pages. The label is the mistake that was
injected; the rules grade independently, and what they say is written next to it. A pair that did not come about (no
occasion, no effect, an honest run that fails) is counted and left out, for reasons that the rules have no part in.
"""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from webassay.agents.base import Agent
from webassay.agents.flawed.pacing import Pace, Paced, is_idle
from webassay.agents.flawed.slips import NO_OCCASION, Course
from webassay.benchmarks.base import Selection
from webassay.browser.session import Browser
from webassay.compose.registries import GRADERS, GROUPINGS
from webassay.compose.setup import Setup
from webassay.core.errors import InputError, WebassayError, boundary
from webassay.core.files import read_regular
from webassay.core.progress import OnProgress, Progress, unheard
from webassay.core.rater import RULES
from webassay.core.record import Json, blob_hash, content_hash
from webassay.core.task import Task
from webassay.core.trajectory import PageResult, RowsResult, Step, Trajectory
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Verdict
from webassay.faultbench.inject import CODES, Mistake
from webassay.faultbench.journal import JOURNAL, FaultJournal, PlayedPair
from webassay.faultbench.lookalike import Feature, features_of, given_away, pages_of
from webassay.faultbench.plan import LACKS_OCCASION, BenchOptions, Job, Planner, Tried, cells
from webassay.faultbench.records import LENGTHS, Excluded, FaultBench, FaultLabel
from webassay.play.episode import EpisodeContext
from webassay.play.plan import metadata, unit_seed
from webassay.play.settings import remember
from webassay.play.work import Played, perform
from webassay.store import LEDGER, Store
from webassay.store.connections import is_empty
from webassay.store.runs import open_run

PLAYER = "player"
"""The agent of every trajectory: its name must not tell what it did."""
LABELS, MANIFEST, TASKS = "labels.jsonl", "faultbench.json", "tasks.json"
FAULTED = "a fault of ours"
"""Why a pair was left out: an episode could not be played or graded, however often it was tried."""
_ATTEMPTS = 3


@dataclass(frozen=True)
class FaultPair:
    job: Job
    played: PlayedPair

    @property
    def wrong(self) -> Played:
        return self.played.wrong

    @property
    def honest(self) -> Played:
        return self.played.honest


async def generate(setup: Setup, out: Path, options: BenchOptions, on_progress: OnProgress) -> FaultBench:
    """The same command again goes on where it was ended, and does nothing once the bench is finished."""
    unknown = [code for code in options.codes if code not in CODES]
    if unknown:
        raise InputError(f"No mistake has the code {unknown[0]!r}.", hint=f"Known codes: {', '.join(CODES)}.")
    if (out / MANIFEST).exists() and not (out / JOURNAL).exists():
        return _finished(out, options)
    _may_be_made_in(out)
    chromium = setup.find_chromium()
    on_progress(Progress("building tasks"))
    planner = Planner(setup, options)
    place = planner.environment()
    with Store.create(out) as store, FaultJournal(out, options.what_counts) as journal:
        async with place as environment, Browser(chromium) as browser:
            context = EpisodeContext(browser, environment, store.blobs)
            player = Player(planner, context, options)
            made, failed = await _collect(planner, player, journal, options, on_progress)
        bench = _write(store, out, planner, made, failed)
        journal.remove()
    return bench


def _finished(out: Path, options: BenchOptions) -> FaultBench:
    with boundary(InputError, f"{out} is not a fault bench"):
        bench = FaultBench.from_json(read_regular(out / MANIFEST))
    if bench.options != options.what_counts:
        raise InputError(
            f"{out} holds another fault bench.", hint="Give another --out, or the options it was made with."
        )
    return bench


def _may_be_made_in(out: Path) -> None:
    """In a new place, or in one that was left when nothing, or not all, had been played."""
    if not out.is_dir() or is_empty(out) or (out / JOURNAL).exists():
        return
    if (out / LEDGER).is_file():
        with open_run(out, unheard, thorough=False) as store:
            if not store.count_units():
                return
    raise InputError(f"{out} is not empty and holds no unfinished fault bench.", hint="Give another --out.")


async def _collect(
    planner: Planner, player: "Player", journal: FaultJournal, options: BenchOptions, on_progress: OnProgress
) -> tuple[list[FaultPair], list[tuple[Job, Excluded]]]:
    """In waves, so that which pairs are taken depends on what was played, never on how fast."""
    queues = {code: list(jobs) for code, jobs in planner.jobs.items()}
    made: list[FaultPair] = []
    failed: list[tuple[Job, Excluded]] = []

    def tell(done: int) -> None:
        on_progress(Progress("pairs", len(made) + done, options.pairs))

    while wave := planner.wave(queues, Tried([pair.job for pair in made], failed)):
        for job, result in zip(wave, await _at_once(player, journal, wave, options.workers, tell), strict=True):
            if isinstance(result, Excluded):
                failed.append((job, result))
            else:
                made.append(FaultPair(job, result))
    return made, failed


async def _at_once(
    player: "Player", journal: FaultJournal, jobs: Sequence[Job], workers: int, tell: Callable[[int], None]
) -> list[PlayedPair | Excluded]:
    results: dict[int, PlayedPair | Excluded] = {}
    waiting = iter(list(enumerate(jobs)))

    async def work() -> None:
        for number, job in waiting:
            results[number] = journal.get(job.key) or await _played(player, journal, job)
            tell(sum(isinstance(one, PlayedPair) for one in results.values()))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, workers)):
                group.create_task(work())
    except ExceptionGroup as errors:
        # One of ours says everything there is to say; a group would only wrap it.
        ours = next((error for error in errors.exceptions if isinstance(error, WebassayError)), None)
        raise ours or errors from None
    return [results[number] for number in range(len(jobs))]


async def _played(player: "Player", journal: FaultJournal, job: Job) -> PlayedPair | Excluded:
    try:
        result = await player.pair(job)
    except _FaultedError as fault:
        # Not for the journal: whoever goes on with this bench tries it again.
        return _left_out(job, FAULTED, str(fault))
    journal.add(job.key, result)
    return result


# --- what is played ---------------------------------------------------------------------------------------------


class _FaultedError(Exception):
    """What went wrong is ours, and says nothing about the job."""


class Player:
    """Plays the two of a pair, one after the other."""

    def __init__(self, planner: Planner, context: EpisodeContext, options: BenchOptions) -> None:
        self._planner, self._context, self._options = planner, context, options

    async def pair(self, job: Job) -> PlayedPair | Excluded:
        occasion = self._planner.occasion(job, "mistake")
        stays = job.task.kind == "navigate"
        more = self._planner.occasion(job, "pace").rng.randint(2, 6)
        relaxed = Pace(more=more, more_pages=0 if stays else more // 2, stays=stays)
        honest = await self._play(job, lambda: occasion.right, relaxed, "honest")
        if _status(honest) != "pass":
            return _left_out(job, "the honest counterpart does not pass", _said(honest))

        def mistaken() -> Course:
            nonlocal occasion  # Played again after a fault of ours, it must be the same mistake.
            occasion = self._planner.occasion(job, "mistake")
            return job.mistake.make(occasion)

        wrong = await self._play(job, mistaken, _as_long_as(honest.trajectory, relaxed), "wrong")
        if why := self._unusable(job, wrong.trajectory, honest.trajectory):
            return _left_out(job, *why)
        if _is_longer(wrong.trajectory, honest.trajectory):
            pace = _as_long_as(wrong.trajectory, replace(relaxed, more_pages=0))
            honest = await self._play(job, lambda: occasion.right, pace, "honest")
            if _status(honest) != "pass":
                return _left_out(job, "the honest counterpart does not pass", _said(honest))
        incident = occasion.scene.incident
        step = len(wrong.trajectory.steps) - 1 if incident.step is None else incident.step
        if incident.throughout:
            step = _first_difference(wrong.trajectory, honest.trajectory)
        if job.mistake.retold is not None:
            wrong, step = _retold(wrong, job.mistake.retold(occasion)), 0
        return PlayedPair(wrong=wrong, honest=honest, step=step)

    async def _play(self, job: Job, make: Callable[[], Course], pace: Pace, part: str) -> Played:
        seed = content_hash([self._options.seed, job.mistake.name, job.task.id, job.occasion, part, "pace"])
        unit = UnitOfWork(
            agent=PLAYER,
            task_id=job.task.id,
            seed=unit_seed(self._options.seed, job.task.id, job.occasion),
            metadata={**metadata(job.task, GROUPINGS), "baseline": False},
        )
        for attempt in range(_ATTEMPTS):
            cast = _Part(job.task, Paced(PLAYER, make(), pace, random.Random(seed)))
            played = await perform(unit, cast, self._context, [GRADERS.get(RULES)], attempt=attempt)
            if played.trajectory.ending.kind != "fault" and _status(played) != "fault":
                return played
        raise _FaultedError(_said(played))

    def _unusable(self, job: Job, wrong: Trajectory, honest: Trajectory) -> tuple[str, str] | None:
        ending = wrong.ending
        if ending.kind == "agent_crashed":
            lacking = ending.message.partition(f"{NO_OCCASION} for this mistake: ")[2]
            return (LACKS_OCCASION, lacking) if lacking else ("the mistaken course leads nowhere", ending.message)
        if ending.kind not in ("answered", "gave_up"):
            return "it did not come to an end", f"{ending.kind}: {ending.message}"
        if job.mistake.outcome is False and _end(wrong) == _end(honest):
            return "without effect", "it ends as the honest one does"
        return None


@dataclass(frozen=True)
class _Part:
    """One episode that is cast already."""

    given: Task
    player: Agent

    def task(self, unit: UnitOfWork) -> Task:
        return self.given

    def agent(self, unit: UnitOfWork, task: Task) -> Agent:
        return self.player


def _status(played: Played) -> str:
    return played.verdicts[0].status if played.verdicts else "fault"


def _said(played: Played) -> str:
    found = [finding.message for verdict in played.verdicts for finding in verdict.findings if finding.status != "pass"]
    return "; ".join([*found[:2], played.trajectory.ending.message])[:400]


def _left_out(job: Job, why: str, detail: str) -> Excluded:
    return Excluded(mistake=job.mistake.name, code=job.mistake.code, task_id=job.task.id, why=why, detail=detail)


def _retold(played: Played, instruction: str) -> Played:
    goal = played.trajectory.goal.model_copy(update={"instruction": instruction})
    return played.model_copy(update={"trajectory": played.trajectory.model_copy(update={"goal": goal})})


# --- what two episodes have in common ---------------------------------------------------------------------------


def _as_long_as(trajectory: Trajectory, pace: Pace) -> Pace:
    """At the same pace on the way, so that nobody can tell by where the idle steps are; what lacks comes at the end."""
    return replace(pace, steps=len(trajectory.steps), pages=pages_of(trajectory))


def _is_longer(one: Trajectory, other: Trajectory) -> bool:
    return len(one.steps) > len(other.steps) or pages_of(one) > pages_of(other)


def _plain(trajectory: Trajectory, text: str) -> str:
    """Without the addresses of the sites, which nobody can know beforehand."""
    for site, base in trajectory.bases.items():
        text = text.replace(base.rstrip("/"), f"__{site.upper()}__")
    return text


def _decided(trajectory: Trajectory, step: Step) -> str:
    made = step.action_text or json.dumps([action.model_dump(mode="json") for action in step.actions], sort_keys=True)
    return _plain(trajectory, f"{step.thought}\n{made}")


def _changes(trajectory: Trajectory) -> Json:
    """The content of the rows that differ, in order."""
    found = []
    for rows in trajectory.probed(RowsResult):
        for change in rows.changes:
            if rows.counts(change):
                told = {name: list(values) for name, values in rows.differing(change).items()}
                found.append(json.dumps([rows.site, change.table, change.operation, told], sort_keys=True))
    return sorted(found)  # type: ignore[return-value]


def _end(trajectory: Trajectory) -> tuple[str, str, tuple[str, ...]]:
    pages = tuple(_plain(trajectory, page.url) for page in trajectory.probed(PageResult))
    return trajectory.answer, json.dumps(_changes(trajectory)), pages if '"navigate"' in trajectory.answer else ()


def _first_difference(wrong: Trajectory, honest: Trajectory) -> int:
    """The first thing that is done otherwise; what is idle does not count."""

    def acts(one: Trajectory) -> list[tuple[int, str]]:
        return [(step.index, _decided(one, step)) for step in one.steps if not is_idle(step.thought)]

    for (step, mine), (_, theirs) in zip(acts(wrong), acts(honest), strict=False):
        if mine != theirs:
            return step
    return len(wrong.steps) - 1


# --- what is written --------------------------------------------------------------------------------------------


def _write(
    store: Store,
    out: Path,
    planner: Planner,
    pairs: Sequence[FaultPair],
    failed: Sequence[tuple[Job, Excluded]],
) -> FaultBench:
    """May be done again, after it was ended: what is in the store already stays, and the manifest comes last."""
    agreeing = [pair for pair in pairs if _agrees(pair)]
    tasks = {pair.job.task.id: pair.job.task for pair in agreeing}
    file = out / TASKS
    listed = "[\n" + ",\n".join(task.to_json() for task in tasks.values()) + "\n]\n"
    file.write_text(listed, encoding="utf-8")
    remember(store, Selection(benchmark=str(file)))
    labels: list[FaultLabel] = []
    features: list[Feature] = []
    trials: Counter[str] = Counter()
    for number, pair in enumerate(agreeing):
        rng = random.Random(content_hash([planner.options.seed, "order", number]))
        both = [(pair.wrong, pair.job.mistake), (pair.honest, None)]
        rng.shuffle(both)
        for played, mistake in both:
            trial = trials[pair.job.task.id]
            trials[pair.job.task.id] += 1
            kept = _kept(store, played, trial)
            labels.append(_label(kept, pair, number, mistake))
            features.append(features_of(kept.trajectory, wrong=mistake is not None))
    text = "".join(f"{label.to_json()}\n" for label in labels)
    (out / LABELS).write_text(text, encoding="utf-8")
    made = _manifest(planner, pairs, labels, features, [one for _, one in failed])
    (out / MANIFEST).write_text(made.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return made


def _agrees(pair: FaultPair) -> bool:
    """What the rules cannot see, they pass."""
    mistake = pair.job.mistake
    return _status(pair.wrong) == ("fail" if mistake.visible and mistake.outcome is False else "pass")


def _kept(store: Store, played: Played, trial: int) -> Played:
    """Under a name that does not tell which of the two it is."""
    unit = played.unit.model_copy(update={"trial": trial})
    name = f"{unit.id}/0"
    trajectory = played.trajectory.model_copy(update={"id": name, "trial": trial})
    verdicts: list[Verdict] = [one.model_copy(update={"trajectory_id": name}) for one in played.verdicts]
    store.plan([unit])
    if store.trajectory(unit.id) is None:
        store.add_episode(unit.id, trajectory, verdicts)
    return Played(unit=unit, trajectory=trajectory, verdicts=tuple(verdicts))


def _label(played: Played, pair: FaultPair, number: int, mistake: Mistake | None) -> FaultLabel:
    trajectory = played.trajectory
    decided = [_decided(trajectory, step) for step in trajectory.steps]
    return FaultLabel(
        trajectory_id=trajectory.id,
        task_id=pair.job.task.id,
        template=pair.job.task.template,
        site=pair.job.site,
        half=pair.job.half,
        pair=number,
        mistake=mistake.name if mistake else "",
        code=mistake.code if mistake else "",
        outcome=mistake.outcome if mistake else True,
        step=pair.played.step if mistake else None,
        visible=mistake.visible if mistake else True,
        rules=played.verdicts[0].status,
        steps=len(trajectory.steps),
        actions=content_hash([*decided, _plain(trajectory, trajectory.answer)]),
        changes=content_hash(_changes(trajectory)),
    )


def _manifest(
    planner: Planner,
    pairs: Sequence[FaultPair],
    labels: Sequence[FaultLabel],
    features: Sequence[Feature],
    excluded: Sequence[Excluded],
) -> FaultBench:
    wrong = [label for label in labels if label.code]
    visible = [pair for pair in pairs if pair.job.mistake.visible]
    disputed = [pair for pair in pairs if not _agrees(pair)]
    difficulty = {pair.job.task.id: pair.job.task.difficulty for pair in pairs}
    agreeing = [pair.job for pair in pairs if _agrees(pair)]
    lengths = Counter(job.length for job in agreeing)
    alike = given_away(features, [label.template for label in labels], seed=planner.options.seed)
    options = planner.options
    text = "".join(f"{label.to_json()}\n" for label in labels)
    return FaultBench(
        name=options.name,
        seed=options.seed,
        world_seed=options.world_seed,
        trajectories=len(labels),
        codes=_counted(label.code for label in wrong),
        templates=_counted(label.template for label in labels),
        sites=_counted(label.site for label in labels),
        difficulties=_counted(difficulty[label.task_id] for label in labels),
        halves=_counted(label.half for label in labels),
        seen_by_rules=len(visible),
        rules_agree=sum(map(_agrees, visible)),
        disagreements=tuple(
            _left_out(pair.job, f"the rules say {_status(pair.wrong)}", _said(pair.wrong)) for pair in disputed
        ),
        unseen=_counted(label.code for label in wrong if not label.visible),
        excluded=tuple(excluded),
        given_away=alike.value if alike else None,
        given_away_interval=alike,
        lengths={length: 2 * lengths[length] for length in LENGTHS},
        cells=cells(planner.jobs, options.pairs, agreeing),
        options=options.what_counts,
        labels=blob_hash(text.encode()),
    )


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
