"""A scripted agent, and a place to play it: no model, no store."""

import re
from collections.abc import Sequence
from pathlib import Path

from webassay.browser.session import Browser
from webassay.core.interaction import Action, Decision, Goal, Observation, ObservationPart
from webassay.core.task import Task
from webassay.core.trajectory import MemoryBlobs, Trajectory
from webassay.core.verdict import Verdict
from webassay.environments.base import Environment
from webassay.grading.grade import grade
from webassay.play.episode import EpisodeContext, play

DOCS = Path(__file__).parents[3] / "docs"


class Script:
    """Each line is an action with the accessible name of its target: `click button 'Add'`, `fill textbox 'Note' Milk`.
    When the lines are over, it answers."""

    name = "script"
    wants: Sequence[ObservationPart] = ("tree",)

    def __init__(self, *lines: str, answer: str = "Done.") -> None:
        self.lines, self.answer = list(lines), answer

    async def start(self, goal: Goal) -> None:
        self.left = list(self.lines)

    async def decide(self, page: Observation) -> Decision:
        if not self.left:
            return Decision.answer(self.answer)
        verb, role, name, rest = re.fullmatch(r"(\w+) (\w+) '([^']*)' ?(.*)", self.left.pop(0)).groups()  # type: ignore[union-attr]
        node = page.find(role, name)
        assert node is not None, f"no {role} {name!r} in\n{page.tree}"
        return Decision(actions=(Action.of(verb, node.id, *([rest] if rest else [])),))


async def played(
    task: Task, environment: Environment, browser: Browser, *lines: str, blobs: MemoryBlobs | None = None
) -> tuple[Trajectory, Verdict]:
    blobs = blobs or MemoryBlobs()
    context = EpisodeContext(browser=browser, environment=environment, blobs=blobs)
    trajectory = await play(task, Script(*lines), context, id="played")
    return trajectory, grade(task, trajectory, blobs)


def written(page: str, folder: Path) -> Path:
    """The files that a page of the docs shows, as files."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for name, content in re.findall(r"```\w+\n# (\S+/\S+)\n(.*?)```", text, re.DOTALL):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return folder


class Chores(Script):
    """Waters the plants, whatever is asked of it."""

    name = "waterer"

    def __init__(self) -> None:
        super().__init__("click button 'Finish 1'")
