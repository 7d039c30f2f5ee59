"""`webassay tasks`: list, show, export, fetch."""

import json
from typing import Annotated

import typer

from webassay.cli import common
from webassay.cli.common import Benchmark, Difficulty, Instances, Limit, Seed, TasksFile, Templates, WorldSeed

app = typer.Typer(help="List tasks, show one with its key, export them, fetch those of others.", no_args_is_help=True)


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
    templates: Annotated[bool, typer.Option("--templates", help="One line per template instead of task.")] = False,
) -> None:
    """Every task of a benchmark, one line each, without its key.

    Example: `webassay tasks list --templates`
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
    table = Table("template" if templates else "task", "kind", "chore", "difficulty", "goal", box=None)
    for name, task in reversed(lines.items()):
        table.add_row(name, task.kind, task.chore or "", task.difficulty, task.goal.instruction)
    common.console().print(table)
    print(f"\n{len(lines)} {'templates' if templates else 'tasks'}.")


@app.command()
def show(
    task: Annotated[str, typer.Argument(help="The task's id, as `webassay tasks list` prints it.")],
    benchmark: Benchmark = "arena",
    tasks_file: TasksFile = None,
    instances: Instances = 3,
    world_seed: WorldSeed = 0,
    seed: Seed = 0,
) -> None:
    """One task as JSON: its goal, its checks, its key."""
    chosen = common.selection(benchmark, tasks_file, task=[task], instances=instances, world_seed=world_seed, seed=seed)
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
    """Whole tasks, with their keys, as a JSON list: a file that `--benchmark` reads.

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
def fetch(
    benchmark: Annotated[
        str, typer.Argument(autocompletion=common.names_of("benchmarks"), help="webarena-verified or webarena.")
    ],
) -> None:
    """Get an outside benchmark's task file, with your own pip, out of the wheel that it is published in.

    Nothing of the wheel is installed. The file is checked against a pinned hash and kept in the cache.
    """
    with common.workbench() as bench:
        place = bench.fetch(benchmark)
    print(f"{benchmark}: {place}")
