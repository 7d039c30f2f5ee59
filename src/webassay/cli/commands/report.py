"""`webassay report`, `compare` and `leaderboard`: success, with intervals."""

from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common
from webassay.cli.command import LOOK, Command
from webassay.cli.commands.show import Episodes, EpisodesForAll, write_page
from webassay.cli.options import Csv, Format, Grader, Graders, Html, Json, Markdown, Runs, chosen_format, shows

if TYPE_CHECKING:
    from webassay.core.report import Report
    from webassay.workbench import Document


def report(
    runs: Runs,
    grader: Graders = None,
    html: Html = None,
    episodes: Episodes = None,
    as_json: Json = False,
    markdown: Markdown = False,
    as_csv: Csv = False,
    format: Format = None,
) -> None:
    """Success with intervals, counts and failure modes: on the terminal, as a page, or as data.

    The verdicts are those of the rules, or of the only judge where no rule decided. A judge's report also has process
    scores and what went wrong, by error code.

    Example: `webassay report runs/first --html report.html --episodes failed`

    Example: `webassay report runs/om2w --grader "universal openai:NAME" --grader human:anna`
    """
    form = chosen_format(format, as_json, markdown, as_csv)
    with common.workbench() as bench:
        made = bench.report(runs, graders=grader or ())
        common.give(made, form)
        write_page(bench, made, runs, html, episodes, quiet=form != "table")


@shows
def compare(
    runs: Runs,
    anchor: Annotated[str | None, typer.Option("--anchor", help="Compare with this agent; default: the best.")] = None,
    grader: Graders = None,
) -> "Report":
    """Paired differences between agents over the templates that both played, corrected for many comparisons.

    Example: `webassay compare runs/a runs/b --anchor oracle`

    Example: `webassay compare runs/om2w --grader webjudge --grader rules`
    """
    with common.workbench() as bench:
        return bench.report(runs, anchor=anchor, graders=grader or ())


@shows
def leaderboard(
    runs: Runs,
    title: Annotated[str, typer.Option("--title", help="The table's title.")] = "Leaderboard",
    grader: Grader = "",
) -> "Document":
    """Many runs in one table, by the fingerprints of graders and data: scores under different rules stay apart.

    Example: `webassay leaderboard runs/* --html leaderboard.html`
    """
    with common.workbench() as bench:
        return bench.leaderboard(runs, title=title, grader=grader)


REPORT = Command("report", LOOK, "Success with intervals, as text, page or data.", report, 1, EpisodesForAll)
COMPARE = Command("compare", LOOK, "Agents against an anchor, template by template.", compare, 3)
LEADERBOARD = Command("leaderboard", LOOK, "Many runs on one page, never mixing graders.", leaderboard, 4)
