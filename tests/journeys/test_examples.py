"""The examples run against the packages that they are for; where one is missing, the test says how to get it."""

import json
import re
from pathlib import Path

import pytest

from tests.support.toy import TASK, Lines, Place, serving
from webassay.agents.base import Agent, BrowserDriver
from webassay.agents.cells.external import External
from webassay.browser.devtools.chromium import find_chromium
from webassay.browser.session import Browser
from webassay.core.registry import load_attribute
from webassay.core.trajectory import Trajectory
from webassay.llm.replay import Script, replaying

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
TSX = EXAMPLES / "playwright" / "node_modules" / ".bin" / "tsx"
BROWSER_USE = ROOT / ".venv-browser-use" / "bin" / "python"

pytestmark = [pytest.mark.browser, pytest.mark.long]


def needs(place: Path, how: str) -> None:
    if not place.exists():
        pytest.skip(f"{place.relative_to(ROOT)} is missing: {how}")


async def played(agent: Agent | BrowserDriver) -> Trajectory:
    goal = TASK.goal.model_copy(update={"instruction": "What is the heading of My orders?"})
    with serving() as base:
        async with Browser(find_chromium()) as browser:
            trajectory = await Place(browser, base).play(agent, TASK.model_copy(update={"goal": goal}))
    assert trajectory.ending.kind == "answered", trajectory.ending.message
    assert json.loads(trajectory.answer)["results"] == ["Orders, page 1"]
    assert trajectory.last_seen is not None and trajectory.last_seen.url == f"{base}/orders"
    return trajectory


ANSWER = json.dumps({"action": "retrieve", "status": "SUCCESS", "results": ["Orders, page 1"]})


async def test_playwright_in_typescript() -> None:
    needs(TSX, "cd examples/playwright && npm install")
    await played(External(f"{TSX} {EXAMPLES / 'playwright' / 'agent.ts'}"))


async def test_browser_use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    needs(BROWSER_USE, "python3 -m venv .venv-browser-use && .venv-browser-use/bin/pip install browser-use")
    said = {"evaluation_previous_goal": "", "memory": "", "next_goal": ""}

    def does(action: dict[str, object]) -> str:
        return json.dumps({**said, "action": [action]})

    def clicks(page: str) -> str:
        return does({"click": {"index": int(re.search(r"\[(\d+)\]<a\b[^>]*/>\s*My orders", page)[1])}})

    script = Lines([clicks, does({"done": {"text": ANSWER, "success": True, "files_to_display": []}})])
    async with replaying(Script(script)) as model:
        environment = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "none", "HOME": str(tmp_path)}
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        trajectory = await played(External(f"{BROWSER_USE} {EXAMPLES / 'browser_use_agent.py'}"))
    assert len(script.asked) == 2
    assert any("My orders" in step.action_text for step in trajectory.steps), "its click is recorded as a step"


async def test_a_loop_around_an_openai_compatible_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    def clicks(page: str) -> str:
        id = re.search(r"link \[(\w+)\] 'My orders'", page)[1]
        return f"click('{id}')"

    def answers(page: str) -> str:
        assert "Orders, page 1" in page
        return f"send_msg_to_user({ANSWER!r})"

    assert len((EXAMPLES / "openai_loop.py").read_text().splitlines()) <= 40
    async with replaying(Script(Lines([clicks, answers]))) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        await played(load_attribute(f"{EXAMPLES / 'openai_loop.py'}:Loop")())
