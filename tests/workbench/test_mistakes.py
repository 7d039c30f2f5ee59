"""What agents that err on purpose did, beside what the rules said."""

import pytest

from tests.support.episodes import sample_task, sample_trajectory
from webassay import Workbench
from webassay.agents.flawed.flawed import errs
from webassay.core.trajectory import AgentInfo
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Fingerprint, Verdict
from webassay.store import Store

AGENT, SKILL, EPISODES = "flawed[skill=0.5]", 0.5, 12


def played(run, says, others=()):
    """A run in which the rules say `says(erred)` of every episode, and then others say something."""
    task = sample_task()
    with Store.create(run) as store:
        units = [UnitOfWork(agent=AGENT, task_id=task.id, trial=trial, seed=trial) for trial in range(EPISODES)]
        units.append(UnitOfWork(agent="other", task_id=task.id))
        store.plan(units)
        for unit in units:
            info = AgentInfo(name=unit.agent, settings={"skill": SKILL})
            made = sample_trajectory(store.blobs, task, id=f"{unit.id}/0", agent=info)
            status = says(errs(unit.agent, unit.seed, SKILL))
            verdicts = [
                Verdict(
                    trajectory_id=made.id,
                    task_id=task.id,
                    status=said,
                    fingerprint=Fingerprint(grader=grader, version="1"),
                )
                for grader, said in (("rules", status), *others)
            ]
            store.add_episode(unit.id, made, verdicts)
    return Workbench().mistakes(run)


@pytest.fixture
def erred() -> int:
    return sum(errs(AGENT, seed, SKILL) for seed in range(EPISODES))


def test_rules_that_fail_just_the_mistakes(tmp_path, erred):
    found = played(tmp_path / "run", lambda erred: "fail" if erred else "pass")
    assert set(found) == {AGENT}, "others do not err on purpose"
    one = found[AGENT]
    assert (one.episodes, one.erred, one.failed, one.agreed) == (EPISODES, erred, erred, EPISODES)
    assert 0 < erred < EPISODES


def test_rules_that_let_everything_pass(tmp_path, erred):
    one = played(tmp_path / "run", lambda erred: "pass")[AGENT]
    assert (one.erred, one.failed, one.agreed) == (erred, 0, EPISODES - erred)


@pytest.mark.parametrize("other", ["universal", "human:anna"])
def test_what_others_say_later_is_not_what_the_rules_said(tmp_path, erred, other):
    one = played(tmp_path / "run", lambda erred: "fail" if erred else "pass", [(other, "fail")])[AGENT]
    assert (one.episodes, one.erred, one.failed, one.agreed) == (EPISODES, erred, erred, EPISODES)


@pytest.mark.parametrize("status", ["abstain", "fault"])
def test_what_the_rules_did_not_decide_does_not_count(tmp_path, erred, status):
    one = played(tmp_path / "run", lambda erred: "fail" if erred else status, [("universal", "pass")])[AGENT]
    assert (one.episodes, one.erred, one.failed, one.agreed) == (erred,) * 4
