"""What each agent sends to its model for one fixed page and history, as reviewed files.

`python -m tests.agents.test_prompts` writes the files again.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agent_pages import GOAL, PRUNED, occam_reply, page, tagged
from webassay.agents.base import Agent
from webassay.agents.models import prompts
from webassay.agents.models.computer import POINTER_STYLE
from webassay.agents.models.generic import Generic, GenericOptions, TreeOptions
from webassay.agents.models.knowledge import Knowledge
from webassay.agents.models.occam import Occam, OccamOptions
from webassay.llm.client import Image, Message, Model
from webassay.llm.replay import ScriptedModel

GOLDEN = Path(__file__).parents[1] / "golden" / "prompts"
CROSS_SITE = GOAL.model_copy(
    update={"sites": ("shopping", "reddit"), "hints": ("the other sites are listed at http://home.test/.",)}
)

TAGGED = [
    tagged("click('4')", think="Start at the top.", memory="Orders are under My Account."),
    tagged("click('33')\nclick('34')", memory="March so far: $30."),
    tagged("send_msg_to_user('30')"),
]
POINTED = [tagged(action) for action in ("mouse_click(10, 20)", "keyboard_type('lamp')", "send_msg_to_user('30')")]
PLANNED = [
    occam_reply("branch [0] [Go through the orders]", reason="They are on several pages.", highlight="33"),
    occam_reply("note [March so far: $30]\nclick [33]", reason="One more page.", highlight="33, 30"),
    occam_reply("stop [30]"),
]
CANDIDATES = (
    "OBSERVATION DESCRIPTION:\nOrders.\n\n"
    "CANDIDATE 1:\nREASON:\nMore orders.\nACTION:\nclick [33]\n\n"
    "CANDIDATE 2:\nREASON:\nEnough.\nACTION:\nstop [30]\n\nOBSERVATION HIGHLIGHT:\n33"
)

PLAYS: dict[str, tuple[Callable[[Model], Agent], list[str]]] = {
    "generic.txt": (lambda model: Generic(model), TAGGED),
    "generic-table-tools.txt": (
        lambda model: Generic(
            model, options=GenericOptions(memory="table", tools=("calculator",), several_actions=False, tips=False)
        ),
        [
            tagged("table_add('orders', [{'id': 189, 'total': 25.5}, {'id': 191, 'total': 4.5}])"),
            tagged("click('33')", memory="Page 1 is in the table."),
            tagged("table_compute('orders', 'sum', 'total')"),
            tagged("send_msg_to_user('30')"),
        ],
    ),
    "computer.txt": (lambda model: Generic(model, style=POINTER_STYLE), POINTED),
    "occam.txt": (lambda model: Occam(model), PLANNED),
    "occam-judge.txt": (
        lambda model: Occam(model, options=OccamOptions(judge=True)),
        [CANDIDATES, '{"ratings": ["good", "early"], "choice": 0}'],
    ),
    "generic-coordinates.txt": (
        lambda model: Generic(model, options=TreeOptions(coordinates=True)),
        [tagged("mouse_click(10, 20)"), tagged("keyboard_type('lamp')"), tagged("send_msg_to_user('30')")],
    ),
    "occam-coordinates.txt": (
        lambda model: Occam(model, options=OccamOptions(coordinates=True)),
        [occam_reply("click_at [10] [20]"), occam_reply("type_at [10] [20] [lamp] [1]"), occam_reply("stop [30]")],
    ),
    "knowledge.txt": (lambda model: Knowledge(model), ["30"]),
}


def shown(messages: list[Message]) -> str:
    def part(item: str | Image) -> str:
        return item if isinstance(item, str) else f"({item.media_type} of {len(item.data)} bytes)"

    return "\n".join(f"=== {m.role} ===\n" + "\n".join(part(item) for item in m.parts) for m in messages)


async def play(name: str) -> str:
    """The last question of a short episode: by then there is a history, an error and a memory."""
    make, replies = PLAYS[name]
    model = ScriptedModel.of(replies)
    agent = make(model)
    await agent.start(CROSS_SITE if name == "occam.txt" else GOAL)
    picture = b"jpeg" if "screenshot" in agent.wants else None
    for step in range(3):
        error = "click: there is no element '34'." if step == 2 else ""
        url = "http://shop.test/orders" if step == 0 else f"http://shop.test/orders?page={step}"
        notices = ("The page opened a dialog; it was closed.",) if step == 2 else ()
        pruned = PRUNED.replace("Page 1", f"Page {min(step, 1) + 1}")
        seen = page(step, url=url, last_error=error, notices=notices, screenshot=picture, pruned=pruned)
        await agent.decide(seen)
        if len(model.asked) == len(replies):
            break
    return shown(list(model.asked[-1].messages)) + "\n"


@pytest.mark.parametrize("name", PLAYS)
async def test_golden(name: str) -> None:
    assert await play(name) == (GOLDEN / name).read_text(encoding="utf-8")


async def test_every_prompt_file_in_use_is_hashed_into_the_trajectory() -> None:
    for make, _ in PLAYS.values():
        recorded: dict[str, str] = make(ScriptedModel.of([])).prompts  # type: ignore[attr-defined]
        assert recorded
        assert all(recorded[name] == prompts.prompt_hash(name) for name in recorded)


def test_every_prompt_file_is_used_by_some_agent() -> None:
    used = {name for make, _ in PLAYS.values() for name in make(ScriptedModel.of([])).prompts}  # type: ignore[attr-defined]
    files = {path.name for path in prompts.FOLDER.glob("*.md")}
    memories = {f"memory_{kind}.md" for kind in ("window", "plans", "notes", "summary")}
    assert files - used <= memories


def test_tips_exist_for_the_four_sites_of_the_paper_and_for_no_path() -> None:
    assert all(prompts.tips_for(site) for site in ("shopping", "shopping_admin", "reddit", "gitlab"))
    assert prompts.tips_for("nowhere") == ""
    with pytest.raises(prompts.InputError):
        prompts.tips_for("../generic_user")


if __name__ == "__main__":
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for each in PLAYS:
        (GOLDEN / each).write_text(asyncio.run(play(each)), encoding="utf-8")
