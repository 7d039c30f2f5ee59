"""`webassay show`: one episode, in the terminal or as a page to attach to an issue."""

import shutil
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from webassay.cli import common
from webassay.cli.command import LOOK, Command
from webassay.cli.options import Run, RunTemplates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from webassay.core.report import Report
    from webassay.workbench import Workbench


class Which(StrEnum):
    ALL = "all"
    FAILED = "failed"


Episodes = Annotated[
    Which | None,
    typer.Option("--episodes", help="With --html: also a page per episode; `failed`: only those that did not pass."),
]


class EpisodesForAll(TyperCommand):
    """`--episodes` without a value means all of them; typer itself has no options whose value can be left out."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for place, word in enumerate(args):
            if word == "--episodes" and args[place + 1 : place + 2] not in ([Which.ALL], [Which.FAILED]):
                args.insert(place + 1, Which.ALL)
                break
        return super().parse_args(ctx, args)


def write_page(
    bench: "Workbench",
    made: "Report",
    runs: "Sequence[Path]",
    html: Path | None,
    episodes: Which | None,
    *,
    quiet: bool = False,
) -> None:
    """A report's page with its table of episodes, and their pages if they are wanted. `quiet`: standard output is for
    a program."""
    from webassay.core.errors import InputError

    if html is None:
        if episodes is not None:
            raise InputError("--episodes needs a report page to link from.", hint="Also give --html FILE.")
        return
    written = bench.write_report(made, runs, html, episodes=episodes.value if episodes else "none")
    common.say(f"Report: {html}", stderr=quiet)
    if episodes is not None:
        common.say(f"Episodes: {written} pages in {html.with_name(f'{html.stem}-episodes')}", stderr=quiet)


def show(
    run: Run,
    unit: Annotated[
        str | None,
        typer.Argument(help="AGENT/TASK/TRIAL, a trajectory id, or part of one; default: list all units."),
    ] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write one self-contained page here instead.")] = None,
    trace: Annotated[
        Path | None, typer.Option("--trace", help="Write a Playwright trace here, for `playwright show-trace`.")
    ] = None,
    template: RunTemplates = None,
) -> None:
    """One episode: goal, steps, answer against key, changed rows, and what every grader found.

    The page opens in any browser without a network connection, so it can be attached to an issue.

    Example: `webassay show runs/first oracle/shop.low-reviews.w0s0.1/0 --html episode.html`
    """
    from webassay.core.errors import InputError
    from webassay.workbench import episode_in_words, units_in_words

    with common.workbench() as bench:
        bench.adopt_templates(template or ())
        found = bench.units(run, unit or "")
        if unit is None or len(found) > 1:
            print(units_in_words(found))
            if unit is not None:
                raise InputError(f"{len(found)} units match {unit!r}.", hint="Name one of them.")
        elif html is not None or trace is not None:
            if html is not None:
                common.say(f"Episode: {common.write(html, bench.episode_page(run, unit))}")
            if trace is not None:
                common.say(f"Trace: {bench.write_episode_trace(run, unit, trace)}")
                common.say(f"Open it: playwright show-trace {common.quoted(trace)}")
        else:
            width = min(shutil.get_terminal_size((100, 24)).columns, 140)
            print(episode_in_words(bench.episode(run, unit), width), end="")


SHOW = Command("show", LOOK, "One episode: steps, pictures, verdicts, key.", show, 2)
