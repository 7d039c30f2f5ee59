"""A template that is not ours, over two sites, played in a browser."""

import json
from collections.abc import Mapping
from typing import Any, Self

import pytest

from tests.sites import notes_site, other_site
from tests.support.worlds import CACHE
from webassay.agents.oracle import Oracle
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.instances import instances
from webassay.arena.kit.key import Key
from webassay.arena.kit.mistakes import mistakes
from webassay.arena.kit.template import Parts, Retrieve
from webassay.arena.kit.walking import answer
from webassay.browser.devtools.chromium import find_chromium
from webassay.browser.session import Browser
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.trajectory import MemoryBlobs
from webassay.environments.arena import Arena
from webassay.grading.grade import grade
from webassay.play.episode import EpisodeContext, play
from webassay.sites.kit import World, snapshot
from webassay.sites.rng import Stream

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

SITES = {"notes": "tests.sites.notes_site:SITE", "other_notes": "tests.sites.other_site:SITE"}


class LatestOnBoth(Retrieve):
    """Compare two sites."""

    name = "notes.latest-on-both"
    sites = ("notes", "other_notes")
    chore = "others"
    instruction = "What does the latest note on the first site say, and what is my name on the second site?"

    user: str
    other_user: str

    @classmethod
    def draw(cls, notes: World, other: World, stream: Stream) -> Self:
        return cls(f"ann{stream.below(100)}", f"bob{stream.below(100)}")

    @property
    def logins(self) -> Mapping[str, str]:
        return {"notes": self.user, "other_notes": self.other_user}

    def end(self, notes: World, other: World) -> Parts:
        body = notes.scalar("SELECT body FROM note ORDER BY id DESC LIMIT 1")
        yield Key.answer(body, self.other_user, ordered=True)
        yield Key.seen(body)
        yield Effort(rows=2, pages=2, steps=3)

    def solve(self, page: Observation) -> Walk:
        assert (len(page.tabs), page.active_tab) == (2, 0)
        body = _shown(page)["notes"][0]["body"]
        page = yield Action.of("tab_focus", 1)
        return answer(body, _shown(page)["user"])


def _shown(page: Observation) -> dict[str, Any]:
    """These sites show JSON."""
    shown: dict[str, Any] = json.loads(next(node.name for node in page.nodes if node.name.startswith("{")))
    return shown


async def test_a_template_over_two_sites():
    worlds = {site.name: World(site, 5, snapshot(site, 5, CACHE)) for site in (notes_site.SITE, other_site.SITE)}
    (task,) = instances(LatestOnBoth, worlds, 1)
    blobs = MemoryBlobs()
    async with Browser(find_chromium()) as browser, Arena(SITES, cache=CACHE) as environment:
        context = EpisodeContext(browser=browser, environment=environment, blobs=blobs)
        oracle = Oracle(LatestOnBoth.from_parameters(task.parameters).solve)
        trajectory = await play(task, oracle, context, id="oracle")
    verdict = grade(task, trajectory, blobs)
    assert verdict.status == "pass", [finding.message for finding in verdict.findings] + [trajectory.ending.message]
    became = {name: grade(task, wrong, blobs).status for name, wrong in mistakes(task, trajectory, blobs)}
    # Both answers stand on the start pages: who answers at once has seen them.
    assert {name: status for name, status in became.items() if status != "fail"} == {"answers at step 0": "pass"}
    assert {"is logged out of notes", "is logged out of other_notes", "does nothing on the site"} <= became.keys()
