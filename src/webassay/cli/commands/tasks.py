"""`webassay tasks`: list, show, export, generate and fetch tasks, and query the sites they are drawn from."""

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common
from webassay.cli.command import DATA, Command
from webassay.cli.options import Json, Scale, Site, TasksFile, WorldSeed, names_of, selects

if TYPE_CHECKING:
    from webassay.core.task import Task
    from webassay.workbench import Selection


@selects("benchmark", "tasks_file", "template", "instances", "world_seed", "seed", "limit", "difficulty")
def list_(
    selection: "Selection",
    templates: Annotated[bool, typer.Option("--templates", help="One line per template, not per task.")] = False,
    as_json: Json = False,
) -> None:
    """List a benchmark's tasks, one line each, without keys. In a pipe, cells are separated by tabs, ids first.

    Example: `webassay tasks list --templates`

    Example: `webassay tasks list --json | jq -r '.[].id'`
    """
    from rich.table import Table

    if templates:  # Nothing is said of a template that one instance does not say.
        selection = replace(selection, instances=1)
    with common.workbench() as bench:
        tasks = bench.tasks(selection)
    lines = {task.template if templates else task.id: task for task in reversed(tasks)}
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


@selects("benchmark", "tasks_file", "instances", "world_seed", "seed")
def show(
    selection: "Selection",
    task: Annotated[
        str,
        typer.Argument(help="The task's id, as `webassay tasks list` prints it, or your own template: file.py:Class."),
    ],
) -> None:
    """One task as JSON: its goal, its checks, its key."""
    # No id has a colon; code is named by one.
    chosen = replace(selection, templates=(task,)) if ":" in task else replace(selection, tasks=(task,))
    with common.workbench() as bench:
        first = bench.tasks(chosen)[0]
    print(json.dumps(json.loads(first.to_json()), ensure_ascii=False, indent=2))


@selects("benchmark", "tasks_file", "template", "instances", "world_seed", "seed", "limit", "difficulty")
def export(selection: "Selection") -> None:
    """Print whole tasks, with keys, as JSON for `--benchmark`.

    Example: `webassay tasks export -n 1 > tasks.json`, then `webassay run -b tasks.json …`
    """
    _print_whole(selection)


def tables(
    site: Site,
    as_json: Json = False,
) -> None:
    """A site's tables and columns, for template authors.

    Content is graded: a change that the key does not name fails the task. Journals and telemetry are not.

    Example: `webassay tasks tables shop | grep orders`
    """
    from rich.table import Table

    with common.workbench() as bench:
        columns = bench.site_tables(site)
    if as_json:
        print(json.dumps([one._asdict() for one in columns], indent=1))
        return
    table = Table("table", "column", "form", "counts as", box=None)
    for one in columns:
        table.add_row(*one)
    common.show(table)


def query(
    site: Site,
    sql: Annotated[str, typer.Argument(help="The query, in SQLite's SQL.")],
    world_seed: WorldSeed = 0,
    scale: Scale = "",
    as_json: Json = False,
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


def look(
    site: Site,
    path: Annotated[str, typer.Argument(help="The page, such as /account/wishlist.")] = "/",
    user: Annotated[str, typer.Option("--user", help="Who is logged in: an e-mail address or a user name.")] = "",
    world_seed: WorldSeed = 0,
) -> None:
    """Print a page of a site as agents see it: roles, names and ids, for template authors.

    Example: `webassay tasks look shop /account/wishlist --user nora.castellano@example.com`
    """
    from webassay import run_sync

    with common.workbench() as bench:
        page = run_sync(bench.look(site, path, user, world_seed))
    common.say(f"{page.title}\n{page.tree}")


@selects("template", "difficulty", "scale", "seed")
def generate(
    selection: "Selection",
    per_template: Annotated[int, typer.Option("--per-template", "-k", min=1, max=100, help="Tasks per template.")] = 3,
    world_seed: Annotated[
        int | None, typer.Option("--world-seed", min=0, help="Seed of the sites' data; default: --seed.")
    ] = None,
) -> None:
    """Fresh arena tasks, with keys, that nobody has seen. Every seed has its own world and its own draw.

    Example: `webassay tasks generate --seed 4711 --per-template 5 > tasks.json`, then `webassay run -b tasks.json …`
    """
    world = selection.seed if world_seed is None else world_seed
    _print_whole(replace(selection, instances=per_template, world_seed=world))


def _print_whole(selection: "Selection") -> None:
    with common.workbench() as bench:
        tasks = bench.tasks(selection)
    print(json.dumps([json.loads(one.to_json()) for one in tasks], ensure_ascii=False, indent=1))


def cost(
    benchmark: Annotated[str, typer.Argument(autocompletion=names_of("benchmarks"), help="Whose tasks.")],
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
    from webassay.workbench import Selection

    with common.workbench() as bench:
        count = len(bench.tasks(Selection(benchmark=benchmark, file=str(tasks_file or ""))))
        calls = round(count * trials * steps)
        print(f"{count} tasks, {trials} trial(s), {steps:g} steps each: {calls:,} calls")
        for name in model:
            # Call by call: long questions have a price of their own.
            dollars = bench.estimated_cost(name, tokens_in, tokens_out)
            price = "its price is not known" if dollars is None else f"about ${dollars * calls:,.2f}"
            common.say(f"{name}: {calls * tokens_in:,} tokens in, {calls * tokens_out:,} out: {price}")


def fetch(
    benchmark: Annotated[
        str, typer.Argument(autocompletion=names_of("benchmarks"), help="webarena-verified or webarena.")
    ],
) -> None:
    """Download an outside benchmark's task file with your own pip, from its published wheel.

    Nothing in the wheel is installed. The file is checked against a pinned hash and stored in the cache.
    """
    with common.workbench() as bench:
        place = bench.fetch(benchmark)
    common.say(f"{benchmark}: {place}")


TASKS = Command(
    "tasks",
    DATA,
    "List, show, export, generate and fetch tasks.",
    {
        "list": list_,
        "show": show,
        "export": export,
        "tables": tables,
        "query": query,
        "look": look,
        "generate": generate,
        "cost": cost,
        "fetch": fetch,
    },
    1,
)
