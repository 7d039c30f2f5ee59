"""Templates, graders and importers in files of one's own: loaded where somebody types them, never as a run says."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.cli.test_wrong_calls import call
from tests.support import samples
from tests.support.worlds import CACHE
from webassay.benchmarks.base import Selection
from webassay.compose.registries import GRADERS, IMPORTERS, TEMPLATES
from webassay.compose.tasks import adopted, key_files
from webassay.core.errors import Fault, InputError
from webassay.core.trajectory import Ending
from webassay.core.unit import UnitOfWork
from webassay.play.settings import remember
from webassay.store import Store
from webassay.workbench import GradeOptions, Workbench, in_words

TEMPLATE = """
from pathlib import Path

from webassay.arena.shop.catalog import PriceOfNothing

with Path(__file__).with_suffix(".log").open("a") as log:
    log.write("loaded ")


class Mine(PriceOfNothing):
    '''Ask for nothing.'''

    name = "shop.mine"
"""

GRADER = """
from webassay.core.verdict import Finding, Fingerprint, Verdict
from webassay.grading.grade import Grader


def grade(task, trajectory, blobs):
    if trajectory.answer == "broken":
        raise RuntimeError("no")
    good = len(trajectory.answer) < 10
    return Verdict(
        trajectory_id="another",
        task_id="another",
        status="pass" if good else "fail",
        findings=(Finding(check="length", status="pass" if good else "fail", message="It counts letters."),),
        fingerprint=Fingerprint(grader="rules", version="6"),
    )


TERSE = Grader("terse", "Passes short answers.", "7", grade)
"""

IMPORTER = """
from webassay.core.trajectory import AgentInfo, Ending, Trajectory
from webassay.importers.base import Importer
from webassay.importers.reading import goal


def read(place, blobs):
    said = place.read_text()
    return Trajectory(id="", task_id=place.stem, goal=goal("Say it.", ""), agent=AgentInfo(name="unknown"),
                      answer=said, ending=Ending(kind="imported"), source="said")


SAID = Importer("said", "Text files.", lambda place: place.suffix == ".said", read)
"""


@pytest.fixture(autouse=True)
def strangers():
    """What one test adopts is unknown to the next."""
    forget()
    yield
    forget()


def forget() -> None:
    for kind in (TEMPLATES, GRADERS, IMPORTERS):
        kind._installed.clear()


@pytest.fixture
def bench():
    return Workbench(cache=CACHE)


@pytest.fixture
def chores(tmp_path):
    file = tmp_path / "chores.py"
    file.write_text(TEMPLATE)
    return file


def loads(chores: Path) -> int:
    log = chores.with_suffix(".log")
    return len(log.read_text().split()) if log.exists() else 0


@pytest.fixture
def run(tmp_path, bench, chores):
    """One that was played with a template from a file, as a process before this one did it."""
    selection = adopted(Selection(templates=(f"{chores}:Mine",), instances=3))
    tasks = bench.tasks(selection)
    with Store.create(tmp_path / "run") as store:
        remember(store, selection)
        for task, answer in zip(tasks, ("short", "much too long", "broken"), strict=True):
            unit = UnitOfWork(agent="me", task_id=task.id, metadata={"template": task.template})
            store.plan([unit])
            played = samples.trajectory(
                id=f"{unit.id}/0", task_id=task.id, task_hash=task.content_hash(), goal=task.goal, answer=answer
            )
            store.add_trajectory(unit.id, played)
    forget()
    chores.with_suffix(".log").unlink()
    return tmp_path / "run"


def test_a_run_says_how_its_templates_are_called_and_not_where_they_are(chores):
    selection = Selection(templates=(f"{chores}:Mine", "shop.low-reviews"))
    assert adopted(selection).templates == ("shop.mine", "shop.low-reviews")
    assert key_files(selection) == (chores,), "agents must not read it"


def test_a_run_of_a_template_from_a_file_is_graded_and_shown_by_whoever_names_the_file(run, bench, chores):
    with pytest.raises(InputError, match=r"no template 'shop.mine'.*one of your own is named FILE\.py:CLASS"):
        list(bench.grade(run))
    assert "no template 'shop.mine'" in bench.episode(run, "shop.mine.w0s0.0").key.missing
    assert loads(chores) == 0
    assert bench.adopt_templates([f"{chores}:Mine"]) == ("shop.mine",)
    assert len(list(bench.grade(run))) == 3
    assert bench.episode(run, "shop.mine.w0s0.0").key.lines


def test_the_command_line_takes_the_file(run, chores, monkeypatch, capfd):
    monkeypatch.setenv("WEBASSAY_CACHE", str(CACHE))
    for words in (["grade", str(run), "--json"], ["show", str(run), "shop.mine.w0s0.0"]):
        forget()
        assert call([*words, "--template", f"{chores}:Mine"], monkeypatch) == 0
        assert "no template" not in capfd.readouterr().out
    assert loads(chores) == 2


def test_a_path_in_a_ledger_is_never_followed(run, bench, chores):
    named = asdict(Selection(templates=(f"{chores}:Mine",)))
    with Store.open(run, writable=True) as store:
        store.set("selection", json.dumps(named))
    with pytest.raises(InputError, match="There is no template"):
        list(bench.grade(run))
    assert loads(chores) == 0


def test_another_grader_decides_under_its_own_name_beside_the_rules(run, bench, chores, tmp_path):
    (tmp_path / "mine.py").write_text(GRADER)
    bench.adopt_templates([f"{chores}:Mine"])
    rules = [graded.verdict for graded in bench.grade(run)]
    own = [graded.verdict for graded in bench.grade(run, GradeOptions(grader=f"{tmp_path / 'mine.py'}:TERSE"))]
    assert [verdict.status for verdict in own] == ["pass", "fail", "fault"]
    assert {(v.fingerprint.grader, v.fingerprint.version) for v in own} == {("terse", "7")}
    assert [verdict.trajectory_id for verdict in own] == [verdict.trajectory_id for verdict in rules]
    assert "FAIL length: It counts letters." in in_words(own[1])
    assert bench.graders([run]) == ["rules", "terse"]
    with Store.open(run) as store:
        for verdict in (*rules, *own):
            assert store.verdict(verdict.trajectory_id, verdict.fingerprint.grader) == verdict


def test_what_was_no_fault_of_the_agents_is_for_no_grader(run, bench, chores, tmp_path):
    (tmp_path / "mine.py").write_text(GRADER)
    bench.adopt_templates([f"{chores}:Mine"])
    with Store.open(run, writable=True) as store:
        unit = next(store.units())
        fault = Ending(kind="fault", fault=Fault(boundary="BrowserError", message="It died."))
        store.plan([other := unit.model_copy(update={"trial": 1})])
        store.add_trajectory(other.id, samples.trajectory(id=f"{other.id}/0", task_id=unit.task_id, ending=fault))
    graded = list(bench.grade(run, GradeOptions(grader=f"{tmp_path / 'mine.py'}:TERSE")))
    assert len(graded) == 3 and other.id not in {one.unit.id for one in graded}


def test_no_file_can_call_its_grader_rules(run, bench, tmp_path):
    (tmp_path / "mine.py").write_text(GRADER.replace('Grader("terse"', 'Grader("rules"'))
    with pytest.raises(InputError, match="is called rules, which is taken"):
        list(bench.grade(run, GradeOptions(grader=f"{tmp_path / 'mine.py'}:TERSE")))


def test_an_importer_from_a_file(tmp_path, bench):
    (tmp_path / "mine.py").write_text(IMPORTER)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "one.said").write_text("hello")
    made = bench.import_trajectories([tmp_path / "in"], tmp_path / "out", f"{tmp_path / 'mine.py'}:SAID")
    assert (made.added, made.skipped) == (1, [])
    with Store.open(tmp_path / "out") as store:
        assert [trajectory.answer for _, trajectory in store.trajectories()] == ["hello"]
