"""`webassay label`: what people say, as verdicts."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from webassay.cli import common
from webassay.cli.command import JUDGE, Command
from webassay.cli.options import Run


def label(
    run: Run,
    labels: Annotated[Path, typer.Argument(help="CSV or JSON lines: id, label, and optionally score and comment.")],
    annotator: Annotated[str, typer.Option("--annotator", help="Who labeled; the grader is then human:NAME.")],
) -> None:
    """Add a person's labels to a run. Reports and agreement then treat that person as a grader.

    An id names a trajectory, or a unit (agent/task/trial). A label is pass, fail or unsure; 1, 0, success and failure
    also work. A score, from 0 to 1, rates the process. If an id is unknown, it is reported and nothing is written.
    Labeling again adds newer verdicts, and the newest one counts.

    Example: `webassay label runs/om2w labels.csv --annotator anna`, then `webassay report runs/om2w`
    """
    with common.workbench() as bench:
        count = bench.label(run, labels, annotator)
    grader = shlex.quote(f"human:{annotator.strip()}")
    common.say(f"{count} labels added. See them with: webassay report {common.quoted(run)} --grader {grader}")


LABEL = Command("label", JUDGE, "Add a person's labels to a run, as verdicts.", label, 3)
