"""`webassay tasks`: list, show, export, fetch, query."""

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common
from webassay.cli.common import Benchmark, Difficulty, Instances, Limit, Seed, TasksFile, Templates, WorldSeed

if TYPE_CHECKING:
    from webassay.core.task import Task

app = typer.Typer(help="List, show, export, generate and fetch tasks.", no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    parent.add_typer(app, name="tasks")


@app.command("list")
def list_(
    benchmark: Benchmark = "arena",
    tasks_file: TasksFile = None,
    template: Templates = None,
    instances: Instances = 3,
    world_seed: WorldSeed = 0,
    seed: Seed = 0,
    limit: Limit = None,
    difficulty: Difficulty = "",
    templates: Annotated[bool, typer.Option("--templates", help="One line per template, not per task.")] = False,
    as_json: common.Json = False,
) -> None:
    """List a benchmark's tasks, one line each, without keys. In a pipe, cells are separated by tabs, ids first.

    Example: `webassay tasks list --templates`

    Example: `webassay tasks list --json | jq -r '.[].id'`
    """
    from rich.table import Table

    chosen = common.selection(
        benchmark,
        tasks_file,
        template,
        difficulty=difficulty,
        instances=instances,
        world_seed=world_seed,
        seed=seed,
        limit=limit,
    )
    with common.workbench() as bench:
        found = bench.tasks(chosen)
    lines = {task.template if templates else task.id: task for task in reversed(found)}
    if as_json:
        print(json.dumps([_without_key(task) for task in reversed(lines.values())], ensure_ascii=False, indent=1))
        return
    table = Table("template" if templates else "task", "kind", "chore", "difficulty", "goal", box=None)
    for name, task in reversed(lines.items()):
        table.add_row(name, task.kind, task.chore or "", task.difficulty, task.goal.instruction)
    common.show(table)
    if sys.stdout.isatty():
        print(f"\n{len(lines)} {'templates' if templates else 'tasks'}.")


def _without_key(task: "Task") -> dict[str, object]:
    return {
        **task.model_dump(include={"id", "benchmark", "template", "kind", "chore", "difficulty", "max_steps", "sites"}),
        "instruction": task.goal.instruction,
    }


@app.command()
def show(
    task: Annotated[
        str,
        typer.Argument(help="The task's id, as `webassay tasks list` prints it, or your own template: file.py:Class."),
    ],
    benchmark: Benchmark = "arena",
    tasks_file: TasksFile = None,
    instances: Instances = 3,
    world_seed: WorldSeed = 0,
    seed: Seed = 0,
) -> None:
    """One task as JSON: its goal, its checks, its key."""
    # No id has a colon; code is named by one.
    template, ids = ([task], None) if ":" in task else (None, [task])
    chosen = common.selection(
        benchmark, tasks_file, template, task=ids, instances=instances, world_seed=world_seed, seed=seed
    )
    with common.workbench() as bench:
        found = bench.tasks(chosen)
    print(json.dumps(json.loads(found[0].to_json()), ensure_ascii=False, indent=2))


@app.command()
def export(
    benchmark: Benchmark = "arena",
    tasks_file: TasksFile = None,
    template: Templates = None,
    instances: Instances = 3,
    world_seed: WorldSeed = 0,
    seed: Seed = 0,
    limit: Limit = None,
    difficulty: Difficulty = "",
) -> None:
    """Print whole tasks, with keys, as JSON for `--benchmark`.

    Example: `webassay tasks export -n 1 > tasks.json`, then `webassay run -b tasks.json …`
    """
    chosen = common.selection(
        benchmark,
        tasks_file,
        template,
        difficulty=difficulty,
        instances=instances,
        world_seed=world_seed,
        seed=seed,
        limit=limit,
    )
    with common.workbench() as bench:
        found = bench.tasks(chosen)
    print(json.dumps([json.loads(one.to_json()) for one in found], ensure_ascii=False, indent=1))


@app.command()
def tables(
    site: Annotated[str, typer.Argument(autocompletion=common.names_of("sites"), help="A site, such as shop.")],
    as_json: common.Json = False,
) -> None:
    """A site's tables and columns, for template authors.

    Content is graded: a change that the key does not name fails the task. Journals and telemetry are not.

    Example: `webassay tasks tables shop | grep orders`
    """
    from rich.table import Table

    with common.workbench() as bench:
        found = bench.site_tables(site)
    if as_json:
        print(json.dumps([one._asdict() for one in found], indent=1))
        return
    table = Table("table", "column", "form", "counts as", box=None)
    for one in found:
        table.add_row(*one)
    common.show(table)


@app.command()
def query(
    site: Annotated[str, typer.Argument(autocompletion=common.names_of("sites"), help="A site, such as shop.")],
    sql: Annotated[str, typer.Argument(help="The query, in SQLite's SQL.")],
    world_seed: WorldSeed = 0,
    scale: common.Scale = "",
    as_json: common.Json = False,
) -> None:
    """Query a site's pristine database, which templates draw from.

    Example: `webassay tasks query shop "SELECT status, count(*) AS orders FROM orders GROUP BY status"`
    """
    from rich.table import Table

    with common.workbench() as bench:
        rows = bench.query(site, sql, world_seed, scale)
    if as_json:
        print(json.dumps(rows, ensure_ascii=False, indent=1, default=repr))
        return
    table = Table(*(rows[0] if rows else ["no rows"]), box=None)
    for row in rows:
        table.add_row(*("" if value is None else str(value) for value in row.values()))
    common.show(table)


@app.command()
def generate(
    seed: Seed = 0,
    per_template: Annotated[int, typer.Option("--per-template", "-k", min=1, max=100, help="Tasks per template.")] = 3,
    template: Templates = None,
    world_seed: Annotated[
        int | None, typer.Option("--world-seed", min=0, help="Seed of the sites' data; default: --seed.")
    ] = None,
    difficulty: Difficulty = "",
    scale: common.Scale = "",
) -> None:
    """Fresh arena tasks, with keys, that nobody has seen. Every seed has its own world and its own draw.

    Example: `webassay tasks generate --seed 4711 --per-template 5 > tasks.json`, then `webassay run -b tasks.json …`
    """
    world = seed if world_seed is None else world_seed
    chosen = common.selection(
        template=template, difficulty=difficulty, instances=per_template, world_seed=world, seed=seed, scale=scale
    )
    with common.workbench() as bench:
        found = bench.tasks(chosen)
    print(json.dumps([json.loads(one.to_json()) for one in found], ensure_ascii=False, indent=1))


@app.command()
def cost(
    benchmark: Annotated[str, typer.Argument(autocompletion=common.names_of("benchmarks"), help="Whose tasks.")],
    model: Annotated[list[str], typer.Option("--model", "-m", help="openai:NAME, anthropic:NAME… (repeatable).")],
    tasks_file: TasksFile = None,
    trials: Annotated[int, typer.Option("--trials", min=1, help="Times each task is played.")] = 1,
    steps: Annotated[
        float, typer.Option("--steps", min=0, help="Per task; default: Operator's, in WebArena Verified's A.2.")
    ] = 12.3,
    tokens_in: Annotated[
        int, typer.Option("--tokens-in", min=0, help="Per step: page, history, instructions.")
    ] = 12_000,
    tokens_out: Annotated[int, typer.Option("--tokens-out", min=0, help="Per step, with reasoning.")] = 800,
) -> None:
    """Estimate the cost of playing a benchmark, by list prices. Nothing is played or asked.

    Example: `webassay tasks cost webchorearena-small --tasks-file tasks.json -m openai:gpt-5 -m openai:gpt-4o`
    """
    with common.workbench() as bench:
        count = len(bench.tasks(common.selection(benchmark, tasks_file)))
        calls = round(count * trials * steps)
        print(f"{count} tasks, {trials} trial(s), {steps:g} steps each: {calls:,} calls")
        for name in model:
            # Call by call: long questions have a price of their own.
            dollars = bench.estimated_cost(name, tokens_in, tokens_out)
            said = "its price is not known" if dollars is None else f"about ${dollars * calls:,.2f}"
            common.say(f"{name}: {calls * tokens_in:,} tokens in, {calls * tokens_out:,} out: {said}")


@app.command()
def fetch(
    benchmark: Annotated[
        str, typer.Argument(autocompletion=common.names_of("benchmarks"), help="webarena-verified or webarena.")
    ],
) -> None:
    """Download an outside benchmark's task file with your own pip, from its published wheel.

    Nothing in the wheel is installed. The file is checked against a pinned hash and stored in the cache.
    """
    with common.workbench() as bench:
        place = bench.fetch(benchmark)
    common.say(f"{benchmark}: {place}")
