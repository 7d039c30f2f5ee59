"""`webassay verify` and `webassay rubric`: judges, for what no rule can decide."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common

if TYPE_CHECKING:
    from webassay.core.trajectory import Trajectory
    from webassay.core.verdict import Fingerprint, Verdict
    from webassay.judging.ledger import Models
    from webassay.store import Store

ModelName = Annotated[str | None, typer.Option("--model", "-m", help="For every stage: openai:NAME, NAME@URL…")]
Profile = Annotated[str, typer.Option("--profile", help="webassay, paper or released, where they differ.")]
Budget = Annotated[float | None, typer.Option("--budget", min=0, help="Stop cleanly when this many dollars are spent.")]


def register(app: typer.Typer) -> None:
    app.command(short_help="Judge runs and trajectories of others by a rubric.")(verify)
    app.command(short_help="Write and lint a task's rubric, to be frozen.")(rubric)


def verify(
    paths: Annotated[list[Path], typer.Argument(help="Run directories, or trajectories of others.")],
    verifier: Annotated[
        str, typer.Option("--verifier", help="universal, webjudge, webvoyager, agenttrek, nnetnav…")
    ] = "universal",
    model: ModelName = None,
    rubric_model: Annotated[str | None, typer.Option(help="For writing rubrics.")] = None,
    relevance_model: Annotated[str | None, typer.Option(help="For weighing screenshots.")] = None,
    score_model: Annotated[str | None, typer.Option(help="For scoring.")] = None,
    outcome_model: Annotated[str | None, typer.Option(help="For the outcome.")] = None,
    as_published: Annotated[
        bool, typer.Option("--as-published", help="A judge of the literature asks and is read as its authors do.")
    ] = False,
    profile: Profile = "webassay",
    votes: Annotated[int | None, typer.Option("--votes", min=1, help="Odd: how often the deciding stages run.")] = None,
    frozen: Annotated[Path | None, typer.Option("--rubric", help="A frozen rubric, for one task.")] = None,
    budget: Budget = None,
    at_once: Annotated[int, typer.Option("--at-once", min=1, max=256, help="Calls under way together.")] = 8,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where imported trajectories are kept.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would cost; nothing is asked.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Print rubric, scores and evidence.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line a trajectory, and nothing else.")] = False,
) -> None:
    """Judge what no rule can decide. Killed in the middle, the same command goes on where it was.

    Example: `webassay verify runs/first --model openai:NAME --explain`

    Example: `webassay verify downloads/om2w -o runs/om2w --verifier webjudge --dry-run`
    """
    from webassay.judging import batch
    from webassay.judging.rubric import RubricCache
    from webassay.judging.verify import VerifierResources

    chosen, options = _profile(profile, votes), _options(verifier, as_published=as_published)
    with ExitStack() as open_stores:
        stores = _stores(paths, out, open_stores)
        items = [(trajectory, store) for store in stores for _, trajectory in store.trajectories()]
        homes = {trajectory.id: store for trajectory, store in items}
        thawed = _thawed(frozen, items)
        slots = {"rubric": rubric_model, "relevance": relevance_model, "score": score_model, "outcome": outcome_model}
        models, shut = _models(model, slots, budget, at_once)
        desk = VerifierResources(
            limit=asyncio.Semaphore(at_once), shelf=RubricCache(common.cache_dir() / "rubrics"), rubric=thawed
        )

        def known(trajectory_id: str, fingerprint: "Fingerprint") -> bool:
            made = homes[trajectory_id].verdicts(trajectory_id)
            return any(one.fingerprint == fingerprint and one.status != "fault" for one in made)

        if dry_run:
            print(_plan(items, verifier, models, chosen, options, desk, known))
            return
        judge = batch.verifier(verifier, models, profile=chosen, options=options, desk=desk)

        async def work() -> batch.Tally:
            try:
                sink = _sink(homes, bar, line)
                # Twice as many trajectories as calls: while one waits for its last call, another has work.
                return await batch.verify_many(_with_blobs(items), judge, sink=sink, stored=known, at_once=2 * at_once)
            finally:
                await shut()

        with common.progress("judging", len(items)) as (bar, line), common.interruptible():
            tally = asyncio.run(work())
        _tell(items, judge.fingerprint, explain=explain, as_json=as_json)
    if not as_json:
        print(f"{tally.judged} judged, {tally.skipped} had a verdict already, {tally.faulted} faulted.")
        if tally.stopped:
            print(tally.stopped)


def rubric(
    task: Annotated[str, typer.Argument(help="A task's id, or a goal in quotes.")],
    model: ModelName = None,
    benchmark: common.Benchmark = "arena",
    tasks_file: common.TasksFile = None,
    profile: Profile = "webassay",
    budget: Budget = None,
    freeze_to: Annotated[Path | None, typer.Option("--freeze", help="Write it here, for `verify --rubric`.")] = None,
    reviewed_by: Annotated[str, typer.Option("--reviewed-by", help="Who stands by it.")] = "",
) -> None:
    """Write a rubric from the task alone and mark what a person should look at before it is used.

    Example: `webassay rubric "Find the cheapest kettle" --model openai:NAME --freeze kettle.json`
    """
    from webassay.cli.results import write
    from webassay.judging.explain import explain_review
    from webassay.judging.rubric import freeze
    from webassay.judging.verify import review_task

    models, shut = _models(model, {}, budget, 4)
    goal = _goal(task, benchmark, tasks_file)

    async def work() -> "Review":
        try:
            return await review_task(goal, _needed(models), _profile(profile, None))
        finally:
            await shut()

    with common.progress("writing the rubric"):
        review = asyncio.run(work())
    print(explain_review(review))
    if freeze_to is not None:
        print(f"Frozen: {write(freeze_to, freeze(review.rubric, goal, task, reviewed_by))}")


# --- inside ---------------------------------------------------------------------------------------------

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rich.progress import Progress, TaskID

    from webassay.core.interaction import Goal
    from webassay.core.trajectory import Blobs
    from webassay.judging.inquiry import Profile as Rules
    from webassay.judging.judges import Options
    from webassay.judging.rubric import Rubric
    from webassay.judging.verify import Review, VerifierResources

    Items = list[tuple[Trajectory, Store]]


def _stores(paths: list[Path], out: Path | None, stack: ExitStack) -> "list[Store]":
    """Runs as they are; anything else is imported into a run directory of its own, once."""
    from webassay.core.errors import InputError
    from webassay.store import LEDGER, Store

    runs = [path for path in paths if (path / LEDGER).is_file()]
    foreign = [path for path in paths if path not in runs]
    stores = [stack.enter_context(Store.open(path, writable=True)) for path in runs]
    if foreign:
        if out is None:
            raise InputError(
                f"{foreign[0]} is not a run directory, so it has to be imported.", hint="Say where to: --out runs/NAME."
            )
        store = stack.enter_context(Store.create(out))
        _import(foreign, store)
        stores.append(store)
    return stores


def _import(paths: list[Path], store: "Store") -> None:
    from webassay.importers.base import Importer, import_all
    from webassay.registry import Registry, instances_of
    from webassay.store import StoreBlobs, UnitOfWork

    group = "webassay.importers"
    importers = Registry("importer", instances_of(Importer), packages=(group,), group=group)

    def cannot(place: Path, error: Exception) -> None:
        common.console(stderr=True).print(f"{place} is left out: {error}")

    with common.progress("importing") as (bar, line):
        for path in paths:
            for trajectory in import_all(path, StoreBlobs(store), importers, on_error=cannot):
                bar.advance(line)
                unit = UnitOfWork(agent=trajectory.agent.name, task_id=trajectory.task_id or trajectory.id)
                if not store.attempts(unit.id):
                    store.plan([unit])
                    store.add_trajectory(unit.id, trajectory)


def _with_blobs(items: "Items") -> "Iterator[tuple[Trajectory, Blobs]]":
    from webassay.store import StoreBlobs

    return ((trajectory, StoreBlobs(store)) for trajectory, store in items)


def _sink(homes: "dict[str, Store]", bar: "Progress", line: "TaskID") -> "Callable[[Verdict], None]":
    def keep(verdict: "Verdict") -> None:
        homes[verdict.trajectory_id].add_verdict(verdict)
        bar.advance(line)

    return keep


def _tell(items: "Items", fingerprint: "Fingerprint", *, explain: bool, as_json: bool) -> None:
    from webassay.judging.explain import explain as in_words

    for trajectory, store in items:
        made = [one for one in store.verdicts(trajectory.id) if one.fingerprint == fingerprint]
        if not made:
            continue
        verdict = made[-1]
        aspects = {name: aspect.value for name, aspect in verdict.aspects.items()}
        if as_json:
            found = {"trajectory": trajectory.id, "status": verdict.status, "aspects": aspects}
            print(json.dumps({**found, "cost_usd": verdict.cost_usd}, ensure_ascii=False))
        elif explain:
            print(f"{trajectory.id}\n{in_words(verdict)}\n")
        else:
            print(f"{trajectory.id}: {verdict.status}")


def _models(
    model: str | None, slots: dict[str, str | None], budget: float | None, at_once: int
) -> "tuple[Models | None, Callable[[], Awaitable[None]]]":
    from webassay.core.errors import InputError
    from webassay.judging.ledger import Models
    from webassay.llm.client import Budget, budgeted, cached, close, limited, retrying
    from webassay.llm.providers import connect

    if model is None and any(slots.values()):
        raise InputError("A stage has a model and the others have none.", hint="Give --model for the rest.")
    if model is None:
        return None, _nothing
    cap = Budget(usd=budget)
    made = {
        spec: cached(
            budgeted(retrying(limited(connect(spec), concurrency=at_once)), cap), common.cache_dir() / "replies"
        )
        for spec in {model, *(spec for spec in slots.values() if spec)}
    }

    async def shut() -> None:
        for one in made.values():
            await close(one)

    return Models.one(made[model], **{slot: made[spec] for slot, spec in slots.items() if spec}), shut


async def _nothing() -> None:
    return None


def _needed(models: "Models | None") -> "Models":
    from webassay.core.errors import InputError

    if models is None:
        raise InputError("A rubric needs a model.", hint="Give one: --model openai:NAME, or openai:NAME@URL.")
    return models


def _profile(name: str, votes: int | None) -> "Rules":
    from webassay.catalog import nearest
    from webassay.core.errors import InputError
    from webassay.judging.inquiry import PROFILES

    if name not in PROFILES:
        raise nearest("profile", name, PROFILES)
    if votes is not None and votes % 2 == 0:
        raise InputError("The number of votes must be odd.")
    return PROFILES[name] if votes is None else PROFILES[name].with_changes(votes=votes)


def _options(verifier: str, *, as_published: bool) -> "Options":
    from webassay.catalog import nearest
    from webassay.core.errors import InputError
    from webassay.judging.batch import names
    from webassay.judging.judges import AS_PUBLISHED, DEFAULTS
    from webassay.judging.verify import NAME

    if verifier not in names():
        raise nearest("verifier", verifier, names())
    if as_published and verifier == NAME:
        raise InputError(
            "--as-published is for the judges of the literature.",
            hint="The Universal Verifier as its paper or its code has it: --profile paper, --profile released.",
        )
    return AS_PUBLISHED if as_published else DEFAULTS


def _plan(
    items: "Items",
    verifier: str,
    models: "Models | None",
    profile: "Rules",
    options: "Options",
    desk: "VerifierResources",
    known: "Callable[[str, Fingerprint], bool]",
) -> str:
    """What has been judged already is known only of a model that is named."""
    from webassay.judging import batch
    from webassay.judging.verify import NAME

    judge = batch.verifier(verifier, models, profile=profile, options=options, desk=desk) if models else None

    def stored(trajectory_id: str) -> bool:
        return judge is not None and known(trajectory_id, judge.fingerprint)

    if verifier == NAME:
        made = batch.plan(_with_blobs(items), profile, stored=stored, rubric_given=desk.rubric is not None)
    else:
        made = asyncio.run(batch.rehearse(_with_blobs(items), verifier, options=options, stored=stored))
    return batch.describe_plan(made)


def _thawed(path: Path | None, items: "Items") -> "Rubric | None":
    from webassay.core.errors import InputError
    from webassay.judging.rubric import thaw

    if path is None or not items:
        return None
    try:
        return thaw(path.read_bytes(), items[0][0].goal, str(path))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error


def _goal(task: str, benchmark: str, tasks_file: Path | None) -> "Goal":
    from webassay.benchmarks.open import FREE
    from webassay.catalog import Selection
    from webassay.core.interaction import Goal

    if " " in task.strip():
        return Goal(instruction=task, start_urls=(), protocol=FREE)
    return common.build(Selection(benchmark=benchmark, file=str(tasks_file or ""), tasks=(task,))).tasks[0].goal
