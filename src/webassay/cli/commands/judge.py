"""`webassay verify` and `webassay rubric`: judges, for what no rule can decide."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common
from webassay.cli.command import JUDGE, Command
from webassay.cli.options import MaxUsd, ModelName, NoCache, Tasks, names_of, selects

if TYPE_CHECKING:
    from webassay.core.trajectory import Trajectory
    from webassay.core.verdict import Verdict
    from webassay.workbench import ImportResult, Selection
    from webassay.workbench.judge import Verification, VerificationResult

Profile = Annotated[
    str | None, typer.Option("--profile", help="Universal Verifier profile: webassay (default), paper, released.")
]


def verify(
    paths: Annotated[list[Path], typer.Argument(help="Run directories, or other people's trajectories.")],
    judge: Annotated[
        str,
        typer.Option(
            "--judge",
            "--verifier",
            autocompletion=names_of("judges"),
            help="One of `webassay list judges`, optionally with settings: webjudge[threshold=4].",
        ),
    ] = "universal",
    model: ModelName = None,
    rubric_model: Annotated[str | None, typer.Option(help="For writing rubrics.")] = None,
    relevance_model: Annotated[str | None, typer.Option(help="For weighing screenshots.")] = None,
    score_model: Annotated[str | None, typer.Option(help="For scoring.")] = None,
    outcome_model: Annotated[str | None, typer.Option(help="For the outcome.")] = None,
    as_published: Annotated[
        bool, typer.Option("--as-published", help="Ask and read as the authors of a published judge do.")
    ] = False,
    profile: Profile = None,
    votes: Annotated[int | None, typer.Option("--votes", min=1, help="Times the deciding stages run (odd).")] = None,
    frozen: Annotated[Path | None, typer.Option("--rubric", help="A frozen rubric, for one task.")] = None,
    task: Tasks = None,
    trials: Annotated[
        int, typer.Option("--trials", min=1, help="Times to judge everything, to see how verdicts vary.")
    ] = 1,
    max_usd: MaxUsd = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", min=1, help="Seconds per question; default: half an hour.")
    ] = None,
    at_once: Annotated[int, typer.Option("--at-once", min=1, max=256, help="Model calls in parallel.")] = 8,
    no_cache: NoCache = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where to store imported trajectories.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Estimate the cost without asking a model.")] = False,
    without_model: Annotated[
        bool, typer.Option("--without-model", help="Only what the record alone proves; everything else abstains.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Print rubric, scores and evidence.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line per trajectory, and nothing else.")] = False,
) -> None:
    """Judge what no rule can decide. If the command is killed, run it again to resume.

    Example: `webassay verify runs/first --model openai:NAME --explain`

    Example: `webassay verify downloads/om2w -o runs/om2w --judge webjudge --dry-run`
    """
    from webassay import VerifyOptions, run_sync
    from webassay.workbench import describe_estimate

    slots = {"rubric": rubric_model, "relevance": relevance_model, "score": score_model, "outcome": outcome_model}
    options = VerifyOptions(
        judge=_with_settings(judge, profile=profile, votes=votes),
        as_published=as_published,
        model=model,
        slots={slot: spec for slot, spec in slots.items() if spec},
        rubric=frozen,
        tasks=tuple(task or ()),
        max_usd=max_usd,
        timeout=timeout,
        trials=trials,
        at_once=at_once,
        cache=not no_cache,
        out=out,
        dry_run=dry_run,
    )
    with common.workbench() as bench, bench.verification(paths, options) as verification:
        _tell_skipped(verification.imported)
        if model is None and not (dry_run or without_model):
            _refuse_without_model(verification.judge.name)
        if dry_run:
            common.say(describe_estimate(run_sync(verification.estimate())))
            return
        run_sync(verification.check_models())
        done = run_sync(verification.run())
        raise typer.Exit(_report(verification, done, explain=explain, as_json=as_json))


@selects("benchmark", "tasks_file")
def rubric(
    selection: "Selection",
    task: Annotated[str, typer.Argument(help="A task's id, or a goal in quotes.")],
    model: ModelName = None,
    profile: Profile = None,
    max_usd: MaxUsd = None,
    no_cache: NoCache = False,
    freeze_to: Annotated[Path | None, typer.Option("--freeze", help="Write it here, for `verify --rubric`.")] = None,
    reviewed_by: Annotated[str, typer.Option("--reviewed-by", help="Reviewer's name.")] = "",
) -> None:
    """Write a rubric from the task alone, and mark what a person should review before it is used.

    Example: `webassay rubric "Find the cheapest kettle" --model openai:NAME --freeze kettle.json`
    """
    from webassay import VerifyOptions, run_sync
    from webassay.workbench import describe_review, freeze

    options = VerifyOptions(judge=_with_settings("universal", profile=profile), model=model, max_usd=max_usd,
                            cache=not no_cache)  # fmt: skip
    with common.workbench() as bench:
        goal = bench.goal(task, replace(selection, tasks=(task,)))
        review = run_sync(bench.review_rubric(goal, options))
    common.say(describe_review(review))
    if freeze_to is not None:
        common.say(f"Frozen: {common.write(freeze_to, freeze(review.rubric, goal, task, reviewed_by))}")


# --- inside -----------------------------------------------------------------------------------------------------


def _with_settings(judge: str, **settings: object) -> str:
    """`--profile paper` is another way to write `universal[profile=paper]`."""
    given = ",".join(f"{name}={value}" for name, value in settings.items() if value is not None)
    if not given:
        return judge
    return f"{judge.removesuffix(']')},{given}]" if judge.endswith("]") else f"{judge}[{given}]"


def _tell_skipped(imported: "ImportResult | None") -> None:
    for place, why in imported.skipped if imported else ():
        common.say(f"Skipped {place}: {why}", stderr=True)


def _refuse_without_model(judge: str) -> None:
    """Built-in judges would abstain from nearly everything; what packages add may need none."""
    from webassay.compose.registries import JUDGES
    from webassay.core.errors import InputError

    if judge in JUDGES.built_in():
        raise InputError(
            f"The judge {judge} needs a model.",
            hint="Name one: --model openai:NAME. Without one, `--dry-run` estimates the cost, `--without-model` finds "
            "what the record alone disproves (universal), and `webassay grade` grades by the rules.",
        )


def _report(verification: "Verification", done: "VerificationResult", *, explain: bool, as_json: bool) -> int:
    """Returns the exit code: see docs/running.md."""
    trials, decided = len(done.fingerprints), 0
    for number, fingerprint in enumerate(done.fingerprints, 1):
        if trials > 1 and not as_json:
            common.say(f"Trial {number}")
        for store in verification.stores:
            if len(verification.stores) > 1 and not as_json:
                common.say(str(store.path))
            for verdict, trajectory in verification.verdicts_in(store, fingerprint):
                decided += verdict.status in ("pass", "fail")
                if as_json:
                    print(_as_json(verdict, store.path, number))
                else:
                    common.say(_told(verdict, trajectory if explain else None))
    tally = done.tally
    code = common.SPENT if tally.stopped else 0 if decided else common.NOTHING_MEASURED
    if as_json:
        return code
    if trials > 1:
        common.say(verification.repeated(done).in_words)
    print(f"{tally.judged} judged, {tally.skipped} already had a verdict, {tally.faulted} faulted.")
    if tally.stopped:
        common.say(tally.stopped)
    if code == common.NOTHING_MEASURED:
        common.say("Nothing was judged: every verdict is a fault or an abstention.", stderr=True)
    return code


def _as_json(verdict: "Verdict", run: Path, trial: int) -> str:
    found = {
        "run": str(run),
        "trajectory": verdict.trajectory_id,
        "trial": trial,
        "status": verdict.status,
        "aspects": {name: aspect.value for name, aspect in verdict.aspects.items()},
        "cost_usd": verdict.cost_usd,
    }
    return json.dumps(found, ensure_ascii=False)


def _told(verdict: "Verdict", trajectory: "Trajectory | None") -> str:
    """With the trajectory, everything that is known about the verdict."""
    from webassay.workbench import in_words

    if trajectory is None:
        return f"{verdict.trajectory_id}: {verdict.status}"
    return f"{verdict.trajectory_id}\n{in_words(verdict, trajectory)}\n"


VERIFY = Command("verify", JUDGE, "Judge runs, and other people's trajectories.", verify, 1)
RUBRIC = Command("rubric", JUDGE, "Write, lint and freeze a task's rubric.", rubric, 2)
