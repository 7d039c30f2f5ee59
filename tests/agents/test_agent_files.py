"""What an agent file can do to whoever evaluates it: nothing. Each test is one attack or accident.

The file runs as it would in a run: in its own process, in a cell. The tests need no browser.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.agent_pages import GOAL, ORDERS
from webassay.agents.base import AgentRequest, make_agent
from webassay.agents.cells.cell import ProgramCell, why_not
from webassay.agents.cells.child import ChildAgent, Nursery
from webassay.core.errors import AgentError, Fault, InputError, ModelError
from webassay.core.interaction import Decision
from webassay.llm.client import Message, Question, Reply, model_of

pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"no cell can be built here: {why_not()}")

SOURCE = """
import asyncio, gc, json, os, pathlib, signal, socket, subprocess, sys, time
from webassay.core.interaction import Action, Decision


class Mine:
    name = "mine"
    wants = ("tree",)

    async def start(self, goal):
        self.goal = goal

    async def decide(self, page):
{body}
"""


class Played:
    """An agent file with this body of `decide`, played for one decision."""

    def __init__(self, folder: Path, body: str, *, cell: ProgramCell | None = None) -> None:
        self.file = folder / "mine.py"
        self.file.write_text(SOURCE.format(body="\n".join(f"        {line}" for line in body.splitlines())))
        self.run = folder / "run"
        self.run.mkdir(exist_ok=True)
        (self.run / "ledger").write_text("secret")
        self.nursery = Nursery(f"{self.file}:Mine", {}, cell or ProgramCell(hidden=(self.run,)))

    async def __aenter__(self) -> "Played":
        factory = await asyncio.to_thread(self.nursery.load)
        self.agent = make_agent(factory, AgentRequest(name="mine"))
        assert isinstance(self.agent, ChildAgent)
        return self

    async def __aexit__(self, *reason: object) -> None:
        await self.agent.stop()  # type: ignore[union-attr]
        await self.nursery.close()

    async def decide(self, seconds: float = 60.0) -> Decision | str:
        async with asyncio.timeout(seconds):
            await self.agent.prepare()  # type: ignore[union-attr]
            await self.agent.start(GOAL)
            return await self.agent.decide(ORDERS)  # type: ignore[union-attr]


async def said(folder: Path, body: str, **rest: ProgramCell) -> object:
    """What the body returned, as JSON."""
    async with Played(folder, body, **rest) as played:
        decided = await played.decide()
    return json.loads(decided)


# --- it works -------------------------------------------------------------------------------------------------


async def test_it_gets_what_an_agent_gets_and_decides(tmp_path: Path) -> None:
    body = "assert page.find('link', 'Next').id == '33' and self.goal.instruction.startswith('How much')\n"
    body += "return Decision.answer('12', thought='seen ' + page.tree.split()[0], info={'size': len(page.screenshot)})"
    async with Played(tmp_path, body) as played:
        await played.agent.prepare()  # type: ignore[union-attr]
        await played.agent.start(GOAL)
        seen = replace(ORDERS, screenshot=os.urandom(300_000))
        decided = await played.agent.decide(seen)  # type: ignore[union-attr]
    assert decided == Decision.answer("12", thought="seen RootWebArea", info={"size": 300_000})


async def test_what_it_says_of_itself_in_start_counts(tmp_path: Path) -> None:
    async with Played(tmp_path, "raise NotImplementedError") as played:
        played.file.write_text(
            "class Mine:\n"
            "    name, wants, settings = 'mine', (), {}\n"
            "    async def start(self, goal):\n"
            "        self.wants = ('tree', 'screenshot', 'smell')\n"
            "        self.settings = {'instruction': goal.instruction}\n"
            "        self.prompts, self.model = {'start.md': 'a hash'}, 'its own'\n"
            "    async def decide(self, page): return 'noop()'\n"
        )
        agent = played.agent
        assert isinstance(agent, ChildAgent)
        await agent.prepare()
        await agent.start(GOAL)
        assert agent.wants == ("tree", "screenshot")
        assert agent.settings == {"instruction": GOAL.instruction}
        assert (agent.prompts, agent.model) == ({"start.md": "a hash"}, "its own")


async def test_one_process_serves_one_episode_after_the_other(tmp_path: Path) -> None:
    async with Played(tmp_path, "return str(os.getpid()) + ' ' + str(os.stat('/proc/self/ns/pid').st_ino)") as played:
        first = await played.decide()
        await played.agent.stop()  # type: ignore[union-attr]
        assert await played.decide() == first


async def test_a_model_is_asked_without_its_key(tmp_path: Path) -> None:
    async def answer(question: Question) -> Reply:
        if question.messages[0].text == "fail":
            raise ModelError("no answer")
        return Reply(f"heard {question.messages[0].text}")

    body = "raise NotImplementedError"
    async with Played(tmp_path, body) as played:
        played.file.write_text(
            "from webassay.agents.base import AgentFactory\n"
            "from webassay.llm.client import Message\n"
            "class Mine:\n"
            "    name, wants = 'mine', ()\n"
            "    def __init__(self, model): self._model = model\n"
            "    async def start(self, goal): pass\n"
            "    async def decide(self, page):\n"
            "        from webassay.core.errors import ModelError\n"
            "        if page.title == 'pretend': raise ModelError('no answer')\n"
            "        return (await self._model.ask([Message.user(page.title)])).text\n"
            "FACTORY = AgentFactory('mine', 'Asks.', lambda request: Mine(request.model), needs=('model',))\n"
        )
        nursery = Nursery(f"{played.file}:FACTORY", {}, ProgramCell())
        factory = nursery.load()
        assert factory.needs == ("model",)
        try:
            agent = make_agent(factory, AgentRequest(name="mine", model=model_of("m", answer)))
            await agent.prepare()  # type: ignore[union-attr]
            await agent.start(GOAL)
            assert await agent.decide(ORDERS) == "heard Orders"  # type: ignore[union-attr]
            with pytest.raises(ModelError, match="no answer"):
                await agent.decide(replace(ORDERS, title="fail"))  # type: ignore[union-attr]
            # What failed once excuses nothing later: it would be a second throw.
            with pytest.raises(AgentError, match="no answer"):
                await agent.decide(replace(ORDERS, title="pretend"))  # type: ignore[union-attr]
        finally:
            await nursery.close()
    assert Message.user("x")


# --- what it cannot reach -------------------------------------------------------------------------------------


async def test_it_holds_no_key_and_cannot_make_one(tmp_path: Path) -> None:
    body = (
        "held = ('webassay.core.task', 'webassay.workbench', 'webassay.store', 'webassay.benchmarks')\n"
        "found = [str(type(one)) for one in gc.get_objects() if type(one).__module__.startswith(held)]\n"
        "tried = []\n"
        "for name in ('benchmarks.base', 'benchmarks.arena', 'sites.kit', 'grading.grade', 'environments.arena',\n"
        "             'workbench.tasks', 'workbench.playing'):\n"
        "    try:\n"
        "        __import__('webassay.' + name)\n"
        "        tried.append(name)\n"
        "    except ImportError:\n"
        "        pass\n"
        "out = subprocess.run([sys.executable, '-m', 'webassay', 'tasks', 'export'], capture_output=True)\n"
        "return json.dumps([found, tried, out.returncode != 0, out.stdout.decode()])"
    )
    assert await said(tmp_path, body) == [[], [], True, ""]


async def test_it_sees_neither_the_run_nor_temporary_folders_nor_processes(tmp_path: Path) -> None:
    body = (
        f"run = sorted(os.listdir({str(tmp_path / 'run')!r}))\n"
        "temporary = sorted(name for name in os.listdir('/tmp') if name.startswith('webassay-'))\n"
        "pids = [int(name) for name in os.listdir('/proc') if name.isdigit()]\n"
        f"return json.dumps([run, temporary, os.path.exists('/proc/{os.getpid()}/fd'), len(pids) < 6])"
    )
    assert await said(tmp_path, body) == [[], [], False, True]


async def test_it_can_write_nothing_that_outlives_it(tmp_path: Path) -> None:
    places = [str(tmp_path / "planted.py"), str(Path(sys.prefix) / "planted.pth"), str(Path.home() / ".planted")]
    body = (
        "done = []\n"
        f"for place in {places!r}:\n"
        "    try:\n"
        "        open(place, 'w').close()\n"
        "        done.append(place)\n"
        "    except OSError:\n"
        "        pass\n"
        "open('/tmp/mine', 'w').write('gone with the cell')\n"
        "return json.dumps(done)"
    )
    assert await said(tmp_path, body) == []
    assert not Path("/tmp/mine").exists()


async def test_it_writes_where_the_user_allows_it(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    body = f"return json.dumps(open({str(notes / 'x')!r}, 'w').write('kept'))"
    assert await said(tmp_path, body, cell=ProgramCell(writable=(notes,))) == 4
    assert (notes / "x").read_text() == "kept"


async def test_it_has_no_variables_but_those_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("MY_MODEL_KEY", "given")
    body = "return json.dumps([os.environ.get('OPENAI_API_KEY'), os.environ.get('MY_MODEL_KEY')])"
    assert await said(tmp_path, body, cell=ProgramCell(variables=("MY_MODEL_KEY",))) == [None, "given"]
    with pytest.raises(InputError, match="variable NOT_SET for the agent is not set"):
        ProgramCell(variables=("NOT_SET",)).environment()


async def test_it_cannot_undo_its_cell(tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    body = (
        f"tried = [['umount', {run!r}], ['unshare', '-Urm', 'umount', {run!r}], ['mount', '-o', 'remount,rw', '/']]\n"
        "codes = [subprocess.run(words, capture_output=True).returncode != 0 for words in tried]\n"
        f"return json.dumps([all(codes), os.listdir({run!r})])"
    )
    assert await said(tmp_path, body) == [True, []]


# --- how it ends ----------------------------------------------------------------------------------------------

ENDS = {
    "while True: pass": "",
    "time.sleep(1000)": "",
    "await asyncio.sleep(1000)": "",
    "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64)); time.sleep(1000)": "",
    "raise asyncio.CancelledError": "raised CancelledError",
    "asyncio.current_task().cancel(); await asyncio.sleep(1)": "raised CancelledError",
    "sys.exit(0)": "tried to end the process",
    "os._exit(0)": "process ended",
    "os.kill(os.getpid(), signal.SIGKILL)": "killed by signal 9",
    "os.write(int(sys.argv[1]), b'\\xff' * 100); await asyncio.sleep(1000)": "wrote what is no message",
    "os.write(int(sys.argv[1]), b'\\0\\0\\0\\1\\xc0'); await asyncio.sleep(1000)": "wrote what is no message",
    "os.write(int(sys.argv[1]), b'\\0\\0\\x27\\x10' + b'\\x91' * 10000); time.sleep(99)": "wrote what is no message",
    "raise ValueError('no idea')": "could not decide: no idea",
    "raise __import__('webassay.core.errors').core.errors.ModelError('not me')": "not me",
    # A question that nobody can answer is no failure of a model.
    "import msgspec; from webassay.core.errors import ModelError\n"
    "asked = msgspec.msgpack.encode({'ask': 1, 'messages': [], 'schema': None, 'settings': {}, 'purpose': ''})\n"
    "os.write(int(sys.argv[1]), len(asked).to_bytes(4, 'big') + asked); await asyncio.sleep(0.5)\n"
    "raise ModelError('not me')": "not me",
    "return 12": "decided on a int",
    "return Decision(actions=(Action(name='fly'),))": "decided on a Decision",
}


@pytest.mark.parametrize("body", ENDS)
async def test_whatever_it_does_ends_its_own_episode_alone(tmp_path: Path, body: str) -> None:
    async with Played(tmp_path, body) as played:
        await played.agent.prepare()  # type: ignore[union-attr]
        await played.agent.start(GOAL)
        waiting = asyncio.ensure_future(played.agent.decide(ORDERS))  # type: ignore[union-attr]
        if ENDS[body]:
            with pytest.raises(AgentError, match=ENDS[body]):
                await asyncio.wait_for(waiting, 60)
        else:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(waiting, 0.5)
        # The next episode finds an agent that works.
        await played.agent.stop()  # type: ignore[union-attr]
        played.file.write_text(SOURCE.format(body="        return 'noop()'"))
        if ENDS[body] in ("", "process ended", "killed by signal 9", "wrote what is no message"):
            assert await played.decide() == "noop()"


async def test_what_cannot_be_stored_is_made_storable(tmp_path: Path) -> None:
    info = "{'b': b'\\xff', 'n': float('nan'), 'o': object()}"
    body = f"return Decision.answer('odd \\ud800', info={info}, raw='x' * 5_000_000)"
    async with Played(tmp_path, body) as played:
        decided = await played.decide()
    assert isinstance(decided, Decision)
    assert decided.actions[0].args == {"text": "odd \N{REPLACEMENT CHARACTER}"}
    assert decided.info["b"] == "b'\\xff'" and decided.info["n"] == "nan"
    assert len(decided.raw) < 4_000_100


async def test_its_traceback_is_shown(tmp_path: Path) -> None:
    async with Played(tmp_path, "return page.nodes[10_000]") as played:
        with pytest.raises(AgentError) as caught:
            await played.decide()
    trace = Fault.of(caught.value).trace
    assert "return page.nodes[10_000]" in trace and "IndexError" in trace and "child_main" not in trace


async def test_its_children_die_with_it(tmp_path: Path) -> None:
    body = (
        "mark = f'webassay-armour-{os.getpid()}-{time.time()}'\n"
        "subprocess.Popen(['sh', '-c', f'sleep 1000; : {mark}'], start_new_session=True)\n"
        "return mark"
    )
    async with Played(tmp_path, body) as played:
        mark = str(await played.decide())
        # Its command line can be read a moment after it was started.
        assert await comes_true(lambda: running(mark)), "the child did not start"
    assert await comes_true(lambda: not running(mark)), "a detached child survived"


async def comes_true(question: Callable[[], bool]) -> bool:
    for _ in range(200):
        if question():
            return True
        await asyncio.sleep(0.05)
    return False


def running(mark: str) -> bool:
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in place.read_bytes():
                return True
        except OSError:
            continue
    return False


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("while True: pass", "took longer"),
        ("import os; os._exit(0)", "could not be loaded"),
        ("class Mine: pass", "is not an agent"),
        ("import os, sys; os.write(int(sys.argv[1]), b'\\0\\0\\0\\1\\xc0')", "could not be loaded"),
        ("import os, sys; os.write(int(sys.argv[1]), b'\\0\\0\\x27\\x10' + b'\\x91' * 10000)", "could not be loaded"),
        ("1 / 0", "division by zero"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_refused(
    tmp_path: Path, source: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webassay.agents.cells.child.LOAD_SECONDS", 5.0)
    (tmp_path / "mine.py").write_text(source)
    with pytest.raises(InputError, match=message):
        Nursery(f"{tmp_path}/mine.py:Mine", {}, ProgramCell()).load()
