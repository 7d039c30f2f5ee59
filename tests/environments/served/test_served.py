"""Applications that a command starts: the one in the docs, and worse ones."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tests.environments.served.playing import played
from tests.support import samples
from tests.support.process_tree import command, pids, wait_until_ended
from webassay.benchmarks.served import load
from webassay.core.application import Application, read_application
from webassay.core.errors import InputError, ProbeError, SiteError
from webassay.core.task import Task
from webassay.core.trajectory import MemoryBlobs, ProgramResult, RowsResult
from webassay.environments.kept import KeptProcess
from webassay.environments.served import ServedEnvironment
from webassay.grading.grade import Policy, grade


def environment(folder: Path, **changes: object) -> ServedEnvironment:
    app = read_application(folder).application
    return ServedEnvironment(Application.model_validate({**app.model_dump(), **changes}), folder)


def task(folder: Path, **changes: object) -> Task:
    """The only task of the folder, with another verifier or another scope."""
    (one,) = load(str(folder))
    return one.model_copy(update={"checks": (one.checks[0].model_copy(update=changes),)}) if changes else one


def verifier(folder: Path, body: str) -> Task:
    (folder / "verify_milk.py").write_text(f"def verify(server_url):\n{textwrap.indent(textwrap.dedent(body), '    ')}")
    return task(folder)


async def probed(folder: Path, one: Task, **changes: object) -> tuple[object, ...]:
    """An episode in which nobody does anything."""
    async with environment(folder, **changes) as place, place.stage(one) as stage:
        await stage.hand_over()
        return await stage.probe((), MemoryBlobs())


def children() -> set[int]:
    return set(pids(os.getpid())) - {os.getpid()}


def left_running(before: set[int]) -> dict[int, str]:
    """What was started since, and still runs. The browser of all tests starts processes when it likes."""
    commands = {pid: command(pid) for pid in children() - before}
    return {pid: line for pid, line in commands.items() if line and "chrom" not in line}


@pytest.fixture(autouse=True)
def nothing_is_left_running():
    before = children()
    yield
    deadline = time.monotonic() + 10
    while left_running(before) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left_running(before)


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
class TestTheExampleOfTheDocs:
    async def test_what_was_asked_for_passes_and_what_was_not_done_fails(self, notes, browser):
        async with environment(notes) as place:
            trajectory, verdict = await played(
                task(notes), place, browser, "fill textbox 'Note' Buy milk", "click button 'Add'"
            )
        assert verdict.status == "pass", verdict.findings
        (said,) = trajectory.probed(ProgramResult)
        assert (said.passed, said.message) == (True, "The note is there.")
        (rows,) = trajectory.probed(RowsResult)
        assert [(row.operation, row.table, row.key) for row in rows.changes] == [("insert", "notes", {"id": 2})]
        async with environment(notes) as place:
            _, verdict = await played(task(notes), place, browser, "fill textbox 'Note' Buy silk", "click button 'Add'")
        assert verdict.status == "fail"
        assert "There are only" in next(one.message for one in verdict.findings if one.check == "program")

    async def test_a_change_elsewhere_fails_where_the_task_says_what_it_is_about(self, notes, browser):
        lines = ("click button 'Dark'", "fill textbox 'Note' Buy milk", "click button 'Add'")
        async with environment(notes) as place:
            trajectory, verdict = await played(task(notes), place, browser, *lines, blobs=(blobs := MemoryBlobs()))
        assert verdict.status == "fail"
        (found,) = [one for one in verdict.findings if one.status == "fail"]
        assert found.message == "Not asked for: notes: update in settings: theme: 'light' → 'dark'."
        assert grade(task(notes), trajectory, blobs, Policy(collateral="report")).status == "pass"

    async def test_where_it_does_not_what_was_not_needed_is_reported(self, notes, browser):
        lines = ("click button 'Dark'", "fill textbox 'Note' Buy milk", "click button 'Add'")
        one = task(notes, may_change=None)
        async with environment(notes) as place:
            trajectory, verdict = await played(one, place, browser, *lines, blobs=(blobs := MemoryBlobs()))
        assert verdict.status == "pass" and verdict.aspects["side_effects"].value == 1
        (found,) = [one for one in verdict.findings if one.check == "state.collateral"]
        assert found.code.startswith("reported.") and "passes without it: notes: update in settings" in found.message
        assert grade(one, trajectory, blobs, Policy(collateral="enforce")).status == "fail"

    async def test_every_episode_starts_afresh_and_each_worker_has_its_own(self, notes, browser):
        lines = ("fill textbox 'Note' Buy milk", "click button 'Add'")
        async with environment(notes) as place:
            results = await asyncio.gather(*(played(task(notes), place, browser, *lines) for _ in range(2)))
            results += [await played(task(notes), place, browser, *lines)]
        assert [verdict.status for _, verdict in results] == ["pass"] * 3
        ports = [trajectory.bases["notes"] for trajectory, _ in results]
        assert ports[0] != ports[1] and ports[2] in ports[:2], "the third one plays on one that is there"
        for trajectory, _ in results:
            (rows,) = trajectory.probed(RowsResult)
            assert [row.key for row in rows.changes] == [{"id": 2}]

    async def test_an_application_that_dies_while_it_is_played_is_a_fault_and_is_replaced(self, notes, browser):
        app = notes / "app.py"
        app.write_text(app.read_text().replace('now["settings"]["theme"] = "dark"', "import os; os._exit(3)"))
        async with environment(notes) as place:
            trajectory, verdict = await played(task(notes), place, browser, "click button 'Dark'")
            assert verdict.status == "fault" and "notes ended with 3" in trajectory.ending.message
            _, verdict = await played(task(notes), place, browser, "fill textbox 'Note' Buy milk", "click button 'Add'")
            assert verdict.status == "pass"


@pytest.mark.long
class TestApplicationsThatDoNotWork:
    @pytest.mark.parametrize(
        ("program", "says"),
        [
            ("import sys; sys.exit('no database')", r"notes ended with 1\. It said: no database"),
            ("import os; os.kill(os.getpid(), 9)", r"notes ended with 137"),
            ("import time; print('busy', flush=True); time.sleep(600)", "not up within 10 seconds.*It said: busy"),
        ],
    )
    async def test_one_that_does_not_start(self, notes, program, says):
        (notes / "app.py").write_text(program)
        with pytest.raises(SiteError, match=says):
            await probed(notes, task(notes), start_seconds=10)

    @pytest.mark.parametrize(
        ("changes", "says"),
        [
            ({"start": "no-such-program {port}"}, "no-such-program cannot be started: No such file or directory"),
            ({"state": "/"}, "did not answer with JSON, but with '<title>"),
        ],
    )
    async def test_one_that_is_not_what_the_file_says(self, notes, changes, says):
        with pytest.raises(SiteError, match=says):
            await probed(notes, task(notes), **changes)

    LISTENS = "import socket, sys, time\nlistening = socket.create_server(('127.0.0.1', int(sys.argv[1])))\n"
    BYTE_BY_BYTE = """
while True:
    peer, _ = listening.accept()
    peer.sendall(b'HTTP/1.1 200 OK\\r\\n')
    try:
        for _ in range(100): peer.sendall(b'x'); time.sleep(.1)
    except OSError: pass
"""

    @pytest.mark.parametrize("then", ["time.sleep(60)", BYTE_BY_BYTE], ids=["never", "byte by byte"])
    async def test_one_that_listens_but_does_not_answer(self, notes, then):
        (notes / "app.py").write_text(self.LISTENS + then)
        with pytest.raises(SiteError, match=r"not up within 10 seconds.*was not answered within"):
            await probed(notes, task(notes), start_seconds=10, answer_seconds=1)

    async def test_one_that_hangs_in_its_reset(self, notes):
        app = notes / "app.py"
        app.write_text(app.read_text().replace("global state\n", "global state; import time; time.sleep(30)\n"))
        with pytest.raises(SiteError, match=r"POST http://127.0.0.1:\d+/reset was not answered within 1 seconds"):
            await probed(notes, task(notes), answer_seconds=1)

    async def test_one_that_is_not_as_it_was_after_a_reset(self, notes):
        app = notes / "app.py"
        text = app.read_text().replace(
            "SEED if self.path", "{**SEED, 'notes': SEED['notes'] * next(again)} if self.path"
        )
        app.write_text(f"import itertools\nagain = itertools.chain([1], itertools.repeat(0))\n{text}")
        async with environment(notes) as place:
            async with place.stage(task(notes)) as stage:
                await stage.hand_over()
                await stage.probe((), MemoryBlobs())
            with pytest.raises(SiteError, match="was reset, but is not as it was at first: delete in notes"):
                async with place.stage(task(notes)):
                    pass

    async def test_a_reset_that_is_refused(self, notes):
        with pytest.raises(SiteError, match="could not be reset: GET /nothing answers with 404"):
            app = notes / "app.py"
            app.write_text(
                app.read_text().replace("self.answer(200,", "self.answer(404 if 'not' in self.path else 200,")
            )
            await probed(notes, task(notes), reset="GET /nothing")

    async def test_reset_by_a_command(self, notes):
        (notes / "back.py").write_text(
            "import sys, urllib.request\nurllib.request.urlopen(sys.argv[1] + '/reset', data=b'')\n"
        )
        await probed(notes, task(notes), reset="", reset_command="python3 back.py {url}")
        (notes / "back.py").write_text("raise SystemExit('no backup')")
        with pytest.raises(SiteError, match=r"`python3 back.py \{url\}` ended with 1. It said: no backup"):
            await probed(notes, task(notes), reset="", reset_command="python3 back.py {url}")
        (notes / "back.py").write_text("import time; time.sleep(60)")
        with pytest.raises(SiteError, match="took longer than 10 seconds"):
            await probed(notes, task(notes), reset="", reset_command="python3 back.py {url}", start_seconds=10)

    async def test_files_that_it_must_not_serve_are_not_there(self, notes):
        app = notes / "app.py"
        app.write_text("import os, sys\nsys.exit(' '.join(sorted(os.listdir('.'))))")
        with pytest.raises(SiteError, match=r"It said: app.py$"):
            await probed(notes, task(notes), hidden=("verify_*", "*.toml"))
        with pytest.raises(SiteError, match=r"It said: app.py app.toml verify_milk.py$"):
            await probed(notes, task(notes))


async def test_a_verifier_may_use_data_classes_and_a_neighbour_of_any_name(notes):
    (notes / "verifier.py").write_text("SAID = 'fine'\n")
    program = """
        from __future__ import annotations
        from dataclasses import dataclass

        @dataclass
        class Said:
            text: str

        def verify(server_url):
            import verifier
            return True, Said(verifier.SAID).text
        """
    (notes / "verify_milk.py").write_text(textwrap.dedent(program).lstrip())
    *_, said = await probed(notes, task(notes))
    assert (said.passed, said.message) == (True, "fine")


@pytest.mark.long
class TestVerifiersThatDoNotWork:
    @pytest.mark.parametrize(
        ("body", "says"),
        [
            ("raise KeyError('labels')", "ended with 1 and told nothing.*KeyError: 'labels'"),
            ("import os; os._exit(0)", "ended with 0 and told nothing"),
            ("return 1", r"verify must return \(bool, str\), not 1"),
            ("return 'yes', 'it does'", r"verify must return \(bool, str\)"),
            ("import nothing_of_that_name", "No module named .* Install nothing_of_that_name for"),
            ("print('thinking', flush=True); __import__('time').sleep(60)", r"than 10 seconds\. It said: thinking"),
            ("def (:", "told nothing.*SyntaxError"),
        ],
    )
    async def test_python(self, notes, body, says):
        with pytest.raises(ProbeError, match=rf"(?s){says}"):
            await probed(notes, verifier(notes, body), verify_seconds=10)

    async def test_in_a_folder_that_is_named_from_here(self, notes, monkeypatch):
        monkeypatch.chdir(notes.parent)
        results = await probed(Path("notes"), task(Path("notes")))
        assert [one.passed for one in results if isinstance(one, ProgramResult)] == [False]

    async def test_a_command_says_yes_or_no_by_its_code(self, notes):
        for code, passed in ((0, True), (1, False)):
            command = f"sh -c 'echo looked at {{url}}; exit {code}'"
            *_, said = await probed(notes, task(notes, program=command, source=""))
            assert said.passed is passed and said.message.startswith("looked at http://127.0.0.1:")
        with pytest.raises(ProbeError, match="ended with 2, which is neither 0 nor 1"):
            await probed(notes, task(notes, program="sh -c 'exit 2'", source=""))

    async def test_what_another_verifier_said_does_not_count(self, notes):
        one = verifier(notes, "return True, 'fine'")
        blobs = MemoryBlobs()
        results = await probed(notes, one)
        trajectory = samples.trajectory(task_id=one.id, probes=results, network=None)
        assert grade(one, trajectory, blobs).status == "pass"
        changed = verifier(notes, "return True, 'fine, too'")
        verdict = grade(changed, trajectory, blobs)
        assert verdict.status == "fault" and "not the one that was asked" in verdict.findings[-1].message


class TestNothingIsLeftRunning:
    DETACHED = """
        import os, subprocess, sys, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(600)
            os._exit(0)
        deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
        subprocess.Popen([sys.executable, "-c", deaf])
        print("ready", flush=True)
        time.sleep(600)
        """

    async def started(self, folder: Path) -> KeptProcess:
        (folder / "wild.py").write_text(textwrap.dedent(self.DETACHED))
        kept = await KeptProcess.start([sys.executable, "wild.py"], folder)
        while "ready" not in kept.last_words:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        return kept

    async def test_what_detached_itself_ends_too(self, tmp_path):
        before = children()
        kept = await self.started(tmp_path)
        at_least = len(children() - before)  # One of them may have ended, and wait to be noticed.
        await kept.stop()
        assert at_least >= 4, "the keeper, the program, its child and the detached one"
        assert children() == before

    def test_everything_ends_when_we_are_killed(self, tmp_path):
        (tmp_path / "wild.py").write_text(textwrap.dedent(self.DETACHED))
        code = (
            "import asyncio, sys\nfrom pathlib import Path\nfrom webassay.environments.kept import KeptProcess\n"
            "async def main():\n"
            "    kept = await KeptProcess.start([sys.executable, 'wild.py'], Path(sys.argv[1]))\n"
            "    while 'ready' not in kept.last_words: await asyncio.sleep(.02)\n"
            "    print('up', flush=True); await asyncio.sleep(600)\n"
            "asyncio.run(main())\n"
        )
        ours = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE)
        with ours:
            said = ours.stdout.readline()
            theirs = set(pids(ours.pid)) - {ours.pid}
            ours.send_signal(signal.SIGKILL)
        assert said == b"up\n" and len(theirs) >= 4
        wait_until_ended(theirs)


class TestTheFile:
    @pytest.mark.parametrize(
        ("before", "after", "says"),
        [
            ("{port}", "8000", "start has no {port}"),
            ("POST /reset", "reset", "reset must look like"),
            ('state = "/state"', 'stat = "/state"', "application.stat: Extra inputs"),
            ('id = "milk"', "", r"tasks.0.id: Field required"),
            ("verify_milk.py", "verify_silk.py", "verify_silk.py does not exist"),
            ("verify_milk.py", "../x.py", "is not in"),
            ("[[tasks]]", "[[tasks", "cannot be read"),
        ],
    )
    def test_mistakes_are_named(self, notes, before, after, says):
        file = notes / "app.toml"
        file.write_text(file.read_text().replace(before, after))
        with pytest.raises(InputError, match=says):
            load(str(notes))

    def test_the_application_of_the_docs_has_thirty_lines(self, notes):
        lines = [line for line in (notes / "app.py").read_text().splitlines() if line.strip()]
        assert len(lines) <= 32

    def test_a_folder_that_is_none(self, tmp_path):
        with pytest.raises(InputError, match=r"app\.toml does not exist"):
            load(str(tmp_path))
