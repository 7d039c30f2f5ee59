"""`verify` over run directories: where a verdict goes, which trajectories are judged, and what trials come to."""

import json

import pytest
from typer.testing import CliRunner

from tests.support import samples
from webassay import VerifyOptions, Workbench
from webassay.cli import app
from webassay.core.errors import InputError
from webassay.core.trajectory import AgentInfo, Ending, RecordedObservation, Step
from webassay.core.unit import UnitOfWork
from webassay.judging.universal.rubric import Criterion, Rubric
from webassay.llm.replay import Act, Script, replaying
from webassay.store import Store
from webassay.workbench import freeze

STEP = Step(index=0, seen=RecordedObservation(url="http://shop.test/"), action_text="click('1')")
PASS, FAIL = "Thoughts: fine.\nStatus: success", "Thoughts: wrong.\nStatus: failure"
REFUSED = Act(status=400, text="no")


def goal(task):
    return samples.goal(instruction=f"Find {task}.")


def recorded(path, **endings):
    """A run with a task for each ending; two runs of one agent share the ids of their trajectories."""
    with Store.create(path) as store:
        for task, ending in endings.items():
            unit = UnitOfWork(agent="clerk", task_id=task)
            store.plan([unit])
            played = samples.trajectory(
                id=f"{unit.id}/0",
                task_id=task,
                goal=goal(task),
                agent=AgentInfo(name="clerk"),
                steps=(STEP,),
                answer="7" if ending == "answered" else "",
                ending=Ending(kind=ending),
            )
            store.add_trajectory(unit.id, played)
    return path


def verification(runs, **options):
    return Workbench(cache=runs[0].parent / "cache").verification(runs, VerifyOptions(**options))


def stored(run):
    with Store.open(run) as store:
        return [verdict.status for verdict in store.newest_verdicts()]


# --- several runs -------------------------------------------------------------------------------------------------


@pytest.fixture
def days(tmp_path):
    return recorded(tmp_path / "monday", t="step_limit"), recorded(tmp_path / "tuesday", t="answered")


async def test_two_runs_that_share_their_ids_get_a_verdict_each(days):
    with verification(days) as verify:
        done = await verify.run()
        told = [(verdict.status, run.ending.kind) for verdict, run in verify.verdicts(done.fingerprints[0])]
    assert (done.tally.judged, done.tally.skipped) == (2, 0)
    assert [stored(run) for run in days] == [["fail"], ["abstain"]]
    assert told == [("fail", "step_limit"), ("abstain", "answered")]
    with verification(days) as verify:
        again = await verify.run()
    assert (again.tally.judged, again.tally.skipped) == (0, 2)


def test_verdicts_on_the_same_id_are_printed_with_their_runs(days):
    monday, tuesday = map(str, days)
    done = CliRunner().invoke(app, ["verify", monday, tuesday, "--without-model"])
    assert done.stdout.splitlines()[:4] == [monday, "clerk/t/0/0: fail", tuesday, "clerk/t/0/0: abstain"]
    done = CliRunner().invoke(app, ["verify", monday, tuesday, "--json", "--without-model"])
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(one["run"], one["status"]) for one in told] == [(monday, "fail"), (tuesday, "abstain")]
    assert CliRunner().invoke(app, ["verify", monday, "--without-model"]).stdout.splitlines()[0] == "clerk/t/0/0: fail"


async def test_a_dry_run_only_reads(days):
    with Store.open(days[0], writable=True), verification(days, dry_run=True) as verify:
        assert (await verify.estimate()).trajectories == 2
        with pytest.raises(InputError, match="only estimates"):
            await verify.run()
    assert [stored(run) for run in days] == [[], []]


async def test_what_one_run_knows_of_an_id_says_nothing_of_another_run(days):
    async with replaying(Script(lambda messages: PASS)) as server:
        options = {"judge": "agenttrek", "model": f"openai:judge@{server.url}"}
        with verification(days[1:], **options) as verify:
            await verify.run()
        with verification(days, **options) as verify:
            plan = await verify.estimate()
    assert (plan.trajectories, plan.already_judged, plan.calls) == (2, 1, 1)


async def test_trials_differ_on_a_trajectory_of_one_run_and_never_between_runs(tmp_path):
    runs = recorded(tmp_path / "monday", t="answered"), recorded(tmp_path / "tuesday", t="answered")
    _, repeated = await tried(runs, [PASS, FAIL, PASS, FAIL])
    assert (repeated.split, repeated.outcome) == (0, (0.5, 0.0))


# --- trials -------------------------------------------------------------------------------------------------------


async def tried(runs, replies, trials=2, **options):
    """One question after the other, so that the order of the replies is the order of the trajectories."""
    replies = iter(replies)
    async with replaying(Script(lambda messages: next(replies))) as server:
        options = {"judge": "agenttrek", "model": f"openai:judge@{server.url}", "trials": trials, **options}
        with verification(runs, cache=False, at_once=1, **options) as verify:
            done = await verify.run()
            return done, verify.repeated(done)


@pytest.fixture
def run(tmp_path):
    return recorded(tmp_path / "run", t0="answered", t1="answered")


async def test_a_trial_that_decides_nothing_is_no_share_of_0(run):
    done, repeated = await tried([run], [PASS, PASS, REFUSED, REFUSED])
    assert done.tally.faulted == 2
    assert (repeated.trials, repeated.deciding, repeated.undecided) == (2, 1, 2)
    assert repeated.outcome == (1.0, None), "one trial has no deviation"
    assert repeated.split == 0, "a fault contradicts nothing"
    assert "1 of 2 trials" in repeated.in_words and "outcome 100.0 %" in repeated.in_words


async def test_a_trial_for_which_there_was_no_money_is_no_share_of_0(run):
    done, repeated = await tried([run], [PASS, PASS], max_usd=0.0)
    assert done.tally.stopped
    assert (repeated.deciding, repeated.outcome) == (0, None)
    assert "decided nothing" in repeated.in_words


async def test_trials_that_decide_are_compared(run):
    _, repeated = await tried([run], [PASS, PASS, FAIL, PASS, PASS, REFUSED], trials=3)
    assert (repeated.deciding, repeated.split, repeated.undecided) == (3, 1, 1)
    assert repeated.outcome == (pytest.approx(2.5 / 3), pytest.approx(0.5 / 3**0.5))
    assert "Over 3 trials: outcome 83.3 ± 28.9 %" in repeated.in_words


# --- a frozen rubric ----------------------------------------------------------------------------------------------


async def test_a_frozen_rubric_is_for_the_tasks_that_are_judged(run, tmp_path):
    rubric = Rubric(items=(Criterion(criterion="Find it", description="as asked", max_points=4),))
    file = tmp_path / "t0.json"
    file.write_text(freeze(rubric, goal("t0"), "t0", "anna"))
    with verification([run], rubric=file, tasks=("t0",)) as verify:
        done = await verify.run()
    assert (done.tally.judged, stored(run)) == (1, ["abstain"])
    with verification([run], rubric=file) as verify, pytest.raises(InputError, match="Find t1"):
        await verify.run()
