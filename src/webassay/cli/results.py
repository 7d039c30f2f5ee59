"""Commands that read verdicts: report, compare, leaderboard, audit, subset, protocols."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common
from webassay.cli.common import Csv, Format, Html, Json, Markdown, Runs
from webassay.cli.showing import Episodes, EpisodesForAll, write_page

if TYPE_CHECKING:
    from webassay.workbench import Label

Grader = Annotated[
    str | None,
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


def register(app: typer.Typer) -> None:
    app.command(cls=EpisodesForAll, short_help="Success with intervals, as text, page or data.")(report)
    app.command(short_help="Agents against an anchor, template by template.")(compare)
    app.command(short_help="Many runs on one page, never mixing graders.")(leaderboard)
    app.command(short_help="What is wrong with a benchmark, task by task.")(audit)
    app.command(short_help="The hard part of a benchmark, by the paper's rule.")(subset)
    app.command(short_help="Success by type and site, modality, tools, benchmark.")(tables)
    app.command(short_help="Why episodes failed, in the papers' classes.")(errors)
    app.command(short_help="What can be scored without looking at a page.")(contamination)
    app.command(short_help="WebArena episodes under the old and the verified protocol.")(protocols)


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
    form = common.chosen_format(format, as_json, markdown, as_csv)
    with common.workbench() as bench:
        made = bench.report(runs, graders=grader or ())
        common.give(made, form)
        write_page(bench, made, runs, html, episodes, quiet=form != "table")


def compare(
    runs: Runs,
    anchor: Annotated[str | None, typer.Option("--anchor", help="Compare with this agent; default: the best.")] = None,
    grader: Graders = None,
    html: Html = None,
    as_json: Json = False,
    markdown: Markdown = False,
    as_csv: Csv = False,
    format: Format = None,
) -> None:
    """Paired differences between agents over the templates that both played, corrected for many comparisons.

    Example: `webassay compare runs/a runs/b --anchor oracle`

    Example: `webassay compare runs/om2w --grader webjudge --grader rules`
    """
    with common.workbench() as bench:
        made = bench.report(runs, anchor=anchor, graders=grader or ())
    common.give(made, common.chosen_format(format, as_json, markdown, as_csv), html)


def leaderboard(
    runs: Runs,
    title: Annotated[str, typer.Option("--title", help="The table's title.")] = "Leaderboard",
    grader: Grader = None,
    html: Html = None,
    as_json: Json = False,
    markdown: Markdown = False,
    as_csv: Csv = False,
    format: Format = None,
) -> None:
    """Many runs in one table, by the fingerprints of graders and data: scores under different rules stay apart.

    Example: `webassay leaderboard runs/* --html leaderboard.html`
    """
    with common.workbench() as bench:
        made = bench.leaderboard(runs, title=title, grader=grader or "")
    common.give(made, common.chosen_format(format, as_json, markdown, as_csv), html)


def audit(
    benchmark: Annotated[
        list[str],
        typer.Argument(help="webarena, webarena-verified, webchorearena=FILE, arena, or files of tasks."),
    ],
    runs: Annotated[list[Path] | None, typer.Option("--runs", help="Runs on these tasks (repeatable).")] = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", help="Manual labels (JSON list), for agreement between annotators.")
    ] = None,
    against: Annotated[
        str | None, typer.Option("--against", help="A revision of the benchmark, to list what it changed.")
    ] = None,
    grader: Grader = None,
    html: Html = None,
    as_json: Json = False,
    markdown: Markdown = False,
    as_csv: Csv = False,
    format: Format = None,
) -> None:
    """Brittle checks, doubtful keys, tasks that give their answer away: a list to work through, with a fix for each.

    Example: `webassay tasks fetch webarena`, then `webassay audit webarena`

    Example: `webassay audit webarena --against webarena-verified --csv > changes.csv`
    """
    from webassay.core.errors import InputError

    if against and (len(benchmark) > 1 or runs or labels):
        raise InputError(
            "--against compares two benchmarks and nothing else.",
            hint="Give one benchmark, without --runs and --labels.",
        )
    with common.workbench() as bench:
        if against:
            made = bench.audit_against(benchmark[0], against)
        else:
            made = bench.audit(benchmark, runs or (), _labels(labels), grader or "")
    common.give(made, common.chosen_format(format, as_json, markdown, as_csv), html)


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
    grader: Grader = None,
    html: Html = None,
    as_json: Json = False,
    markdown: Markdown = False,
    as_csv: Csv = False,
    format: Format = None,
) -> None:
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
        made = bench.subset(runs, procedure, grader or "", benchmark)
    common.give(made, common.chosen_format(format, as_json, markdown, as_csv), html)


def tables(
    runs: Annotated[
        list[Path], typer.Argument(help="Run directories, or tables (CSV, JSON lines) of task, agent and outcome.")
    ],
    benchmark: Annotated[
        str, typer.Option("--benchmark", "-b", help="For a table: where its tasks' types and sites are found.")
    ] = "",
    grader: Grader = None,
    html: Html = None,
    as_json: Json = False,
    markdown: Markdown = False,
    as_csv: Csv = False,
    format: Format = None,
) -> None:
    """WebChoreArena's tables: type of chore by site, modality by site, tools, and one benchmark against another.

    Shares are of scored episodes. A task of two types counts under both.

    Example: `webassay tables runs/webarena runs/chores --html tables.html`
    """
    with common.workbench() as bench:
        made = bench.tables(runs, grader or "", benchmark)
    common.give(made, common.chosen_format(format, as_json, markdown, as_csv), html)


def errors(
    runs: Runs,
    grader: Grader = None,
    html: Html = None,
    as_json: Json = False,
    markdown: Markdown = False,
    as_csv: Csv = False,
    format: Format = None,
) -> None:
    """Why episodes failed: WebArena Verified's five classes of errors and WebChoreArena's four patterns.

    Based on what the record shows, and on judges' diagnoses where there are any.

    Example: `webassay errors runs/first --markdown`
    """
    with common.workbench() as bench:
        made = bench.errors(runs, grader or "")
    common.give(made, common.chosen_format(format, as_json, markdown, as_csv), html)


def contamination(
    benchmark: Annotated[
        str, typer.Argument(autocompletion=common.names_of("benchmarks"), help="Any benchmark that can be graded.")
    ],
    tasks_file: common.TasksFile = None,
    agent: Annotated[
        list[str] | None, typer.Option("--agent", "-a", help="Only these; default: all that answer at once.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Also what this model knows: openai:NAME[@URL]…")
    ] = None,
    answers: Annotated[
        Path | None, typer.Option("--answers", help="A JSON object of task ids and answers given without looking.")
    ] = None,
    max_usd: Annotated[float | None, typer.Option("--max-usd", min=0, help="Stop when this much is spent.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Estimate the model's cost.")] = False,
    html: Html = None,
    as_json: Json = False,
    markdown: Markdown = False,
    as_csv: Csv = False,
    format: Format = None,
) -> None:
    """What can be scored without looking: constant answers, copies of the goal, and what a model already knows.

    Nothing is played: each answer is graded as if nothing else had happened.

    Example: `webassay contamination webarena`

    Example: `webassay contamination webarena --agent knowledge --model openai:gpt-5 --dry-run`
    """
    from webassay import ModelOptions, Selection, run_sync
    from webassay.core.errors import InputError
    from webassay.workbench import GuessOptions

    chosen = Selection(benchmark=benchmark, file=str(tasks_file or ""))
    asked = ModelOptions(model, max_usd=max_usd) if model else None
    if dry_run and asked is None:
        raise InputError("There is no cost to estimate without a model.", hint="Name one: --model openai:NAME.")
    with common.workbench() as bench:
        if dry_run and asked is not None:
            plan = run_sync(bench.contamination_plan(chosen, asked))
            cost = "its price is not known" if plan.cost_usd is None else f"about ${plan.cost_usd:.2f}"
            print(f"{plan.calls} calls, about {plan.input_tokens:,} tokens in, {plan.output_tokens:,} out: {cost}")
            return
        made = run_sync(bench.contamination(chosen, GuessOptions(tuple(agent or ()), asked, _answers(answers))))
    common.give(made, common.chosen_format(format, as_json, markdown, as_csv), html)


def _answers(path: Path | None) -> dict[str, str]:
    import json

    from webassay.core.errors import InputError
    from webassay.core.files import read_regular

    try:
        value = {} if path is None else json.loads(read_regular(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON: {str(error)[:200]}.") from None
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        raise InputError(f"{path} is not a JSON object of task ids and answers.")
    return value


def protocols(
    places: Annotated[
        list[Path],
        typer.Argument(help="Runs of webarena-verified (or its -paper), or folders of WebArena-Verified's logs."),
    ],
    old_tasks: Annotated[Path | None, typer.Option("--old-tasks", help="The original tasks, unless fetched.")] = None,
    verified_tasks: Annotated[Path | None, typer.Option("--verified-tasks", help="The verified tasks.")] = None,
    config: Annotated[Path | None, typer.Option("--config", help="Configuration of the logs' harness.")] = None,
    html: Html = None,
    as_json: Json = False,
    markdown: Markdown = False,
    as_csv: Csv = False,
    format: Format = None,
) -> None:
    """The same episodes under the original WebArena's protocol and WebArena Verified's: false negatives and positives.

    The old protocol reads a structured response as the plain answer it stands for. What it would read on pages that
    were not recorded stays undecided. The verified protocol cannot read a plain answer, so episodes of webarena are
    left out and counted.

    Example: `webassay tasks fetch webarena`, then `webassay protocols logs/ --csv > differing.csv`
    """
    from webassay.workbench import ProtocolOptions

    options = ProtocolOptions(str(old_tasks or ""), str(verified_tasks or ""), config)
    with common.workbench() as bench:
        made = bench.protocols(places, options)
    common.give(made, common.chosen_format(format, as_json, markdown, as_csv), html)


def _labels(path: Path | None) -> "list[Label]":
    from pydantic import TypeAdapter, ValidationError

    from webassay.core.errors import InputError
    from webassay.core.files import read_regular
    from webassay.workbench import Label

    if path is None:
        return []
    try:
        return TypeAdapter(list[Label]).validate_json(read_regular(path))
    except ValidationError as error:
        raise InputError(f"{path} is not a list of labels: {error.errors()[0]['msg']}.") from error
