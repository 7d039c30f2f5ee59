"""A Playwright program that makes the moves of the reference solution over DevTools passes as the oracle does."""

import json
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
import pytest_asyncio

from tests.support.templates import sampled
from tests.support.worlds import arena, bench
from webassay import Selection, Task
from webassay.agents.base import Agent
from webassay.agents.cells.external import External
from webassay.agents.oracle import Oracle
from webassay.browser.devtools.chromium import find_chromium
from webassay.browser.session import Browser
from webassay.compose.builder import solution_of
from webassay.core.interaction import ACTIONS, Action, Decision, Goal, Observation, ObservationPart
from webassay.core.trajectory import MemoryBlobs
from webassay.grading.grade import grade
from webassay.play.episode import EpisodeContext, play

pytestmark = [pytest.mark.long, pytest.mark.browser, pytest.mark.timeout(600)]
in_one_loop = pytest.mark.asyncio(loop_scope="module")

REPLAY = Path(__file__).parents[1] / "support" / "replay.py"


class Noting:
    """The oracle; notes its moves as somebody who has no ids would make them."""

    name = "noting"
    wants: Sequence[ObservationPart] = ("tree",)

    def __init__(self, oracle: Agent) -> None:
        self._oracle = oracle
        self.moves: list[dict[str, Any]] = []
        self.answer = ""

    async def start(self, goal: Goal) -> None:
        await self._oracle.start(goal)
        self.wants = self._oracle.wants

    async def decide(self, observation: Observation) -> Decision:
        decision = await self._oracle.decide(observation)
        for action in decision.actions:
            if ACTIONS[action.name].ends_episode:
                self.answer = str(next(iter(action.args.values())))
            else:
                self.moves.append(_move(action, observation))
        return decision


def _move(action: Action, page: Observation) -> dict[str, Any]:
    given = {name: value for name, value in action.args.items() if name != "bid"}
    if action.name == "goto":
        # Each world has a host of its own.
        here, there = urlsplit(page.url), urlsplit(action.get("url"))
        assert here.netloc == there.netloc
        return {"action": "goto", "path": urlunsplit(("", "", *there[2:]))}
    if "bid" not in action.args:
        return {"action": action.name, **given}
    node = next(node for node in page.nodes if node.id == action.get("bid"))
    alike = [other.id for other in page.nodes if (other.role, other.name) == (node.role, node.name)]
    return {
        "action": action.name, "role": node.role, "name": node.name, "place": alike.index(node.id), **given
    }  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place() -> AsyncIterator[tuple[EpisodeContext, Sequence[Task]]]:
    async with Browser(find_chromium()) as browser, arena() as environment:
        context = EpisodeContext(browser=browser, environment=environment, blobs=MemoryBlobs())
        yield context, bench().tasks(Selection(instances=1))


@in_one_loop
@pytest.mark.parametrize("template", sampled("shop.change-address"))
async def test_the_moves_of_the_reference(
    place: tuple[EpisodeContext, Sequence[Task]], template: str, tmp_path: Path
) -> None:
    context, tasks = place
    task = next(task for task in tasks if task.template == template)
    noting = Noting(Oracle(solution_of(task)))
    await play(task, noting, context, id=f"noting/{task.id}")
    moves = tmp_path / "moves.json"
    moves.write_text(json.dumps({"moves": noting.moves, "answer": noting.answer}), encoding="utf-8")
    replayed = await play(task, External(f"{sys.executable} {REPLAY} {moves}"), context, id=f"replay/{task.id}")
    verdict = grade(task, replayed, context.blobs)
    assert verdict.status == "pass", [finding.message for finding in verdict.findings] + [replayed.ending.message]
