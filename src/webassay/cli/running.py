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
    from webassay.catalog import Catalog, Selection
    from webassay.core.trajectory import Trajectory
    from webassay.core.verdict import Verdict
    from webassay.store import Store, UnitOfWork

Agents = Annotated[
    list[str],
    typer.Option("--agent", "-a", help="`oracle`, `naive`, one of `webassay agents`, or file.py:Class."),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="The run directory. An unfinished run there is gone on with.")]
Workers = Annotated[int, typer.Option("--workers", "-w", min=1, max=64, help="Episodes at the same time.")]
Headed = Annotated[bool, typer.Option("--headed", help="Show the browser.")]


def register(app: typer.Typer) -> None:
    app.command(short_help="See agents evaluated end to end.")(demo)
    app.command(short_help="Play tasks with agents, record and grade it.")(run)
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
    from webassay.agents.naive import NAIVE
    from webassay.analysis.page import to_html
    from webassay.catalog import Selection
    from webassay.cli.results import show, write

    path = out or _new_directory(Path("runs"), "demo")
    chosen = Selection(instances=1, templates=DEMO_TEMPLATES)
    play(chosen, ["oracle", *NAIVE], path, workers=workers)
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
    agent: Agents,
    out: Out,
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
    offline: Annotated[
        bool, typer.Option("--offline", help="Block every page; then `grade --activity off` shows what was known.")
    ] = False,
) -> None:
    """Play tasks with one or more agents, record everything, and grade it.

    Killed, interrupted or crashed, the same command goes on where it was: nothing finished is played again.

    Example: `webassay run -a oracle -a naive-zero -o runs/first -n 2`
    """
    from webassay.catalog import Selection
    from webassay.cli.results import show

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
    play(chosen, expand(agent), out, trials=trials, workers=workers, mode=Mode(headed=headed, offline=offline))
    from webassay.store import Store

    with Store.open(out) as store:
        show(common.report_of(store, title=out.name))
    common.console().print(f"\n[bold]webassay report {out} --html report.html[/bold] writes the whole report.")


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
    with Store.create(out) as store:
        _remember(store, chosen, mode or Mode())
        catalog = common.build(chosen)
        store.plan(plan(catalog.tasks, agents, trials=trials, seed=chosen.seed))
        asyncio.run(_play(store, catalog, chromium, workers, mode or Mode()))


@dataclass(frozen=True)
class Mode:
    """How episodes are played, whatever the tasks."""

    headed: bool = False
    offline: bool = False


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


async def _play(store: "Store", catalog: "Catalog", chromium: Path, workers: int, mode: Mode) -> None:
    from webassay import catalog as things
    from webassay.browser.session import Browser
    from webassay.episode import Scene
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

        async with things.arena(common.cache_dir()) as environment, Browser(chromium, headed=mode.headed) as browser:
            scene = Scene(browser=browser, environment=environment, blobs=StoreBlobs(store), offline=mode.offline)
            await run_units(store, catalog, scene, graders, settings=Settings(workers=workers), watch=watch)


def expand(names: list[str]) -> list[str]:
    """`naive` stands for the whole family."""
    from webassay.agents.naive import NAIVE

    expanded = [name for given in names for name in (NAIVE if given == "naive" else (given,))]
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
