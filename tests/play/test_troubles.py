"""Reasons of faults and crashes: what counts as the same one, and when it has come too often."""

import pytest

from tests.support import samples
from webassay.core.trajectory import Ending
from webassay.core.unit import UnitOfWork
from webassay.play.troubles import Streaks, reason_of
from webassay.play.work import Played


def played(kind: str, message: str = "", *, agent: str = "a", task: str = "t.0") -> Played:
    unit = UnitOfWork(agent=agent, task_id=task)
    ending = Ending(kind=kind, message=message)
    trajectory = samples.trajectory(id=f"{unit.id}/0", task_id=task).model_copy(update={"ending": ending})
    return Played(unit=unit, trajectory=trajectory, verdicts=())


def test_the_same_reason_has_other_numbers_addresses_and_tasks():
    texts = {
        "t.1": "Playing a/t.1/0: http://9f86d081884c7d65.shop.localhost:4711/ took 3.5 s\nmore",
        "t.2": "\nPlaying a/t.2/0: http://60303ae22b998861.shop.localhost:8123/ took 40 s",
    }
    one, other = (played("fault", text, task=task) for task, text in texts.items())
    reason, again = (reason_of(each.unit, each.trajectory, None) for each in (one, other))
    assert reason.essence == again.essence
    assert reason.text.endswith("took 3.5 s")
    crashed = played("agent_crashed", texts["t.1"], task="t.1")
    assert reason_of(crashed.unit, crashed.trajectory, None).essence[0] == "crash"


FAULT, CRASH, FINE = ("fault", "the host is down"), ("agent_crashed", "KeyError: 'x'"), ("answered", "")


@pytest.mark.parametrize(
    ("course", "stops"),
    [
        ([FAULT] * 3, True),
        ([CRASH] * 3, True),
        ([FAULT] * 2, False),
        ([FAULT, FAULT, FINE, FAULT, FAULT], False),
        ([FAULT, FAULT, CRASH, FAULT, FAULT], False),
        ([FAULT, FINE, FAULT, FAULT, FAULT], True),
    ],
)
def test_only_the_same_again_and_again_is_too_much(course, stops):
    streaks = Streaks(3)
    assert any(streaks.is_too_long(played(*one)) for one in course) == stops
    assert not any(Streaks(None).is_too_long(played(*one)) for one in course * 3)


def test_another_agent_that_works_does_not_hide_one_that_does_not():
    streaks = Streaks(2)
    assert streaks.is_too_long(played(*FAULT, agent="broken")) is None
    assert streaks.is_too_long(played(*FINE, agent="healthy")) is None
    assert streaks.is_too_long(played(*FAULT, agent="broken")).text == "the host is down"
