"""`webassay protocols`: WebArena's old protocol against the verified one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common
from webassay.cli.command import DATA, Command
from webassay.cli.options import shows

if TYPE_CHECKING:
    from webassay.workbench import Document


@shows
def protocols(
    places: Annotated[
        list[Path],
        typer.Argument(help="Runs of webarena-verified (or its -paper), or folders of WebArena-Verified's logs."),
    ],
    old_tasks: Annotated[Path | None, typer.Option("--old-tasks", help="The original tasks, unless fetched.")] = None,
    verified_tasks: Annotated[Path | None, typer.Option("--verified-tasks", help="The verified tasks.")] = None,
    config: Annotated[Path | None, typer.Option("--config", help="Configuration of the logs' harness.")] = None,
) -> "Document":
    """The same episodes under the original WebArena's protocol and WebArena Verified's: false negatives and positives.

    The old protocol reads a structured response as the plain answer it stands for. What it would read on pages that
    were not recorded stays undecided. The verified protocol cannot read a plain answer, so episodes of webarena are
    left out and counted.

    Example: `webassay tasks fetch webarena`, then `webassay protocols logs/ --csv > differing.csv`
    """
    from webassay.workbench import ProtocolOptions

    options = ProtocolOptions(str(old_tasks or ""), str(verified_tasks or ""), config)
    with common.workbench() as bench:
        return bench.protocols(places, options)


PROTOCOLS = Command("protocols", DATA, "WebArena episodes under the old and the verified protocol.", protocols)
