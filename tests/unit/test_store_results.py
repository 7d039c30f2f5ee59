"""Summaries are read in blocks; what is wrong with one of them costs that one alone, and is told."""

import apsw
import pytest

from tests.unit import samples
from tests.unit.test_store import attempt, unit
from webassay.core.errors import StoreError
from webassay.store import LEDGER, Store, ledger

COUNT = 10


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Several blocks; every third unit was not played, every third not graded."""
    monkeypatch.setattr(ledger, "BLOCK", 4)
    with Store.create(tmp_path / "run") as store:
        units = [unit(number) for number in range(COUNT)]
        store.plan(units)
        for number, one in enumerate(units):
            played = attempt(one, 0)
            if number % 3 == 1:
                store.add_trajectory(one.id, played)
            elif number % 3 == 2:
                store.add_episode(one.id, played, [samples.verdict(trajectory_id=played.id, status="fail")])
        yield store


def test_every_unit_comes_with_what_became_of_it(store):
    results = list(store.rows("rules"))
    assert [one.task_id for one in results] == [unit(number).task_id for number in range(COUNT)]
    known = [(one.trajectory is not None, one.verdict is not None) for one in results]
    assert known == [(number % 3 > 0, number % 3 == 2) for number in range(COUNT)]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE verdict SET summary = summary || ',' || summary WHERE ordinal = 2",
        "UPDATE verdict SET summary = '' WHERE ordinal = 2",
        """UPDATE verdict SET summary = '{"status": "perhaps", "grader": "rules"}' WHERE ordinal = 2""",
        "UPDATE trajectory SET summary = '[]' WHERE ordinal = 4",
        "UPDATE trajectory SET summary = substr(summary, 1, 20) WHERE ordinal = 4",
        "UPDATE unit SET summary = 'no JSON' WHERE ordinal = 6",
        "UPDATE unit SET agent = x'00' WHERE ordinal = 6",
    ],
)
def test_one_that_cannot_be_read_costs_itself_alone(store, change):
    whole = list(store.rows("rules"))
    with apsw.Connection(str(store.path / LEDGER)) as db:
        db.execute(change)
    told = []
    assert list(store.rows("rules", on_damage=told.append)) == [*whole[:5], *whole[6:]]
    assert len(told) == 1 and whole[5].task_id in str(told[0])
    with pytest.raises(StoreError, match="cannot read"):
        list(store.rows("rules"))
