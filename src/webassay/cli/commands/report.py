"""`webassay report`, `compare` and `leaderboard`: success, with intervals."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common
from webassay.cli.command import LOOK, Command
from webassay.cli.commands.show import Episodes, EpisodesForAll, write_page
from webassay.cli.options import Csv, Format, Grader, Graders, Html, Json, Markdown, Runs, chosen_format, shows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from webassay.core.report import Report
    from webassay.workbench import Document, UnitCase

GITHUB, PARQUET = "github", "parquet"

FailUnder = Annotated[
    float | None,
    typer.Option(
        "--fail-under",
        min=0,
        max=1,
        help="Exit with 4 if an agent's success is below this, or if a planned unit has no verdict. 0.8 is 80 %.",
    ),
]
MaxUnscored = Annotated[
    int | None,
    typer.Option("--max-unscored", min=0, help="With --fail-under: units that may have no verdict; default: none."),
]
Checked = Annotated[
    list[str] | None,
    typer.Option(
        "--agent",
        "-a",
        help="Check and list only this agent (repeatable); default: all but baselines.",
    ),
]
Junit = Annotated[
    Path | None, typer.Option("--junit", help="Also write JUnit XML here: a suite per agent, a case per unit.")
]
Units = Annotated[bool, typer.Option("--units", help="One row per planned unit, as json, csv or parquet.")]


def report(
    runs: Runs,
    grader: Graders = None,
    html: Html = None,
    episodes: Episodes = None,
    as_json: Json = False,
    markdown: Markdown = False,
    as_csv: Csv = False,
    format: Format = None,
    units: Units = False,
    junit: Junit = None,
    fail_under: FailUnder = None,
    max_unscored: MaxUnscored = None,
    agent: Checked = None,
) -> None:
    """Success with intervals, counts and failure modes: on the terminal, as a page, or as data.

    The verdicts are those of the rules, or of the only judge where no rule decided. A judge's report also has process
    scores and what went wrong, by error code.

    Example: `webassay report runs/first --html report.html --episodes failed`

    Example: `webassay report runs/om2w --grader "universal openai:NAME" --grader human:anna`

    Example: `webassay report runs/ci --fail-under 0.8 --junit report.xml --format github >> $GITHUB_STEP_SUMMARY`
    """
    form, graded_by = chosen_format(format, as_json, markdown, as_csv), (grader or [""])[0]
    if fail_under is None:
        checked = None if form == GITHUB or junit is not None else agent
        common.refuse("needs --fail-under", "Say what the agents must reach.", max_unscored=max_unscored, agent=checked)
    with common.workbench() as bench:
        made = bench.report(runs, graders=grader or ())
        failures = _failures(made, fail_under, agent, max_unscored)
        if units or form == PARQUET:
            common.give_units(bench.rows(runs, graded_by), form)
        else:
            common.give(made, form)
        if junit is not None or form == GITHUB:
            cases = [case for case in bench.cases(runs, graded_by) if not agent or case.agent in agent]
            _write_cases(cases, made, junit, form, agent or ())
        write_page(bench, made, runs, html, episodes, quiet=form != "table")
    for why in failures:
        common.say(f"::error title=webassay::{why.replace('%', '%25')}" if form == GITHUB else f"! {why}", stderr=True)
    if failures:
        raise typer.Exit(common.BELOW_THRESHOLD)
    if fail_under is not None:
        common.say(f"The threshold of {100 * fail_under:g} % holds.", stderr=True)


def _failures(
    made: "Report", fail_under: float | None, agents: list[str] | None, max_unscored: int | None
) -> list[str]:
    from webassay.workbench import Threshold

    return [] if fail_under is None else Threshold(fail_under, agents or (), max_unscored or 0).failures(made)


def _write_cases(
    cases: "Sequence[UnitCase]", made: "Report", junit: Path | None, form: str, agents: "Sequence[str]"
) -> None:
    from webassay.workbench import failed_in_markdown, to_junit

    if form == GITHUB:
        print(failed_in_markdown(cases, made, agents), end="")
    if junit is not None:
        common.say(f"JUnit: {common.write(junit, to_junit(cases, made.title))}", stderr=form != "table")


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
