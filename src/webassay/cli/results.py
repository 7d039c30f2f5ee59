"""Commands that read verdicts: report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common

if TYPE_CHECKING:
    from webassay.core.report import Report

Run = Annotated[Path, typer.Argument(help="A run directory.")]


def register(app: typer.Typer) -> None:
    app.command(short_help="Success with intervals, as text, page or data.")(report)


def report(
    run: Run,
    html: Annotated[Path | None, typer.Option("--html", help="Write one self-contained page here.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The whole report as JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Tables for a README or a paper.")] = False,
) -> None:
    """Success with intervals, counts and failure modes of a run: on the terminal, as a page, or as data.

    Example: `webassay report runs/first --html report.html`
    """
    from webassay.analysis import render
    from webassay.store import Store

    with Store.open(run) as store:
        found = common.report_of(store, title=run.name)
    if as_json:
        print(found.to_json())
    elif markdown:
        print(render.to_markdown(found))
    else:
        show(found)
    if html is not None:
        print(f"Report: {write_html(found, html)}")


def show(found: "Report") -> None:
    from webassay.analysis.render import to_table

    common.console().print(to_table(found))


def write_html(found: "Report", path: Path) -> Path:
    from webassay.analysis.page import to_html
    from webassay.core.errors import InputError

    try:
        path.write_text(to_html(found), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
    return path
