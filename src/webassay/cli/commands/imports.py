"""`webassay import` and `webassay export`: trajectories of other people, both ways."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common
from webassay.cli.command import DATA, Command
from webassay.cli.options import Grader, Run, Runs, TasksFile, names_of

if TYPE_CHECKING:
    from webassay.workbench import LogImport

Form = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        autocompletion=names_of("importers"),
        help="One of `webassay list importers`; default: detected.",
    ),
]


SHOWN = 10
"""Verdicts without a trajectory that are named one by one."""


def import_(
    paths: Annotated[list[Path], typer.Argument(help="Files, or folders to search.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The run directory, new or to be added to.")],
    format: Form = None,
    benchmark: Annotated[
        str | None,
        typer.Option("--benchmark", "-b", help="Import logs of this benchmark's own harness: webarena-verified."),
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", help="For logs: the harness's configuration file.")] = None,
    tasks_file: TasksFile = None,
    agent: Annotated[str | None, typer.Option("--agent", help="The agent's name, if the files do not say.")] = None,
    only_present: Annotated[
        bool, typer.Option("--only-present", help="For logs: do not report tasks without a log as missing.")
    ] = False,
) -> None:
    """Import other people's trajectories into a run directory, where judges and reports can find them.

    An item that cannot be read is reported and skipped. Importing again adds only what is new. Archives (.zip, .tar,
    .tar.gz) are unpacked first. Human labels and judges' verdicts that come with a data set are imported as verdicts:
    see `webassay agree`.

    With --benchmark, each path is a folder of logs, with one folder per task. The rules grade the logs, and the report
    counts every task of the benchmark without a log as missing, unless --only-present is given.

    Example: `webassay import downloads/om2w --out runs/om2w`

    Example: `webassay import logs/my-agent --benchmark webarena-verified --out runs/verified`
    """
    with common.workbench() as bench:
        if benchmark is None:
            given = {"config": config, "tasks_file": tasks_file, "only_present": only_present}
            common.refuse("is only for logs", "Name the benchmark: --benchmark NAME.", **given)
            imported = bench.import_trajectories(paths, out, format, agent=agent or "")
        else:
            imported = bench.import_logs(paths, out, _logs(benchmark, tasks_file, config, agent, only_present))
    for place, why in imported.skipped:
        common.say(f"Skipped {place}: {why}", stderr=True)
    for said in imported.homeless[:SHOWN]:
        common.say(f"Skipped a verdict. {said}", stderr=True)
    if len(imported.homeless) > SHOWN:
        common.say(f"... and {len(imported.homeless) - SHOWN} more verdicts without a trajectory.", stderr=True)
    told = f", {imported.verdicts} verdicts by people and published judges" if imported.verdicts else ""
    print(f"{imported.added} imported{told}, {imported.known} already known, {len(imported.skipped)} skipped.")


def _logs(
    benchmark: str, tasks_file: Path | None, config: Path | None, agent: str | None, only_present: bool
) -> "LogImport":
    from webassay.workbench import LogImport, LogOptions

    return LogImport(LogOptions(benchmark, str(tasks_file or ""), config), agent or "", only_present)


def submission(
    run: Annotated[Path, typer.Argument(help="A run of webarena-verified.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="A new folder.")],
    name: Annotated[str, typer.Option("--name", help="Name on the leaderboard.")],
    reference: Annotated[str, typer.Option("--reference", help="A page about the agent: https://…")],
    agent: Annotated[str, typer.Option("--agent", "-a", help="The agent, if the run has several.")] = "",
    version: Annotated[str | None, typer.Option("--version", help="Model version.")] = None,
    contact: Annotated[str | None, typer.Option("--contact", help="An e-mail address.")] = None,
    tasks_file: TasksFile = None,
) -> None:
    """Package a run for WebArena-Verified's leaderboard: responses, network logs, submission.json and manifest.json.

    Nothing is uploaded; the leaderboard's own tool does that.

    Example: `webassay submission runs/mine -o my-submission --name Mine --reference https://example.org/mine`
    """
    from webassay.workbench import Submission

    told = Submission(name, reference, agent, version, contact, str(tasks_file or ""))
    with common.workbench() as bench:
        said = bench.package_submission(run, out, told)
    for scope, counts in said["packaged_tasks"].items():
        print(f"{scope}: {counts['valid']} of {counts['expected']} tasks")
    common.say(f"Written to {out}.")


def agentlab(
    runs: Runs,
    grader: Grader = "",
) -> None:
    """Print one line per episode, as CSV with the columns of AgentLab's result tables.

    Example: `webassay agentlab runs/* > results.csv`
    """
    with common.workbench() as bench:
        made = bench.agentlab_table(runs, grader)
    common.give(made, "csv")


def export(
    run: Run,
    out: Annotated[Path, typer.Option("--out", "-o", help="A folder, to hold one folder per trajectory.")],
    format: Annotated[
        str,
        typer.Option("--format", "-f", autocompletion=names_of("importers"), help="For example online-mind2web."),
    ],
) -> None:
    """Write a run's trajectories for another project's scripts.

    Example: `webassay export runs/first --out om2w --format online-mind2web`
    """
    with common.workbench() as bench:
        count = bench.export_trajectories(run, out, format)
    common.say(f"{count} trajectories written to {out}.")


IMPORT = Command("import", DATA, "Import others' trajectories into a run directory.", import_, 2)
EXPORT = Command("export", DATA, "Write a run's trajectories in another project's layout.", export, 3)
SUBMISSION = Command("submission", DATA, "A package for WebArena-Verified's leaderboard.", submission)
AGENTLAB = Command("agentlab", DATA, "Episodes as a CSV like AgentLab's.", agentlab)
