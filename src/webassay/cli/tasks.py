"""`webassay tasks`: list, show, export, fetch."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from webassay.cli import common
from webassay.cli.common import Benchmark, Instances, Limit, Seed, TasksFile, Templates, WorldSeed

if TYPE_CHECKING:
    from webassay.catalog import Selection

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
    templates: Annotated[bool, typer.Option("--templates", help="One line a template instead of a task.")] = False,
) -> None:
    """Every task of a benchmark, one line each, without its key.

    Example: `webassay tasks list --templates`
    """
    from rich.table import Table

    chosen = _selection(
        tasks_file,
        template,
        benchmark=benchmark,
        instances=instances,
        world_seed=world_seed,
        seed=seed,
        limit=limit,
    )
    table = Table("template" if templates else "task", "kind", "chore", "goal", box=None)
    shown: set[str] = set()
    for one in common.build(chosen).tasks:
        name = one.template if templates else one.id
        if name not in shown:
            shown.add(name)
            table.add_row(name, one.kind, one.chore or "", one.goal.instruction)
    out = common.console()
    out.print(table)
    out.print(f"\n{len(shown)} {'templates' if templates else 'tasks'}.")


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
    chosen = _selection(
        tasks_file,
        None,
        benchmark=benchmark,
        tasks=(task,),
        instances=instances,
        world_seed=world_seed,
        seed=seed,
    )
    print(json.dumps(json.loads(common.build(chosen).tasks[0].to_json()), ensure_ascii=False, indent=2))


@app.command()
def export(
    benchmark: Benchmark = "arena",
    tasks_file: TasksFile = None,
    template: Templates = None,
    instances: Instances = 3,
    world_seed: WorldSeed = 0,
    seed: Seed = 0,
    limit: Limit = None,
) -> None:
    """Whole tasks, with their keys, as a JSON list: a file that `--benchmark` reads.

    Example: `webassay tasks export -n 1 > tasks.json`, then `webassay run -b tasks.json …`
    """
    chosen = _selection(
        tasks_file,
        template,
        benchmark=benchmark,
        instances=instances,
        world_seed=world_seed,
        seed=seed,
        limit=limit,
    )
    found = common.build(chosen).tasks
    print(json.dumps([json.loads(one.to_json()) for one in found], ensure_ascii=False, indent=1))


@app.command()
def fetch(
    benchmark: Annotated[str, typer.Argument(help="webarena-verified or webarena.")],
) -> None:
    """Get an outside benchmark's task file, with your own pip, out of the wheel that it is published in.

    Nothing of the wheel is installed. The file is checked against a pinned hash and kept in the cache.
    """
    from webassay.catalog import FETCHED, nearest

    if benchmark not in FETCHED:
        raise nearest("benchmark to fetch", benchmark, FETCHED)
    with common.progress(f"fetching {benchmark}"):
        place = FETCHED[benchmark](common.cache_dir())
    print(f"{benchmark}: {place}")


@app.command()
def benchmarks() -> None:
    """The benchmarks that there are."""
    from rich.table import Table

    from webassay.catalog import BENCHMARKS

    table = Table("benchmark", "what it is", box=None)
    for name, words in BENCHMARKS.items():
        table.add_row(name, words)
    common.console().print(table)


def _selection(tasks_file: Path | None, template: list[str] | None, **rest: Any) -> "Selection":
    from webassay.catalog import Selection

    return Selection(file=str(tasks_file or ""), templates=tuple(template or ()), **rest)
