"""Judges on stored runs and on trajectories of other people, for what no rule can decide."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from webassay.benchmarks.base import Selection
from webassay.benchmarks.open import FREE
from webassay.core.errors import InputError
from webassay.core.files import read_regular
from webassay.core.interaction import Goal
from webassay.core.options import read_options, read_spec
from webassay.core.trajectory import Blobs, Trajectory
from webassay.core.verdict import Fingerprint, Verdict
from webassay.judging import ocr
from webassay.judging.batch import Tally, verify_many
from webassay.judging.judges.base import Judge, PreparedJudge
from webassay.judging.judges.universal import UniversalOptions
from webassay.judging.ledger import Models
from webassay.judging.plan import Plan
from webassay.judging.resources import ReadPicture, VerifierResources
from webassay.judging.rubric import FrozenRubric, RubricCache, thaw
from webassay.judging.verify import Review, review_task
from webassay.llm.client import Budget
from webassay.store import Store
from webassay.workbench.damage import added_to, in_words
from webassay.workbench.importing import Imported, import_into, is_run
from webassay.workbench.kinds import JUDGES
from webassay.workbench.models import OpenModels
from webassay.workbench.setup import OnProgress, Progress, Setup
from webassay.workbench.tasks import select


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
    max_usd: float | None = None
    at_once: int = 8
    cache: bool = True
    out: Path | None = None
    """Where trajectories of other people are kept."""


@dataclass
class Verified:
    """What a batch came to; its verdicts are in the run directories."""

    tally: Tally
    fingerprint: Fingerprint
    imported: Imported | None = None


class Verification:
    """Open it with `with`: it holds the run directories, and knows what would be judged and what was."""

    def __init__(self, setup: Setup, places: Sequence[Path], options: VerifyOptions, on_progress: OnProgress) -> None:
        self._setup, self._places, self._options, self._tell = setup, places, options, on_progress
        self.judge, self._settings = _judge(options)
        self._models = OpenModels(
            setup.cache / "replies",
            budget=Budget(usd=options.max_usd),
            concurrency=options.at_once,
            cache=options.cache,
        )
        self._stack = ExitStack()
        self.stores: list[Store] = []
        self.imported: Imported | None = None

    def __enter__(self) -> "Verification":
        try:
            self.stores, self.imported = _open(self._setup, self._places, self._options.out, self._stack, self._tell)
        except BaseException as error:
            self._stack.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    async def estimate(self) -> Plan:
        """What it would cost; nothing is asked."""
        resources = self._resources()
        prepared = self._prepared(resources) if self._options.model else None

        def stored(trajectory_id: str) -> bool:
            return prepared is not None and self._known(trajectory_id, prepared.fingerprint)

        return await self.judge.plan(self._items(), self._settings, stored=stored, resources=resources)

    async def run(self) -> Verified:
        try:
            prepared = self._prepared(self._resources())
            total, done = len(self._homes), 0

            def keep(verdict: Verdict) -> None:
                nonlocal done
                done += 1
                self._homes[verdict.trajectory_id].add_verdict(verdict)
                self._tell(Progress("judging", done, total))

            # Twice as many trajectories as calls: while one waits for its last call, another has work.
            tally = await verify_many(
                self._items(), prepared, sink=keep, stored=self._known, at_once=2 * self._options.at_once
            )
        finally:
            await self._models.close()
        return Verified(tally, prepared.fingerprint, self.imported)

    def verdicts(self, fingerprint: Fingerprint) -> Iterator[Verdict]:
        """The newest of each trajectory by this very judge, replies included."""
        stamp = fingerprint.content_hash()
        for trajectory_id, store in self._homes.items():
            verdict = store.verdict(trajectory_id, fingerprint=stamp, replies=True)
            if verdict is not None:
                yield verdict

    # --- inside -----------------------------------------------------------------------------------------------

    def _prepared(self, resources: VerifierResources) -> PreparedJudge:
        if self.judge.needs_model and self._options.model is None:
            raise InputError(f"The judge {self.judge.name} needs a model.", hint="Name one with --model.")
        return self.judge.prepare(self._stage_models(), self._settings, resources)

    def _stage_models(self) -> Models | None:
        model, slots = self._options.model, self._options.slots
        if model is None:
            if slots:
                raise InputError("A stage has a model and the others have none.", hint="Give --model for the rest.")
            return None
        return Models.one(self._models.get(model), **{slot: self._models.get(spec) for slot, spec in slots.items()})

    def _resources(self) -> VerifierResources:
        return VerifierResources(
            limit=asyncio.Semaphore(self._options.at_once),
            rubrics=RubricCache(self._setup.cache / "rubrics" if self._options.cache else None),
            rubric=self._frozen(),
            read_picture=self._reader(),
        )

    def _reader(self) -> ReadPicture | None:
        """Reading pictures takes seconds each, so only where a page was recorded as a picture alone."""
        found = ocr.reader()
        if found is None or not any(ocr.lacks_text(trajectory) for trajectory, _ in self._items()):
            return None
        return found

    def _frozen(self) -> FrozenRubric | None:
        """Checked against every trajectory before anything is asked."""
        path = self._options.rubric
        if path is None:
            return None
        frozen = thaw(read_regular(path), str(path))
        for store in self.stores:
            for _, goal in store.goals():
                frozen.check(goal)
        return frozen

    def _items(self) -> Iterator[tuple[Trajectory, Blobs]]:
        for store in self.stores:
            for _, trajectory in store.trajectories():
                yield trajectory, store.blobs

    @cached_property
    def _homes(self) -> dict[str, Store]:
        return {trajectory_id: store for store in self.stores for trajectory_id in store.trajectory_ids()}

    def _known(self, trajectory_id: str, fingerprint: Fingerprint) -> bool:
        return self._homes[trajectory_id].has_verdict(trajectory_id, fingerprint.content_hash())


def _judge(options: VerifyOptions) -> tuple[Judge[Any], Any]:
    name, wishes = read_spec(options.judge)
    judge = JUDGES.load(name)
    if not options.as_published:
        return judge, read_options(name, judge.options, wishes)
    if judge.as_published is None or wishes:
        raise InputError(
            "--as-published is for the judges of the literature, without settings of their own.",
            hint="The Universal Verifier as its paper or its code has it: --profile paper, --profile released.",
        )
    return judge, judge.as_published


def _open(
    setup: Setup, places: Sequence[Path], out: Path | None, stack: ExitStack, on_progress: OnProgress
) -> tuple[list[Store], Imported | None]:
    """Runs as they are; anything else is imported into a run directory of its own, once."""
    foreign = [path for path in places if not is_run(path)]
    runs = [path for path in places if is_run(path)]
    stores = [stack.enter_context(Store.open(path, writable=True, thorough=True)) for path in runs]
    for said in (said for store in stores for said in in_words(store)):
        setup.tell(said)
    if not foreign:
        return stores, None
    if out is None:
        raise InputError(
            f"{foreign[0]} is not a run directory, so it has to be imported.", hint="Say where to: --out runs/NAME."
        )
    for path in foreign:
        if not path.exists():
            raise InputError(f"{path} does not exist.")
    store = stack.enter_context(added_to(out))
    imported = import_into(store, foreign, on_progress)
    return [*stores, store], imported


# --- rubrics --------------------------------------------------------------------------------------------------


async def review(setup: Setup, goal: Goal, options: VerifyOptions) -> Review:
    _, settings = _judge(options)
    if not isinstance(settings, UniversalOptions):
        raise InputError(f"The judge {options.judge} has no rubrics.", hint="Use the judge universal.")
    if options.model is None:
        raise InputError("A rubric needs a model.", hint="Give one: --model openai:NAME, or openai:NAME@URL.")
    models = OpenModels(setup.cache / "replies", budget=Budget(usd=options.max_usd), concurrency=4, cache=options.cache)
    try:
        return await review_task(goal, Models.one(models.get(options.model)), settings.settled)
    finally:
        await models.close()


def goal_of(setup: Setup, task: str, selection: Selection) -> Goal:
    """Of a task by its id; a text with blanks in it is a goal itself."""
    if " " in task.strip():
        return Goal(instruction=task, start_urls=(), protocol=FREE)
    return select(selection, setup).tasks[0].goal
