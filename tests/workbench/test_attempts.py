"""A second throw is a second throw, and reports say so."""

from pathlib import Path

from tests.support import samples
from webassay.core.errors import Fault
from webassay.core.trajectory import Ending, Trajectory
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Fingerprint, Status, Verdict
from webassay.play.settings import remember_trusted
from webassay.store import Store
from webassay.workbench import Workbench


def played(store: Store, unit: UnitOfWork, status: Status) -> None:
    kind = "fault" if status == "fault" else "answered"
    fault = Fault("BrowserError", "gone") if status == "fault" else None
    name = f"{unit.id}/{store.attempts(unit.id)}"
    trajectory: Trajectory = samples.trajectory(id=name, task_id=unit.task_id, ending=Ending(kind=kind, fault=fault))
    by = Fingerprint(grader="rules", version="4", key="k")
    verdict = Verdict(trajectory_id=name, task_id=unit.task_id, status=status, fingerprint=by)
    store.add_episode(unit.id, trajectory, [verdict])


def test_units_that_were_played_again_are_counted_and_marked(tmp_path: Path) -> None:
    units = [UnitOfWork(agent="mine", task_id=f"t{number}", trial=0, seed=0) for number in range(4)]
    with Store.create(tmp_path / "run") as store:
        store.plan(units)
        became = (["pass"], ["fault", "pass"], ["fault", "fault", "fail"], ["fault"])
        for unit, statuses in zip(units, became, strict=True):
            for status in statuses:
                played(store, unit, status)  # type: ignore[arg-type]
        remember_trusted(store, ["mine"])
    report = Workbench().report([tmp_path / "run"])
    assert report.facts["attempts"] == {"mine/t1/0": 2, "mine/t2/0": 3}
    assert any("1 of the units that passed" in line and "mine/t1/0" in line for line in report.warnings)
    assert any("mine ran with --trust-agent" in line for line in report.warnings)


def test_where_nothing_was_played_again_nothing_is_marked(tmp_path: Path) -> None:
    unit = UnitOfWork(agent="mine", task_id="t", trial=0, seed=0)
    with Store.create(tmp_path / "run") as store:
        store.plan([unit])
        played(store, unit, "pass")
    report = Workbench().report([tmp_path / "run"])
    assert report.facts["attempts"] == "one for each unit that was played"
    assert not any("again" in line or "trust" in line for line in report.warnings)
