"""Applications in the form of WebArena-Infinity, on one of our own that is as unkind as they are."""

import asyncio
import json
import runpy
import shutil
from pathlib import Path

import pytest

from tests.environments.served.playing import played
from webassay.benchmarks.infinity import load
from webassay.core.errors import InputError
from webassay.core.task import Task
from webassay.core.trajectory import MemoryBlobs, ProgramResult, RowsResult
from webassay.environments.infinity import InfinityOptions, application
from webassay.environments.served import ServedEnvironment, ServedStage

UNKIND = Path(__file__).with_name("unkind")
TASKS = {task.id: task for task in load(str(UNKIND))}
WATER, STAR, MILK = "unkind.real.task_e1", "unkind.real.task_m1", "unkind.function.1"


class Attentive(ServedEnvironment):
    """Asks the verifier once more, beside everything, while the application is still there."""

    def __init__(self, *given: object, **more: object) -> None:
        super().__init__(*given, **more)
        self.heard: list[tuple[bool, bool]] = []

    def stage(self, task: Task):
        return self._listening(super().stage(task), task)

    def _listening(self, stage, task: Task):
        place = self

        class Listening:
            async def __aenter__(self) -> ServedStage:
                made = await stage.__aenter__()
                probe = made.probe

                async def heard(cookies, blobs):
                    results = await probe(cookies, blobs)
                    (said,) = [one for one in results if isinstance(one, ProgramResult)]
                    place.heard.append((said.passed, await asyncio.to_thread(by_hand, task, made.bases["unkind"])))
                    return results

                made.probe = heard
                return made

            async def __aexit__(self, *reason: object) -> object:
                return await stage.__aexit__(*reason)

        return Listening()


def by_hand(task: Task, url: str) -> bool:
    """As its authors would: import the file, call the function."""
    passed, _ = runpy.run_path(str(UNKIND / task.checks[0].program))["verify"](url)
    return passed


def environment(
    folder: Path = UNKIND, kind: type[ServedEnvironment] = ServedEnvironment, **options: object
) -> ServedEnvironment:
    return kind(application(folder, "unkind", InfinityOptions(**options)), folder)


SCRIPTS = {
    WATER: [
        ("pass", ["click button 'Finish 1'"]),
        ("fail", ["click button 'Finish 2'"]),
        ("pass", ["click button 'Delete 3'", "click button 'Finish 1'"]),
        ("fail", ["click button 'Finish 1'", "click button 'Delete 1'"]),
        ("fail", []),
    ],
    STAR: [
        ("pass", ["click button 'Star 1'", "click button 'Star 2'"]),
        ("fail", ["click button 'Star 1'"]),
        ("fail", ["click button 'Star 1'", "click button 'Star 2'", "click button 'Star 1'"]),
        ("pass", ["click button 'Sort'", "click button 'Star 2'", "click button 'Star 1'"]),
    ],
    MILK: [("pass", ["fill textbox 'New' Buy milk", "click button 'Add'"])],
}


@pytest.mark.long
@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
class TestTheUnkindApplication:
    async def test_two_workers_find_what_the_verifier_says(self, browser):
        await self.all_scripts(browser, 1)

    @pytest.mark.slow
    @pytest.mark.timeout(600)
    async def test_fifty_episodes_of_two_workers_are_what_the_verifier_says(self, browser):
        await self.all_scripts(browser, 5)

    async def all_scripts(self, browser, times: int) -> None:
        todo = [(name, *script) for name, scripts in SCRIPTS.items() for script in scripts] * times
        number, found = len(todo), []
        async with environment(kind=Attentive) as place:

            async def work() -> None:
                while todo:
                    name, expected, lines = todo.pop()
                    _, verdict = await played(TASKS[name], place, browser, *lines)
                    found.append((verdict.status, expected))

            await asyncio.gather(work(), work())
            assert len(place._free) == 2, "one process for each worker"
            heard = place.heard
        assert number == 10 * times
        assert [status for status, _ in found] == [expected for _, expected in found]
        assert len(heard) == number and all(ours == theirs for ours, theirs in heard)
        assert {ours for ours, _ in heard} == {True, False}

    async def test_what_was_changed_besides_is_reported_and_time_stamps_are_not(self, browser):
        async with environment() as place:
            trajectory, verdict = await played(
                TASKS[WATER], place, browser, "click button 'Delete 3'", "click button 'Finish 1'"
            )
        assert verdict.status == "pass" and verdict.aspects["side_effects"].value == 1
        (found,) = [one for one in verdict.findings if one.check == "state.collateral"]
        assert found.code == "reported.collateral_damage" and "unkind: delete in chores (id=3)" in found.message
        (rows,) = trajectory.probed(RowsResult)
        water = next(row for row in rows.changes if row.key == {"id": 1})
        assert "updatedAt" in water.after and list(rows.differing(water)) == ["done"]

    async def test_where_the_verifier_fails_nobody_knows_what_was_asked_for(self, browser):
        async with environment() as place:
            _, verdict = await played(TASKS[WATER], place, browser, "click button 'Delete 3'")
        assert verdict.status == "fail" and "side_effects" not in verdict.aspects
        (found,) = [one for one in verdict.findings if one.check == "state.changes"]
        assert found.message.startswith("Changed: unkind: delete in chores (id=3)")

    async def test_the_clock_is_that_of_the_data_and_the_verifiers_are_hidden(self, browser):
        async with environment() as place:
            trajectory, _ = await played(TASKS[WATER], place, browser, blobs=(blobs := MemoryBlobs()))
        assert "It is 2026-03." in blobs.read(trajectory.last_seen.tree).decode()

    async def test_tasks_and_verifiers_cannot_be_read_through_the_application(self, browser):
        async with environment() as place, place.stage(TASKS[WATER]) as stage:
            for path in ("/real-tasks.json", "/real-tasks/task_e1.py", "/function-tasks.json", "/function-tasks/"):
                assert (await stage.running.ask("GET", path)).status == 404
            assert (await stage.running.ask("GET", "/js/app.js")).status == 200

    async def test_a_page_that_never_tells_its_state_is_a_fault(self, browser, tmp_path):
        folder = shutil.copytree(UNKIND, tmp_path / "unkind")
        (folder / "js" / "app.js").write_text("document.body.append('Hello')")
        async with environment(folder, start_seconds=10) as place:
            trajectory, verdict = await played(TASKS[WATER], place, browser)
        assert verdict.status == "fault" and "has no state, although its page was opened" in trajectory.ending.message


class TestTheFolder:
    def test_the_tasks_of_a_folder(self):
        assert list(TASKS) == [WATER, STAR, MILK]
        assert [task.difficulty for task in TASKS.values()] == ["easy", "medium", "easy"]
        assert "verify" not in TASKS[WATER].goal.to_json()

    def test_another_verifier_is_another_key(self, tmp_path):
        folder = shutil.copytree(UNKIND, tmp_path / "unkind")
        file = folder / "real-tasks" / "task_e1.py"
        file.write_text(file.read_text() + "\n")
        assert load(str(folder))[0].content_hash() != TASKS[WATER].content_hash()

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ({"verify": "real-tasks/none.py"}, r"none\.py does not exist"),
            ({"verify": "../../secret.py"}, "is not in"),
            ({"instruction": None}, "0.instruction"),
        ],
    )
    def test_mistakes_are_named(self, tmp_path, change, says):
        folder = shutil.copytree(UNKIND, tmp_path / "unkind")
        tasks = json.loads((folder / "real-tasks.json").read_text())
        (folder / "real-tasks.json").write_text(json.dumps([{**tasks[0], **change}]))
        with pytest.raises(InputError, match=says):
            load(str(folder))

    def test_a_folder_without_tasks(self, tmp_path):
        with pytest.raises(InputError, match=r"neither real-tasks.json nor function-tasks.json"):
            load(str(tmp_path))
