"""Commands that play: demo, run, check, serve, setup."""

import asyncio
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common
from webassay.cli.common import Benchmark, Instances, Limit, Seed, Tasks, TasksFile, Templates, WorldSeed

if TYPE_CHECKING:
    from webassay.catalog import Catalog, ModelContext, Selection
    from webassay.core.trajectory import Trajectory
    from webassay.core.verdict import Verdict
    from webassay.store import Store, UnitOfWork

Agents = Annotated[
    list[str] | None,
    typer.Option("--agent", "-a", help="`oracle`, `naive`, one of `webassay agents`, or file.py:Class."),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="The run directory. An unfinished run there is gone on with.")]
Workers = Annotated[int, typer.Option("--workers", "-w", min=1, max=64, help="Episodes at the same time.")]
Headed = Annotated[
    bool, typer.Option("--headed", help="Show the browser. For watching: a real mouse over its window is felt, too.")
]
ModelName = Annotated[
    str | None, typer.Option("--model", "-m", help="openai:NAME, anthropic:NAME, google:NAME, or openai:NAME@URL.")
]
Allow = Annotated[
    list[str] | None, typer.Option("--allow", help="Another host that open tasks may reach (repeatable).")
]
Preset = Annotated[str | None, typer.Option("--preset", help="Named model settings of the papers.")]
MaxUsd = Annotated[float | None, typer.Option("--max-usd", min=0, help="Stop cleanly when this much is spent.")]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Ask the model again, also what it was asked before.")]


def register(app: typer.Typer) -> None:
    app.command(short_help="See agents evaluated end to end.")(demo)
    app.command(short_help="Play tasks with agents, record and grade it.")(run)
    app.command("try", short_help="One goal on any site of your choice.")(try_)
    app.command(short_help="Prove that tasks can be solved and mistakes fail.")(check)
    app.command(short_help="Open the sites in your own browser.")(serve)
    app.command(short_help="The agents that there are.")(agents)
    app.command(short_help="Find or install a Chromium.")(setup)


def demo(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The run directory; default: a new one in runs/.")
    ] = None,
    workers: Workers = 2,
) -> None:
    """See agents evaluated end to end: real browser, real site, recorded trajectories, verdicts, a report.

    Plays the reference solution and every naive baseline on the embedded shop. Needs no model and no key.
    """
    from webassay.agents.naive import NAIVE_AGENTS
    from webassay.analysis.page import to_html
    from webassay.catalog import Selection
    from webassay.cli.results import show, write

    path = out or _new_directory(Path("runs"), "demo")
    chosen = Selection(instances=1, templates=DEMO_TEMPLATES)
    play(chosen, ["oracle", *(factory.name for factory in NAIVE_AGENTS)], path, workers=workers)
    from webassay.store import Store

    with Store.open(path) as store:
        report = common.report_of(store, title="webassay demo")
        show(report)
        page = write(path / "report.html", to_html(report))
    out_of = common.console()
    out_of.print(f"\nReport: {page}    open it: [bold]{_opener()} {page}[/bold]")
    out_of.print(f"Look closer: [bold]webassay report {path}[/bold], [bold]webassay grade {path} --explain[/bold]")


DEMO_TEMPLATES = (
    "shop.low-reviews",
    "shop.price-range-total",
    "shop.dearest-purchase",
    "shop.open-cheapest",
    "shop.change-address",
    "shop.price-of-nothing",
)
"""Every kind of task and every type of chore, in the time that a newcomer gives us."""


def run(
    out: Out,
    agent: Agents = None,
    agent_cmd: Annotated[
        list[str] | None, typer.Option("--agent-cmd", help="A program that drives the browser over CDP (repeatable).")
    ] = None,
    model: ModelName = None,
    preset: Preset = None,
    max_usd: MaxUsd = None,
    no_cache: NoCache = False,
    benchmark: Benchmark = "arena",
    tasks_file: TasksFile = None,
    template: Templates = None,
    task: Tasks = None,
    instances: Instances = 3,
    world_seed: WorldSeed = 0,
    seed: Seed = 0,
    limit: Limit = None,
    trials: Annotated[int, typer.Option("--trials", min=1, help="Times each agent plays each task.")] = 1,
    workers: Workers = 2,
    headed: Headed = False,
    video: Annotated[bool, typer.Option("--video", help="A film of every episode, in the run directory.")] = False,
    trace: Annotated[
        bool, typer.Option("--trace", help="All that was said to Chromium, in the run directory.")
    ] = False,
    allow: Allow = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Block every page; then `grade --activity off` shows what was known.")
    ] = False,
) -> None:
    """Play tasks with one or more agents, record everything, and grade it.

    Killed, interrupted or crashed, the same command goes on where it was: nothing finished is played again.

    Example: `webassay run -a oracle -a naive-zero -o runs/first -n 2`
    """
    from webassay.agents.external import COMMAND
    from webassay.catalog import Selection
    from webassay.cli.results import show
    from webassay.core.errors import InputError

    chosen = Selection(
        benchmark=benchmark,
        file=str(tasks_file or ""),
        templates=tuple(template or ()),
        tasks=tuple(task or ()),
        instances=instances,
        world_seed=world_seed,
        seed=seed,
        limit=limit,
    )
    names = expand(agent or []) + [f"{COMMAND}{command}" for command in agent_cmd or []]
    if not names:
        raise InputError("No agent was given.", hint="Give --agent NAME or --agent-cmd PROGRAM.")
    mind = Mind(model=model, preset=preset, max_usd=max_usd, cache=not no_cache) if model else None
    mode = Mode(headed, offline, mind, tuple(allow or ()), video=video, trace=trace)
    play(chosen, names, out, trials=trials, workers=workers, mode=mode)
    from webassay.store import Store

    with Store.open(out) as store:
        show(common.report_of(store, title=out.name))
    common.console().print(f"\n[bold]webassay report {out} --html report.html[/bold] writes the whole report.")


def try_(
    url: Annotated[str, typer.Argument(help="Where to start; its host is the one that may be reached.")],
    goal: Annotated[str, typer.Argument(help="What to do there.")],
    agent: Agents = None,
    agent_cmd: Annotated[str | None, typer.Option("--agent-cmd", help="A program that drives the browser.")] = None,
    model: ModelName = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The run directory; default: a new one.")] = None,
    allow: Allow = None,
    max_steps: Annotated[int, typer.Option("--max-steps", min=1, max=1000, help="When to give up.")] = 30,
    headed: Headed = False,
) -> None:
    """One goal on one site of your choice, recorded like any task. No rule grades it; `webassay verify` can.

    Example: `webassay try https://example.org/ "What is this page for?" --agent generic --model openai:NAME`
    """
    from webassay.agents.external import COMMAND
    from webassay.catalog import Selection
    from webassay.core.errors import InputError
    from webassay.store import Store

    names = expand(agent or []) + ([f"{COMMAND}{agent_cmd}"] if agent_cmd else [])
    if not names:
        raise InputError("No agent was given.", hint="Give --agent NAME or --agent-cmd PROGRAM.")
    path = out or _new_directory(Path("runs"), "try")
    path.mkdir(parents=True, exist_ok=True)
    tasks = path.with_name(f"{path.name}-task.json")
    tasks.write_text(json.dumps([{"url": url, "goal": goal, "max_steps": max_steps}]), encoding="utf-8")
    mode = Mode(headed=headed, mind=Mind(model=model) if model else None, allow=tuple(allow or ()))
    play(Selection(benchmark="open", file=str(tasks)), names, path, workers=1, mode=mode)
    with Store.open(path) as store:
        for unit, trajectory in store.trajectories():
            print(f"{unit.agent}: {trajectory.ending.kind} after {len(trajectory.steps)} steps")
            print(trajectory.answer or trajectory.ending.message)
    print(f"Recorded in {path}; `webassay verify {path} …` judges it.")


def play(
    chosen: "Selection",
    agents: list[str],
    out: Path,
    *,
    trials: int = 1,
    workers: int = 2,
    mode: "Mode | None" = None,
) -> None:
    from webassay.catalog import check_agent
    from webassay.run.plan import plan
    from webassay.store import Store

    for name in agents:
        check_agent(name)
    chromium = common.chromium()
    catalog = common.build(chosen)
    with Store.create(out) as store:
        _remember(store, chosen, mode or Mode())
        catalog.minds = _minds(mode or Mode(), workers)
        store.plan(plan(catalog.tasks, agents, trials=trials, seed=chosen.seed))
        with common.interruptible():
            asyncio.run(_play(store, catalog, chromium, workers, mode or Mode()))


@dataclass(frozen=True)
class Mind:
    """The model that agents think with."""

    model: str
    preset: str | None = None
    max_usd: float | None = None
    cache: bool = True


@dataclass(frozen=True)
class Mode:
    """How episodes are played, whatever the tasks."""

    headed: bool = False
    offline: bool = False
    mind: Mind | None = None
    allow: tuple[str, ...] = ()
    """Hosts beside those of the start pages; for open tasks."""
    video: bool = False
    trace: bool = False


def _remember(store: "Store", chosen: "Selection", mode: Mode) -> None:
    """So that grading and resuming build the same tasks; another selection in the same place is a mistake."""
    from webassay.core.errors import InputError

    given = {"selection": json.dumps(asdict(chosen), sort_keys=True), "offline": json.dumps(mode.offline)}
    for name, text in given.items():
        before = store.setting(name)
        if before is not None and before != text:
            raise InputError(
                f"{store.path} is a run of other tasks, or was played otherwise.",
                hint=f"It was made with {name} {before}. Give another --out, or the same options.",
            )
        store.set(name, text)


def _minds(mode: Mode, workers: int) -> "ModelContext":
    from webassay.catalog import ModelContext
    from webassay.episode import Limits
    from webassay.llm.client import PROVIDERS_CHOICE, Budget, Patience, budgeted, cached, limited, preset, retrying
    from webassay.llm.providers import connect

    ask = _ask_person if mode.headed and sys.stdin.isatty() else None
    if mode.mind is None:
        return ModelContext(ask=ask)
    mind = mode.mind
    model = retrying(limited(connect(mind.model), concurrency=workers), Patience(seconds=Limits().decide_seconds / 2))
    model = budgeted(model, Budget(usd=mind.max_usd))
    if mind.cache:
        model = cached(model, common.cache_dir() / "replies")
    return ModelContext(model=model, settings=preset(mind.preset) if mind.preset else PROVIDERS_CHOICE, ask=ask)


async def _ask_person(text: str) -> str:
    return await asyncio.to_thread(input, text)


async def _play(store: "Store", catalog: "Catalog", chromium: Path, workers: int, mode: Mode) -> None:
    from webassay import catalog as things
    from webassay.browser.session import Browser, SessionSettings
    from webassay.episode import EpisodeContext
    from webassay.llm.client import close
    from webassay.run.local import Settings, grade_missing, run_units
    from webassay.store import StoreBlobs

    graders = [things.GRADERS[common.GRADER]]
    grade_missing(store, catalog, graders)
    left = store.unfinished()
    if not left:
        return
    with common.progress("episodes", len(left)) as (bar, line):
        counts = {"pass": 0, "fail": 0, "abstain": 0, "fault": 0}

        def watch(unit: "UnitOfWork", trajectory: "Trajectory", verdicts: "list[Verdict]") -> None:
            counts[verdicts[0].status] += 1
            said = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
            bar.update(line, completed=len(left) - len(store.unfinished()), description=f"episodes ({said})")

        place = things.environment(catalog.tasks, common.cache_dir(), mode.allow)
        async with place as environment, Browser(chromium, headed=mode.headed) as browser:
            settings = SessionSettings(
                video_dir=store.path / "video" if mode.video else None,
                trace_dir=store.path / "trace" if mode.trace else None,
            )
            scene = EpisodeContext(browser, environment, StoreBlobs(store), settings=settings, offline=mode.offline)
            try:
                await run_units(store, catalog, scene, graders, settings=Settings(workers=workers), watch=watch)
            finally:
                if catalog.minds.model is not None:
                    await close(catalog.minds.model)


def expand(names: list[str]) -> list[str]:
    """`naive` stands for the whole family."""
    from webassay.agents.naive import NAIVE_AGENTS

    naive = [factory.name for factory in NAIVE_AGENTS]
    expanded = [name for given in names for name in (naive if given == "naive" else (given,))]
    return list(dict.fromkeys(expanded))


def check(
    template: Annotated[list[str] | None, typer.Argument(help="Templates; default: all of the arena.")] = None,
    instances: Instances = 2,
    world_seed: WorldSeed = 0,
    seed: Seed = 0,
    workers: Workers = 2,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Keep the run here.")] = None,
) -> None:
    """Prove the tasks: the oracle passes each, and wrong answers grafted onto its episodes fail.

    Example: `webassay check shop.count-reviews --instances 5 --world-seed 7`
    """
    import tempfile

    from webassay.catalog import Selection
    from webassay.cli.checking import check_run

    names = tuple(name for name in template or [] if name != "arena")
    chosen = Selection(templates=names, instances=instances, world_seed=world_seed, seed=seed)
    with tempfile.TemporaryDirectory(prefix="webassay-check-") as scratch:
        path = out or Path(scratch) / "run"
        play(chosen, ["oracle"], path, workers=workers)
        problems = check_run(path, chosen)
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        raise typer.Exit(1)


def serve(
    port: Annotated[int, typer.Option("--port", "-p", min=1, max=65535, help="Port on this machine.")] = 8400,
    world_seed: WorldSeed = 0,
    user: Annotated[str, typer.Option("--user", help="Print a log-in cookie of this user.")] = "",
) -> None:
    """Open the sites in your own browser, on a world of your own. Nothing leaves this machine."""
    from webassay.cli.serving import serve_sites

    with common.interruptible():
        asyncio.run(serve_sites(port, world_seed, user))


def agents() -> None:
    """The agents that there are. Your own needs no registration: --agent file.py:Class."""
    from rich.table import Table

    from webassay.catalog import AGENTS

    table = Table("agent", "what it is", box=None)
    for name, words in AGENTS.items():
        table.add_row(name, words)
    common.console().print(table)


def setup() -> None:
    """See to a Chromium: find one, or install one, saying what was tried."""
    import os

    from webassay.browser.install import ensure_chromium

    found = ensure_chromium(os.environ.get("WEBASSAY_CHROMIUM"), tell=lambda command: print(f"Trying: {command}"))
    print(f"Chromium: {found}")


def _new_directory(parent: Path, name: str) -> Path:
    number = 1
    while (parent / f"{name}-{number}").exists():
        number += 1
    return parent / f"{name}-{number}"


def _opener() -> str:
    return "open" if sys.platform == "darwin" else "xdg-open"
