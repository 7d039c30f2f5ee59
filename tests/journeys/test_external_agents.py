"""Programs from outside, driving a real Chromium over its DevTools."""

import asyncio
import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.support.agent_pages import GOAL
from tests.support.process_tree import wait_until_ended
from tests.support.toy import TASK, Place, serving
from tests.support.worlds import arena
from webassay.agents.base import BrowserDriver, DevToolsEndpoint
from webassay.agents.cells.external import External
from webassay.agents.human import Human
from webassay.arena.kit.key import Key
from webassay.arena.kit.mistakes import mistakes
from webassay.browser.devtools.chromium import find_chromium
from webassay.browser.session import Browser
from webassay.core.errors import AgentError
from webassay.core.protocols import ARENA_PROTOCOL
from webassay.core.task import Expectation, ResponseCheck
from webassay.core.trajectory import MemoryBlobs
from webassay.grading.grade import grade
from webassay.play.episode import EpisodeContext, play

EXAMPLES = Path(__file__).parents[2] / "examples"


COMMANDS = {
    "node": f"node --experimental-websocket {EXAMPLES / 'external_agent.mjs'}",
    "python": f"{sys.executable} {EXAMPLES / 'external_agent.py'}",
}


@pytest.mark.browser
@pytest.mark.parametrize("language", COMMANDS)
async def test_an_episode_is_recorded_from_outside(language: str) -> None:
    if shutil.which(language if language == "node" else sys.executable) is None:
        pytest.skip("node is not installed")
    goal = TASK.goal.model_copy(update={"instruction": "What is the heading of My orders?"})
    with serving() as base:
        async with Browser(find_chromium()) as browser:
            task = TASK.model_copy(update={"goal": goal})
            trajectory = await Place(browser, base).play(External(COMMANDS[language]), task)
    assert trajectory.ending.kind == "answered", trajectory.ending.message
    assert json.loads(trajectory.answer)["results"] == ["Orders, page 1"]
    assert trajectory.steps[0].seen.url == f"{base}/"
    assert trajectory.last_seen.url == f"{base}/orders"
    assert trajectory.last_seen.screenshot is not None
    assert trajectory.network.count is not None
    assert trajectory.network.count >= 2


@pytest.mark.browser
@pytest.mark.parametrize(
    ("printed", "kind", "said"),
    [
        ("report_infeasible('no such order', 'NOT_FOUND_ERROR')", "gave_up", '"status": "NOT_FOUND_ERROR"'),
        ("report_infeasible('no such order', 'GONE')", "agent_crashed", ""),
        ("report_infeasible('no such order'); noop()", "agent_crashed", ""),
    ],
)
async def test_a_program_can_refuse(tmp_path: Path, printed: str, kind: str, said: str) -> None:
    task = TASK.model_copy(update={"goal": TASK.goal.model_copy(update={"protocol": ARENA_PROTOCOL})})
    with serving() as base:
        async with Browser(find_chromium()) as browser:
            agent = External(program(tmp_path, f"print({printed!r})"))
            trajectory = await Place(browser, base).play(agent, task)
    assert trajectory.ending.kind == kind
    assert said in trajectory.answer
    assert kind == "gave_up" or "printed a refusal" in trajectory.ending.message


@pytest.mark.browser
async def test_what_a_program_read_over_devtools_is_in_the_sites_own_record() -> None:
    goal = TASK.goal.model_copy(
        update={"instruction": "What is the heading of Contact Us?", "start_urls": ("__SHOP__/",), "sites": ("shop",)}
    )
    right = ResponseCheck(action="retrieve", results=Expectation.of(["Contact Us"]))
    facts = Key.seen("Contact Us", "Write us a note", together="page").evidence
    task = TASK.model_copy(update={"goal": goal, "sites": ("shop",), "checks": (right, *facts)})
    blobs = MemoryBlobs()
    async with Browser(find_chromium()) as browser, arena() as environment:
        context = EpisodeContext(browser=browser, environment=environment, blobs=blobs)
        trajectory = await play(task, External(COMMANDS["python"]), context, id="outside")
    verdict = grade(task, trajectory, blobs)
    assert verdict.status == "pass", [finding.message for finding in verdict.findings] + [trajectory.ending.message]
    early = dict(mistakes(task, trajectory, blobs))["answers at step 0"]
    assert grade(task, early, blobs).status == "fail"


def test_the_examples_stay_short() -> None:
    for name in ("external_agent.mjs", "external_agent.py"):
        lines = (EXAMPLES / name).read_text(encoding="utf-8").splitlines()
        code = [line for line in lines if line.strip() and not line.lstrip().startswith(("//", "#", '"""'))]
        assert len(code) <= 30


# --- without a browser ------------------------------------------------------------------------------------

NOWHERE = DevToolsEndpoint("http://127.0.0.1:1", "ws://127.0.0.1:1/devtools/page/1")


def program(tmp_path: Path, source: str) -> str:
    path = tmp_path / "agent.py"
    path.write_text(source, encoding="utf-8")
    return f"{sys.executable} {path}"


async def driven(command: str) -> str:
    agent = External(command)
    await agent.start(GOAL)
    return await agent.drive(NOWHERE)


async def test_the_goal_arrives_on_stdin(tmp_path: Path) -> None:
    told = json.loads(await driven(program(tmp_path, "import sys; print(sys.stdin.read())")))
    assert told["instruction"] == GOAL.instruction
    assert told["cdp"] == NOWHERE.endpoint
    assert told["page"] == NOWHERE.page
    assert told["start_urls"] == list(GOAL.start_urls)
    assert told["goal"] == GOAL.model_dump(mode="json")


async def test_a_program_may_ignore_its_goal_or_log_as_much_as_it_likes(tmp_path: Path) -> None:
    assert await driven(program(tmp_path, "import os; os.close(0); print('  done  ')")) == "done"
    logging = "import sys\nfor number in range(30_000): print(f'line {number}: ' + 'x' * 50, file=sys.stderr)\n"
    assert await driven(program(tmp_path, f"{logging}print('done')")) == "done"
    with pytest.raises(AgentError, match=r"line 29999: x+\s+no idea"):
        await driven(program(tmp_path, f"{logging}print('no idea', file=sys.stderr)\nsys.exit(3)"))


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("import sys; print('no idea', file=sys.stderr); sys.exit(3)", r"ended with 3: .*no idea"),
        ("while True: print('x' * 10000)", "more than"),
        ("", "cannot be started"),
    ],
    ids=["it fails", "it never stops printing", "it is not there"],
)
async def test_what_is_the_agents_fault(tmp_path: Path, source: str, problem: str) -> None:
    with pytest.raises(AgentError, match=problem):
        await driven(program(tmp_path, source) if source else "no-such-program-here")


async def test_a_program_whose_time_is_up_dies_with_its_children(tmp_path: Path) -> None:
    mark = tmp_path / "children"
    source = (
        "import subprocess, sys, pathlib, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({str(mark)!r}).write_text(str(child.pid))\n"
        "time.sleep(600)\n"
    )
    task = asyncio.create_task(driven(program(tmp_path, source)))
    for _ in range(300):
        if mark.exists() and mark.read_text():
            break
        await asyncio.sleep(0.05)
    child = int(mark.read_text())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(wait_until_ended, [child])


async def test_a_person_answers_by_hand() -> None:
    shown: list[str] = []

    async def ask(text: str) -> str:
        shown.append(text)
        return "30"

    person = Human(ask)
    await person.start(GOAL)
    assert await person.drive(NOWHERE) == "30"
    assert GOAL.instruction in shown[0]
    assert GOAL.protocol.instructions in shown[0]
    assert isinstance(External("true"), BrowserDriver) and isinstance(person, BrowserDriver)
