"""`webassay run` and `webassay try`: agents play tasks, or a goal of your own."""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common
from webassay.cli.command import PLAY, START, Command
from webassay.cli.experiment import Experiment, given_options, to_toml
from webassay.cli.options import SELECTING, MaxUsd, ModelName, NoCache, Out, OwnOut, Workers, names_of, selects

if TYPE_CHECKING:
    from webassay.compose.models import ModelOptions
    from webassay.workbench import PlannedRun, PlayOptions, Selection

Agents = Annotated[
    list[str] | None,
    typer.Option(
        "--agent",
        "-a",
        autocompletion=names_of("agents"),
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
Headed = Annotated[
    bool, typer.Option("--headed", help="Show the browser. Do not touch it: your mouse reaches the page.")
]
Allow = Annotated[
    list[str] | None, typer.Option("--allow", help="Another host that open tasks may reach (repeatable).")
]
Preset = Annotated[str | None, typer.Option("--preset", help="Named model settings from the papers.")]
ModelSetting = Annotated[
    list[str] | None,
    typer.Option("--set", help="A model setting, such as temperature=0.2 or reasoning_effort=low (repeatable)."),
]
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

MOST_WRITES = 20


@selects(
    *("benchmark", "tasks_file", "template", "task", "instances", "world_seed", "seed", "limit"),
    *("difficulty", "scale", "obstacles"),
    instances=1,
)
def run(
    context: typer.Context,
    selection: "Selection",
    out: Out,
    experiment: Experiment = None,
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
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be played, and play nothing.")] = False,
    last_failed: Annotated[
        Path | None, typer.Option("--last-failed", help="Only what failed, faulted or was left undecided in this run.")
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="No checks before the first episode; never stop for repeated faults.")
    ] = False,
    save_experiment: Annotated[
        Path | None, typer.Option("--save-experiment", help="Write the options given here to a TOML file.")
    ] = None,
) -> None:
    """Play tasks with one or more agents, record everything, and grade it.

    One instance of each template is played unless you ask for more (`-n 3`). If the command is killed, interrupted or
    crashes, run it again to resume: no finished episode is played again. Exit codes: docs/running.md.

    Example: `webassay run -a oracle -a naive-zero -o runs/first --limit 10`

    Example: `webassay run experiment.toml -o runs/second`
    """
    from webassay import Limits, PlayOptions

    given = given_options(context)
    if save_experiment is not None:
        common.say(f"Experiment: {common.write(save_experiment, to_toml(given))}", stderr=True)
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
        keep_going=keep_going,
    )
    names, selected = _agents(agent, agent_cmd), bool(given.keys() & SELECTING)
    raise typer.Exit(_played(out, names, selection, options, last_failed, selected=selected, dry=dry_run))


def try_(
    url: Annotated[str, typer.Argument(help="Where to start. Only this host can be reached, unless you allow more.")],
    goal: Annotated[str, typer.Argument(help="What to do there.")],
    agent: Agents = None,
    agent_cmd: AgentCommands = None,
    trust_agent: TrustAgent = False,
    agent_env: AgentEnv = None,
    model: ModelName = None,
    out: OwnOut = None,
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
    options = PlayOptions(
        workers=1,
        headed=headed,
        model=_model(model),
        allow=tuple(allow or ()),
        ask=_ask_person if headed and sys.stdin.isatty() else None,
        trust_agent=trust_agent,
        agent_env=tuple(agent_env or ()),
    )
    with common.workbench() as bench:
        goals = [OpenTask(url=url, goal=goal, max_steps=max_steps)]
        run_sync(bench.try_goals(path, _agents(agent, agent_cmd), goals, options))
    for ending in bench.endings(path):
        steps = "1 step" if ending.steps == 1 else f"{ending.steps} steps"
        common.say(f"{ending.agent}: {ending.kind.replace('_', ' ')} after {steps}")
        common.say(ending.message)
        common.say("\n".join(ending.writes[:MOST_WRITES]))
        if len(ending.writes) > MOST_WRITES:
            common.say(
                f"… and {len(ending.writes) - MOST_WRITES} more; `webassay show {common.quoted(path)}` lists them."
            )
    code = common.tell_outcome(bench, path)
    common.say(f"Recorded in {path}; `webassay verify {common.quoted(path)} …` judges it.")
    raise typer.Exit(code)


# --- inside ---------------------------------------------------------------------------------------------------


def _played(
    out: Path,
    names: list[str],
    selection: "Selection",
    options: "PlayOptions",
    last_failed: Path | None,
    *,
    selected: bool,
    dry: bool,
) -> int:
    """Plays, tells what came of it, and returns the exit code. `selected`: the tasks were chosen in this call."""
    from webassay import run_sync
    from webassay.core.errors import BudgetError, SameFaultError

    stopped, more = None, {}
    with common.workbench() as bench:
        if last_failed is not None:
            failed = bench.failed_units(last_failed)
            selection = selection if selected else failed.selection
            options = replace(options, trials=max(options.trials, failed.trials))
            more = {"wanted": failed.__contains__}
        ready = partial(_say_plan, whole=not selected and last_failed is None)
        if dry:
            ready(run_sync(bench.plan_run(out, names, selection, options, **more)))
            return 0
        try:
            run_sync(bench.run(out, names, selection, options, ready=ready, **more))
        except (BudgetError, SameFaultError) as error:
            stopped = error
        report = bench.report([out], title=out.name)
    common.give(report, "table")
    code = common.tell_outcome(bench, out)
    page = common.quoted(out.with_name(f"{out.name}.html"))
    common.say(f"\nWhy one failed: webassay show {common.quoted(out)} AGENT/TASK/0")
    common.say(f"The whole report: webassay report {common.quoted(out)} --html {page}")
    if stopped is not None:
        raise stopped
    return code


def _say_plan(planned: "PlannedRun", *, whole: bool) -> None:
    # At once, and on the stream of the bar: standard output is for results.
    common.say(planned.in_words, stderr=True)
    if whole:
        common.say("One instance of each template; `--instances 3` plays more, `--limit N` fewer.", stderr=True)


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
    import asyncio  # With its parts, a fifth of the time that --help takes.

    return await asyncio.to_thread(input, text)


RUN = Command("run", PLAY, "Play tasks with agents, record and grade them.", run, 1)
TRY = Command("try", START, "Try one goal on a site of your choice.", try_, 4)
