"""`webassay grade`: stored runs again, or logs of others."""

import json
import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common

if TYPE_CHECKING:
    from webassay.catalog import Catalog
    from webassay.core.verdict import Verdict
    from webassay.grading.grade import Policy
    from webassay.grading.logs import GradedLog, LogLayout
    from webassay.store import Store


class Level(StrEnum):
    OFF = "off"
    REPORT = "report"
    ENFORCE = "enforce"


def register(app: typer.Typer) -> None:
    app.command(short_help="Grade again, offline: a run, or logs of others.")(grade)


def grade(
    place: Annotated[Path, typer.Argument(help="A run directory, or a directory of logs (with --benchmark).")],
    benchmark: Annotated[
        str | None, typer.Option("--benchmark", "-b", help="Logs of this benchmark: webarena-verified.")
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", help="Its configuration file, read as it is.")] = None,
    tasks_file: common.TasksFile = None,
    task: Annotated[list[str] | None, typer.Option("--task", "-t", help="Only this task (repeatable).")] = None,
    agent: Annotated[list[str] | None, typer.Option("--agent", "-a", help="Only this agent (repeatable).")] = None,
    activity: Annotated[
        Level | None, typer.Option("--activity", help="Proof of work: off, report or enforce (default).")
    ] = None,
    collateral: Annotated[
        Level | None,
        typer.Option("--collateral", help="Unasked-for changes; default: enforce on rows, report on logs."),
    ] = None,
    processes: Annotated[int, typer.Option("--processes", min=0, help="For logs; 0: one a core.")] = 0,
    compare_with: Annotated[
        str | None, typer.Option("--compare-with", help="`reference`: the published grader on the same logs.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say in words what was expected and found.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line a task, and nothing else.")] = False,
) -> None:
    """Grade again, offline, with today's key and grader: a stored run, or a directory of logs of others.

    Old verdicts of a run are kept. Logs are expected as `<task_id>/agent_response.json` and `network.har`.

    Example: `webassay grade runs/first --explain -t shop.low-reviews.w0s0.1`

    Example: `webassay grade logs/ --benchmark webarena-verified --json`
    """
    from webassay.grading.grade import Policy

    policy = Policy.model_validate(
        {name: level.value for name, level in (("activity", activity), ("collateral", collateral)) if level}
    )
    if benchmark is None:
        _grade_run(place, policy, task, agent, explain=explain, as_json=as_json)
        return
    logs = _graded_logs(place, benchmark, tasks_file, config, policy, processes or os.cpu_count() or 1)
    if compare_with:
        _compare(place, logs, config, compare_with)
        return
    for log in logs:
        if task and log.number not in task:
            continue
        if as_json:
            print(json.dumps(log.record(), ensure_ascii=False))
        elif explain:
            print(_in_words(log.verdict))
    if not as_json:
        _summary(logs)


# --- a run ----------------------------------------------------------------------------------------------


def _grade_run(
    place: Path, policy: "Policy", task: list[str] | None, agent: list[str] | None, *, explain: bool, as_json: bool
) -> None:
    from webassay.catalog import GRADERS
    from webassay.cli.results import show
    from webassay.store import Store, StoreBlobs

    with Store.open(place, writable=True) as store:
        catalog = catalog_of(store)
        changed = 0
        with common.progress("grading", len(store.units())) as (bar, line):
            for unit, trajectory in store.trajectories():
                bar.advance(line)
                if (task and unit.task_id not in task) or (agent and unit.agent not in agent):
                    continue
                before = store.verdict(trajectory.id, common.GRADER)
                verdict = GRADERS[common.GRADER](catalog.task(unit.task_id), trajectory, StoreBlobs(store), policy)
                if before != verdict:
                    store.add_verdict(verdict)
                changed += before is not None and before.status != verdict.status
                if as_json:
                    print(json.dumps(_line(unit.agent, verdict), ensure_ascii=False))
                elif explain:
                    print(f"{unit.agent}: {_in_words(verdict)}")
        if not as_json:
            show(common.report_of(store, title=place.name))
            print(f"\n{changed} verdicts differ from before.")


def catalog_of(store: "Store") -> "Catalog":
    """The tasks that the run was planned with, built again."""
    from webassay.catalog import Selection
    from webassay.core.errors import InputError

    text = store.setting("selection")
    if text is None:
        raise InputError(f"{store.path} does not say which tasks it holds.", hint="Was it made by `webassay run`?")
    chosen = json.loads(text)
    for name in ("templates", "tasks"):
        chosen[name] = tuple(chosen[name])
    return common.build(Selection(**chosen))


def _line(agent: str, verdict: "Verdict") -> dict[str, object]:
    findings = [{"check": f.check, "status": f.status, "message": f.message} for f in verdict.findings]
    return {
        "agent": agent,
        "task_id": verdict.task_id,
        "status": verdict.status,
        "score": verdict.score,
        "findings": findings,
    }


def _in_words(verdict: "Verdict") -> str:
    from webassay.grading.logs import explain

    return explain(verdict)


# --- logs of others -------------------------------------------------------------------------------------


def _layout(config: Path | None) -> "LogLayout":
    from webassay.benchmarks import verified
    from webassay.grading.logs import LogLayout

    found = verified.load_config(config) if config else verified.Config()
    return LogLayout(
        bases=found.bases, ports=verified.PORTS, response_file=found.response_file, trace_file=found.trace_file
    )


def _graded_logs(
    place: Path, benchmark: str, tasks_file: Path | None, config: Path | None, policy: "Policy", processes: int
) -> "list[GradedLog]":
    from webassay.benchmarks import verified
    from webassay.catalog import nearest, published_tasks
    from webassay.grading.logs import grade_logs

    if not benchmark.startswith("webarena-verified"):
        raise nearest("benchmark with logs to grade", benchmark, ("webarena-verified", "webarena-verified-hard"))
    layout = _layout(config)
    tasks = published_tasks(benchmark, tasks_file, common.cache_dir())
    by_folder = {str(verified.number_of(task)): task for task in tasks}
    graded = []
    with common.progress("grading logs") as (bar, line):
        for log in grade_logs(place, by_folder, layout, policy, processes):
            graded.append(log)
            bar.advance(line)
    return graded


def _summary(logs: "list[GradedLog]") -> None:
    from collections import Counter

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
            print(f"  {log.number}: {log.verdict.status}: {why}")


def _compare(place: Path, logs: "list[GradedLog]", config: Path | None, other: str) -> None:
    from webassay.catalog import nearest
    from webassay.grading.reference import differences, reference_python, reference_verdicts

    if other != "reference":
        raise nearest("grader to compare with", other, ("reference",))
    with common.progress("the reference grader"):
        python = reference_python(common.cache_dir())
        theirs = list(reference_verdicts(place, [int(log.number) for log in logs], _layout(config), python))
    found = differences(logs, theirs)
    for one in found:
        print(f"{one.number}: {one.kind} of the reference: ours {one.ours}, theirs {one.theirs}")
        print(f"   ours:   {one.why_ours or 'every check passed'}")
        print(f"   theirs: {one.why_theirs or 'every check passed'}")
    print(f"{len(logs)} logs under both graders, {len(found)} verdicts differ.")
