"""Judges on stored runs and on trajectories of other people, for what no rule can decide."""

import asyncio
import statistics
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from webassay.benchmarks.base import Selection
from webassay.benchmarks.open import FREE
from webassay.compose.given import Paths, paths
from webassay.compose.models import OpenModels
from webassay.compose.registries import JUDGES
from webassay.compose.setup import Setup
from webassay.compose.tasks import select
from webassay.core.errors import InputError, ModelError
from webassay.core.files import read_regular
from webassay.core.interaction import Goal
from webassay.core.options import read_options, read_spec
from webassay.core.progress import Progress
from webassay.core.registry import nearest
from webassay.core.trajectory import Blobs, Trajectory
from webassay.core.verdict import Fingerprint, Verdict
from webassay.judging.judges.base import Item, Judge, PreparedJudge
from webassay.judging.judges.batch import BatchSummary, verify_many
from webassay.judging.judges.universal import UniversalOptions
from webassay.judging.ledger import Models
from webassay.judging.plan import CostEstimate
from webassay.judging.record import ocr
from webassay.judging.universal.resources import VerifierResources
from webassay.judging.universal.rubric import FrozenRubric, RubricCache, ValidityCache, thaw
from webassay.judging.universal.verify import TaskReview, review_task
from webassay.llm.client import HALF_AN_HOUR, PROVIDERS_CHOICE, Budget, Model, Patience, Question, Reply, model_of
from webassay.store import Store
from webassay.store.runs import extend_run, is_run, open_run
from webassay.workbench.imports import ImportResult, import_into
from webassay.workbench.tasks import ALL_TASKS


@dataclass(frozen=True)
class VerifyOptions:
    judge: str = "universal"
    """A name, with settings where they are wanted: webjudge[threshold=4]."""
    as_published: bool = False
    """Ask and read as the judge's authors do."""
    model: str | None = None
    slots: dict[str, str] = field(default_factory=dict)
    """Other models for single stages: rubric, relevance, score, outcome."""
    rubric: Path | None = None
    """A frozen rubric, for the trajectories of one task."""
    tasks: tuple[str, ...] = ()
    """Only trajectories of these tasks, or with these ids; empty: all."""
    max_usd: float | None = None
    timeout: float | None = None
    """Seconds for one question, waiting and asking again included; None: half an hour."""
    trials: int = 1
    """How often everything is judged, each time with rubrics and replies of its own."""
    at_once: int = 8
    cache: bool = True
    out: Path | None = None
    """Where trajectories of other people are kept."""
    dry_run: bool = False
    """Only to estimate: run directories are opened to read, which nobody minds who writes to them."""


@dataclass
class VerificationResult:
    """What a batch came to; its verdicts are in the run directories."""

    tally: BatchSummary
    fingerprints: tuple[Fingerprint, ...]
    """One for each trial."""
    imported: ImportResult | None = None


Spread = tuple[float, float | None]
"""A mean, and the standard deviation; None: of one value there is none."""


@dataclass(frozen=True)
class TrialSummary:
    """What repeated judging came to: the mean over the trials, and how far they lie apart."""

    trials: int
    deciding: int
    """Trials with a pass or a failure. The others say nothing about the outcome: every verdict was a fault, or the
    budget was spent."""
    outcome: Spread | None
    """Share of passes among what was decided; None: nothing was."""
    process: Spread | None
    undecided: int
    split: int
    """Trajectories that one trial passes and another one fails."""

    @property
    def in_words(self) -> str:
        rest = f"; {self.undecided} verdicts undecided" if self.undecided else ""
        if self.outcome is None:
            return f"{self.trials} trials decided nothing{rest}."
        over = f"{self.trials}" if self.deciding == self.trials else f"{self.deciding} of {self.trials}"
        others = "" if self.deciding == self.trials else ", the others decided nothing"
        process = "" if self.process is None else f", process {_percent(*self.process)}"
        meaning = "" if self.outcome[1] is None else " (mean ± standard deviation)"
        return (
            f"Over {over} trials{others}: outcome {_percent(*self.outcome)}{process}{meaning}; "
            f"{self.split} trajectories judged differently{rest}."
        )


def _percent(mean: float, deviation: float | None) -> str:
    return f"{100 * mean:.1f} %" if deviation is None else f"{100 * mean:.1f} ± {100 * deviation:.1f} %"


class Verification:
    """Judges over runs and over trajectories of other people; `with` it, then `estimate()` or `run()`."""

    def __init__(self, setup: Setup, places: Paths, options: VerifyOptions) -> None:
        self._setup, self._places, self._options = setup, paths(places), options
        self.judge, self._settings = _judge(options)
        self._models = OpenModels(
            setup.cache / "replies",
            budget=Budget(usd=options.max_usd),
            concurrency=options.at_once,
            patience=Patience(seconds=options.timeout or HALF_AN_HOUR.seconds, tell=setup.tell),
            cache=options.cache,
        )
        if options.trials < 1:
            raise InputError("There must be at least one trial.")
        self._stack = ExitStack()
        self.stores: list[Store] = []
        self.imported: ImportResult | None = None

    def __enter__(self) -> "Verification":
        try:
            self.stores, self.imported = _open(self._setup, self._places, self._options, self._stack)
        except BaseException as error:
            self._stack.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    async def estimate(self) -> CostEstimate:
        """What one trial would cost; nothing is asked."""
        _ = self._total  # a task that is not there is an error here, too
        resources = self._resources()
        prepared = self._prepared(resources) if self._options.model else None
        known = 0

        def waiting() -> Iterator[Item]:
            nonlocal known
            for store in self.stores:
                for trajectory, blobs in self._items_of(store):
                    if prepared is not None and _has_verdict(store, trajectory.id, prepared.fingerprint):
                        known += 1
                    else:
                        yield trajectory, blobs

        plan = await self.judge.plan(waiting(), self._settings, resources=resources)
        return replace(plan, trajectories=plan.trajectories + known, already_judged=known)

    async def check_models(self) -> None:
        """One tiny question to each, where there is anything left to judge."""
        options = self._options
        specs = {spec for spec in (options.model, *options.slots.values()) if spec}
        stamp = self._prepared(self._resources()).fingerprint
        if not all(_has_verdict(store, one.id, stamp) for store in self.stores for one, _ in self._items_of(store)):
            for spec in sorted(specs):
                self._setup.on_progress(Progress(f"asking {spec} whether it answers"))
                await self._models.check(spec, PROVIDERS_CHOICE, self._setup.tell)

    async def run(self) -> VerificationResult:
        if self._options.dry_run:
            raise InputError("A dry run only estimates.", hint="Verify without dry_run to have it judged.")
        stamps: list[Fingerprint] = []
        tally = BatchSummary()
        try:
            for trial in range(self._options.trials):
                prepared = _of_trial(self._prepared(self._resources(trial), trial), trial)
                stamps.append(prepared.fingerprint)
                _add(tally, await self._run_trial(prepared))
                if tally.stopped:
                    break
        finally:
            await self._models.close()
        return VerificationResult(tally, tuple(stamps), self.imported)

    async def _run_trial(self, prepared: PreparedJudge) -> BatchSummary:
        """One run directory after the other: two runs of one agent give their trajectories the same ids."""
        total, done, tally = self._total, 0, BatchSummary()
        for store in self.stores:

            def keep(verdict: Verdict, store: Store = store) -> None:
                nonlocal done
                done += 1
                store.add_verdict(verdict)
                self._setup.on_progress(Progress("judging", done, total))

            # Twice as many trajectories as calls: while one waits for its last call, another has work.
            at_once = 2 * self._options.at_once
            stored = partial(_has_verdict, store)
            _add(tally, await verify_many(self._items_of(store), prepared, sink=keep, stored=stored, at_once=at_once))
            if tally.stopped:
                break
        return tally

    def verdicts(self, fingerprint: Fingerprint) -> Iterator[tuple[Verdict, Trajectory]]:
        """The newest of each trajectory by this very judge, replies included; run directory by run directory."""
        for store in self.stores:
            yield from self.verdicts_in(store, fingerprint)

    def verdicts_in(self, store: Store, fingerprint: Fingerprint) -> Iterator[tuple[Verdict, Trajectory]]:
        stamp = fingerprint.content_hash()
        for trajectory, _ in self._items_of(store):
            verdict = store.verdict(trajectory.id, fingerprint=stamp, replies=True)
            if verdict is not None:
                yield verdict, trajectory

    def repeated(self, done: VerificationResult) -> TrialSummary:
        """How far the trials agree."""
        passed: list[float] = []
        process: list[float] = []
        said: dict[tuple[int, str], set[str]] = {}
        undecided = 0
        for stamp in done.fingerprints:
            found = [
                ((place, verdict.trajectory_id), verdict)
                for place, store in enumerate(self.stores)
                for verdict, _ in self.verdicts_in(store, stamp)
            ]
            decided = [(item, verdict.status) for item, verdict in found if verdict.status in ("pass", "fail")]
            undecided += len(found) - len(decided)
            if decided:
                passed.append(statistics.fmean(status == "pass" for _, status in decided))
            scores = [aspect.value for _, verdict in found if (aspect := verdict.aspects.get("process_score"))]
            numbers = [score for score in scores if isinstance(score, float)]
            if numbers:
                process.append(statistics.fmean(numbers))
            for item, status in decided:
                said.setdefault(item, set()).add(status)
        split = sum(len(statuses) > 1 for statuses in said.values())
        return TrialSummary(len(done.fingerprints), len(passed), _spread(passed), _spread(process), undecided, split)

    # --- inside -----------------------------------------------------------------------------------------------

    def _prepared(self, resources: VerifierResources, trial: int = 0) -> PreparedJudge:
        if self.judge.needs_model and self._options.model is None:
            raise InputError(f"The judge {self.judge.name} needs a model.", hint="Name one with --model.")
        return self.judge.prepare(self._stage_models(trial), self._settings, resources)

    def _stage_models(self, trial: int) -> Models | None:
        model, slots = self._options.model, self._options.slots
        if model is None:
            if slots:
                raise InputError("One stage has a model, but the others have none.", hint="Give --model for the rest.")
            return None

        def get(spec: str) -> Model:
            return _in_time(self._models.get(spec, trial=trial), self._options.timeout)

        return Models.one(get(model), **{slot: get(spec) for slot, spec in slots.items()})

    def _resources(self, trial: int = 0) -> VerifierResources:
        cache, salt = self._setup.cache if self._options.cache else None, f"trial {trial}" if trial else ""
        return VerifierResources(
            limit=asyncio.Semaphore(self._options.at_once),
            rubrics=RubricCache(cache and cache / "rubrics", salt=salt),
            validities=ValidityCache(cache and cache / "validities", salt=salt),
            rubric=self._frozen(),
            rubric_model=self._model_of("rubric"),
            outcome_model=self._model_of("outcome"),
            read_picture=self._reader(),
        )

    def _model_of(self, slot: str) -> str:
        spec = self._options.slots.get(slot) or self._options.model
        return self._models.get(spec).name if spec else ""

    def _reader(self) -> ocr.PictureReader | None:
        """Reading pictures takes seconds each, so only where a page was recorded as a picture alone."""
        found = ocr.reader()
        if found is None or not any(ocr.lacks_text(trajectory) for trajectory, _ in self._items()):
            return None
        return found

    def _frozen(self) -> FrozenRubric | None:
        """Checked against every trajectory that is to be judged, before anything is asked."""
        path = self._options.rubric
        if path is None:
            return None
        frozen = thaw(read_regular(path), str(path))
        for trajectory, _ in self._items():
            frozen.check(trajectory.goal)
        return frozen

    def _items(self) -> Iterator[Item]:
        for store in self.stores:
            yield from self._items_of(store)

    def _items_of(self, store: Store) -> Iterator[Item]:
        for _, trajectory in store.trajectories():
            if self._wanted(trajectory):
                yield trajectory, store.blobs

    def _wanted(self, trajectory: Trajectory) -> bool:
        return not self._options.tasks or bool({trajectory.task_id, trajectory.id} & set(self._options.tasks))

    @cached_property
    def _total(self) -> int:
        if not self._options.tasks:
            return sum(1 for store in self.stores for _ in store.trajectory_ids())
        found = sum(1 for _ in self._items())
        if not found:
            known = {trajectory.task_id for store in self.stores for _, trajectory in store.trajectories()}
            raise nearest("task", self._options.tasks[0], known)
        return found


def _has_verdict(store: Store, trajectory_id: str, fingerprint: Fingerprint) -> bool:
    return store.has_verdict(trajectory_id, fingerprint.content_hash())


def _spread(values: Sequence[float]) -> Spread | None:
    if not values:
        return None
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None


def _add(tally: BatchSummary, more: BatchSummary) -> None:
    tally.judged += more.judged
    tally.skipped += more.skipped
    tally.faulted += more.faulted
    tally.stopped = tally.stopped or more.stopped


def _of_trial(prepared: PreparedJudge, trial: int) -> PreparedJudge:
    """The first trial is what a single one would be; each further one has a fingerprint of its own."""
    if trial == 0:
        return prepared
    settings = {**prepared.fingerprint.settings, "trial": trial}
    stamp = prepared.fingerprint.model_copy(update={"settings": settings})

    async def judge(goal: Goal, trajectory: Trajectory, blobs: Blobs) -> Verdict:
        verdict = await prepared.judge(goal, trajectory, blobs)
        return verdict.model_copy(update={"fingerprint": stamp})

    return replace(prepared, fingerprint=stamp, judge=judge)


def _in_time(model: Model, seconds: float | None) -> Model:
    if seconds is None:
        return model

    async def ask(question: Question) -> Reply:
        try:
            async with asyncio.timeout(seconds):
                return await question.put_to(model)
        except TimeoutError:
            raise ModelError(
                f"{model.name} gave no answer within {seconds:g} seconds.", hint="Give it longer with --timeout."
            ) from None

    return model_of(model.name, ask, inner=model)


def _judge(options: VerifyOptions) -> tuple[Judge[Any], Any]:
    name, wishes = read_spec(options.judge)
    judge = JUDGES.load(name)
    if not options.as_published:
        return judge, read_options(name, judge.options, wishes)
    if judge.as_published is None or wishes:
        raise InputError(
            "--as-published is for published judges, and cannot be combined with settings.",
            hint="For the Universal Verifier as published, give --profile paper or --profile released.",
        )
    return judge, judge.as_published


def _open(
    setup: Setup, places: Sequence[Path], options: VerifyOptions, stack: ExitStack
) -> tuple[list[Store], ImportResult | None]:
    """Runs as they are; anything else is imported into a run directory of its own, once."""
    foreign = [path for path in places if not is_run(path)]
    runs = [path for path in places if is_run(path)]
    writable = not options.dry_run
    stores = [stack.enter_context(open_run(path, setup.tell, writable=writable, thorough=True)) for path in runs]
    if not foreign:
        return stores, None
    if options.out is None:
        raise InputError(
            f"{foreign[0]} is not a run directory, so it has to be imported.", hint="Say where: --out runs/NAME."
        )
    for path in foreign:
        if not path.exists():
            raise InputError(f"{path} does not exist.")
    store = stack.enter_context(extend_run(options.out))
    imported = import_into(setup, store, foreign)
    return [*stores, store], imported


# --- rubrics --------------------------------------------------------------------------------------------------


async def review_rubric(setup: Setup, goal: Goal, options: VerifyOptions) -> TaskReview:
    """A rubric from the task alone, with what a person should look at before it is used."""
    _, settings = _judge(options)
    if not isinstance(settings, UniversalOptions):
        raise InputError(f"The judge {options.judge} has no rubrics.", hint="Use the judge universal.")
    if options.model is None:
        raise InputError("A rubric needs a model.", hint="Give one: --model openai:NAME, or openai:NAME@URL.")
    models = OpenModels(setup.cache / "replies", budget=Budget(usd=options.max_usd), concurrency=4, cache=options.cache)
    try:
        return await review_task(goal, Models.one(models.get(options.model)), settings.as_profile)
    finally:
        await models.close()


def goal(setup: Setup, task: str, selection: Selection = ALL_TASKS) -> Goal:
    """The goal of a task by its id; a text with blanks in it is a goal itself."""
    if " " in task.strip():
        return Goal(instruction=task, start_urls=(), protocol=FREE)
    return select(selection, setup).tasks[0].goal
