"""Commands that play: demo, run, try, check, serve, setup."""

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from webassay.cli import common
from webassay.cli.common import (
    Benchmark,
    Difficulty,
    Instances,
    Limit,
    Obstacles,
    Scale,
    Seed,
    Tasks,
    Templates,
    WorldSeed,
)

if TYPE_CHECKING:
    from webassay.workbench import ArenaStage, ModelOptions

Agents = Annotated[
    list[str] | None,
    typer.Option(
        "--agent",
        "-a",
        autocompletion=common.names_of("agents"),
        help="One of `webassay list agents`, `naive` for the whole family, or file.py:Class (repeatable).",
    ),
]
AgentCommands = Annotated[
    list[str] | None,
    typer.Option("--agent-cmd", help="NAME=COMMAND: a program that drives the browser over DevTools (repeatable)."),
]
TrustAgent = Annotated[
    bool,
    typer.Option("--trust-agent", help="Run agent files and programs without a cell; reports say so."),
]
AgentEnv = Annotated[
    list[str] | None,
    typer.Option("--agent-env", help="A variable that agent files and programs may read, such as a key (repeatable)."),
]
AgentDirs = Annotated[
    list[Path] | None,
    typer.Option("--agent-dir", help="A folder that your agents may write to (repeatable)."),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="The run directory. An unfinished run there is resumed.")]
Workers = Annotated[int, typer.Option("--workers", "-w", min=1, max=64, help="Episodes in parallel.")]
Headed = Annotated[
    bool, typer.Option("--headed", help="Show the browser. Do not touch it: your mouse reaches the page.")
]
ModelName = Annotated[
    str | None, typer.Option("--model", "-m", help="openai:NAME, anthropic:NAME, google:NAME, or openai:NAME@URL.")
]
Allow = Annotated[
    list[str] | None, typer.Option("--allow", help="Another host that open tasks may reach (repeatable).")
]
Preset = Annotated[str | None, typer.Option("--preset", help="Named model settings from the papers.")]
ModelSetting = Annotated[
    list[str] | None,
    typer.Option("--set", help="A model setting, such as temperature=0.2 or reasoning_effort=low (repeatable)."),
]
MaxUsd = Annotated[float | None, typer.Option("--max-usd", min=0, help="Stop cleanly when this much is spent.")]
MaxSteps = Annotated[
    int | None, typer.Option("--max-steps", min=1, max=10_000, help="Steps per episode; default: the task's own.")
]
DecideSeconds = Annotated[
    float, typer.Option("--decide-seconds", min=0.1, max=1_000_000, help="How long an agent may take to decide.")
]
EpisodeSeconds = Annotated[
    float, typer.Option("--episode-seconds", min=1, max=1_000_000, help="How long an episode may take.")
]
ActionsAStep = Annotated[
    int, typer.Option("--actions-a-step", min=1, max=1000, help="Actions per step; the agent is told what was cut.")
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Ignore cached replies.")]

MOST_WRITES = 20
DEMO_TEMPLATES = (
    "shop.returned-value", "shop.reviews-between", "shop.rating-distribution", "shop.change-address",
    "shop.open-cheapest", "shop.foreign-order", "admin.searches-in-vain", "admin.worst-average",
    "admin.busiest-buyers", "admin.reduce-price", "admin.comment-oldest", "admin.cancel-complete",
)  # fmt: skip
"""Short ones of every kind on both sites. An interval is one over templates, so many with one instance each say more
than a few with many, in the time that a newcomer gives us."""
DEMO_AGENTS = {
    "flawed[skill=0.95]": "has a 5 % chance of a mistake in each task",
    "flawed[skill=0.6,errors=answer]": "has a 40 % chance, mostly of reporting something false",
    "flawed[skill=0.2,errors=stop]": "has an 80 % chance, mostly of stopping early",
    "naive-link-follower": "a baseline that follows links without reading and should pass nothing",
}


def register(app: typer.Typer) -> None:
    app.command(short_help="See agents evaluated end to end.")(demo)
    app.command(short_help="Play tasks with agents, record and grade them.")(run)
    app.command("try", short_help="Try one goal on a site of your choice.")(try_)
    app.command(short_help="Prove that tasks can be solved and mistakes fail.")(check)
    app.command(short_help="Open the sites in your own browser.")(serve)
    app.command(short_help="Find or install Chromium.")(setup)


def demo(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The run directory; default: a new one in runs/.")
    ] = None,
    workers: Workers = 2,
) -> None:
    """See four agents evaluated end to end: real browser, real sites, recorded trajectories, verdicts, a report.

    Three of them know how to do every task but make mistakes in a known share, each in its own way, such as
    misreporting what it found or stopping early. The fourth follows links without reading. No model or key is needed.
    """
    from webassay import PlayOptions, Selection, run_sync

    path = out or common.new_directory("demo")
    common.say(
        f"webassay measures how well web agents do their tasks. Here, four scripted agents stand in for real ones, on "
        f"{len(DEMO_TEMPLATES)} tasks in a shop and its back office. It takes a minute or two."
    )
    common.say(
        "Three know every solution and make mistakes on purpose: the rules must find out in which episodes (one agent, "
        "one task)."
    )
    for agent, does in DEMO_AGENTS.items():
        common.say(f"  {agent}: {does}")
    common.say("")
    with common.workbench() as bench:
        selection = Selection(instances=1, templates=DEMO_TEMPLATES)
        run_sync(bench.run(path, list(DEMO_AGENTS), selection, PlayOptions(workers=workers)))
        report = bench.report([path], title="webassay demo")
        page = path / "report.html"
        common.give(report, "summary")
        for agent, made in bench.planted(path).items():
            found = "exactly those" if made.agreed == made.episodes else f"{made.failed}, and not just those,"
            erred = f"{agent} made a mistake in {made.erred} of {made.episodes} episodes"
            common.say(f"{erred}; the rules marked {found} as failed.")
        bench.write_report(report, [path], page)
        failed = _worth_seeing(bench.rows([path]))
        if failed:
            common.write(path / "failed.html", bench.episode_page(path, failed))
    _where_to_look(path, page, failed)


def _worth_seeing(rows: Iterable[Mapping[str, Any]]) -> str:
    """A failed episode that claims a change nobody made, else any that failed: the longest, which has most to see."""
    wrong = [row for row in rows if row["status"] == "fail" and row["agent"].startswith("flawed")]
    if not wrong:
        return ""
    row = max(wrong, key=lambda row: (row["kind"] == "mutate" and row["claimed"] == "SUCCESS", row["steps"]))
    return f"{row['agent']}/{row['task_id']}/{row['trial']}"


def _where_to_look(path: Path, page: Path, failed: str) -> None:
    webassay, opener = common.program(), "open" if sys.platform == "darwin" else "xdg-open"
    run = common.quoted(path)
    common.say(f"\nOpen the report: {opener} {common.quoted(page)}")
    if failed:
        common.say(f"An episode that failed, and why: {opener} {common.quoted(path / 'failed.html')}")
        common.say(f"The same in the terminal: {webassay} show {run} '{failed}'")
    common.say("Look closer:")
    for command, does in (
        (f"show {run}", "all episodes; with the name of one: that one"),
        (f"report {run}", "all tables"),
        (f"grade {run} --explain", "every check"),
        ("run --help", "how to run your own agent"),
    ):
        common.say(f"  {webassay} {command}  # {does}")


def run(
    out: Out,
    agent: Agents = None,
    agent_cmd: AgentCommands = None,
    trust_agent: TrustAgent = False,
    agent_env: AgentEnv = None,
    agent_dir: AgentDirs = None,
    model: ModelName = None,
    preset: Preset = None,
    settings: ModelSetting = None,
    max_usd: MaxUsd = None,
    no_cache: NoCache = False,
    benchmark: Benchmark = "arena",
    tasks_file: Annotated[Path | None, typer.Option("--tasks-file", help="Goals for the benchmark `open`.")] = None,
    template: Templates = None,
    task: Tasks = None,
    instances: Instances = 3,
    world_seed: WorldSeed = 0,
    seed: Seed = 0,
    limit: Limit = None,
    difficulty: Difficulty = "",
    scale: Scale = "",
    obstacles: Obstacles = None,
    trials: Annotated[int, typer.Option("--trials", min=1, help="Times each agent plays each task.")] = 1,
    max_steps: MaxSteps = None,
    decide_seconds: DecideSeconds = 600,
    episode_seconds: EpisodeSeconds = 3600,
    actions_a_step: ActionsAStep = 20,
    workers: Workers = 2,
    environment: Annotated[
        str, typer.Option("--environment", help="One of `webassay list environments`; default: the benchmark's own.")
    ] = "",
    headed: Headed = False,
    video: Annotated[bool, typer.Option("--video", help="Save episode videos in the run directory.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Save all DevTools traffic in the run directory.")] = False,
    allow: Allow = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Block every page; then `grade --activity off` shows what was known.")
    ] = False,
) -> None:
    """Play tasks with one or more agents, record everything, and grade it.

    If the command is killed, interrupted or crashes, run it again to resume: no finished episode is played again.

    Example: `webassay run -a oracle -a naive-zero -o runs/first -n 2`
    """
    from webassay import Limits, PlayOptions, run_sync

    drawn = {"instances": instances, "world_seed": world_seed, "seed": seed, "limit": limit, "scale": scale}
    selection = common.selection(benchmark, tasks_file, template, task, difficulty, obstacles, **drawn)
    options = PlayOptions(
        trials=trials,
        workers=workers,
        model=_model(model, preset, max_usd, settings, cache=not no_cache),
        environment=environment,
        allow=tuple(allow or ()),
        headed=headed,
        offline=offline,
        video=video,
        trace=trace,
        ask=_ask_person if headed and sys.stdin.isatty() else None,
        limits=Limits(max_steps, decide_seconds, episode_seconds, actions_a_step),
        trust_agent=trust_agent,
        agent_env=tuple(agent_env or ()),
        agent_dirs=tuple(agent_dir or ()),
    )
    with common.workbench() as bench:
        run_sync(bench.run(out, _agents(agent, agent_cmd), selection, options))
        report = bench.report([out], title=out.name)
    common.give(report, "table")
    common.tell_crashes(bench, out)
    common.say(f"\nThe whole report: webassay report {common.quoted(out)} --html report.html")


def try_(
    url: Annotated[str, typer.Argument(help="Where to start. Only this host can be reached, unless you allow more.")],
    goal: Annotated[str, typer.Argument(help="What to do there.")],
    agent: Agents = None,
    agent_cmd: AgentCommands = None,
    trust_agent: TrustAgent = False,
    agent_env: AgentEnv = None,
    model: ModelName = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The run directory; default: a new one.")] = None,
    allow: Allow = None,
    max_steps: Annotated[int, typer.Option("--max-steps", min=1, max=1000, help="Maximum steps.")] = 30,
    headed: Headed = False,
) -> None:
    """Try one goal on one site of your choice, recorded like any task. No rule grades it; `webassay verify` judges it.

    Example: `webassay try https://example.org/ "What is this page for?" --agent generic --model openai:NAME`
    """
    from webassay import PlayOptions, run_sync
    from webassay.workbench import OpenTask

    path = out or common.new_directory("try")
    asking = _ask_person if headed and sys.stdin.isatty() else None
    options = PlayOptions(
        workers=1,
        headed=headed,
        model=_model(model),
        allow=tuple(allow or ()),
        ask=asking,
        trust_agent=trust_agent,
        agent_env=tuple(agent_env or ()),
    )
    with common.workbench() as bench:
        goals = [OpenTask(url=url, goal=goal, max_steps=max_steps)]
        run_sync(bench.try_goals(path, _agents(agent, agent_cmd), goals, options))
    for ending in bench.endings(path):
        common.say(f"{ending.agent}: {ending.kind.replace('_', ' ')} after {ending.steps} steps")
        common.say(ending.said)
        common.say("\n".join(ending.writes[:MOST_WRITES]))
        if len(ending.writes) > MOST_WRITES:
            common.say(
                f"… and {len(ending.writes) - MOST_WRITES} more; `webassay show {common.quoted(path)}` lists them."
            )
    common.tell_crashes(bench, path)
    common.say(f"Recorded in {path}; `webassay verify {common.quoted(path)} …` judges it.")


def check(
    template: Annotated[
        list[str] | None,
        typer.Argument(autocompletion=common.names_of("templates"), help="Templates; default: all of the arena."),
    ] = None,
    instances: Instances = 2,
    world_seed: WorldSeed = 0,
    seed: Seed = 0,
    difficulty: Difficulty = "",
    scale: Scale = "",
    obstacles: Obstacles = None,
    workers: Workers = 2,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Keep the run here.")] = None,
    as_json: common.Json = False,
) -> None:
    """Prove the tasks: the oracle passes each on every route; shortcuts, naive agents and mistakes fail.

    Each column counts what held, or says 4/5 if something did not. If the oracle does not pass, a picture of the last
    page it saw is written to --out, or to the current directory.

    Example: `webassay check shop.low-reviews --instances 5 --world-seed 7`, or `webassay check chores.py:MyTemplate`
    """
    from webassay import PlayOptions, run_sync
    from webassay.core.files import own_prefix
    from webassay.workbench.checking import as_table

    names = [name for name in template or [] if name != "arena"]
    selection = common.selection(
        template=names, difficulty=difficulty, obstacles=obstacles, instances=instances, world_seed=world_seed,
        seed=seed, scale=scale,
    )  # fmt: skip
    with common.workbench() as bench, tempfile.TemporaryDirectory(prefix=own_prefix("check")) as scratch:
        proofs = run_sync(bench.check(out or Path(scratch) / "run", selection, PlayOptions(workers=workers)))
    if as_json:
        print(json.dumps([proof.as_json() for proof in proofs], ensure_ascii=False, indent=1))
    else:
        common.say(as_table(proofs))
    for name, picture in (one for proof in proofs for one in proof.pictures.items()):
        (out or Path()).joinpath(name).write_bytes(picture)
        common.say(f"The last page the oracle saw: {(out or Path()) / name}", stderr=True)
    problems = [problem for proof in proofs for problem in proof.problems]
    for problem in problems:
        common.say(problem, stderr=True)
    if problems:
        common.say(f"{len(problems)} {'thing does' if len(problems) == 1 else 'things do'} not hold.", stderr=True)
        raise typer.Exit(1)
    if not as_json:
        common.say(f"Everything holds for {len(proofs)} {'template' if len(proofs) == 1 else 'templates'}.")


def serve(
    port: Annotated[int, typer.Option("--port", "-p", min=1, max=65535, help="Port on this machine.")] = 8400,
    world_seed: WorldSeed = 0,
    user: Annotated[
        list[str] | None, typer.Option("--user", help="SITE=NAME: print this user's log-in cookie (repeatable).")
    ] = None,
) -> None:
    """Open the sites in your own browser, with fresh data. Nothing leaves this machine."""
    from webassay import run_sync

    with common.workbench() as bench:
        run_sync(bench.serve(port=port, seed=world_seed, users=user or (), ready=_serving))


def setup() -> None:
    """Find Chromium or install it, and say what was tried."""
    with common.workbench() as bench:
        found = bench.install_chromium(lambda command: print(f"Trying: {command}"))
    print(f"Chromium: {found}")


# --- inside -----------------------------------------------------------------------------------------------------


def _agents(names: list[str] | None, commands: list[str] | None) -> list[str]:
    from webassay.workbench import COMMAND

    return [*(names or []), *(f"{COMMAND}{command}" for command in commands or [])]


def _model(
    name: str | None,
    preset: str | None = None,
    max_usd: float | None = None,
    settings: list[str] | None = None,
    *,
    cache: bool = True,
) -> "ModelOptions | None":
    from webassay import ModelOptions
    from webassay.core.options import read_spec

    if name is None:
        given = {"preset": preset, "max_usd": max_usd, "set": settings}
        hint = (
            "Name the model that the agents ask: --model openai:NAME. One that an agent brings along is its own affair."
        )
        common.refuse("has no effect without --model", hint, **given)
        return None
    own = read_spec(f"--set[{','.join(settings or ())}]")[1]
    return ModelOptions(name, preset=preset, max_usd=max_usd, cache=cache, own_settings=own)


async def _ask_person(text: str) -> str:
    return await asyncio.to_thread(input, text)


def _serving(stage: "ArenaStage") -> None:
    for site, base in stage.bases.items():
        print(f"{site}: {base}/")
    for cookie in stage.cookies:
        print(f"log-in cookie for {cookie.host}: {cookie.name}={cookie.value}")
    print("Press Ctrl-C to stop; your changes are then discarded.", flush=True)
