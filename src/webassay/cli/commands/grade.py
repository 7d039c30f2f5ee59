"""`webassay grade`: stored runs again, or logs of other harnesses."""

import json
import os
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common
from webassay.cli.command import PLAY, Command
from webassay.cli.options import MaxUsd, RunTemplates, Tasks, TasksFile, names_of
from webassay.core.registry import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from webassay.core.verdict import Verdict
    from webassay.workbench import GradedLog, GradeOptions, GraderDisagreement, LogOptions, Policy


RULES = "rules"
LONGEST = 240
"""Characters of a line."""


class Level(StrEnum):
    OFF = "off"
    REPORT = "report"
    ENFORCE = "enforce"


def grade(
    place: Annotated[Path, typer.Argument(help="A run directory, or a directory of logs (with --benchmark).")],
    benchmark: Annotated[
        str | None,
        typer.Option(
            "--benchmark",
            "-b",
            help="For logs: webarena-verified. For a run: its benchmark, if from code or imported.",
        ),
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", help="The harness's own configuration file.")] = None,
    tasks_file: TasksFile = None,
    task: Tasks = None,
    agent: Annotated[list[str] | None, typer.Option("--agent", "-a", help="Only this agent (repeatable).")] = None,
    template: RunTemplates = None,
    grader: Annotated[
        str,
        typer.Option(
            "--grader",
            autocompletion=names_of("graders"),
            help="For a run: one of `webassay list graders`, or file.py:NAME.",
        ),
    ] = RULES,
    activity: Annotated[
        Level | None, typer.Option("--activity", help="Proof of work: off, report or enforce (default).")
    ] = None,
    collateral: Annotated[
        Level | None,
        typer.Option("--collateral", help="Unrequested changes; default: enforce on rows, report on logs."),
    ] = None,
    partial_credit: Annotated[
        str, typer.Option("--partial-credit", help="For old protocols: `any` counts a partial score as a success.")
    ] = "none",
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Model for comparisons in old protocols: openai:NAME…")
    ] = None,
    max_usd: MaxUsd = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count the questions for a model; grade nothing.")] = False,
    processes: Annotated[int, typer.Option("--processes", min=0, help="For logs; 0: one per core.")] = 0,
    compare_with: Annotated[
        str | None, typer.Option("--compare-with", help="`reference`: the published grader on the same logs.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Why, of what did not pass; of tasks that you name, in any case.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line per task, and nothing else.")] = False,
) -> None:
    """Grade a stored run again, or a directory of another harness's logs, offline, with today's key and grader.

    A run's old verdicts are kept. Logs are expected as `<task_id>/agent_response.json` and `network.har`.

    Verdicts of another --grader stand beside those of the rules: `webassay report RUN --grader NAME`.

    Example: `webassay grade runs/first --explain -t shop.low-reviews.w0s0.1`

    Example: `webassay grade logs/ --benchmark webarena-verified --json`

    Example: `webassay import trajectories/ -o runs/theirs`, then `webassay grade runs/theirs --benchmark webarena`
    """
    from webassay.workbench import GradeOptions, LogOptions, is_run

    policy = _policy(activity, collateral, partial_credit)
    if benchmark is None or is_run(place):
        common.refuse("is only for logs", "Give a folder of logs, and --benchmark NAME.", compare_with=compare_with)
        if grader != RULES:
            given = {"activity": activity, "collateral": collateral, "model": model, "dry_run": dry_run}
            common.refuse("is only for the rules", "Omit it, or omit --grader.", **given)
        options = GradeOptions(
            tuple(task or ()), tuple(agent or ()), policy, benchmark or "", str(tasks_file or ""), config, grader=grader
        )
        with common.workbench() as bench:
            bench.adopt_templates(template or ())
        if model or dry_run:
            options = _asked(place, options, model, max_usd, dry_run=dry_run)
            if dry_run:
                return
        _grade_run(place, options, explain=explain, as_json=as_json)
    else:
        unused = {"agent": agent, "model": model, "max_usd": max_usd, "dry_run": dry_run, "template": template}
        unused["grader"] = grader if grader != RULES else None
        common.refuse("is only for runs", "Omit it: logs name no agent, and the rules alone grade them.", **unused)
        cores = processes or os.cpu_count() or 1
        logs = LogOptions(benchmark, str(tasks_file or ""), config, policy, cores)
        _grade_logs(place, logs, task, compare_with, explain=explain, as_json=as_json)


def _policy(activity: Level | None, collateral: Level | None, partial_credit: str) -> "Policy":
    from webassay.workbench import Policy

    if partial_credit not in ("none", "any"):
        raise nearest("partial credit", partial_credit, ("none", "any"))
    levels = {"activity": activity, "collateral": collateral}
    chosen = {name: level.value for name, level in levels.items() if level}
    return Policy.model_validate({**chosen, "partial_credit": partial_credit})


def _asked(
    place: Path, options: "GradeOptions", model: str | None, max_usd: float | None, *, dry_run: bool
) -> "GradeOptions":
    from dataclasses import replace

    from webassay import ModelOptions, run_sync

    with common.workbench() as bench:
        wanted = ModelOptions(model, max_usd=max_usd) if model and not dry_run else None
        asked = run_sync(bench.ask_model(place, options, wanted))
    tokens = asked.characters // 4
    print(f"{asked.questions} questions, about {tokens} tokens and at most {768 * asked.questions} in reply", end="")
    print("; nothing was asked." if dry_run else f"; ${asked.cost_usd or 0:.4f} spent.")
    return replace(options, replies=asked.replies)


def _grade_run(place: Path, options: "GradeOptions", *, explain: bool, as_json: bool) -> None:
    from webassay.workbench import in_words

    changed, graders, statuses = 0, set[str](), Counter[str]()
    with common.workbench() as bench:
        for graded in bench.grade(place, options):
            changed += graded.changed
            statuses[graded.verdict.status] += 1
            graders |= {graded.verdict.fingerprint.grader} - {RULES}
            if as_json:
                print(json.dumps({"agent": graded.unit.agent, **_line(graded.verdict)}, ensure_ascii=False))
            elif explain and (options.tasks or graded.verdict.status != "pass"):
                common.say(f"{graded.unit.agent}: {graded.goal}\n{_shortened(in_words(graded.verdict))}\n")
                if graded.trace:
                    print(common.indented(graded.trace))
        if explain and not as_json:
            counts = ", ".join(f"{count} {status}" for status, count in statuses.items())
            hidden = "" if options.tasks or not statuses["pass"] else "; --task explains one that passed"
            print(f"{statuses.total()} graded again: {counts}{hidden}.")
            print(f"Whole episodes: webassay show {common.quoted(place)} AGENT/TASK/TRIAL")
        elif not as_json:
            common.give(bench.report([place], title=place.name, graders=sorted(graders)), "table")
        if not as_json:
            print(f"\n{changed} verdicts differ from before.")


def _shortened(text: str) -> str:
    """Evidence may be a whole table; `webassay show` has all of it."""
    return "\n".join(line if len(line) <= LONGEST else f"{line[:LONGEST]}…" for line in text.splitlines())


def _line(verdict: "Verdict") -> dict[str, object]:
    findings = [{"check": f.check, "status": f.status, "message": f.message} for f in verdict.findings]
    return {"task_id": verdict.task_id, "status": verdict.status, "score": verdict.score, "findings": findings}


# --- logs of other harnesses ------------------------------------------------------------------------------------


def _grade_logs(
    place: Path,
    options: "LogOptions",
    tasks: list[str] | None,
    compare_with: str | None,
    *,
    explain: bool,
    as_json: bool,
) -> None:
    from webassay.core.errors import InputError
    from webassay.workbench import in_words

    if compare_with:
        hint = "Omit one of them: the comparison explains every difference."
        common.refuse("does not go with --compare-with", hint, json=as_json, explain=explain)
    with common.workbench() as bench:
        logs = [log for log in bench.grade_logs(place, options) if not tasks or log.number in tasks]
        if not logs:
            raise InputError(f"{place} has no log of {', '.join(tasks or ())}.", hint="Name tasks by their folders.")
        if compare_with:
            _tell_differences(logs, bench.compare_graders(place, logs, options, compare_with))
            return
    for log in logs:
        if as_json:
            print(json.dumps(log.record(), ensure_ascii=False))
        elif explain:
            common.say(in_words(log.verdict))
    if not as_json:
        _summary(logs)


def _summary(logs: "list[GradedLog]") -> None:
    counts = Counter(log.verdict.status for log in logs)
    said = ", ".join(f"{counts[status]} {status}" for status in ("pass", "fail", "abstain", "fault"))
    print(f"{len(logs)} logs: {said}")
    formats = Counter(
        str(aspect.value) for log in logs if (aspect := log.verdict.aspects.get("response_format")) is not None
    )
    strict, mended = formats["strict"], formats["recovered"]
    if formats.total():
        print(f"answers in the protocol's form: {strict} of {formats.total()}, {strict + mended} after recovery")
    for log in logs:
        if log.verdict.status != "pass":
            why = next((f.message for f in log.verdict.findings if f.status == log.verdict.status), "")
            common.say(f"  {log.number}: {log.verdict.status}: {why}")


def _tell_differences(logs: "Sequence[GradedLog]", found: "Sequence[GraderDisagreement]") -> None:
    for one in found:
        common.say(f"{one.number}: {one.kind} of the reference: ours {one.ours}, theirs {one.theirs}")
        common.say(f"   ours:   {one.why_ours or 'every check passed'}")
        common.say(f"   theirs: {one.why_theirs or 'every check passed'}")
    print(f"{len(logs)} logs under both graders, {len(found)} verdicts differ.")


GRADE = Command("grade", PLAY, "Regrade a run, or grade other harnesses' logs, offline.", grade, 3)
