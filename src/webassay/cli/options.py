"""Options that several commands have: their types, and decorators that add whole groups of them."""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from webassay.cli import common

if TYPE_CHECKING:
    from webassay.core.report import Report
    from webassay.workbench import Document


def names_of(kind: str) -> "Callable[[str], list[str]]":
    """Completes the names of one kind of thing, installed ones included."""

    def complete(incomplete: str) -> list[str]:
        from webassay.compose.registries import KINDS

        return [name for name in KINDS[kind].names() if name.startswith(incomplete)]

    return complete


Runs = Annotated[list[Path], typer.Argument(help="Run directories.")]
Run = Annotated[Path, typer.Argument(help="A run directory.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="The run directory. An unfinished run there is resumed.")]
OwnOut = Annotated[Path | None, typer.Option("--out", "-o", help="The run directory; default: a new one in runs/.")]
Workers = Annotated[int, typer.Option("--workers", "-w", min=1, max=64, help="Episodes in parallel.")]
Grader = Annotated[
    str,
    typer.Option("--grader", help='Whose verdicts: rules, a judge ("webjudge openai:NAME"), a person (human:NAME).'),
]
Graders = Annotated[
    list[str] | None,
    typer.Option(
        "--grader",
        help='Whose verdicts: rules, a judge ("webjudge openai:NAME"), a person (human:NAME). Repeat it to compare '
        "several; the numbers are the first one's.",
    ),
]
RunTemplates = Annotated[
    list[str] | None,
    typer.Option("--template", help="A template of the run from a file of yours: file.py:Class (repeatable)."),
]
ModelName = Annotated[
    str | None, typer.Option("--model", "-m", help="openai:NAME, anthropic:NAME, google:NAME, or openai:NAME@URL.")
]
MaxUsd = Annotated[
    float | None,
    typer.Option("--max-cost", "--max-usd", min=0, help="Stop cleanly when this many US dollars are spent."),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Ignore what a model replied before.")]
Site = Annotated[str, typer.Argument(autocompletion=names_of("sites"), help="A site, such as shop.")]

# --- which tasks ----------------------------------------------------------------------------------------------

Benchmark = Annotated[
    str,
    typer.Option(
        "--benchmark",
        "-b",
        autocompletion=names_of("benchmarks"),
        help="One of `webassay list benchmarks`, or a JSON file of tasks.",
    ),
]
TasksFile = Annotated[
    Path | None,
    typer.Option("--tasks-file", help="An outside benchmark's task file, unless it was fetched; the goals of `open`."),
]
Templates = Annotated[
    list[str] | None,
    typer.Option(
        "--template",
        autocompletion=names_of("templates"),
        help="Only this template, or your own: file.py:Class (repeatable).",
    ),
]
Tasks = Annotated[list[str] | None, typer.Option("--task", "-t", help="Only this task (repeatable).")]
Instances = Annotated[int, typer.Option("--instances", "-n", min=1, max=100, help="Instances of each template.")]


def _world_seed(given: object) -> int:
    from webassay.workbench import RANDOM_WORLD

    text = str(given).strip().lower()
    if text == "random" or given == RANDOM_WORLD:  # A number comes from a file of options, never from the command line.
        return RANDOM_WORLD
    if not (text.isascii() and text.isdigit()) or int(text) >= 1 << 63:
        raise typer.BadParameter(f"{given} is neither a number from 0 to 2^63 - 1 nor `random`.")
    return int(text)


WorldSeed = Annotated[int, typer.Option("--world-seed", min=0, help="Seed of the sites' data.")]
SelectedWorldSeed = Annotated[
    int,
    typer.Option(
        "--world-seed",
        parser=_world_seed,
        metavar="<int or random>",
        help="Seed of the sites' data; `random` draws one that nobody can guess.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the templates' parameters.")]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, help="At most this many tasks, spread over the templates.")
]
Difficulty = Annotated[str, typer.Option("--difficulty", help="Only tasks that are easy, medium, hard or extreme.")]
Scale = Annotated[
    str, typer.Option("--scale", help="Size of the sites, where they have sizes: small, default or large.")
]
Obstacles = Annotated[
    list[str] | None,
    typer.Option("--obstacles", help="An obstacle, such as cookie-banner or slow; `any` draws one (repeatable)."),
]

SELECTING: Mapping[str, tuple[Any, Any]] = {
    "benchmark": (Benchmark, "arena"),
    "tasks_file": (TasksFile, None),
    "template": (Templates, None),
    "task": (Tasks, None),
    "instances": (Instances, 3),
    "world_seed": (SelectedWorldSeed, 0),
    "seed": (Seed, 0),
    "limit": (Limit, None),
    "difficulty": (Difficulty, ""),
    "scale": (Scale, ""),
    "obstacles": (Obstacles, None),
}
_FIELDS = {"tasks_file": "file", "template": "templates", "task": "tasks"}
"""What `Selection` calls an option that has another name here."""


def selects(*names: str, **defaults: object) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Adds options that choose tasks, by their names in `SELECTING`; the function gets them as one `selection`."""
    added = {name: (SELECTING[name][0], defaults.get(name, SELECTING[name][1])) for name in (*names, *defaults)}

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        def command(**given: Any) -> None:
            from webassay.workbench import Selection

            chosen = {_FIELDS.get(name, name): given.pop(name) for name in added}
            for name in {"templates", "tasks", "obstacles"} & chosen.keys():
                chosen[name] = tuple(chosen[name] or ())
            if "file" in chosen:
                chosen["file"] = str(chosen["file"] or "")
            function(selection=Selection(**chosen), **given)

        return with_options(command, function, added, instead_of="selection")

    return decorate


# --- how a result is shown ------------------------------------------------------------------------------------

Html = Annotated[Path | None, typer.Option("--html", help="Also write one self-contained page here.")]
Json = Annotated[bool, typer.Option("--json", help="Everything, as JSON, on standard output.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Tables for a README or a paper.")]
Csv = Annotated[bool, typer.Option("--csv", help="Rows for a spreadsheet.")]
Format = Annotated[
    str | None,
    typer.Option("--format", autocompletion=names_of("formats"), help="Any of `webassay list formats`."),
]

_SHOWING: Mapping[str, tuple[Any, Any]] = {
    "html": (Html, None),
    "json": (Json, False),
    "markdown": (Markdown, False),
    "csv": (Csv, False),
    "format": (Format, None),
}


def shows(function: "Callable[..., Report | Document | None]") -> Callable[..., None]:
    """Adds options for how a result is shown, and shows what the function returns. None: there is nothing to show."""

    def command(html: Path | None, json: bool, markdown: bool, csv: bool, format: str | None, **given: Any) -> None:
        result = function(**given)
        if result is not None:
            common.give(result, chosen_format(format, json, markdown, csv), html)

    return with_options(command, function, _SHOWING)


def chosen_format(name: str | None, json: bool, markdown: bool, csv: bool) -> str:
    return name or ("json" if json else "markdown" if markdown else "csv" if csv else "table")


def with_options(
    command: Callable[..., None],
    function: Callable[..., Any],
    added: Mapping[str, tuple[Any, Any]],
    *,
    instead_of: str = "",
) -> Callable[..., None]:
    """`command` with the name, the help and the options of `function`, and more options after them."""
    options = [one for one in inspect.signature(function).parameters.values() if one.name != instead_of]
    for name, (kind, default) in added.items():
        options.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind))
    by_name = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in options]
    command.__name__, command.__doc__ = function.__name__, function.__doc__
    command.__annotations__ = {one.name: one.annotation for one in by_name}
    command.__signature__ = inspect.Signature(by_name)  # type: ignore[attr-defined]
    return command
