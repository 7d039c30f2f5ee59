"""What a program that drives the browser can do to whoever evaluates it: nothing. `attacker.py` is that program.

It plays on the embedded shop as in a run: in its cell, over the DevTools of its session.
"""

import asyncio
import json
import os
import socket
import sys
import urllib.request
from collections.abc import AsyncIterator
from itertools import groupby
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.toy import TASK
from tests.support.worlds import CACHE, arena
from webassay.agents.cells.cell import ProgramCell, why_not
from webassay.agents.cells.external import External
from webassay.browser.devtools.chromium import find_chromium
from webassay.browser.session import Browser
from webassay.core.protocols import ARENA_PROTOCOL
from webassay.core.served import ServedRecord
from webassay.core.task import Expectation, NetworkCheck, PageCheck, PagePattern, ResponseCheck, Task
from webassay.core.trajectory import MemoryBlobs, ServedResult, Trajectory
from webassay.core.verdict import Verdict
from webassay.environments.arena import Arena
from webassay.grading.grade import Policy, grade
from webassay.play.episode import EpisodeContext, Limits, play

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("tests.agents.test_programs"),
    pytest.mark.skipif(bool(why_not()), reason=f"no cell can be built here: {why_not()}"),
]

ATTACKER = Path(__file__).with_name("attacker.py")


def task() -> Task:
    goal = TASK.goal.model_copy(update={"start_urls": ("__SHOP__/",), "sites": ("shop",), "protocol": ARENA_PROTOCOL})
    checks = (
        ResponseCheck(action="navigate", results=None),
        PageCheck(any_of=(PagePattern(site="shop", path="/contact"),)),
    )
    return TASK.model_copy(update={"goal": goal, "sites": ("shop",), "checks": checks})


class Played:
    """What programs play in: one browser and one server of sites. Every episode has its own session and world."""

    def __init__(self, browser: Browser, environment: Arena) -> None:
        self._browser, self._environment = browser, environment

    async def __call__(
        self, words: str, *, cell: ProgramCell | None = None, limits: Limits | None = None, program: Path = ATTACKER
    ) -> tuple[Trajectory, Verdict, MemoryBlobs]:
        blobs = MemoryBlobs()
        agent = External(f"{sys.executable} {program} {words}", "attacker", cell or ProgramCell(hidden=(CACHE,)))
        limits = limits or Limits(episode_seconds=100)
        context = EpisodeContext(self._browser, self._environment, blobs, limits=limits)
        trajectory = await play(task(), agent, context, id="attack")
        return trajectory, grade(task(), trajectory, blobs), blobs


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def played() -> AsyncIterator[Played]:
    async with Browser(find_chromium()) as browser, arena() as environment:
        yield Played(browser, environment)


def told(trajectory: Trajectory) -> object:
    assert trajectory.ending.kind == "answered", trajectory.ending.message
    return json.loads(json.loads(trajectory.answer)["error_details"])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tried(played: Played, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    run = tmp_path_factory.mktemp("armor") / "run"
    run.mkdir()
    (run / "ledger.sqlite").write_text("0 %")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "secret")
        trajectory, _, _ = await played(f"everything {os.getpid()} {run}", cell=ProgramCell(hidden=(run, CACHE)))
    assert (run / "ledger.sqlite").read_text() == "0 %"
    report = told(trajectory)
    assert isinstance(report, dict)
    return report


REFUSED = (
    *("file", "file in a new tab", "chrome", "devtools", "view-source", "a local file in a field", "another context"),
    *("an answer invented", "a request rewritten", "old interception", "a crash of the browser", "the context closed"),
    *("a port bound", "an extension", "the command line", "the key", "the parent"),
)


async def test_what_it_may_not_do_is_refused(tried: dict[str, str]) -> None:
    assert {name: tried[name] for name in REFUSED if not tried[name].startswith("refused: ")} == {}
    assert "uploads" in tried["a local file in a field"]
    assert "answers come from the sites" in tried["an answer invented"]


async def test_what_evaluates_it_is_out_of_its_sight(tried: dict[str, str]) -> None:
    assert tried["the run directory"].startswith("refused: ") or tried["the run directory"] == "worked: []"
    assert tried["the ledger"].startswith(("refused", "worked: 5"))  # into the empty folder of its own cell
    assert tried["temporary folders"] == "[]"
    assert tried["the parent's pipe"] == "-1"
    assert tried["keys in the environment"] == "[]"


async def test_it_knows_no_targets_but_its_own(tried: dict[str, str]) -> None:
    assert tried["others' targets"] in ("[]", '["about:blank"]')


async def test_an_honest_program_passes(played: Played) -> None:
    trajectory, verdict, _ = await played("honest")
    assert verdict.status == "pass", trajectory.ending.message + str([one.message for one in verdict.findings])
    assert trajectory.last_seen is not None and trajectory.last_seen.url.endswith("/contact")
    done = [step.info["driven"] for step in trajectory.steps if step.info]
    listed = [(deed["kind"], deed["role"], deed["name"], deed["text"]) for deed in done]  # type: ignore[call-overload, index]
    # A click may be tried twice, and a look may come between two keys: what counts is what the field held in the end.
    assert [list(same)[-1] for _, same in groupby(listed, key=lambda one: one[:3])] == [
        ("click", "combobox", "Search the entire store", ""),
        ("input", "combobox", "Search the entire store", "lamp"),
        ("press", "combobox", "Search the entire store", "Enter"),
        ("click", "link", "Contact Us", ""),
    ]


async def test_what_honest_pages_do_besides_is_no_cheat(played: Played) -> None:
    """Aborted, cached, repeated, prefetched requests, beacons, downloads, service workers, closed tabs."""
    wanderer = ATTACKER.parents[2] / "scripts" / "armor" / "_wanderer.py"
    trajectory, verdict, blobs = await played("", program=wanderer)
    assert trajectory.ending.kind == "answered", trajectory.ending.message
    assert not [one.message for one in verdict.findings if one.check == "record"]
    (probe,) = trajectory.probed(ServedResult)
    asked = {one.by for one in ServedRecord.unpack(blobs.read(probe.blob)).served}
    assert "other" not in asked and "browser" in asked


async def test_an_address_and_a_page_that_it_made_up_are_no_page(played: Played) -> None:
    trajectory, verdict, blobs = await played("forge")
    assert trajectory.last_seen is not None and trajectory.last_seen.url.endswith("/contact")
    assert [finding.code for finding in verdict.findings if finding.status == "fail"] == ["page_invented"]
    assert grade(task(), trajectory, blobs, Policy(record="off")).status == "pass"


@pytest.mark.long
async def test_work_by_plain_http_is_seen(played: Played) -> None:
    trajectory, verdict, _ = await played("http")
    assert told(trajectory) == "200"
    assert "not_the_browser" in [finding.code for finding in verdict.findings if finding.status == "fail"]


@pytest.mark.long
async def test_it_reaches_nothing_but_the_sites_of_its_task(played: Played) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        trajectory, _, _ = await played(f"outside {listening.getsockname()[1]}")
        tried = told(trajectory)
        assert isinstance(tried, dict) and set(tried) == {
            "fetch",
            "beacon",
            "picture",
            "socket",
            "worker",
            "page",
            "tab",
        }
        with pytest.raises(BlockingIOError):
            listening.accept()


@pytest.mark.long
async def test_a_request_that_says_that_a_person_went_there_is_no_visit(played: Played) -> None:
    trajectory, _, blobs = await played("'as if'")
    assert "worked: 200" in str(told(trajectory))
    where = Expectation(type="url", value="__SHOP__/contact")
    checks = (task().checks[0], NetworkCheck(url=where, last_navigation=True))
    verdict = grade(task().model_copy(update={"checks": checks}), trajectory, blobs)
    assert [one.check for one in verdict.findings if one.status == "fail"] == ["network"]


@pytest.mark.long
@pytest.mark.parametrize("mode", ["close tab", "close browser", "die"])
async def test_what_it_closes_or_kills_is_its_own_failure(played: Played, mode: str) -> None:
    trajectory, verdict, _ = await played(f"'{mode}'")
    assert trajectory.ending.kind == ("agent_crashed" if mode == "die" else "answered"), trajectory.ending.message
    assert verdict.status == "fail"


async def test_children_that_hold_its_output_cost_nothing(played: Played) -> None:
    trajectory, _, _ = await played("children")
    assert told(trajectory) == "left"
    assert not [place for place in Path("/proc").glob("[0-9]*/cmdline") if "607.3" in _words(place)]


def _words(place: Path) -> str:
    try:
        return place.read_bytes().decode(errors="replace")
    except OSError:
        return ""  # It has just ended.


async def test_nobody_else_is_let_in(played: Played, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    cell = ProgramCell(hidden=(CACHE,), writable=(notes,))
    playing = asyncio.ensure_future(
        played(f"wait {notes / 'address'} 600", cell=cell, limits=Limits(episode_seconds=120))
    )
    try:
        for _ in range(600):
            if (notes / "address").exists() or playing.done():
                break
            await asyncio.sleep(0.1)
        await asyncio.sleep(0.2)
        address = (notes / "address").read_text()
        with pytest.raises(OSError):
            await asyncio.to_thread(urllib.request.urlopen, f"{address}/json/version", timeout=10)
    finally:
        (notes / "address.over").touch()
        trajectory, _, _ = await playing
    assert trajectory.ending.kind == "answered", "it was there all the time"
