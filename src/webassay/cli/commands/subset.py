"""`webassay subset`: the tasks that tell agents apart."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common
from webassay.cli.command import DATA, Command
from webassay.cli.options import Grader, shows

if TYPE_CHECKING:
    from webassay.workbench import Document


@shows
def subset(
    runs: Annotated[
        list[Path], typer.Argument(help="Run directories, or tables (CSV, JSON lines) of task, agent and outcome.")
    ],
    benchmark: Annotated[
        str, typer.Option("--benchmark", "-b", help="For a table: where its tasks' templates and sites are found.")
    ] = "",
    level: Annotated[str, typer.Option("--level", help="`text`: the paper's 95 %; `appendix`: z = 1.282.")] = "text",
    z: Annotated[float | None, typer.Option("--z", min=0, help="z of the Wilson bound; overrides --level.")] = None,
    minimum_coverage: Annotated[
        int | None, typer.Option("--minimum-coverage", min=1, help="Agents with a score; default 4.")
    ] = None,
    easy_threshold: Annotated[
        float | None, typer.Option("--easy-threshold", min=0, max=1, help="Bound for an easy task; default 0.5.")
    ] = None,
    near_easy_rate: Annotated[
        float | None, typer.Option("--near-easy-rate", min=0, max=1, help="Rate for near-easy; default 0.85.")
    ] = None,
    near_easy_coverage: Annotated[
        int | None, typer.Option("--near-easy-coverage", min=1, help="Agents needed for near-easy; default 5.")
    ] = None,
    removed_site: Annotated[
        list[str] | None,
        typer.Option("--removed-site", help="Drop tasks on this site alone; default: map; `none`: no site."),
    ] = None,
    size: Annotated[int | None, typer.Option("--size", min=1, help="At most this many tasks.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the draw.")] = 0,
    grader: Grader = "",
) -> "Document":
    """The tasks that tell agents apart, chosen from runs of several agents, with how far the choice can be trusted.

    Example: `webassay subset runs/* --size 137 --json`

    Example: `webassay subset leaderboard.csv --benchmark webarena-verified --level appendix`
    """
    from webassay.core.registry import nearest
    from webassay.workbench import PROCEDURES

    if level not in PROCEDURES:
        raise nearest("level", level, PROCEDURES)
    given = {
        "z": z,
        "minimum_coverage": minimum_coverage,
        "easy_threshold": easy_threshold,
        "near_easy_rate": near_easy_rate,
        "near_easy_coverage": near_easy_coverage,
        "removed_sites": None if removed_site is None else tuple(one for one in removed_site if one != "none"),
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    procedure = PROCEDURES[level].model_copy(update={**chosen, "size": size, "seed": seed})
    with common.workbench() as bench:
        return bench.subset(runs, procedure, grader, benchmark)


SUBSET = Command("subset", DATA, "The hard part of a benchmark, by the paper's rule.", subset)
